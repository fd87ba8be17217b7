/** What a person is told of false claims and corrections when a run is over: what is so, and no more. */
import { afterEach, expect, test } from 'vitest';
import { DONE, makeProject, type Project, result, story, taskList } from './project.ts';

let project: Project;
afterEach(() => project?.remove());

/** A result object as agents print it, with this evidence. */
const claims = (task: string, value: string) =>
  `Done.\n\n\`\`\`json\n${JSON.stringify({
    status: 'completed',
    task_id: task,
    summary: 'made it',
    files_modified: [`${task}.txt`],
    success_criteria_met: true,
    evidence: [{ criterion: '1', kind: 'commit', value }],
  })}\n\`\`\`\n`;

test('a task that was accepted beside a false claim is named in the summary, and nobody is said to have been told', async () => {
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('a')]) },
    config: 'gates: [{ name: there, run: "test -f a.txt" }]\n',
    runs: [{ do: [{ write: { path: 'a.txt', content: 'a\n' } }, { say: claims('a', 'deadbeef1') }] }],
  });
  const ran = await project.ralph(['run', '--json']);
  expect(ran.code).toBe(0);
  expect(result(ran)).toMatchObject({
    false_claims: [{ task_id: 'a', iteration: 1, detail: expect.stringContaining('deadbeef1') }],
    next: 'nothing is left to do; not all that was claimed of a is so: `ralph why a` tells it',
  });
  expect(ran.err).toContain('Accepted on the change itself, though not all that was claimed is so:');
  expect(ran.err).toMatch(
    / {2}a \(iteration 1\): Claimed, and not so: commit deadbeef1 .*\n {4}ralph why a\n/,
  );
  const why = await project.ralph(['why']);
  expect(why.out).toContain('though not all that was claimed is so');
  const nobody = 'told to nobody so far: the work was accepted, and this agent had no attempt since';
  expect((await project.ralph(['why', 'a'])).out).toContain(`remind (${nobody})`);
  const events = await project.ralph(['interventions']);
  expect(events.out).toContain(nobody);
  expect(events.out).not.toContain('corrected in the next prompt');
});

test('where every claim holds, the summary says nothing of claims', async () => {
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('a')]) },
    runs: [{ do: [{ write: { path: 'a.txt', content: 'a\n' } }, { say: DONE }] }],
  });
  const ran = await project.ralph(['run', '--json']);
  expect(result(ran)).toMatchObject({ false_claims: [], next: 'nothing is left to do' });
  expect(ran.err).not.toContain('claimed is so');
});

test('a task that another agent took over because of a different task says so, and names who made which attempt', async () => {
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('a'), story('c')]) },
    config:
      '  second: { command: ["ralph", "__script-agent", "agent.json"] }\nfallback: [second]\nlimits: { max_task_attempts: 9, max_stuck: 0, max_iterations: 5 }\n',
    runs: [
      { when: { task: 'a', attempt: 3 }, do: [{ write: { path: 'a.txt', content: 'a\n' } }, { say: DONE }] },
      { do: [{ say: DONE }] },
    ],
  });
  expect((await project.ralph(['run'])).code).toBe(1);
  const { out } = await project.ralph(['why', 'a']);
  expect(out).toMatch(
    /iteration 1 · implement by scripted: rejected .*\n {2}second took over from scripted: its circuit breaker tripped in iteration 2 \(c\)\n {2}iteration 3 · implement by second: rejected/,
  );
  const profile = (await project.ralph(['profile', '--agent', 'scripted'])).out;
  expect(profile).toMatch(/given to another agent, and not counted above: \d+ findings/);
});
