/** Agents side by side with the real program: real work trees, real merges, one commit a task. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { factsNow } from '../kill/killing.ts';
import { facts } from './journal.ts';
import { DONE, makeProject, type Project, type ScriptedRun, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const IDS = ['US-001', 'US-002', 'US-003'];
const LINES = Array.from({ length: 20 }, (_, n) => `line ${n + 1}`);
const list = () => taskList(IDS.map((id) => story(id)));
const commits = () =>
  project
    .git('log', '--reverse', '--format=%(trailers:key=Ralph-Task,valueonly,separator=%x20)')
    .split('\n')
    .filter((id) => id !== '');
const values = () => facts(project, 'verdict.reached').map(({ item, value }) => `${item.task} ${value}`);
const trees = () => project.git('worktree', 'list').split('\n');
const pool = () => {
  const folder = join(project.home, '.local/state/ralph/worktrees');
  return existsSync(folder) ? readdirSync(folder).flatMap((name) => readdirSync(join(folder, name))) : [];
};

test('three at once: two fit together in one file, the third clashes, is told so and lands after another try', async () => {
  const edit = (find: string, text: string) => ({ replace: { path: 'shared.txt', find, with: text } });
  project = makeProject({
    files: { 'ralph/tasks.json': list(), 'shared.txt': `${LINES.join('\n')}\n` },
    config: 'gates: [{ name: whole, run: "test $(wc -l < shared.txt) -eq 20" }]\n',
    runs: [
      {
        when: { task: 'US-001' },
        do: [edit('line 2\n', 'two\n'), { run: 'touch US-001.txt' }, { say: DONE }],
      },
      {
        when: { task: 'US-002' },
        do: [edit('line 18\n', 'eighteen\n'), { run: 'pwd > US-002.txt' }, { say: DONE }],
      },
      {
        when: { task: 'US-003', attempt: 1 },
        do: [edit('line 2\n', '2\n'), { write: { path: 'US-003.txt', content: '3\n' } }, { say: DONE }],
      },
      { when: { task: 'US-003' }, do: [edit('two\n', 'two, or 2\n'), { say: DONE }] },
    ],
  });
  const { code, out, err } = await project.ralph(['run', '--parallel', '3']);
  expect([code, err]).toEqual([0, expect.any(String)]);
  expect(facts(project, 'wave.started').map(({ items }) => items.length)).toEqual([3, 1]);
  // None of them worked in the user's own work tree.
  expect(project.read('US-002.txt')).toContain('/ralph/worktrees/');
  expect(project.read('US-002.txt')).not.toContain(project.dir);
  expect(values()).toEqual(['US-001 accepted', 'US-002 accepted', 'US-003 unfinished', 'US-003 accepted']);
  expect(commits()).toEqual(IDS);
  expect(facts(project, 'task.charged')).toEqual([]);
  expect(out + err).toMatch(/US-003.*shared\.txt/s);
  const shared = project.read('shared.txt').split('\n');
  expect([shared[1], shared[17]]).toEqual(['two, or 2', 'eighteen']);
  expect(project.read('US-003.txt')).toBe('3\n');
  expect(project.git('status', '--porcelain', '--untracked-files=all')).toBe('');
  // The work trees were ours, and they are gone.
  expect(trees()).toHaveLength(1);
  expect(pool()).toEqual([]);
  expect(project.git('fsck', '--no-dangling')).not.toContain('missing');
});

test("a work tree holds what stands uncommitted in the user's, and what a new one is given", async () => {
  project = makeProject({
    files: { 'ralph/tasks.json': list(), '.gitignore': '.env\nready\n', 'a.txt': 'old\n' },
    config: 'worktree: { copy: [".env"], run: ["echo ready > ready"] }\n',
    runs: [
      {
        do: [
          { run: 'cat .env ready a.txt new.txt > {{task}}.txt 2>&1' },
          { run: 'git add -A && git commit -qm mine' },
          { say: DONE },
        ],
      },
    ],
  });
  project.write('.env', 'secret\n');
  project.write('a.txt', 'edited\n');
  project.write('new.txt', 'new\n');
  const { code, err } = await project.ralph(['run', '--parallel', '3', '--allow-dirty']);
  expect([code, err]).toEqual([0, expect.any(String)]);
  for (const id of IDS) expect(project.read(`${id}.txt`)).toBe('secret\nready\nedited\nnew\n');
  expect(commits()).toEqual(IDS);
  // A person's own edits stay theirs, though an agent committed them in its work tree; that commit is kept.
  expect(project.git('status', '--porcelain').split('\n').sort()).toEqual(['?? new.txt', 'M a.txt'].sort());
  expect(project.git('for-each-ref', 'refs/ralph').split('\n')).toHaveLength(3);
});

test('a command that prepares a work tree and fails stops the run before any agent, and says what to do', async () => {
  project = makeProject({
    files: { 'ralph/tasks.json': list() },
    config: 'worktree: { run: ["echo no such luck; exit 3"] }\n',
  });
  const { code, out, err } = await project.ralph(['run', '--parallel', '2']);
  expect(code).toBe(5);
  expect(out + err).toContain('no such luck');
  expect(out + err).toContain('--parallel 1');
  expect(facts(project, 'attempt.started')).toEqual([]);
});

/** A wave of three at work, once each of them has begun. */
async function atWork(runs: ScriptedRun[], files: Record<string, string> = {}) {
  project = makeProject({
    files: { 'ralph/tasks.json': list(), 'f.txt': 'one\ntwo\nthree\n', ...files },
    runs,
  });
  const started = project.start(['run', '--parallel', '3', '--no-wait']);
  while (factsNow(project).filter(({ type }) => type === 'attempt.spawned').length < 3) await sleep(50);
  return started;
}
const own = [{ sleep_ms: 1500 }, { run: 'echo {{task}} > {{task}}.txt' }, { say: DONE }];

test("what a person changes meanwhile in the user's own work tree is told, and in no commit", async () => {
  const started = await atWork([
    {
      when: { task: 'US-001', attempt: 1 },
      do: [{ replace: { path: 'f.txt', find: 'one', with: 'ONE' } }, ...own],
    },
    {
      when: { task: 'US-002', attempt: 1 },
      do: [{ write: { path: 'new.txt', content: 'agent\n' } }, ...own],
    },
    { do: own },
  ]);
  project.write('f.txt', 'one\ntwo\nthree\nPERSON\n');
  project.write('new.txt', 'PERSON\n');
  const { out, err } = await started.done;
  expect(out + err).toMatch(/files in yours changed.*f\.txt, new\.txt/s);
  expect(project.git('log', '-p', '--format=')).not.toContain('PERSON');
  expect(project.read('f.txt')).toContain('PERSON');
  expect(project.read('new.txt')).toContain('PERSON');
});

test('a branch that lost commits meanwhile pauses the run before anything is put on top', async () => {
  const started = await atWork([
    { when: { task: 'US-002' }, do: [{ run: 'git update-ref -d refs/heads/main' }, ...own] },
    { do: own },
  ]);
  const head = project.git('for-each-ref', '--format=%(objectname)', 'refs/heads/main');
  const { code } = await started.done;
  expect(code).toBe(7);
  expect(facts(project, 'commit.landed')).toEqual([]);
  expect(head === '' || project.git('cat-file', '-t', head) === 'commit').toBe(true);
});

test('an agent that removes its own work tree has died of it, and the others land', async () => {
  const started = await atWork([
    {
      when: { task: 'US-002', attempt: 1 },
      do: [{ sleep_ms: 500 }, { run: 'rm -rf "$PWD"' }, { say: DONE }],
    },
    { do: own },
  ]);
  const { code, err } = await started.done;
  expect([code, err]).toEqual([0, expect.any(String)]);
  expect(values().filter((value) => value.endsWith('died'))).toEqual(['US-002 died']);
  expect(commits().sort()).toEqual(IDS);
  expect(trees()).toHaveLength(1);
});

test('a gate finds nothing of what neighbours have not finished', async () => {
  project = makeProject({
    files: { 'ralph/tasks.json': list() },
    config: 'gates: [{ name: none, run: "! grep -rn UNFINISHED . --include=US-*" }]\n',
    runs: [
      { when: { task: 'US-002' }, do: [{ run: 'echo UNFINISHED > US-002.txt' }, { say: DONE }] },
      { do: [{ run: 'echo {{task}} > {{task}}.txt' }, { say: DONE }] },
    ],
  });
  await project.ralph(['run', '--parallel', '3', '--no-wait', '-n', '3']);
  expect(values()).toEqual(['US-001 accepted', 'US-002 rejected', 'US-003 accepted']);
});

test.each([
  ['no git repository', { git: false }, ['--no-git']],
  ['parallel.worktrees off', { config: 'parallel: { worktrees: false }\n' }, []],
  ['commits left to agents', { config: 'commit: agent\n' }, []],
])('side by side with %s is refused, and the fix named', async (_, options, more) => {
  project = makeProject({ files: { 'ralph/tasks.json': list() }, ...options });
  const { code, err } = await project.ralph(['run', '--parallel', '3', ...more]);
  expect(code).toBe(5);
  expect(err).toContain('--parallel');
});

test('a repository that an agent made in its work tree is neither cleaned nor taken away, and is told', async () => {
  project = makeProject({
    files: { 'ralph/tasks.json': list() },
    runs: [
      {
        when: { task: 'US-001' },
        do: [{ run: 'git init -q made && echo only > made/only.txt; echo x > US-001.txt' }, { say: DONE }],
      },
      { do: [{ run: 'echo x > {{task}}.txt' }, { say: DONE }] },
    ],
  });
  const { code, err } = await project.ralph(['run', '--parallel', '2']);
  expect(code, err).toBe(0);
  const told = facts(project, 'notice.given').map(({ text }) => String(text));
  const notice = told.filter((text) => text.includes('an agent made a repository there'));
  expect(notice).toHaveLength(1);
  expect(notice[0]).toContain('(made)');
  const root = /The work tree (\S+) is left/.exec(notice[0]!)![1]!;
  expect(readFileSync(join(root, 'made/only.txt'), 'utf8')).toBe('only\n');
  expect(pool()).toEqual([basename(root)]);
});
