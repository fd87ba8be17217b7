/**
 * The last step of a loop's session: its work as a whole goes to the branch it is for. That may wait for other loops
 * and run gates, so what people say is heard meanwhile, and a pause, a stop or an abort ends it with nothing lost.
 */
import { gateKey, redAsBefore } from '../../core/index.ts';
import { append, type House } from '../house.ts';
import { watch } from '../watch.ts';

export async function bringIn(house: House): Promise<void> {
  const { landings, state } = house;
  if (landings === null) throw new Error('this session is no loop of a work tree');
  const ending = new AbortController();
  const watching = watch(house, {
    end: () => ending.abort(),
    // Agents finish their work at a stop; a landing is simply begun again.
    tick: async () => {
      if (state.stopAsked) ending.abort();
    },
  });
  let fact: Awaited<ReturnType<typeof landings.bringIn>>;
  try {
    fact = await landings.bringIn(state, { passedOn: await provenCommit(house), signal: ending.signal });
  } finally {
    await watching.close();
  }
  // Ended by us: the law says now what that was for.
  if (ending.signal.aborted && fact.type === 'loop.queued') return;
  await append(house, [fact]);
}

/**
 * HEAD, where every required gate has passed on what stands in the work tree now, or is as red as before the work
 * began. A gate's word is about the content
 * it ran on: a hook that rewrites files as they are committed makes another content, and so does a person. What of it
 * is in no commit keeps the loop from landing anyway.
 */
async function provenCommit({ state, ground }: House): Promise<string | null> {
  const { tree, head } = await ground.snapshot();
  const required = (state.policy?.gates ?? []).filter((gate) => gate.required);
  const isProven = required.every((gate) => {
    const known = state.gates.get(gateKey(gate, tree));
    return known !== undefined && (known.outcome === 'passed' || redAsBefore(state, gate, known));
  });
  return isProven ? head : null;
}
