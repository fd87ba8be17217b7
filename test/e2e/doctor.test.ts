/** `ralph doctor` and `ralph agents`: what is not well is a row with its fix, and nothing is changed. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { makeNewcomer, type Newcomer, type NewcomerOptions } from './newcomer.ts';
import { PROGRAM } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let newcomer: Newcomer;
afterEach(() => newcomer?.remove());

interface Row {
  name: string;
  ok: boolean | 'warning';
  what: string;
  why: string;
  fix: string;
  ms: number;
}

const HELPER = (script: string) => `agent: mine\nagents: { mine: { command: ["sh", ".git/${script}"] } }\n`;
const FILES = { 'PRD.md': '- [ ] Add a greet function\n', 'gate.sh': 'echo "2 passed"\n' };
const GATE = 'gates: [{ name: test, run: "sh gate.sh", min_tests: 1, timeout_s: 20 }]\n';

/** A project whose agent is this script; it lies where git does not see it. */
function project(config: string, script = 'cat >/dev/null\n', options: Partial<NewcomerOptions> = {}): void {
  newcomer = makeNewcomer({ files: { ...FILES, 'ralph.yml': HELPER('mine.sh') + config }, ...options });
  newcomer.write({ '.git/mine.sh': script });
}

function examine(...args: string[]): { code: number | null; rows: Row[]; of(name: string): Row[] } {
  const before = newcomer.git('status', '--porcelain', '--ignored');
  const { code, out, err } = newcomer.ralph(['doctor', '--json', ...args]);
  expect(err).toBe('');
  const { rows, ok } = JSON.parse(out) as { rows: Row[]; ok: boolean };
  expect(ok).toBe(code === 0);
  for (const row of rows) {
    expect(row).toEqual({
      name: expect.any(String),
      ok: expect.anything(),
      what: expect.stringMatching(/./),
      why: row.ok === true ? '' : expect.stringMatching(/./),
      fix: row.ok === true ? '' : expect.stringMatching(/./),
      ms: expect.any(Number),
    } satisfies Record<keyof Row, unknown> & { ok: unknown });
  }
  expect(newcomer.git('status', '--porcelain', '--ignored')).toBe(before);
  return { code, rows, of: (name) => rows.filter((row) => row.name === name) };
}

const SAYS = (line: string) => `cat >/dev/null\nsh gate.sh >/dev/null\necho "${line}"\n`;

test('all is well: exit 0, every row holds, and nothing in the project is changed', () => {
  project(GATE, SAYS('RALPH-GATE test ran exit=0'));
  const { code, rows, of } = examine();
  expect(rows.filter(({ ok }) => ok !== true)).toEqual([]);
  expect(code).toBe(0);
  expect(of('gate test')[0]!.what).toContain('2 tests');
  expect(of('agent: test')[0]!.what).toBe('mine may run `sh gate.sh`');
  expect(existsSync(join(newcomer.dir, '.ralph'))).toBe(false);
  const text = newcomer.ralph(['doctor', '--no-agent']);
  expect(text.out).toMatch(/All is well.*--no-agent/);
});

test('what the agent may not run is a failure that names the permission', () => {
  project(GATE, SAYS('RALPH-GATE test denied by a rule of mine'));
  const { code, of } = examine();
  expect(code).toBe(5);
  expect(of('agent: test')[0]).toMatchObject({
    ok: false,
    what: 'The agent "mine" may not run `sh gate.sh`.',
    why: expect.stringContaining('by a rule of mine'),
    fix: expect.stringContaining('Allow `sh gate.sh`'),
  });
});

test('an agent that sees another result than Ralph is a warning, one that says nothing of it too', () => {
  project(GATE, SAYS('RALPH-GATE test ran exit=3'));
  expect(examine().of('agent: test')[0]).toMatchObject({
    ok: 'warning',
    what: expect.stringContaining('ends with 3'),
  });
  newcomer.write({ '.git/mine.sh': 'cat >/dev/null\necho hello\n' });
  const { code, of } = examine();
  expect(of('agent: test')[0]).toMatchObject({ ok: 'warning', what: expect.stringContaining('did not say') });
  expect(code).toBe(0);
});

test('a stream that shows commands is believed before words: a denial is seen, a command never run too', () => {
  const stream = (command: string, over: string) =>
    [
      '{"type":"system","subtype":"init","session_id":"s","model":"m"}',
      `{"type":"assistant","message":{"id":"1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"${command}"}}]}}`,
      `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1",${over}}]}}`,
      '{"type":"result","subtype":"success","is_error":false,"result":"RALPH-GATE test ran exit=0","session_id":"s"}',
    ].join('\n');
  newcomer = makeNewcomer({
    files: {
      ...FILES,
      'ralph.yml': `agent: mine\nagents: { mine: { command: ["sh", ".git/mine.sh"], output: claude-json } }\n${GATE}`,
    },
  });
  const play = (text: string) => {
    newcomer.write({ '.git/stream': `${text}\n`, '.git/mine.sh': 'cat >/dev/null\ncat .git/stream\n' });
    return examine().of('agent: test')[0];
  };
  expect(play(stream('sh gate.sh', '"content":"2 passed"'))).toMatchObject({ ok: true });
  const denied = stream('sh gate.sh', '"is_error":true,"content":"no"').replace(
    '"is_error":false,"result"',
    '"is_error":false,"permission_denials":[{"tool_name":"Bash","tool_input":{"command":"sh gate.sh"}}],"result"',
  );
  expect(play(denied)).toMatchObject({ ok: false, what: expect.stringContaining('may not run') });
  expect(play(stream('ls', '"content":""'))).toMatchObject({
    ok: false,
    what: expect.stringContaining('no such command was seen'),
  });
});

test('an agent that fails is told with what it said', () => {
  project('', 'cat >/dev/null\necho "no key here" >&2\nexit 3\n');
  expect(examine().of('agent start')[0]).toMatchObject({
    ok: false,
    what: expect.stringContaining('failed (crash)'),
    why: expect.stringContaining('no key here'),
  });
});

/** The report of a doctor that may leave something behind. */
function reportOf(): { code: number | null; left: Row[]; rows: Row[] } {
  const { code, out } = newcomer.ralph(['doctor', '--json']);
  const { rows } = JSON.parse(out) as { rows: Row[] };
  return { code, rows, left: rows.filter(({ name }) => name === 'left behind') };
}

test('an agent that works in its trial is told file by file, what it held before is kept, and nothing is well', () => {
  const work = [
    'cat >/dev/null',
    'echo x > stray.txt',
    'mkdir -p new && echo x > "new/with blank.txt"',
    'echo mine > gate.sh',
    'rm README.md',
    "sed -i 's/\\[ \\]/[x]/' PRD.md",
    'echo ok',
  ].join('\n');
  project('', work, { files: { ...FILES, 'README.md': 'committed\n', 'ralph.yml': HELPER('mine.sh') } });
  newcomer.write({ 'README.md': 'not committed yet\n' });
  const { code, left, rows } = reportOf();
  expect(code).toBe(5);
  expect(rows.find(({ name }) => name === 'agent start')).toMatchObject({ ok: true });
  expect(left).toHaveLength(1);
  expect(left[0]).toMatchObject({
    ok: false,
    what: 'The agent "mine" wrote new/with blank.txt, stray.txt, changed gate.sh, PRD.md, removed README.md.',
    fix: expect.stringContaining("rm 'new/with blank.txt' stray.txt"),
  });
  const kept = /lies in (\S+)\.$/.exec(left[0]!.fix)![1]!;
  const former = (path: string) => readFileSync(join(kept, path), 'utf8');
  expect([former('README.md'), former('gate.sh'), former('PRD.md')]).toEqual([
    'not committed yet\n',
    FILES['gate.sh'],
    FILES['PRD.md'],
  ]);
  rmSync(kept, { recursive: true });
  const text = newcomer.ralph(['doctor', '--no-agent']);
  expect([text.code, text.out]).toEqual([5, expect.not.stringContaining('All is well')]);
});

test('an agent that commits in its trial, or is cut off in it, is told with what it left', () => {
  project('', 'cat >/dev/null\necho x > a.txt\ngit add a.txt\ngit commit -qm mine\necho ok\n');
  const head = newcomer.git('rev-parse', 'HEAD');
  expect(reportOf().left[0]).toMatchObject({
    ok: false,
    what: expect.stringMatching(/wrote a\.txt, made a commit or moved HEAD/),
    fix: expect.stringContaining(head),
  });
  newcomer.write({ '.git/mine.sh': 'cat >/dev/null\necho x > b.txt\nexit 3\n' });
  const { left, rows } = reportOf();
  expect(rows.find(({ name }) => name === 'agent start')).toMatchObject({ ok: false });
  expect(left[0]).toMatchObject({ ok: false, what: 'The agent "mine" wrote b.txt.' });
});

test('a gate that writes what git does not ignore fails, because no run would start then; a warning where it would', () => {
  const gates = 'gates: [{ name: test, run: "echo x > out.txt; echo 1 passed" }]\n';
  project(gates);
  const { code, left } = reportOf();
  expect(code).toBe(5);
  expect(left[0]).toMatchObject({ ok: false, what: 'The gates wrote out.txt.' });
  expect(newcomer.ralph(['run', '--no-wait']).err).toContain('out.txt');
  newcomer.write({ '.gitignore': 'out.txt\n' });
  newcomer.git('add', '-A');
  newcomer.git('commit', '-q', '-m', 'Ignored');
  expect(reportOf()).toMatchObject({ code: 0, left: [] });
});

test('the gates as they stand: missing, empty, red, slow, and one that writes files', () => {
  const gate = (name: string, run: string, over = '') => `  - { name: ${name}, run: "${run}"${over} }\n`;
  project(
    `gates:\n${gate('gone', 'no-such-tool --x')}${gate('empty', 'echo none', ', min_tests: 1')}${gate('red', 'echo error: x; exit 1')}${gate('strict', 'exit 1', ', baseline: must_pass')}${gate('slow', 'sleep 30', ', timeout_s: 1')}${gate('extra', 'no-such-tool', ', required: false')}`,
  );
  const { code, of } = examine('--no-agent');
  expect(code).toBe(5);
  const words = (name: string) => of(`gate ${name}`).map(({ ok, what }) => `${ok}: ${what}`);
  expect(words('gone')).toEqual(['false: `no-such-tool --x` cannot be run.']);
  expect(words('empty')).toEqual(['warning: `echo none` proves nothing yet.']);
  expect(words('red')).toEqual(['warning: `echo error: x; exit 1` fails already.']);
  expect(words('strict')).toEqual(['false: `exit 1` fails.']);
  expect(words('slow')).toEqual(['false: `sleep 30` was ended.']);
  expect(words('extra')).toEqual(['warning: `no-such-tool` cannot be run.']);
  newcomer.write({ 'ralph.yml': `${HELPER('mine.sh')}gates: [{ name: t, run: "echo x > cover.txt" }]\n` });
  const { out } = newcomer.ralph(['doctor', '--json', '--no-agent']);
  expect((JSON.parse(out) as { rows: Row[] }).rows.find(({ name }) => name === 'left behind')).toMatchObject({
    ok: false,
    what: expect.stringContaining('cover.txt'),
  });
});

test('a broken configuration, a missing agent, an unreadable list: each its row, and the rest goes on', () => {
  project('limits: { max_stck: 1 }\nmode: fast\n');
  const broken = examine();
  expect(broken.of('configuration').map(({ what }) => what)).toEqual([
    expect.stringMatching(/ralph\.yml:3: .*max_stck/),
    expect.stringMatching(/ralph\.yml:4: /),
  ]);
  expect(broken.of('repository')[0]!.ok).toBe(true);
  newcomer.write({ 'ralph.yml': 'agent: auto\n', 'PRD.md': '' });
  newcomer.write({ '../.config/ralph/ralph.yml': '' });
  const { code, of } = examine();
  expect(code).toBe(5);
  expect(of('agent')[0]).toMatchObject({ ok: false, what: 'No coding agent was found.' });
  expect(of('tasks')[0]).toMatchObject({ ok: false, what: 'PRD.md holds no task.' });
});

test('git: an unfinished merge, a dirty tree, a lock left behind, hooks that cannot run, a detached head', () => {
  project('');
  const wrong = () =>
    examine('--no-agent')
      .rows.filter(({ ok }) => ok !== true)
      .map(({ name, ok }) => `${name} ${ok}`);
  expect(wrong()).toEqual(['gates warning']);
  newcomer.git('checkout', '-q', '--detach');
  newcomer.write({ '.git/hooks/pre-commit': '#!/bin/sh\n', 'README.md': 'mine\n' });
  newcomer.write({ '.git/MERGE_HEAD': `${newcomer.git('rev-parse', 'HEAD')}\n`, '.git/index.lock': '' });
  expect(wrong()).toEqual(['repository false', 'repository warning', 'hooks warning', 'gates warning']);
  // What a merge brought is not to be committed by itself: it is told when the merge is over.
  rmSync(join(newcomer.dir, '.git/MERGE_HEAD'));
  expect(wrong()).toEqual([
    'repository warning',
    'branch false',
    'hooks warning',
    'work tree false',
    'gates warning',
  ]);
});

test('git: without a repository, and without a name for commits', () => {
  project('');
  newcomer.write({ '../.gitconfig': '[user]\n\tuseConfigOnly = true\n' });
  expect(examine('--no-agent').of('identity')[0]).toMatchObject({
    ok: false,
    fix: expect.stringContaining('user.name'),
  });
  renameSync(join(newcomer.dir, '.git'), join(newcomer.home, 'git'));
  const { code, out } = newcomer.ralph(['doctor', '--json', '--no-agent']);
  expect(code).toBe(5);
  const { rows } = JSON.parse(out) as { rows: Row[] };
  expect(rows.filter(({ ok }) => ok === false).map(({ name }) => name)).toEqual(['repository']);
});

test('signing: a key that works, one that does not, and no commit of any kind stays behind', () => {
  project('');
  const objects = () => newcomer.git('count-objects', '-v');
  const before = objects();
  newcomer.write({
    '.git/sign.sh':
      '#!/bin/sh\ncat >/dev/null\nprintf "[GNUPG:] SIG_CREATED " >&2\necho; echo "-----BEGIN PGP SIGNATURE-----"\n',
  });
  chmodSync(join(newcomer.dir, '.git/sign.sh'), 0o755);
  newcomer.git('config', 'commit.gpgsign', 'true');
  newcomer.git('config', 'gpg.program', join(newcomer.dir, '.git/sign.sh'));
  const good = examine('--no-agent').of('signing')[0];
  newcomer.git('config', 'gpg.program', '/no/such/gpg');
  const bad = examine('--no-agent');
  expect([good?.ok, bad.of('signing')[0]?.ok, bad.code]).toEqual([true, false, 5]);
  expect(bad.of('signing')[0]!.fix).toContain('commit.gpgsign false');
  expect(objects()).toBe(before);
});

test('Ctrl-C ends the gate that runs, leaves nothing behind and exits with 130', async () => {
  project('gates: [{ name: slow, run: "echo $$ > .git/pid; sleep 60; echo late > late.txt" }]\n');
  const child = spawn(process.execPath, [PROGRAM, 'doctor', '--no-agent', '-C', newcomer.dir], {
    env: { PATH: process.env.PATH, HOME: newcomer.home },
    stdio: 'ignore',
  });
  const code = new Promise((done) => child.on('exit', done));
  const pidFile = join(newcomer.dir, '.git/pid');
  for (let turn = 0; turn < 400 && !existsSync(pidFile); turn++) await sleep(50);
  child.kill('SIGINT');
  expect(await code).toBe(130);
  const pid = Number(readFileSync(pidFile, 'utf8'));
  expect(() => process.kill(pid, 0)).toThrow();
});

test('what earlier runs left: a stale lock and a waiting question are told, a live run keeps gates untouched', () => {
  project(GATE);
  const lock = { pid: 999_999_9, started_at: '2026-01-01T00:00:00Z', start_time: '1', session_id: 'x' };
  newcomer.write({
    '.ralph/tree.lock': JSON.stringify(lock),
    '.ralph/.gitignore': '*\n',
    '.git/info/exclude': 'ralph/\n',
  });
  newcomer.write({ 'ralph/blocked.txt': 'a key is missing\n' });
  const { of } = examine('--no-agent');
  expect(of('lock')[0]).toMatchObject({ ok: 'warning', what: expect.stringContaining('is gone') });
  expect(of('leftovers')[0]).toMatchObject({
    ok: 'warning',
    what: expect.stringContaining('ralph/blocked.txt'),
  });
  const alive = { ...lock, pid: process.pid, start_time: '' };
  writeFileSync(join(newcomer.dir, '.ralph/tree.lock'), JSON.stringify(alive));
  const live = examine();
  expect(live.of('lock')[0]!.what).toContain('is working here now');
  expect(live.of('gate test')).toEqual([]);
});

test('agents: who could work here, as text and as data, with the last failure of this project', () => {
  project('', 'cat >/dev/null\necho "the server said 529" >&2\nexit 1\n');
  const list = () => JSON.parse(newcomer.ralph(['agents', '--json']).out) as Record<string, unknown>[];
  expect(
    list().map(({ name, installed, default: is, last_error }) => [name, installed, is, last_error]),
  ).toEqual([
    ...['claude', 'codex', 'opencode', 'pi', 'gemini', 'qwen', 'copilot'].map((name) => [
      name,
      false,
      false,
      null,
    ]),
    ['helper', true, false, null],
    ['mine', true, true, null],
  ]);
  expect(newcomer.ralph(['agents']).out).toMatch(
    /claude: Claude Code, not installed\n[\s\S]*install +npm install/,
  );
  newcomer.write({
    'ralph.yml': `${HELPER('mine.sh')}limits: { retry_delays_s: [0], max_subagent_retries: 0 }\n`,
  });
  newcomer.git('commit', '-qam', 'fast');
  expect(newcomer.ralph(['run', '--no-wait']).code).toBe(6);
  expect(list().at(-1)!.last_error).toMatchObject({ kind: 'crash', message: expect.stringContaining('529') });
  expect(newcomer.ralph(['agents']).out).toMatch(/last +failed at .* \(crash\): .*529/);
});
