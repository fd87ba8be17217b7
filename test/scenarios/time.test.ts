/** Time that fits the task: a task on a screen that needs 700 s, in a mode that gives simple ones 120 s. */
import { expect, test } from 'vitest';
import { readStory, whyText } from '../../src/views/index.ts';
import { DONE, facts, leave, makeWorld, policy, run, statuses, type World } from './world.ts';

const NEEDED_MS = 700_000;
const SPEED = { ...policy().timeout, mode: 'speed' as const, baseS: 120 };
const CHART = { id: 't1', title: 'The sales of a year', acceptance: ['per month', 'a Chart with a legend'] };

/** Each attempt adds its part; it reports only where its time is enough for all of the work. */
function slowOn(world: () => World) {
  return ({ iteration, attempt }: { iteration: number; attempt: number }) => {
    const { wallMs } = world().house.state.attempts.get(iteration)!.allowance;
    const write = { [`part-${attempt}.txt`]: `part ${attempt}` };
    return wallMs < NEEDED_MS ? { write, timeOut: true } : { write, say: DONE };
  };
}

test('it gets 360, 540 and 810 s; what timed-out attempts left is kept, gated, and named in the next prompt', async () => {
  const gate = { name: 'test', run: 'npm test', timeoutS: 60, required: true, minTests: 0 };
  const world: World = makeWorld({ tasks: [CHART], play: (seen) => slowOn(() => world)(seen) });
  const { exit } = await run(world, {
    timeout: SPEED,
    gates: [{ ...gate, baseline: 'no_regression' }],
  });
  expect(exit.code).toBe(0);
  expect(statuses(world)).toEqual({ t1: 'done' });
  const begun = facts(world, 'attempt.started');
  expect(begun.map(({ allowance }) => allowance.wallMs / 1000)).toEqual([360, 540, 810]);
  expect(begun[2]!.time).toMatchObject({ complexity: 'ui_heavy', multiplier: 3, timeouts: 2 });
  expect(facts(world, 'gate.ran').filter(({ when }) => when === 'after').length).toBe(3);
  expect(world.prompts[1]).toMatch(/iteration 1[\s\S]*part-1\.txt/);
  expect(world.prompts[2]).toMatch(/part-1\.txt[\s\S]*part-2\.txt/);
  expect(Object.keys(world.outside.commits.at(-1)!.files)).toEqual(
    expect.arrayContaining(['part-1.txt', 'part-2.txt', 'part-3.txt']),
  );
  const why = whyText(readStory(world.records), '3', { now: 0, live: { runner: null } });
  expect(why).toContain("ui_heavy because of 'Chart' in acceptance 2; 120 s × 3.0 × 1.5² = 810 s");
  leave(world);
});

test('without adaptive timeouts every attempt gets the seconds of the mode', async () => {
  const world: World = makeWorld({ tasks: [CHART], play: (seen) => slowOn(() => world)(seen) });
  const still = { ...SPEED, complexityScaling: false, failureScaling: false };
  expect((await run(world, { timeout: still })).exit.code).not.toBe(0);
  expect(new Set(facts(world, 'attempt.started').map(({ allowance }) => allowance.wallMs))).toEqual(
    new Set([120_000]),
  );
  leave(world);
});
