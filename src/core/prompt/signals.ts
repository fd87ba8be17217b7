/** What people have said to an agent since its prompt, as it is shown when it looks for itself. */
import { GUIDANCE_EACH, type Guided, guidanceText } from './guidance.ts';
import { fenced, inert, inertLine, shortened } from './inert.ts';
import type { PromptGuidance } from './input.ts';

/** What became of a question: an answer, or silence (`by` null), whose meaning `answer` may be. */
export interface SignalReply {
  id: string;
  question: string;
  answer: string;
  by: string | null;
}

/** Most characters that one look shows; at least one message is shown whole as far as its own bound. */
const LOOK_CHARS = 10_000;

/** The oldest messages, as many as one look shows. */
export function firstOf<T extends { text: string }>(messages: readonly T[]): T[] {
  let left = LOOK_CHARS;
  const shown: T[] = [];
  for (const message of messages) {
    left -= Math.min(message.text.length, GUIDANCE_EACH);
    if (left < 0 && shown.length > 0) break;
    shown.push(message);
  }
  return shown;
}

/** The words of one look. `more`: messages that wait for the next one. */
export function signalsText(
  said: { guidance: readonly PromptGuidance[]; replies: readonly SignalReply[]; more: number },
  guided: Guided,
): string {
  const parts: string[] = [];
  const guidance = guidanceText(said.guidance, guided);
  if (guidance !== '') parts.push(guidance);
  for (const { id, question, ...reply } of said.replies)
    parts.push(`Question ${id}:\n${quoted(question, guided)}\n${replyText(reply, guided)}`);
  if (said.more > 0) parts.push(`${said.more} more wait. Look again.`);
  return parts.length === 0 ? 'Nothing new. Go on.' : parts.join('\n\n');
}

/** An answer, or what silence means. Its words are data. */
export function replyText({ answer, by }: Pick<SignalReply, 'answer' | 'by'>, guided: Guided): string {
  if (by !== null)
    return `Answer of ${inertLine(by, guided.completionWord).slice(0, 100)}:\n${quoted(answer, guided)}`;
  if (answer.trim() === '')
    return 'Nobody answered. Decide yourself, and say in your report what you decided.';
  return `Nobody answered. Take the default that was named:\n${quoted(answer, guided)}`;
}

function quoted(text: string, { completionWord }: Guided): string {
  return fenced(inert(shortened(text.trim(), GUIDANCE_EACH), completionWord));
}
