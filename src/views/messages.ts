/** Messages and what became of each, so that a sender sees whether it was heard. */
import type { Story } from './story.ts';
import { iso, oneLine } from './words.ts';

export type MessageStory = Story['messages'][number];

export interface MessageJson {
  id: string;
  /** null for what could not be read as a message. */
  type: string | null;
  from: string | null;
  target: string | null;
  text: string;
  at: string | null;
  /** queued, paused, answered …, `no effect: …`, `stale: …` or `rejected: …`. */
  action: string;
  /** Iterations whose prompt carried it. */
  deliveries: number[];
}

/** The newest messages, oldest first; at most the 200 that the story keeps. */
export function messagesJson(story: Story): MessageJson[] {
  const deliveries = new Map(story.state.guidance.map((entry) => [entry.message.id, entry.deliveries]));
  return story.messages.map(({ at, id, message, action }) => ({
    id,
    type: message?.type ?? null,
    from: message?.from ?? null,
    target: message?.target ?? null,
    text: message?.text ?? '',
    at: iso(at),
    action,
    deliveries: deliveries.get(id) ?? [],
  }));
}

/** Messages that changed nothing: `status` tells their senders. */
export function unheard(messages: readonly MessageStory[]): MessageStory[] {
  return messages.filter(({ action }) => /^(?:no effect|stale|rejected|unconfirmed)/.test(action));
}

export function messagesText(messages: readonly MessageStory[]): string {
  if (messages.length === 0) return 'No message.';
  return messages
    .map(({ id, message, action }) => {
      const what = message
        ? `${message.type} from ${oneLine(message.from, 60)}: ${oneLine(message.text, 120) || '(no text)'}`
        : oneLine(id, 80);
      return `${what} — ${oneLine(action)}`;
    })
    .join('\n');
}
