/** Branches that are moved while an attempt works are told to the end: by the run, its last lines and the list of loops. */
import { afterEach, expect, test, vi } from 'vitest';
import { facts, verdicts } from './journal.ts';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

function make(moves: string): void {
  project = makeProject({
    files: { 'prd.json': taskList([story('A')]) },
    config: 'land: branch\n',
    runs: [{ do: [{ run: `echo made > {{task}}.txt; ${moves}` }, { say: DONE }] }],
  });
  project.git('commit', '-q', '--allow-empty', '-m', 'second');
  project.git('branch', 'stable');
}

async function told(args: string[]) {
  const { out } = await project.ralph(['run', '-n', '1', '--worktree', 'one', ...args]);
  const rows = JSON.parse((await project.ralph(['loops', '--json'])).out) as Record<string, unknown>[];
  return { out, row: rows.find(({ loop_id }) => loop_id === 'one')! };
}

test('a branch that an attempt moved to its own commit stands in the last lines and in the list, until it is put back', async () => {
  make('git commit -q --allow-empty -m junk && git update-ref refs/heads/main HEAD');
  const old = project.git('rev-parse', 'main');
  const { out, row } = await told([]);
  const now = project.git('rev-parse', 'main');
  const back = `git update-ref refs/heads/main ${old} ${now}`;
  const line = `Branch main was moved in iteration 1 from ${old.slice(0, 12)} to ${now.slice(0, 12)}, a commit made in it; \`${back}\` puts it back.`;
  expect(out.slice(out.indexOf('Iterations'))).toContain(line);
  expect(verdicts(project)[0]).toContain('branch_moved');
  expect(row.moved_branches).toEqual([
    { iteration: 1, branch: 'main', from: old, to: now, made_in_it: true, back },
  ]);
  expect((await project.ralph(['loops'])).out).toContain(`\n  b${line.slice(1, -1)}\n  next: `);
  project.git('update-ref', 'refs/heads/main', old, now);
  const [after] = JSON.parse((await project.ralph(['loops', '--json'])).out);
  expect(after).not.toHaveProperty('moved_branches');
});

test('a branch that was forced to what it does not hold is told and held against nobody; one that went forward is not', async () => {
  make(
    'git branch -f stable HEAD~1; git update-ref refs/heads/main $(git commit-tree -p main -m on HEAD^{tree})',
  );
  const old = project.git('rev-parse', 'stable');
  const { out, row } = await told(['--json']);
  const now = project.git('rev-parse', 'stable');
  expect(now).not.toBe(old);
  const back = `git update-ref refs/heads/stable ${old} ${now}`;
  const move = { iteration: 1, branch: 'stable', from: old, to: now, made_in_it: false, back };
  expect(JSON.parse(out.trim().split('\n').at(-1)!)).toMatchObject({ moved_branches: [move] });
  expect(row.moved_branches).toEqual([move]);
  expect(facts(project, 'notice.given').map(({ level, text }) => [level, text])).toContainEqual([
    'warning',
    expect.stringContaining('which does not hold what it held, by it or by somebody else'),
  ]);
  expect(verdicts(project)[0]).not.toContain('branch_moved');
  const why = await project.ralph(['why', '1', '--session', '@one']);
  expect(why.out).toContain(back);
});
