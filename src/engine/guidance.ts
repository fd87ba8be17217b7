/** Guidance of people as an agent is shown it, in its prompt and while it works. */
import type { Message, PromptGuidance } from '../core/index.ts';

/** The message with its time as text, in UTC. */
export function guidanceOf({ id, type, from, createdAt, text }: Message): PromptGuidance {
  const kind = type === 'INFO' ? 'note' : 'steer';
  return { id, kind, from, at: new Date(createdAt).toISOString(), text };
}
