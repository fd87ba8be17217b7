/**
 * The last step of a loop's session: its work as a whole goes to the branch it is for. That may wait for other loops
 * and run gates, so what people say is heard meanwhile, and a pause, a stop or an abort ends it with nothing lost.
 */
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
    fact = await landings.bringIn(state, ending.signal);
  } finally {
    await watching.close();
  }
  // Ended by us: the law says now what that was for.
  if (ending.signal.aborted && fact.type === 'loop.queued') return;
  await append(house, [fact]);
}
