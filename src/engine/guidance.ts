/** Guidance of people as an agent is shown it, in its prompt and while it works. */
import { type Message, type PromptGuidance, wordsOf } from '../core/index.ts';

/** The message with its time as text, in UTC. */
export function guidanceOf(message: Message): PromptGuidance {
  const { id, type, from, createdAt } = message;
  const kind = type === 'INFO' ? 'note' : 'steer';
  return { id, kind, from, at: new Date(createdAt).toISOString(), text: wordsOf(message) };
}
