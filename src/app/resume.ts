/** `ralph resume` beside a live runner tells it to go on; without one the caller runs the loop itself. */
import { join } from 'node:path';
import { readLock } from '../store/index.ts';
import { currentSession } from './choose.ts';
import { findPlace } from './place.ts';
import { refuseAgents, send } from './send.ts';

/** null: no runner is alive. */
export async function resumeLive(
  cwd: string,
  env: NodeJS.ProcessEnv,
  id?: string,
): Promise<{ session_id: string; outcome: string } | null> {
  refuseAgents();
  const session = await currentSession(await findPlace(cwd), id);
  const holder = await readLock(join(session.dir, 'lock'));
  if (holder === null || holder.alive === false) return null;
  const { sessionId, outcome } = await send({ cwd, env, session: session.id, draft: { type: 'RESUME' } });
  return { session_id: sessionId, outcome };
}
