/** What is said to somebody whose answer comes too late. */
import type { ChannelInbox } from '../engine/index.ts';
import { nameOf } from './telegram-words.ts';

/** After another one's answer, after silence was the answer, or after the session. `found`: null for an unknown question. */
export function tooLate(id: string, found: ReturnType<ChannelInbox['question']>): string {
  if (found === null) return `${id} belongs to an earlier session; nothing was answered.`;
  if (found.state === 'answered') return `${id} was answered before you, by ${nameOf(found.by)}.`;
  return found.state === 'expired'
    ? `The time to answer ${id} is over; write without replying to guide the work.`
    : `${id} is closed; nothing waits for an answer any more.`;
}
