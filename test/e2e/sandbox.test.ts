/** Agents in a sandbox: what they cannot reach, what they still can, and a machine that has none. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { removeFolder } from '../remove-folder.ts';
import { makeProject, type Project, result, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project.remove());

const BWRAP = 'bwrap';
const usable = spawnSync(BWRAP, ['--ro-bind', '/', '/', '--unshare-net', 'true']).status === 0;
// Written reason: without bwrap, or in a container that forbids it, there is no sandbox to be tried.
if (!usable) console.log('Skipped: bwrap is not installed, or cannot make a sandbox here.');

const MINE = `/tmp/ralph-mine-${process.pid}`;
/** Tries what it must not do, tells in its own work how that went, and reports through the outbox. */
const AGENT = `#!/usr/bin/env bash
cat > /dev/null
try() { if eval "$2" > /dev/null 2>&1; then echo "$1 yes"; else echo "$1 no"; fi >> a.txt; }
try outside 'echo x > "$OUTSIDE/x" && test -e /proc/$PPID/root"$OUTSIDE"/x'
try etc 'touch /etc/ralph-was-here'
try journal 'echo x >> "$RALPH_SESSION_DIR/journal.jsonl"'
try config 'echo x >> ralph.yml'
try network "node -e 'fetch(process.env.SERVER).then(() => process.exit(0), () => process.exit(1))'"
try secret 'test -n "$SECRET"'
try tmp 'echo x > ${MINE}'
try commit 'git commit -q --allow-empty -m tried'
try memory 'ralph tools memory add "Tests are run with npm test"'
ralph emit ralph.result '{"status":"completed","files_modified":["a.txt"]}' --payload-json
`;

function projectWith(sandbox: string): Project {
  return makeProject({
    files: { 'ralph/tasks.json': taskList([story('a')]), 'agent.sh': AGENT },
    config: `  boxed: { command: [bash, agent.sh] }\nsandbox: ${sandbox}\n`,
  });
}

async function tried(sandbox: string): Promise<{ said: Record<string, string>; code: number | null }> {
  project = projectWith(sandbox);
  const outside = mkdtempSync(join(tmpdir(), 'ralph-outside-'));
  const server = createServer((_, answer) => answer.end('hello'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const env = { OUTSIDE: outside, SERVER: `http://127.0.0.1:${port}/`, SECRET: 'hush' };
    const ran = await project.ralph(['run', '--agent', 'boxed', '--json'], { env });
    expect(result(ran).exit, ran.out + ran.err).toMatchObject({ code: 0 });
    const lines = project.read('a.txt').trim().split('\n');
    const said = Object.fromEntries(lines.map((line) => line.split(' ') as [string, string]));
    return { said: { ...said, landed: existsSync(join(outside, 'x')) ? 'yes' : 'no' }, code: ran.code };
  } finally {
    server.close();
    removeFolder(outside);
  }
}

test.runIf(usable)('inside bwrap without a network its work lands, and nothing else is reached', async () => {
  const { said } = await tried('{ bwrap: { network: false, env: [OUTSIDE, SERVER] } }');
  const no = { outside: 'no', landed: 'no', etc: 'no', journal: 'no', config: 'no', network: 'no' };
  expect(said).toEqual({ ...no, secret: 'no', tmp: 'yes', commit: 'yes', memory: 'yes' });
  expect(existsSync(MINE)).toBe(false);
  expect(project.read('.ralph/memories.md')).toContain('npm test');
  expect(project.git('status', '--porcelain')).toBe('');
});

test.runIf(usable)('bwrap as it is leaves the network and the variables', async () => {
  const { said } = await tried('bwrap');
  expect(said).toMatchObject({ outside: 'no', landed: 'no', journal: 'no', network: 'yes', secret: 'yes' });
});

test.runIf(usable)('what an agent leaves running inside is found and ended', async () => {
  project = projectWith('bwrap');
  project.write(
    'agent.sh',
    'setsid sleep 4711 > /dev/null 2>&1 &\nsleep 0.3\necho a > a.txt\necho "<promise>COMPLETE</promise>"\n',
  );
  project.git('commit', '-qam', 'leaves something');
  const ran = await project.ralph(['run', '--agent', 'boxed', '--json']);
  expect(result(ran).exit, ran.out + ran.err).toMatchObject({ code: 0 });
  expect(spawnSync('pgrep', ['-f', 'sleep 4711']).status).toBe(1);
});

test('a wrapper of one’s own stands before the agent', async () => {
  project = projectWith('{ command: [env, WRAPPED=yes] }');
  project.write('agent.sh', 'echo "$WRAPPED" > a.txt\necho "<promise>COMPLETE</promise>"\n');
  project.git('commit', '-qam', 'tells its wrapper');
  const ran = await project.ralph(['run', '--agent', 'boxed', '--json']);
  expect(result(ran).exit, ran.out + ran.err).toMatchObject({ code: 0 });
  expect(project.read('a.txt')).toBe('yes\n');
});

test('where bwrap cannot be used nothing is started, and run and doctor say why and what to do', async () => {
  project = projectWith('bwrap');
  project.write('bin/bwrap', '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n');
  spawnSync('chmod', ['+x', join(project.dir, 'bin/bwrap')]);
  const env = { PATH: `${join(project.dir, 'bin')}:${process.env.PATH}` };
  const ran = await project.ralph(['run', '--agent', 'boxed', '--allow-dirty'], { env });
  expect(ran.code, ran.err).toBe(5);
  expect(ran.err).toMatch(/bwrap cannot make one here[\s\S]*No permissions[\s\S]*sandbox: none/);
  expect(existsSync(join(project.dir, '.ralph-sessions'))).toBe(false);
  const examined = await project.ralph(['doctor'], { env });
  expect(examined.out + examined.err).toMatch(/No permissions to create new namespace/);
});

test.runIf(usable)(
  'a folder that is to be written and is not there is named before anything is started',
  async () => {
    project = projectWith('{ bwrap: { write: ["~/nowhere-at-all", relative] } }');
    const ran = await project.ralph(['run', '--agent', 'boxed']);
    expect(ran.code).toBe(5);
    expect(ran.err).toMatch(
      /~\/nowhere-at-all, relative, and there is no such folder[\s\S]*sandbox\.bwrap\.write/,
    );
  },
);

test.each([
  ['none', 'none', 'Sandbox:   none: agents run as you do'],
  ['{ command: [env, BOXED=1] }', 'command', 'Sandbox:   env BOXED=1; gates run outside'],
])('a dry run names the sandbox: %s', async (sandbox, kind, line) => {
  project = projectWith(sandbox);
  const args = ['run', '--agent', 'boxed', '--dry-run'];
  expect((await project.ralph(args)).out).toContain(line);
  expect(JSON.parse((await project.ralph([...args, '--json'])).out)).toMatchObject({ sandbox: kind });
});
