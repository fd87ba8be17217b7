/** The simulation of `npm run bench:effectiveness`, small: that it is what it says. */
import { describe, expect, it, vi } from 'vitest';
import { policyFor } from '../bench/effectiveness/arms.ts';
import { act, needS, TASKS } from '../bench/effectiveness/mix.ts';
import { playPure } from '../bench/effectiveness/pure.ts';
import { playReal } from '../bench/effectiveness/real.ts';

vi.setConfig({ testTimeout: 120_000 });
const mix = { p: 0.5, q: 0.4 };

describe('the simulated agent', () => {
  it('meets the same fate in both arms and in any order', () => {
    const attempt = { seed: 7, mix, task: 'T30', attempt: 2, allowanceS: 360, warned: false };
    expect(act(attempt)).toEqual(act({ ...attempt }));
    expect(act({ ...attempt, mix: { p: 1, q: 1 } }).kind).toBe('lies');
    expect(act({ ...attempt, mix: { p: 1, q: 1 }, warned: true }).kind).not.toBe('lies');
  });

  it('has slow tasks only among those of the user interface', () => {
    const slow = TASKS.filter((task) => needS(3, task) > 120);
    expect(slow.length).toBeGreaterThan(0);
    expect(slow.every(({ ui }) => ui)).toBe(true);
  });
});

it('a run on real git and one in memory are the same run', async () => {
  const iterations = 9;
  const pure = await playPure({
    policy: await policyFor('interventions', { iterations }),
    seed: 5,
    mixes: { simulated: mix },
  });
  const real = await playReal({ arm: 'interventions', seed: 5, mix, iterations });
  expect(real.trail).toEqual(pure.trail);
  expect(real.trail).toHaveLength(iterations);
});

it('no lie is ever accepted, and interventions block fewer tasks of an agent that heeds them', async () => {
  const played = async (arm: 'baseline' | 'interventions') =>
    playPure({ policy: await policyFor(arm), seed: 1, mixes: { simulated: { p: 1, q: 0.6 } } });
  const [without, with_] = [await played('baseline'), await played('interventions')];
  expect([without.falseAccepted, with_.falseAccepted]).toEqual([0, 0]);
  expect(with_.verified).toBeGreaterThan(without.verified);
});
