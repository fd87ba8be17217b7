/** Agents in a sandbox: what they cannot reach, what they still can, and a machine that has none. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
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

/** What would make a git outside start a program, or speak of another repository; each with what it must not be able to do. */
const GIT_TRIES: Record<string, string> = {
  hook: 'mkdir -p "$G/hooks"; printf "#!/bin/sh\\ntouch \\"%s/hooked\\"\\n" "$OUTSIDE" > "$G/hooks/pre-commit" && chmod +x "$G/hooks/pre-commit"',
  'hooks away': 'mv "$G/hooks" "$G/other" && mkdir "$G/hooks"',
  config: 'git config core.fsmonitor "touch $OUTSIDE/watched"',
  'config by hand': 'echo "[core]" >> "$G/config"',
  'own config': 'echo "[core]" >> "$(git rev-parse --git-dir)/config.worktree"',
  info: 'echo "* filter=x" >> "$G/info/attributes"',
  'other tree': 'mkdir -p "$G/worktrees/other"',
  submodule: 'echo "[core]" >> "$G/modules/deep/inner/config"',
  'submodule hook': 'echo > "$G/modules/deep/inner/hooks/pre-commit"',
  'user config': 'mkdir -p ~/.config/git && echo "[core]" >> ~/.config/git/config',
  'on the path': 'echo > ~/.local/bin/git',
  key: 'cat "$XDG_STATE_HOME/ralph/key" ~/.local/state/ralph/key',
  'a state': 'echo > "$XDG_STATE_HOME/ralph/key"',
};
/** Of a linked work tree alone. */
const LINKED_TRIES: Record<string, string> = {
  'link file': 'echo "gitdir: $OUTSIDE" > .git',
  commondir: 'echo "$OUTSIDE" > "$(git rev-parse --git-dir)/commondir"',
  'index of the checkout': 'echo > "$G/index"',
  'head of the checkout': 'echo "ref: refs/heads/x" > "$G/HEAD"',
};

const COMMITS = `git commit -q --allow-empty -m tried
git checkout -q -b side && git commit -q --allow-empty -m side && git checkout -q - && git merge -q --no-ff -m both side
git branch -D side && git stash list && git tag made`;

async function triedOnGit(args: string[], tries: Record<string, string>): Promise<Record<string, string>> {
  project = makeProject({
    files: {
      'ralph/tasks.json': taskList([story('a')]),
      'agent.sh': `cat > /dev/null
G=$(cd "$(git rev-parse --git-common-dir)" && pwd)
try() { if (set -e; eval "$2") > /dev/null 2>&1; then echo "$1: yes"; else echo "$1: no"; fi >> a.txt; }
${Object.entries(tries)
  .map(([name, command]) => `try '${name}' '${command}'`)
  .join('\n')}
try commits '${COMMITS}'
git log -1 --format=%s >> log.txt
echo "<promise>COMPLETE</promise>"
`,
    },
    config: '  boxed: { command: [bash, agent.sh] }\nsandbox: bwrap\n',
  });
  spawnSync('git', ['init', '-q', '--bare', join(project.dir, '.git/modules/deep/inner')]);
  const outside = mkdtempSync(join(tmpdir(), 'ralph-outside-'));
  const home = mkdtempSync(join(tmpdir(), 'ralph-home-'));
  try {
    for (const folder of ['.config', '.local/bin', 'state/ralph', '.local/state/ralph'])
      mkdirSync(join(home, folder), { recursive: true });
    for (const folder of ['state', '.local/state'])
      writeFileSync(join(home, folder, 'ralph/key'), `${'a'.repeat(64)}\n`);
    const env = {
      OUTSIDE: outside,
      HOME: home,
      XDG_STATE_HOME: join(home, 'state'),
      PATH: `${join(home, '.local/bin')}:${process.env.PATH}`,
    };
    const ran = await project.ralph(['run', '--agent', 'boxed', '--json', ...args], { env });
    expect(result(ran).exit, ran.out + ran.err).toMatchObject({ code: 0 });
    expect(readdirSync(outside)).toEqual([]);
    const lines = project.git('show', 'main:a.txt').trim().split('\n');
    return Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]));
  } finally {
    removeFolder(outside);
    removeFolder(home);
  }
}

const noneOf = (tries: Record<string, string>) =>
  Object.fromEntries(Object.keys(tries).map((name) => [name, 'no']));

test.runIf(usable)(
  'nothing that makes a git outside run a program can be written, and all of git works',
  async () => {
    expect(await triedOnGit([], GIT_TRIES)).toEqual({ ...noneOf(GIT_TRIES), commits: 'yes' });
  },
);

test.runIf(usable)('nor from the work tree of a loop, which cannot touch the user’s checkout', async () => {
  const tries = { ...GIT_TRIES, ...LINKED_TRIES };
  expect(await triedOnGit(['--worktree', 'l'], tries)).toEqual({ ...noneOf(tries), commits: 'yes' });
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
