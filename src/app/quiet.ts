/** Opens a session without running it: to take in a message, or to set it aside. */
import { Problem } from '../core/index.ts';
import { openTaskList } from '../store/index.ts';
import type { Audience } from './audience.ts';
import { readState } from './choose.ts';
import { type Opened, openPlaceGround, openSession } from './open.ts';
import type { Place } from './place.ts';

const SILENT: Audience = { record: () => undefined, event: () => undefined, say: () => undefined };

export interface QuietRequest {
  place: Place;
  session: { id: string; dir: string };
  env: NodeJS.ProcessEnv;
  patient?: boolean;
}

/** Throws a Problem when a runner is alive. No agent can be started from here. */
export async function openQuietly({ place, session, env, patient }: QuietRequest): Promise<Opened> {
  const state = readState(session.dir);
  const path = state.source?.path ?? null;
  const list =
    path === null
      ? null
      : await openTaskList({ projectDir: place.dir, groundRoot: place.project.root, path });
  const excluded = list?.groundPath ? [list.groundPath] : [];
  return openSession({
    place,
    session,
    timezone: state.session?.timezone ?? 'UTC',
    list,
    ground: () => openPlaceGround(place, session, { excluded, useGit: true }),
    agent: refuse,
    audience: SILENT,
    env,
    force: false,
    ...(patient === undefined ? {} : { patient }),
  });
}

function refuse(): never {
  throw new Problem({
    code: 'agent.not_here',
    what: 'No agent is started by this command.',
    why: 'It only takes a message in.',
    fix: 'Use `ralph run`.',
  });
}
