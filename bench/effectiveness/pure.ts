/** The same evening in memory: the real law and engine on a world without disk, git or processes. */

import type { Policy } from '../../src/core/index.ts';
import { leave, makeWorld, run } from '../../test/scenarios/world.ts';
import { act, FINISHED, isWarned, type Mix, saidDone, TASKS, UNFINISHED } from './mix.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

/** More turns than a hundred iterations can take. */
const TURNS_MOST = 20_000;

export interface PureRun {
  policy: Policy;
  seed: number;
  /** By agent; `simulated` plays unless the ladder turns to another. */
  mixes: Record<string, Mix>;
}

export async function playPure({ policy, seed, mixes }: PureRun): Promise<Outcome> {
  const world = makeWorld({
    tasks: TASKS.map(({ id, title }) => ({ id, title, acceptance: ['It works'] })),
    forgets: true,
    gate: (_, files) => {
      const unfinished = Object.keys(files).find((path) => path.endsWith('.part'));
      return unfinished === undefined
        ? { code: 0, output: '' }
        : { code: 1, output: `unfinished: ${unfinished}` };
    },
    play: ({ task, attempt, iteration, prompt }, { house }) => {
      const { allowance, agent } = house.state.attempts.get(iteration)!;
      const mix = mixes[agent] ?? mixes.simulated!;
      const { kind, tookS } = act({
        seed,
        mix,
        task,
        attempt,
        allowanceS: allowance.wallMs / 1000,
        warned: isWarned(prompt),
      });
      const tookMs = tookS * 1000;
      if (kind === 'times out')
        return {
          write: { [UNFINISHED(task)]: `attempt ${attempt}\n` },
          timeOut: true,
          say: 'Still at it.',
          tookMs,
        };
      if (kind === 'lies') return { say: saidDone(task), tookMs };
      return {
        write: { [FINISHED(task)]: `done in attempt ${attempt}\n` },
        remove: [UNFINISHED(task)],
        say: saidDone(task),
        tookMs,
      };
    },
  });
  try {
    await run(world, policy, { maxTurns: TURNS_MOST });
    return outcomeOf(world.house.state, (path) => world.outside.files[path] !== undefined);
  } finally {
    leave(world);
  }
}
