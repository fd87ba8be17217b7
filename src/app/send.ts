/**
 * Says something to a session. With a live runner the message lies in the mailbox and is read there;
 * without one this command takes it in itself, so that its effect is seen at once.
 */

import { join } from 'node:path';
import { decide, type JournalRecord, type MessageType, Problem, type State } from '../core/index.ts';
import { intake, redraw, turn } from '../engine/index.ts';
import { ancestorCarries } from '../process/index.ts';
import { readLock, type SignalDraft, senderName, signingKey, writeSignal } from '../store/index.ts';
import { currentSession, type KnownSession, readState } from './choose.ts';
import { findPlace } from './place.ts';
import { openQuietly } from './quiet.ts';

export interface SendRequest {
  cwd: string;
  env: NodeJS.ProcessEnv;
  session?: string;
  draft: Omit<SignalDraft, 'from'>;
}

export interface Sent {
  sessionId: string;
  /** The message's id. */
  message: string;
  /** `queued`: a live runner will read it. Otherwise what it did. */
  outcome: string;
  state: State;
}

export async function send({ cwd, env, session: id, draft }: SendRequest): Promise<Sent> {
  refuseAgents();
  const place = await findPlace(cwd);
  const session = await currentSession(place, id);
  const key = await signingKey({ create: true, env });
  const name = await writeSignal(session.dir, { ...draft, from: senderName() }, { key });
  const holder = await readLock(join(session.dir, 'lock'));
  if (holder?.alive !== false && holder !== null) {
    return { sessionId: session.id, message: name, outcome: 'queued', state: readState(session.dir) };
  }
  const outcome = await takeIn({ place, session, env, name });
  return { sessionId: session.id, message: name, ...outcome };
}

/** What a person's commands may do, an attempt may not. */
export function refuseAgents(): void {
  if (!ancestorCarries('RALPH_RUN_TOKEN')) return;
  throw new Problem({
    code: 'agent.may_not_command',
    what: 'This command is for people, and it was called inside an attempt.',
    why: 'An agent can claim and ask (`ralph emit`), but neither answer its own questions nor control the loop.',
    fix: 'Report with `ralph emit`; a person runs this command from a terminal of their own.',
  });
}

interface TakeIn {
  place: Awaited<ReturnType<typeof findPlace>>;
  session: KnownSession;
  env: NodeJS.ProcessEnv;
  name: string;
}

async function takeIn({ place, session, env, name }: TakeIn): Promise<{ outcome: string; state: State }> {
  const opened = await openQuietly({ place, session, env });
  const { house } = opened;
  const from = house.state.seq;
  const seen: JournalRecord[] = [];
  try {
    const { recorded } = house;
    house.recorded = (record) => {
      seen.push(record);
      recorded(record);
    };
    await intake(house);
    // An abort runs its checklist at once, also without a runner.
    while (decide(house.state, { now: house.clock.now(), live: new Set() }).do === 'abort') await turn(house);
    await redraw(house);
    return {
      outcome: outcomeOf(
        seen.filter((record) => record.seq > from),
        name,
      ),
      state: house.state,
    };
  } finally {
    await opened.close();
  }
}

function outcomeOf(records: JournalRecord[], name: string): string {
  for (const fact of records.flatMap((record) => record.facts)) {
    if (fact.type === 'message.received' && fact.message.id === name) return fact.action;
    if (fact.type === 'message.rejected' && fact.id === name) {
      throw new Problem({
        code: 'message.rejected',
        what: `The message was not taken: ${fact.reason}`,
        why: 'Its type, target or content does not fit this session as it stands.',
        fix: 'See `ralph status` and `ralph inbox` for what is open.',
      });
    }
  }
  return 'left in the mailbox until it can be used';
}

/** What each control message is called when it is sent. */
export const CONTROL: Record<'pause' | 'stop' | 'abort', MessageType> = {
  pause: 'PAUSE',
  stop: 'HALT',
  abort: 'ABORT',
};
