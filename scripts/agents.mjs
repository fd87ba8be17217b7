// End-to-end tests with real agent CLIs: `npm run test:agents [-- vitest arguments]`. Installs the pinned
// CLIs into test/agents on demand (a few hundred MB, kept until the lock file changes), then runs the
// suite and ends with `N passed, N failed`. A CLI that cannot be installed is skipped, with the reason told.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finish, root, runVitest } from './suite.mjs';

const folder = join(root, 'test', 'agents');
const windows = process.platform === 'win32';
const claude = join(folder, 'node_modules', '.bin', windows ? 'claude.cmd' : 'claude');
const lock = createHash('sha256')
  .update(readFileSync(join(folder, 'package-lock.json')))
  .digest('hex');
const stamp = join(folder, 'node_modules', '.installed-lock');

const isInstalled = () => existsSync(claude) && existsSync(stamp) && readFileSync(stamp, 'utf8') === lock;

/** npm tells the reason first and advice after it. */
const reasonIn = (stderr) =>
  stderr
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('at '))
    .slice(0, 5)
    .join(' · ');

/** Answers why the CLIs are not there; null when they are. */
function install() {
  if (isInstalled()) return null;
  process.stderr.write('Installing the pinned agent CLIs into test/agents (once, about 240 MB) …\n');
  const npm = spawnSync('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
    shell: windows,
    timeout: 600_000,
  });
  if (npm.status !== 0) {
    return `npm ci ended with ${npm.signal ?? npm.status}: ${npm.error?.message ?? reasonIn(npm.stderr)}`;
  }
  const version = spawnSync(claude, ['--version'], { encoding: 'utf8', shell: windows, timeout: 60_000 });
  if (version.status !== 0)
    return `${claude} --version does not run here: ${version.error ?? version.stderr}`;
  writeFileSync(stamp, lock);
  return null;
}

const reason = install();
if (reason !== null) {
  process.stdout.write(`SKIPPED test:agents (claude): ${reason}\n`);
  finish({ passed: 0, failed: 0 });
} else {
  finish(await runVitest(['--config', 'vitest.agents.config.ts', ...process.argv.slice(2)]));
}
