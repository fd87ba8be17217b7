// Makes a fresh clone ready: packages from the lock file, and `dist` built from the sources. It needs
// only Node, git and the package registry, says nothing when nothing is to do, and may run twice at
// once: one does the work, the other waits for it.
//
//   node scripts/setup.mjs           what is missing or stale
//   node scripts/setup.mjs --build   builds in any case
//
// The first lines must also parse on a Node that is too old, so that it can be told to be too old.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST = [20, 19];
/** Installing is bounded by ten minutes, so an older lock was left by something that is gone. */
const LOCK_STALE_MS = 15 * 60_000;
const INSTALL_MS = 10 * 60_000;
const BUILD_MS = 5 * 60_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const dist = join(root, 'dist');
const entry = join(dist, 'ralph.js');
const installedStamp = join(modules, '.ralph-installed');
const builtStamp = join(modules, '.ralph-built');

const say = (text) => process.stderr.write(`${text}\n`);

function fail(what, why, fix) {
  say(`${what}\n  why: ${why}\n  fix: ${fix}`);
  process.exit(5);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  fail(
    `Node ${process.versions.node} is too old for Ralph.`,
    `It needs ${OLDEST.join('.')} or newer.`,
    'Install a newer Node (https://nodejs.org) and run the same command again.',
  );
}

const read = (file) => {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/** Packages hold programs of one platform: a folder copied from another machine is installed anew. */
function wantedInstall() {
  const lock = createHash('sha256')
    .update(read(join(root, 'package-lock.json')))
    .digest('hex');
  return `${process.platform}-${process.arch} ${lock}`;
}

function sourceFiles(folder, found = []) {
  if (!fs.existsSync(folder)) return found;
  for (const item of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, item.name);
    if (item.isDirectory()) sourceFiles(path, found);
    else if (!/\.test\.tsx?$/.test(item.name)) found.push(path);
  }
  return found;
}

/** By content: a checkout that only touches times builds nothing. */
function wantedBuild() {
  const sum = createHash('sha256').update(wantedInstall());
  const files = [
    ...sourceFiles(join(root, 'src')),
    join(root, 'tsdown.config.ts'),
    join(root, 'package.json'),
  ];
  for (const file of files.sort()) {
    sum.update(`\0${relative(root, file).split(sep).join('/')}\0`).update(read(file));
  }
  return sum.digest('hex');
}

const isInstalled = () => read(installedStamp) === wantedInstall();
const builtFrom = () => read(builtStamp).split('\n')[0];
const isBuilt = () => fs.existsSync(entry) && builtFrom() === wantedBuild();

/** npm as the one that runs us, else the one in PATH. */
function npm(args) {
  const script = process.env.npm_execpath ?? '';
  const known = /npm-cli\.c?js$/.test(script);
  return spawnSync(known ? process.execPath : 'npm', known ? [script, ...args] : args, {
    cwd: root,
    encoding: 'utf8',
    shell: !known && process.platform === 'win32',
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: INSTALL_MS,
  });
}

const npmWords = ({ error, signal, stderr }) =>
  error?.message ?? (signal ? `ended by ${signal}` : stderr.trim().split('\n').slice(-8).join('\n       '));

function install() {
  const flags = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  say('Installing packages from package-lock.json (npm ci) …');
  const clean = npm(['ci', ...flags]);
  if (clean.status !== 0) {
    const outOfStep = /EUSAGE|in sync|Missing:|Invalid:/.test(clean.stderr ?? '');
    if (!outOfStep) fail('The packages could not be installed.', npmWords(clean), INSTALL_FIX);
    say(`npm ci refused, because package-lock.json and package.json differ:\n       ${npmWords(clean)}`);
    say(
      'Installing with npm install instead; it writes package-lock.json. Look at that change before a commit.',
    );
    const loose = npm(['install', ...flags]);
    if (loose.status !== 0) fail('The packages could not be installed.', npmWords(loose), INSTALL_FIX);
  }
  fs.writeFileSync(installedStamp, wantedInstall());
}

const INSTALL_FIX =
  'Check that the npm registry can be reached (`npm ping`) and that the disk has 500 MB free, then run again.';

/**
 * Builds beside `dist` and then moves the files over, the entry last: a `ralph` that runs meanwhile
 * still finds its lazily loaded chunks, because the build before this one is kept too.
 */
function build() {
  say('Building dist …');
  const wanted = wantedBuild();
  const next = join(root, `dist.next-${process.pid}`);
  const tsdown = join(modules, 'tsdown', 'dist', 'run.mjs');
  const made = spawnSync(process.execPath, [tsdown, '--out-dir', next, '--logLevel', 'warn'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: BUILD_MS,
  });
  if (made.status !== 0 || !fs.existsSync(join(next, 'ralph.js'))) {
    fs.rmSync(next, { recursive: true, force: true });
    const words = made.error?.message ?? `${made.stdout}${made.stderr}`.trim();
    fail('The build failed.', words, 'Correct what it names; `npx tsc --noEmit` tells more.');
  }
  const files = fs.readdirSync(next);
  const kept = new Set([...files, ...read(builtStamp).split('\n').slice(1)]);
  fs.mkdirSync(dist, { recursive: true });
  for (const file of files.sort((a, b) => Number(a === 'ralph.js') - Number(b === 'ralph.js'))) {
    fs.renameSync(join(next, file), join(dist, file));
  }
  fs.chmodSync(entry, 0o755);
  for (const old of fs.readdirSync(dist)) if (!kept.has(old)) fs.rmSync(join(dist, old), { recursive: true });
  fs.rmSync(next, { recursive: true, force: true });
  fs.writeFileSync(builtStamp, [wanted, ...files].join('\n'));
}

const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Outside node_modules, which `npm ci` removes. */
const lockFile = join(
  tmpdir(),
  `ralph-setup-${createHash('sha256').update(root).digest('hex').slice(0, 16)}.lock`,
);

/** The words of a lock that nobody holds any more; null while it is held or gone. */
function staleLock() {
  const text = read(lockFile);
  const pid = Number(text);
  const { mtimeMs } = fs.statSync(lockFile, { throwIfNoEntry: false }) ?? {};
  if (mtimeMs === undefined) return null;
  const age = Date.now() - mtimeMs;
  return age > LOCK_STALE_MS || (pid > 0 ? !isRunning(pid) : age > 5_000) ? text : null;
}

/** Moves a stale lock away; one that another process took meanwhile is put back. */
function removeStale(text) {
  const aside = `${lockFile}.${process.pid}`;
  try {
    fs.renameSync(lockFile, aside);
    if (read(aside) !== text) fs.linkSync(aside, lockFile);
  } catch {
    // Somebody else was quicker.
  }
  fs.rmSync(aside, { force: true });
}

function alone(work) {
  for (let told = false; ; sleep(200)) {
    try {
      fs.writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const stale = staleLock();
    if (stale !== null) removeStale(stale);
    else if (!told) say(`Another setup of this clone is running (pid ${read(lockFile)}); waiting for it …`);
    told = true;
  }
  process.on('exit', () => fs.rmSync(lockFile, { force: true }));
  work();
}

checkNode();
const force = process.argv.includes('--build');
if (force || !isInstalled() || !isBuilt()) {
  alone(() => {
    // Asked again: whoever held the lock before us may have done it.
    if (!isInstalled()) install();
    if (force || !isBuilt()) build();
  });
}
