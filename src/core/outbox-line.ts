/**
 * One line of an attempt's outbox. The token on it proves that it comes from the live attempt, not
 * from an earlier one or from text an agent found; it keeps honest agents apart and is no more than that.
 */
import type { ClaimedEvidence, ResultObject } from './claim.ts';
import { plainText } from './final-message.ts';
import { readEvidence, readResult } from './result-object.ts';

export type OutboxLine =
  | { kind: 'topic'; topic: string; payload: string }
  | { kind: 'result'; result: ResultObject }
  /** `progress`: the agent told a person, without waiting. */
  | { kind: 'note'; text: string; progress: boolean }
  /** `ralph emit` refused a topic outside `publishes` and recorded that. */
  | { kind: 'unlisted'; topic: string; payload: string }
  /** The agent has read these messages, and the outcome of these questions. */
  | { kind: 'ack'; messages: string[]; questions: string[] }
  /** One piece of evidence for its report, recorded while it works. */
  | { kind: 'evidence'; evidence: ClaimedEvidence }
  /** Work it found that no task of the list names. */
  | { kind: 'task'; title: string; description: string }
  /** Whole and readable, but without the live token, or in the name of a person. */
  | { kind: 'forged'; topic: string; as: 'attempt' | 'person' }
  | { kind: 'unreadable'; reason: string };

/** Longest line that is read, in characters: a payload of 64 KB, escaped, and its envelope. */
export const MAX_OUTBOX_LINE_CHARS = 400_000;
const MAX_PAYLOAD_CHARS = 65_536;
const MAX_TOPIC_CHARS = 200;
const MAX_TITLE_CHARS = 300;
const MAX_ID_CHARS = 200;
const MAX_IDS = 200;

/** Words stand in the payload; a name has none. */
export const TOPIC = /^[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u;

/** What only a person says. An agent may ask one, and no more. */
const PERSONS = /^human\.(?!interact$)/i;

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
  if (typeof token !== 'string' || !verify(token)) return { kind: 'forged', topic: name, as: 'attempt' };
  const { payload } = object;
  if (PERSONS.test(name)) return { kind: 'forged', topic: name, as: 'person' };
  if (!name.startsWith('ralph.') && name !== 'interact.progress') {
    if (!TOPIC.test(name)) return { kind: 'unreadable', reason: 'its topic is no name' };
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
    case 'ralph.ack':
      return readAck(payload);
    case 'ralph.evidence': {
      const [evidence] = readEvidence([isObject(payload) ? payload : parsed(textOf(payload))]);
      return evidence === undefined
        ? { kind: 'unreadable', reason: 'ralph.evidence holds no evidence' }
        : { kind: 'evidence', evidence };
    }
    case 'ralph.task': {
      const inner = isObject(payload) ? payload : { title: payload };
      const title = textOf(inner.title).replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE_CHARS);
      return title === ''
        ? { kind: 'unreadable', reason: 'ralph.task holds no title' }
        : { kind: 'task', title, description: textOf(inner.description).trim() };
    }
    default:
      return { kind: 'unreadable', reason: `${topic} is not a topic the loop knows` };
  }
}

function readAck(payload: unknown): OutboxLine {
  const { messages, questions } = isObject(payload) ? payload : {};
  const ids = (list: unknown) =>
    (Array.isArray(list) ? list : [])
      .filter((id): id is string => typeof id === 'string' && id !== '' && id.length <= MAX_ID_CHARS)
      .slice(0, MAX_IDS);
  const read = { messages: ids(messages), questions: ids(questions) };
  return read.messages.length + read.questions.length === 0
    ? { kind: 'unreadable', reason: 'ralph.ack names nothing that was read' }
    : { kind: 'ack', ...read };
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
