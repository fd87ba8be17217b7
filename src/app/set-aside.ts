/**
 * Another session takes over the work tree (`--new`, `--session`): the open one's uncommitted work goes into a checkpoint and
 * its desk files come off the desk. Going on with it brings both back.
 */
import { commandFor } from '../core/index.ts';
import { append, finishSettingAside, redraw, setAside } from '../engine/index.ts';
import type { Audience } from './audience.ts';
import type { Place } from './place.ts';
import { openQuietly } from './quiet.ts';

export interface AsideRequest {
  place: Place;
  session: { id: string; dir: string };
  audience: Audience;
  env: NodeJS.ProcessEnv;
}

export async function setSessionAside({ place, session, audience, env }: AsideRequest): Promise<void> {
  const opened = await openQuietly({ place, session, env, patient: true });
  try {
    const { house } = opened;
    const owner = house.state.groundOwner;
    if (owner !== null && house.state.open.size === 0) await setAside(house, owner);
    await finishSettingAside(house);
    const taken = await house.desk.show([]);
    await append(
      house,
      taken.map(({ file, sha256 }) => ({
        type: 'desk.written' as const,
        file,
        sha256,
        at: house.clock.now(),
      })),
    );
    await redraw(house);
    audience.say(
      `Session ${session.id} is set aside; \`${commandFor(house.state, `ralph run --session ${session.id}`)}\` goes on with it.`,
    );
  } finally {
    await opened.close();
  }
}
