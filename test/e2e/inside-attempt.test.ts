/** Every command, called by an agent inside its attempt: it may look, and what is a person's is refused. */
import { afterEach, expect, test } from 'vitest';
import { RIGHTS } from '../../src/cli/inside-attempt.ts';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

let project: Project;
afterEach(() => project?.remove());

/** Each way to call a command that has a right of its own, and whether an agent is refused. */
const CALLS: [line: string, refused: boolean][] = [
  ['run', true],
  ['bot status', true],
  ['run -C ../elsewhere', true],
  ['run --dry-run', false],
  ['resume', true],
  ['resume --dry-run', false],
  ['tasks', false],
  ['tasks list', false],
  ['tasks done a', true],
  ['tasks cancel a', true],
  ['tasks reopen a', true],
  ['pause', true],
  ['stop', true],
  ['abort', true],
  ['answer yes', true],
  ['tell more', true],
  ['signal INFO more', true],
  ['approve', true],
  ['skip', true],
  ['feedback -m more', true],
  ['unblock a', true],
  ['retry-blocked', true],
  ['retry-blocked --run', true],
  ['blocked --suggest', false],
  ['status', false],
  ['sessions', false],
  ['inbox', false],
  ['knowledge', false],
  ['why a', false],
  ['events', false],
  ['interventions', false],
  ['interventions --reset', true],
  ['profile', false],
  ['logs', false],
  ['archive', true],
  ['demo', false],
  ['init', true],
  ['init --yes', true],
  ['init --dry-run', false],
  ['import more.json', true],
  ['import more.json --yes', true],
  ['import more.json --dry-run', false],
  ['doctor', true],
  ['doctor --no-agent', false],
  ['agents', false],
  ['config', false],
  ['hats', false],
  ['hats validate', false],
  ['loops', false],
  ['loops logs a', false],
  ['loops stop a', true],
  ['loops discard a --yes', true],
  ['run --worktree more', true],
  ['completions bash', false],
  ['help run', false],
  ['run --help', false],
  // Without its own token in the environment, an ancestor still carries it.
  ['interventions --reset --json', true],
];

test('every command has a call here', () => {
  const called = new Set(CALLS.map(([line]) => line.split(' ')[0]));
  expect(Object.keys(RIGHTS).filter((name) => !called.has(name))).toEqual([]);
});

test('an agent may look, and what is a person’s is refused and changes nothing', {
  timeout: 120_000,
}, async () => {
  const calls = CALLS.map(([line], n) => ({
    run: `env ${line.endsWith('--json') ? '-u RALPH_RUN_TOKEN ' : ''}ralph ${line} >"$RALPH_SESSION_DIR/said-${n}" 2>&1 </dev/null; true`,
  }));
  project = makeProject({
    files: {
      'ralph/tasks.json': taskList([story('a')]),
      'more.json': taskList([story('b')]),
    },
    runs: [
      // A claim that nothing stands behind: what an agent would like to be rid of.
      { when: { iteration: 1 }, do: [{ say: DONE }] },
      { do: [...calls, { write: { path: 'a.txt', content: 'a\n' } }, { say: DONE }] },
    ],
  });
  const before = project.read('ralph.yml');
  expect((await project.ralph(['run'], { timeoutMs: 110_000 })).code).toBe(0);
  const [session] = JSON.parse((await project.ralph(['sessions', '--json'])).out) as { session_id: string }[];
  const said = CALLS.map(([line], n): [string, boolean] => [
    line,
    project.read(`.ralph-sessions/${session!.session_id}/said-${n}`).includes('This command is for people'),
  ]);
  expect(said).toEqual(CALLS);
  expect(project.read('ralph.yml')).toBe(before);
  const [profile] = JSON.parse((await project.ralph(['profile', '--json'])).out) as {
    total_iterations: number;
    false_completion_count: number;
  }[];
  expect(profile).toMatchObject({ total_iterations: 2, false_completion_count: 1 });
});
