/** A loop that is about to land in a project where much is at stake, and what must hold when it has landed. */
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect } from 'vitest';
import { findProgram, ownIdentity, processTable } from '../../src/process/index.ts';
import { readLoops, takeLock, treeLock } from '../../src/store/index.ts';
import { DONE, makeProject, type Project, type Ran, type Started, story, taskList } from '../e2e/project.ts';
import { marked } from './killing.ts';

const GIT = findProgram('git', process.env)!;

/** `run`: at the end of a run that has one task left; `merge`: by `ralph loops merge`, all being done. */
export type Lander = 'run' | 'merge';

const MANY =
  'mkdir -p many; for n in $(seq -w 0 39); do echo $n > many/$n.txt; done; echo theirs > shared.txt';

/** As it was before the landing. */
export interface Before {
  commits: string[];
  main: string;
  refs: string;
  status: string;
}

export interface Scene {
  project: Project;
  before: Before;
}

/** Main has moved on since the loop began, so that a merge is needed; and the user has uncommitted work of all kinds. */
export async function scene(by: Lander, { gate = null }: { gate?: string | null } = {}): Promise<Scene> {
  const tasks = by === 'run' ? [story('A'), story('B')] : [story('A')];
  const project = makeProject({
    files: { 'one.json': taskList(tasks), 'shared.txt': 'as it was\n', 'edited.txt': 'as it was\n' },
    config: gate === null ? '' : `gates: [{ name: check, run: ${JSON.stringify(gate)} }]\n`,
    runs: [
      { when: { task: 'A' }, do: [{ run: MANY }, { say: DONE }] },
      { do: [{ run: 'echo b > b.txt' }, { say: DONE }] },
    ],
  });
  const held = await holdMain(project);
  const first = await project.ralph([...RUN, ...(by === 'run' ? ['-n', '1'] : ['--no-wait'])]);
  await held.release();
  expect([first.code, first.err]).toEqual([by === 'run' ? 1 : 8, expect.any(String)]);
  project.write('moved.txt', 'on\n');
  project.git('add', 'moved.txt');
  project.git('commit', '-q', '-m', 'main moves on');
  project.write('edited.txt', 'mine\n');
  project.write('mine.txt', 'mine\n');
  project.write('staged.txt', 'mine\n');
  project.git('add', 'staged.txt');
  return { project, before: look(project) };
}

const RUN = ['run', '--worktree', 'one', '--tasks', 'one.json'];

function look(project: Project): Before {
  return {
    commits: project.git('rev-list', '--all').split('\n'),
    main: project.git('rev-parse', 'main'),
    refs: project.git('for-each-ref', '--format=%(refname)'),
    status: project.git('status', '--porcelain', '--untracked-files=all'),
  };
}

/** As a run in the main checkout would. */
export async function holdMain({ dir }: Project): Promise<{ release(): Promise<void> }> {
  const lock = { file: treeLock(dir), identity: ownIdentity(), sessionId: 's', now: Date.now() };
  const held = await takeLock(lock);
  if (held.kind !== 'taken') throw new Error('somebody runs in the main checkout');
  return held;
}

export function treeOf({ dir }: Project): string {
  return realpathSync(join(dir, '.ralph/worktrees/one'));
}

export function lander(project: Project, by: Lander, env: Record<string, string> = {}): Started {
  return project.start(by === 'run' ? RUN : ['loops', 'merge', 'one'], { env });
}

/**
 * A program named git before git. The first call in that folder that begins so stops before it is made, or after it,
 * or is made and only noted.
 */
export function gitStopping(
  project: Project,
  { cwd, call, how }: { cwd: string; call: string; how: 'before' | 'after' | 'noted' },
): Record<string, string> {
  const bin = join(project.home, 'bin');
  mkdirSync(bin, { recursive: true });
  const stop = 'exec sleep 600';
  const then = { before: `note; ${stop}`, after: `"${GIT}" "$@"; note; ${stop}`, noted: 'note' }[how];
  const file = join(bin, 'git');
  writeFileSync(
    file,
    `#!/bin/sh
note() { echo $$ > "$HOME/stopping"; mv "$HOME/stopping" "$HOME/stopped"; }
case "$PWD $*" in "${cwd} ${call}"*) [ -e "$HOME/stopped" ] || { ${then}; };; esac
exec "${GIT}" "$@"
`,
  );
  chmodSync(file, 0o755);
  return { PATH: `${bin}${delimiter}${process.env.PATH}` };
}

/** Git takes its time where it writes this path in that folder: until `go-on` in the home. */
export function slowFile(project: Project, path: string, cwd: string): void {
  const filter = join(project.home, 'slow');
  const wait = 'touch "$HOME/entering"; while [ ! -e "$HOME/go-on" ]; do sleep 0.05; done';
  writeFileSync(filter, `#!/bin/sh\n[ "$PWD" != "${cwd}" ] || { ${wait}; }\nexec cat\n`, { mode: 0o755 });
  project.git('config', 'filter.slow.smudge', filter);
  writeFileSync(join(project.dir, '.git/info/attributes'), `${path} filter=slow\n`);
}

/** Kills git where it was stopped, and whatever it started. */
export function killGit(project: Project): void {
  const pid = Number(readFileSync(join(project.home, 'stopped'), 'utf8'));
  const below = processTable().filter(({ ppid }) => ppid === pid);
  for (const one of [pid, ...below.map((row) => row.pid)]) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // It had ended by itself.
    }
  }
}

/** How the loop stands, as a program is told. */
export async function standing(project: Project): Promise<Record<string, unknown>> {
  const { out } = await project.ralph(['loops', '--json']);
  return (JSON.parse(out) as Record<string, unknown>[]).find(({ loop_id: id }) => id === 'one')!;
}

/** Landed by one merge, with nothing lost, nothing left locked and nothing of the user's touched. */
export function expectLanded({ project, before }: Scene, ran: Ran): void {
  expect([ran.code, ran.code === 0 ? '' : ran.err + ran.out]).toEqual([0, '']);
  expect(readLoops(project.dir)).toMatchObject([{ id: 'one', standing: 'landed', landing: null }]);
  const merges = project.git('log', '--merges', '--format=%H %P', '--all').split('\n');
  expect(merges).toHaveLength(1);
  expect(merges[0]!.split(' ')[1]).toBe(before.main);
  project.git('merge-base', '--is-ancestor', 'ralph/one', 'main');
  expect(project.git('for-each-ref', '--format=%(refname)')).toBe(before.refs);
  const reached = new Set(project.git('rev-list', '--all').split('\n'));
  expect(before.commits.filter((commit) => !reached.has(commit))).toEqual([]);
  expect(project.git('fsck', '--full', '--strict', '--no-dangling')).toBe('');
  expect(project.git('status', '--porcelain', '--untracked-files=all')).toBe(before.status);
  for (const [path, text] of [
    ['edited', 'mine'],
    ['mine', 'mine'],
    ['staged', 'mine'],
    ['shared', 'theirs'],
    ['many/39', '39'],
  ])
    expect(project.read(`${path}.txt`)).toBe(`${text}\n`);
  expect(project.git('-C', treeOf(project), 'status', '--porcelain')).toBe('');
  for (const folder of ['.git', '.git/worktrees/one'])
    expect(['index.lock', 'HEAD.lock'].filter((name) => existsSync(join(project.dir, folder, name)))).toEqual(
      [],
    );
  expect(marked(project)).toEqual([]);
}
