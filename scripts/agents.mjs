// End-to-end tests with real agent CLIs: `npm run test:agents [-- vitest arguments]`. Installs the pinned
// CLIs into test/agents/clis on demand (some 1.5 GB, each kept until its lock file changes), then runs the
// suite and ends with `N passed, N failed`. A CLI that cannot be installed is skipped, with the reason told.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finish, root, runVitest } from './suite.mjs';

const clis = join(root, 'test', 'agents', 'clis');
const windows = process.platform === 'win32';
/** Files that play with Claude Code alone. */
const CLAUDE_ONLY = ['claude', 'doctor', 'five-roles', 'live', 'loop', 'mcp'];

/** npm tells the reason first and advice after it. */
const reasonIn = (stderr) =>
  stderr
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('at '))
    .slice(0, 5)
    .join(' · ');

function runIn(folder, command, args, timeout) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: folder,
      shell: windows,
      timeout,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (bytes) => {
      stderr += bytes;
    });
    child.on('error', (error) => resolve({ status: error.message, stderr }));
    child.on('close', (code, signal) => resolve({ status: signal ?? code, stderr }));
  });
}

/** Answers why a CLI is not there; null when it is. */
async function install(name) {
  const folder = join(clis, name);
  const program = join(folder, 'node_modules', '.bin', windows ? `${name}.cmd` : name);
  const stamp = join(folder, 'node_modules', '.installed-lock');
  const lock = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (existsSync(program) && existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return null;
  process.stderr.write(`Installing the pinned agent CLI ${name} into test/agents/clis (once) …\n`);
  const options = ['--no-audit', '--no-fund', '--loglevel=error'];
  // Not `npm ci`: a registry may lack the packages of other platforms, and a lock file then cannot name them.
  const npm = await runIn(folder, 'npm', ['install', '--no-save', '--prefix', folder, ...options], 600_000);
  if (npm.status !== 0) return `npm install ended with ${npm.status}: ${reasonIn(npm.stderr)}`;
  const version = await runIn(folder, program, ['--version'], 60_000);
  if (version.status !== 0) return `${program} --version ended with ${version.status}: ${version.stderr}`;
  writeFileSync(stamp, lock);
  return null;
}

const missing = new Set();
for (const name of readdirSync(clis).sort()) {
  const reason = await install(name);
  if (reason === null) continue;
  missing.add(name);
  rmSync(join(clis, name, 'node_modules', '.installed-lock'), { force: true });
  process.stdout.write(`SKIPPED test:agents (${name}): ${reason}\n`);
}
const without = missing.has('claude')
  ? CLAUDE_ONLY.flatMap((name) => ['--exclude', `test/agents/${name}.test.ts`])
  : [];
finish(await runVitest(['--config', 'vitest.agents.config.ts', ...without, ...process.argv.slice(2)]));
