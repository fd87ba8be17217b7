/** `ralph resume` beside a live runner tells it to go on; without one the caller runs the loop itself. */
import { join } from 'node:path';
import { isHeld, readLock } from '../store/index.ts';
import { currentSession } from './choose.ts';
import { findPlace } from './place.ts';
import { send } from './send.ts';

export interface ResumeRequest {
  cwd: string;
  env: NodeJS.ProcessEnv;
  session?: string | undefined;
  /** A person's word that an owner on another host is gone. */
  force: boolean;
}

/** null: no runner is known to be alive. */
export async function resumeLive({
  cwd,
  env,
  session: id,
  force,
}: ResumeRequest): Promise<{ session_id: string; outcome: string } | null> {
  const session = await currentSession(await findPlace(cwd), id);
  const holder = await readLock(join(session.dir, 'lock'));
  if (holder === null || !isHeld(holder) || (force && holder.alive === null)) return null;
  const { sessionId, outcome } = await send({ cwd, env, session: session.id, draft: { type: 'RESUME' } });
  return { session_id: sessionId, outcome };
}
