/** Which loop a word is for: the one that asked, the one that is named, else the one that hears. */
import { nearest } from '../core/index.ts';
import type { ChannelInbox, LoopInbox, OtherLoop } from '../engine/index.ts';
import { oneLine } from '../views/index.ts';

export interface Addressed {
  inbox: LoopInbox;
  /** It is the loop that hears. */
  own: boolean;
  standing: OtherLoop['standing'];
}

/** The loop that hears, which is meant where nothing else is said. */
export function ownLoop(inbox: ChannelInbox): Addressed {
  return { inbox, own: true, standing: 'live' };
}

/** The loop with this session; null: none has it any more. */
export async function loopOfSession(inbox: ChannelInbox, session: string): Promise<Addressed | null> {
  if (session === inbox.context.sessionId) return ownLoop(inbox);
  const found = (await inbox.others()).find(({ context }) => context.sessionId === session);
  return found === undefined ? null : addressed(found);
}

/** The loop of this name, or why no words can go there. */
export async function loopOfName(
  inbox: ChannelInbox,
  name: string,
): Promise<Addressed | { unknown: string }> {
  const wanted = name.toLowerCase();
  const isIt = ({ context: { loop, sessionId } }: LoopInbox) =>
    loop.toLowerCase() === wanted || sessionId === name;
  if (isIt(inbox)) return ownLoop(inbox);
  const others = await inbox.others();
  const found = others.filter(isIt);
  if (found.length > 1) return { unknown: ambiguous(name, found) };
  if (found.length === 1) return addressed(found[0]!);
  // Where no loop works in the main checkout, the one that hears stands in for it.
  if (wanted === 'main') return ownLoop(inbox);
  return { unknown: unknown(inbox, name, others) };
}

const addressed = (inbox: OtherLoop): Addressed => ({ inbox, own: false, standing: inbox.standing });
const called = ({ context: { loop } }: LoopInbox): string => `@${oneLine(loop, 80)}`;

function unknown(inbox: ChannelInbox, name: string, others: OtherLoop[]): string {
  const near = nearest(
    name,
    [inbox, ...others].map(({ context }) => context.loop),
  );
  const live = others.filter(({ standing }) => standing === 'live').map(called);
  return [
    `There is no loop "${oneLine(name, 60)}" here: unknown loop.`,
    ...(near === null ? [] : [`Did you mean @${oneLine(near, 80)}?`]),
    live.length === 0
      ? `This one is ${called(inbox)}.`
      : `These run now: ${[called(inbox), ...live].join(', ')}.`,
    `Your words went nowhere; write them again with one of these names, or without a name for ${called(inbox)}.`,
  ].join(' ');
}

function ambiguous(name: string, found: OtherLoop[]): string {
  const sessions = found.map(({ context }) => `@${context.sessionId}`).join(' or ');
  return `There are ${found.length} loops called "${oneLine(name, 60)}"; your words went nowhere. Name the session: ${sessions}.`;
}

/** What somebody is told whose word lies in the mailbox of a loop that does not run. */
export function liesThere({ inbox }: Addressed): string {
  return `Loop ${called(inbox)} does not run now: your words lie in its mailbox, and are read when it goes on.`;
}

/** What somebody is told whose word nobody would read. */
export function endedThere({ inbox }: Addressed): string {
  return `Loop ${called(inbox)} has ended its work, so nobody would read that; nothing was sent. \`ralph run\` in its work tree begins anew.`;
}

/** What somebody is told who wants to end what does not run. */
export function nothingRuns({ inbox }: Addressed, name: string): string {
  return `Loop ${called(inbox)} does not run now, so /${name} did nothing.`;
}
