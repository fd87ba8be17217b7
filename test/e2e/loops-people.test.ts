/**
 * Several loops in the work trees of one repository, and one person: whoever runs there is one a work tree, one of
 * them hears for all, and words reach the loop they are for.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, sessions, until } from './journal.ts';
import { DONE, makeProject, type Project, type ScriptedRun, type Started } from './project.ts';

vi.setConfig({ testTimeout: 180_000 });

let project: Project;
afterEach(() => {
  project?.remove();
});

/** A linked work tree beside the project, on a branch of the same name. */
function workTree(name: string): string {
  const dir = join(project.dir, '.trees', name);
  project.git('worktree', 'add', '-q', '-b', name, dir);
  return dir;
}

const primary = (): { pid: number; session_id: string } | null => {
  const file = join(project.dir, '.ralph/loop.lock');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
};

/** The session of the loop in this work tree. */
function sessionOf(dir: string): string {
  const ground = dir === project.dir ? '.' : dir;
  const found = sessions(project).find((id) => facts(project, 'session.created', id)[0]?.ground === ground);
  if (found === undefined) throw new Error(`no session of ${dir} yet`);
  return found;
}

const waits: ScriptedRun = { do: [{ sleep_ms: 60_000 }, { say: DONE }] };

test('each work tree has its runner; the first is the primary, and another takes that over when it is killed', async () => {
  project = makeProject({ runs: [waits], files: { '.gitignore': '.trees/\n' } });
  const tree = workTree('feature');
  const beside = project.start(['run', 'there'], { cwd: tree });
  await until(() => facts(project, 'attempt.spawned', sessionOf(tree)).length === 1, 'an agent in the tree');
  expect(primary()).toMatchObject({ pid: beside.child.pid, session_id: sessionOf(tree) });

  const main: Started = project.start(['run', 'here']);
  await until(() => facts(project, 'attempt.spawned', sessionOf(project.dir)).length === 1, 'an agent here');
  expect(primary()!.pid).toBe(beside.child.pid);
  for (const cwd of [project.dir, tree]) {
    const second = await project.ralph(['run'], { cwd });
    expect([second.code, second.err]).toEqual([5, expect.stringContaining('Another run is working here')]);
  }

  beside.child.kill('SIGKILL');
  await until(() => primary()?.pid === main.child.pid, 'the other is the primary');
  expect(primary()!.session_id).toBe(sessionOf(project.dir));
});
