/** Buttons and commands: what a press says, and what a command asks for first. */

import type { ChannelInbox, NewsContext, Spoken } from '../engine/index.ts';
import { oneLine } from '../views/index.ts';
import type { Heard } from './telegram-hear.ts';
import { tooLate } from './telegram-late.ts';
import type { ShownQuestion } from './telegram-state.ts';
import { escapeHtml } from './telegram-text.ts';
import { plainWords, type Words } from './telegram-words.ts';

const WINDOWS = ['status', 'tasks', 'memories', 'tail'] as const;
type Window = (typeof WINDOWS)[number];

/** The commands that only look. */
export function isWindow(name: string): name is Window {
  return (WINDOWS as readonly string[]).includes(name);
}

/** Commands for the run that is alive when they are sent. */
export const START_AGAIN: ReadonlySet<string> = new Set(['stop', 'restart', 'abort']);

/** Said to somebody who sent one of those while no run was alive. */
export function tooOld(name: string): string {
  return `You sent /${name} before this run began, so it did nothing. Send it again if you mean this run.`;
}

/** How long the buttons of `/abort` count, ms. */
const CONFIRM_MS = 10 * 60_000;

/** Asks whether an abort is meant; nothing happens before the button. */
export function confirmAbort(session: string, why: string): Words {
  const reason = why === '' ? '' : ` (${oneLine(why, 200)})`;
  return {
    ...plainWords(
      `Abort session ${session} now and for good?${reason} Running tasks are marked failed; nothing is reverted. /stop would end it at the next boundary.`,
      false,
    ),
    buttons: [
      { text: 'Abort for good', data: `abort|${session}|yes` },
      { text: 'No, go on', data: `abort|${session}|no` },
    ],
  };
}

/**
 * `speak`: it goes into the mailbox. `late`: it came too late, which is shown so that it is seen. `toast`: a word
 * at the button. `instead`: HTML that replaces the message with the button.
 */
export type Pressed =
  | { kind: 'speak'; draft: Omit<Spoken, 'from' | 'key'>; toast: string; instead?: string }
  | { kind: 'late' | 'toast'; toast: string; instead?: string };

export interface PressPlace {
  context: NewsContext;
  known: ChannelInbox['question'];
  /** What the message with the button shows, where that is remembered. */
  shown: ShownQuestion | null;
  /** Epoch ms. */
  now: number;
}

/** The session that a button belongs to; empty where it names none. */
export function sessionOf({ data }: Extract<Heard, { kind: 'press' }>): string {
  return data.split('|')[1] ?? '';
}

/** What pressing this button says. Button data comes from the chat, so it may be anything. */
export function pressedOn(heard: Extract<Heard, { kind: 'press' }>, place: PressPlace): Pressed {
  const [kind, session, ...rest] = heard.data.split('|');
  if (kind === 'abort') return abortPressed(heard, session ?? '', rest[0] ?? '', place);
  const [id, choice] = rest;
  if (kind !== 'q' || id === undefined || choice === undefined)
    return { kind: 'late', toast: 'This button is not known any more; nothing was done.' };
  if (place.shown !== null && place.shown.question !== id)
    return { kind: 'late', toast: 'This button does not belong to this message; nothing was done.' };
  const found = session === place.context.sessionId ? place.known(id) : null;
  if (found === null || found.state !== 'open') return { kind: 'late', toast: tooLate(id, found) };
  if (choice === 'approve' || choice === 'skip') {
    const type = choice === 'approve' ? 'APPROVE' : 'SKIP';
    return {
      kind: 'speak',
      draft: { type, text: '', question: id },
      toast: choice === 'approve' ? 'Approved.' : 'Skipped.',
    };
  }
  const option = /^\d{1,2}$/.test(choice) ? found.question.options[Number(choice)] : undefined;
  if (option === undefined) return { kind: 'late', toast: `${id} has no such option any more.` };
  const { key, text } = option;
  return {
    kind: 'speak',
    draft: { type: 'ANSWER', text, option: key, question: id },
    toast: `${key}) ${text}`,
  };
}

function abortPressed(
  heard: Extract<Heard, { kind: 'press' }>,
  session: string,
  word: string,
  { context, now }: PressPlace,
): Pressed {
  if (session !== context.sessionId)
    return { kind: 'late', toast: 'That session is not the one that runs; nothing was done.' };
  if (word !== 'yes') return { kind: 'toast', toast: 'It goes on.', instead: 'Not aborted; it goes on.' };
  // An accessible message has a date; without one the button is older than that.
  if (now - heard.at > CONFIRM_MS)
    return {
      kind: 'late',
      toast: 'That question is too old; send /abort again.',
      instead: 'Not aborted: the button came too late.',
    };
  return {
    kind: 'speak',
    draft: { type: 'ABORT', text: '' },
    toast: 'Aborting.',
    instead: `Aborted by ${escapeHtml(heard.name)}.`,
  };
}
