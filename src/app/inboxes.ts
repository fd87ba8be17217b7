/**
 * What a channel may do with the loops of a project. Its own loop's state is at hand; that of each other is read from
 * its journal when it is asked for. Words go into the mailbox of the session they are for, where its runner finds them.
 */
import { open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { State } from '../core/index.ts';
import type { ChannelInbox, House, LoopInbox, LoopName, OtherLoop } from '../engine/index.ts';
import { foldSession, logName, sentBefore, signingKey, writeSignal } from '../store/index.ts';
import { type LiveInfo, statusText, tasksText } from '../views/index.ts';
import { isOpen } from './choose.ts';
import { type KnownLoop, knownLoops } from './known-loops.ts';
import type { Primary } from './primary.ts';
import { liveOf } from './windows.ts';

export interface InboxCall {
  mainDir: string;
  /** The work tree of this loop, as it stands in facts. */
  ground: string;
  where: LoopName;
  memories(): Promise<string>;
  env: NodeJS.ProcessEnv;
  primary: Primary;
}

/** The inbox of the loop that runs here. */
export function inboxOf(house: House, call: InboxCall): ChannelInbox {
  const runner = { pid: process.pid, host: hostname(), startedAt: house.clock.now() };
  return {
    ...loopInbox({
      ...call,
      sessionDir: house.sessionDir,
      state: () => house.state,
      live: () => Promise.resolve({ runner }),
    }),
    hears: call.primary.held,
    async others() {
      const loops = await knownLoops(call.mainDir);
      return loops.filter(({ ground }) => ground !== call.ground).map((loop) => otherLoop(loop, call));
    },
  };
}

function otherLoop({ name, sessionId, dir, live }: KnownLoop, call: InboxCall): OtherLoop {
  let folded: State | null = null;
  const state = () => {
    folded ??= foldSession(dir, null).state;
    return folded;
  };
  return {
    ...loopInbox({
      ...call,
      where: { sessionId, loop: name },
      sessionDir: dir,
      state,
      live: () => liveOf(dir),
    }),
    // A journal that cannot be read is no reason not to take a word.
    get standing() {
      if (live) return 'live';
      try {
        return isOpen(state()) && state().aborted?.done !== true ? 'waits' : 'ended';
      } catch {
        return 'waits';
      }
    },
  };
}

interface Seen extends Pick<InboxCall, 'mainDir' | 'where' | 'memories' | 'env'> {
  sessionDir: string;
  state(): State;
  live(): Promise<LiveInfo>;
}

function loopInbox({ mainDir, where, memories, env, sessionDir, state, live }: Seen): LoopInbox {
  const send: LoopInbox['send'] = async ({ text, key: once, ...spoken }) => {
    // Whoever heard before may have put it into another loop's mailbox, and died before it was written down.
    const before = once === undefined ? null : await sentBefore(mainDir, once);
    if (before !== null) return before;
    const key = await signingKey({ create: true, env });
    const draft = { ...spoken, ...(text === '' ? {} : { message: text }) };
    return writeSignal(sessionDir, draft, { key, ...(once === undefined ? {} : { once }) });
  };
  return {
    send,
    open: () => [...state().openQuestions].map((id) => state().questions.get(id)!.question),
    question(id) {
      const known = state().questions.get(id);
      return known === undefined ? null : { question: known.question, state: known.state, by: known.by };
    },
    async view(window) {
      switch (window) {
        case 'status':
          return statusText(state(), Date.now(), await live());
        case 'tasks':
          return tasksText(state());
        case 'memories':
          return memories();
        case 'tail':
          return tailOf(sessionDir, state());
      }
    },
    async restart(by) {
      await send({ type: 'HALT', text: 'restart', op: 'restart', from: by });
    },
    sessionDir,
    context: { ...where, iteration: null, role: null, task: null },
  };
}

/** As many lines of a transcript as a person reads on a phone. */
const TAIL_LINES = 30;
const TAIL_BYTES = 16 * 1024;

async function tailOf(sessionDir: string, { lastIteration }: State): Promise<string> {
  if (lastIteration === 0) return 'No agent has run yet.';
  try {
    const file = await open(join(sessionDir, logName(lastIteration)), 'r');
    try {
      const { size } = await file.stat();
      const length = Math.min(size, TAIL_BYTES);
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
      const lines = buffer.toString('utf8').split('\n').filter(Boolean);
      return lines.length === 0
        ? `Iteration ${lastIteration} has said nothing yet.`
        : [`Iteration ${lastIteration}:`, ...lines.slice(-TAIL_LINES)].join('\n');
    } finally {
      await file.close();
    }
  } catch {
    return `Iteration ${lastIteration} has said nothing yet.`;
  }
}
