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
  /** What became of guidance that was taken in. null: it is no such thing. */
  delivery: Delivery | null;
}

/**
 * `queued`: waits for a prompt. `delivered`: an agent has it. `acknowledged`: one that had it has reported since.
 * `superseded`: later guidance for the same reached an agent after it. `undelivered`: the work ended before.
 */
export type Delivery = 'queued' | 'delivered' | 'acknowledged' | 'superseded' | 'undelivered';

type Guidance = State['guidance'][number];

/** The newest messages, oldest first; at most the 200 that are kept. */
export function messagesJson(state: State, messages: readonly MessageStory[]): MessageJson[] {
  const deliveries = new Map(state.guidance.map((entry) => [entry.message.id, entry.deliveries]));
  const states = new Map(state.guidance.map((entry, n) => [entry.message.id, deliveryOf(state, entry, n)]));
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
    delivery: states.get(id) ?? null,
  }));
}

function deliveryOf(state: State, { message, deliveries }: Guidance, n: number): Delivery {
  if (deliveries.length === 0) return isOver(state) ? 'undelivered' : 'queued';
  const last = Math.max(...deliveries);
  const later = state.guidance
    .slice(n + 1)
    .some(
      (other) =>
        message.type === 'STEER' &&
        other.message.type === 'STEER' &&
        other.message.target === message.target &&
        other.message.task === message.task &&
        other.deliveries.some((iteration) => iteration > last),
    );
  if (later) return 'superseded';
  const reported = deliveries.some((iteration) => state.attempts.get(iteration)?.report?.ending === 'ended');
  return reported ? 'acknowledged' : 'delivered';
}

/** Nothing will be prompted any more, unless a person opens the work again. */
function isOver(state: State): boolean {
  return state.aborted !== null || (state.phase === 'COMPLETE' && state.open.size === 0);
}

/** Guidance that reached nobody when a run ended, as lines. */
export function undeliveredLines(state: State): string[] {
  return state.guidance
    .filter(({ deliveries }) => deliveries.length === 0)
    .map(({ message }) => {
      const said = `${message.type} from ${oneLine(message.from, 60)}: ${oneLine(message.text, 120)}`;
      return isOver(state)
        ? `no agent was given this: ${said}; the work was over before`
        : `no agent was given this yet: ${said}; it stands in the next prompt`;
    });
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
  const over = `undelivered: ${state.aborted ? 'the session was aborted' : 'the work was over before'}`;
  const action = isOver(state) ? over : waits;
  return messages
    .filter(({ id }) => lying.has(id))
    .map((entry) => ({ ...entry, action: `${stoodWords(entry)}${action}` }));
}

/** An attempt that led nowhere by itself has not had it; that its prompt held it is still so. */
function stoodWords({ stood = [] }: MessageStory): string {
  if (stood.length === 0) return '';
  const which = stood.length === 1 ? `iteration ${stood[0]}` : `iterations ${stood.join(', ')}`;
  return `stood in the prompt of ${which}, which ended before its agent reported; `;
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
