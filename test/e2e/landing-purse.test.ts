/** A run that lands loops which waited for it pays for the agents that are hired for their conflicts, and no more than it may. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { ownIdentity } from '../../src/process/index.ts';
import { readLoops, takeLock, treeLock } from '../../src/store/index.ts';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 180_000 });

let project: Project;
afterEach(() => project.remove());

const SHARED = 'top\nas it was\nend\n';
const RESULT = {
  ...{ type: 'result', subtype: 'success', is_error: false, result: DONE, session_id: 's' },
  ...{ total_cost_usd: 0.5, usage: { input_tokens: 10, output_tokens: 10 } },
};
const PAYS = `for file in one.txt two.txt; do
  ! grep -q '^<<<<<<<' $file || printf 'top\\nboth\\nend\\n' > $file
done
cat <<'END'
${JSON.stringify(RESULT)}
END
`;

/** Two loops that are done and wait, as somebody works in the main checkout, which then changed the same lines. */
async function twoWaiting(): Promise<void> {
  const changes = (file: string) => `sed -i s/as.it.was/mine/ ${file}`;
  project = makeProject({
    files: {
      ...{ 'one.txt': SHARED, 'two.txt': SHARED, 'pays.sh': PAYS },
      ...{ 'A.json': taskList([story('A')]), 'B.json': taskList([story('B')]) },
    },
    config: 'merge: { resolve: pays }\n',
    runs: [
      { when: { task: 'A' }, do: [{ run: changes('one.txt') }, { say: DONE }] },
      { when: { task: 'B' }, do: [{ run: changes('two.txt') }, { say: DONE }] },
      { do: [{ run: 'echo h > here.txt' }, { say: DONE }] },
    ],
  });
  const pays = 'agents:\n  pays: { command: [sh, pays.sh], output: claude-json }\n';
  project.write('ralph.yml', project.read('ralph.yml').replace('agents:\n', pays));
  project.git('commit', '-qam', 'Somebody is hired');
  const lock = { file: treeLock(project.dir), identity: ownIdentity(), sessionId: 's', now: Date.now() };
  const held = await takeLock(lock);
  if (held.kind !== 'taken') throw new Error('somebody runs in the main checkout');
  for (const [loop, list] of [
    ['one', 'A.json'],
    ['two', 'B.json'],
  ] as const)
    expect((await project.ralph(['run', '--worktree', loop, '--tasks', list, '--no-wait'])).code).toBe(8);
  await held.release();
  for (const file of ['one.txt', 'two.txt']) project.write(file, SHARED.replace('as it was', 'yours'));
  project.git('commit', '-qam', 'Say yours');
}

const loop = (id: string) => readLoops(project.dir).find((one) => one.id === id)!;
const flagsOfHired = (id: string) => {
  const file = join(project.dir, '.ralph-sessions', loop(id).hired!.session!, 'journal.jsonl');
  const [, flags] = /"type":"run.started".*?"flags":(\{[^}]*\})/.exec(readFileSync(file, 'utf8'))!;
  return JSON.parse(flags!) as Record<string, number>;
};

test('what it has left is the most an agent may cost, and where nothing is left nobody is hired', async () => {
  await twoWaiting();
  const here = await project.ralph(['run', 'something here', '--max-cost', '0.5', '--max-time', '30m']);
  expect([here.code, here.err]).toEqual([0, expect.any(String)]);
  expect([loop('one').standing, loop('two').standing]).toEqual(['landed', 'needs_review']);
  expect(flagsOfHired('one')).toMatchObject({ maxCost: 0.5 });
  expect(flagsOfHired('one').maxTime).toBeLessThanOrEqual(1800);
  expect(loop('two').hired).toBeNull();
  expect(loop('two').parked?.why).toContain(
    'pays was not hired for it: the run that lands it has nothing left of its --max-cost',
  );
});

test('a second one gets what the first one has left', async () => {
  await twoWaiting();
  expect((await project.ralph(['run', 'something here', '--max-cost', '1.25'])).code).toBe(0);
  expect([loop('one').standing, loop('two').standing]).toEqual(['landed', 'landed']);
  expect([flagsOfHired('one').maxCost, flagsOfHired('two').maxCost]).toEqual([1.25, 0.75]);
});
