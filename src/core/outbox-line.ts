/**
 * One line of an attempt's outbox. The token on it proves that it comes from the live attempt, not
 * from an earlier one or from text an agent found; it keeps honest agents apart and is no more than that.
 */
import type { ResultObject } from './claim.ts';
import { plainText } from './final-message.ts';
import { readResult } from './result-object.ts';

export type OutboxLine =
  | { kind: 'topic'; topic: string; payload: string }
  | { kind: 'result'; result: ResultObject }
  /** `progress`: the agent told a person, without waiting. */
  | { kind: 'note'; text: string; progress: boolean }
  /** `ralph emit` refused a topic outside `publishes` and recorded that. */
  | { kind: 'unlisted'; topic: string; payload: string }
  /** Whole and readable, but without the live token. */
  | { kind: 'forged'; topic: string }
  | { kind: 'unreadable'; reason: string };

/** Longest line that is read, in characters: a payload of 64 KB, escaped, and its envelope. */
export const MAX_OUTBOX_LINE_CHARS = 400_000;
const MAX_PAYLOAD_CHARS = 65_536;
const MAX_TOPIC_CHARS = 200;

/** Reads one line without its line end. `verify` says whether a token is the live one. Never throws. */
export function readOutboxLine(line: string, { verify }: { verify: (token: string) => boolean }): OutboxLine {
  if (line.length > MAX_OUTBOX_LINE_CHARS) return { kind: 'unreadable', reason: 'the line is too long' };
  const object = parsed(line);
  if (!isObject(object)) return { kind: 'unreadable', reason: 'the line is not a JSON object' };
  const { topic, token } = object;
  if (typeof topic !== 'string' || topic.trim() === '' || topic.length > MAX_TOPIC_CHARS) {
    return { kind: 'unreadable', reason: 'the line has no topic' };
  }
  const name = plainText(topic).trim();
  if (typeof token !== 'string' || !verify(token)) return { kind: 'forged', topic: name };
  const { payload } = object;
  if (!name.startsWith('ralph.') && name !== 'interact.progress') {
    return { kind: 'topic', topic: name, payload: textOf(payload) };
  }
  return reserved(name, payload);
}

/** `ralph.*` and `interact.progress` are spoken to the loop and wake nobody. */
function reserved(topic: string, payload: unknown): OutboxLine {
  switch (topic) {
    case 'ralph.result': {
      const result = readResult(typeof payload === 'string' ? parsed(payload) : payload, { lenient: true });
      return result === null
        ? { kind: 'unreadable', reason: 'ralph.result holds no status' }
        : { kind: 'result', result };
    }
    case 'ralph.unlisted': {
      const inner = isObject(payload) ? payload : parsed(textOf(payload));
      if (!isObject(inner) || typeof inner.topic !== 'string') {
        return { kind: 'unlisted', topic: 'unknown', payload: '' };
      }
      return {
        kind: 'unlisted',
        topic: inner.topic.slice(0, MAX_TOPIC_CHARS),
        payload: textOf(inner.payload),
      };
    }
    case 'ralph.note':
    case 'interact.progress': {
      const text = noteText(payload);
      return text === ''
        ? { kind: 'unreadable', reason: `${topic} holds no text` }
        : { kind: 'note', text, progress: topic === 'interact.progress' };
    }
    default:
      return { kind: 'unreadable', reason: `${topic} is not a topic the loop knows` };
  }
}

function noteText(payload: unknown): string {
  return textOf(isObject(payload) && 'text' in payload ? payload.text : payload).trim();
}

function textOf(payload: unknown): string {
  if (payload === undefined || payload === null) return '';
  return plainText((typeof payload === 'string' ? payload : written(payload)).slice(0, MAX_PAYLOAD_CHARS));
}

function written(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested deeper than the stack: nothing anybody meant to say.
    return '';
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
