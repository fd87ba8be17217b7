/** Messages and what became of each, so that a sender sees whether it was heard. */
import type { State } from '../core/index.ts';
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
  /** Iterations whose prompt carried it, or whose agent it reached while it worked. */
  deliveries: number[];
  /** Those of the latter kind. */
  live: number[];
  /** Of guidance that was taken: waits for a prompt, stood in one, or never will. null: it is no such thing. */
  delivery: 'queued' | 'delivered' | 'undelivered' | null;
}

/** The newest messages, oldest first; at most the 200 that are kept. */
export function messagesJson(state: State, messages: readonly MessageStory[]): MessageJson[] {
  const deliveries = new Map(state.guidance.map((entry) => [entry.message.id, entry.deliveries]));
  return messages.map(({ at, id, message, action, live = [] }) => ({
    id,
    type: message?.type ?? null,
    from: message?.from ?? null,
    target: message?.target ?? null,
    text: message?.text ?? '',
    at: iso(at),
    action,
    deliveries: deliveries.get(id) ?? [],
    live: live.filter((iteration) => deliveries.get(id)?.includes(iteration)),
    delivery: deliveryOf(state, deliveries.get(id)),
  }));
}

function deliveryOf(state: State, deliveries: number[] | undefined): MessageJson['delivery'] {
  if (deliveries === undefined) return null;
  if (deliveries.length > 0) return 'delivered';
  return state.aborted ? 'undelivered' : 'queued';
}

/** Guidance that no prompt has carried yet. */
function waiting(state: State, messages: readonly MessageStory[]): MessageStory[] {
  const lying = new Set(
    state.guidance.flatMap(({ message, deliveries }) => (deliveries.length === 0 ? [message.id] : [])),
  );
  const waits =
    state.open.size > 0
      ? 'waits for the agent at work, where that can be talked to, else for the next prompt'
      : 'stands in the next prompt';
  const action = state.aborted ? 'undelivered: the session was aborted' : waits;
  return messages.filter(({ id }) => lying.has(id)).map((entry) => ({ ...entry, action }));
}

/** What a sender looks for in `status`: words that changed nothing, and words that wait. */
export function tellSenders(state: State, messages: readonly MessageStory[]): MessageStory[] {
  return [...unheard(messages), ...waiting(state, messages)];
}

/** Messages that changed nothing: `status` tells their senders. */
function unheard(messages: readonly MessageStory[]): MessageStory[] {
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
