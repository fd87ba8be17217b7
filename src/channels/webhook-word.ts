/** What may be said to a webhook's answer address: an answer, or a word to the work. Read strictly. */

import type { Spoken } from '../engine/index.ts';
import { oneLine } from '../views/index.ts';

/** What a person can say here beside answers. */
export const SAYABLE = ['STEER', 'INFO', 'PAUSE', 'RESUME', 'ABORT'] as const;

const KEYS = ['id', 'session', 'loop', 'question', 'text', 'option', 'from', 'type', 'target', 'urgent'];
const MAX_TEXT_CHARS = 16_384;
const MAX_NAME_CHARS = 80;
const MAX_ID_CHARS = 128;

export interface Word {
  /** The sender's own id of it; null where it gave none. */
  id: string | null;
  /** The loop it is for, by its session or by its name; null: where it follows from the question, or the one that hears. */
  session: string | null;
  loop: string | null;
  spoken: Spoken;
}

/** The words of a body, or what is wrong with it. A key that is not known refuses it: it was meant for somebody else. */
export function readWord(body: string): Word | { wrong: string } {
  let given: unknown;
  try {
    given = JSON.parse(body);
  } catch {
    return { wrong: 'the body is no JSON' };
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { wrong: 'the body is no JSON object' };
  const fields = given as Record<string, unknown>;
  const strange = Object.keys(fields).find((key) => !KEYS.includes(key));
  if (strange !== undefined)
    return { wrong: `${oneLine(strange, MAX_NAME_CHARS)} is no key; known: ${KEYS.join(', ')}` };
  const { urgent, ...texts } = fields;
  const odd = Object.entries(texts).find(([, value]) => typeof value !== 'string');
  if (odd) return { wrong: `${odd[0]} is no text` };
  if (urgent !== undefined && typeof urgent !== 'boolean') return { wrong: 'urgent is not true or false' };
  return wordOf(texts as Record<string, string>, urgent === true);
}

function wordOf(fields: Record<string, string>, urgent: boolean): Word | { wrong: string } {
  const { id, question, option, target } = fields;
  const text = fields.text ?? '';
  const name = oneLine(fields.from ?? '', MAX_NAME_CHARS);
  if (text.length > MAX_TEXT_CHARS) return { wrong: `text is longer than ${MAX_TEXT_CHARS} characters` };
  if (id !== undefined && (id === '' || id.length > MAX_ID_CHARS))
    return { wrong: `id must have 1 to ${MAX_ID_CHARS} characters` };
  if (name === '') return { wrong: 'from is missing: the name of the person who says it' };
  const base = { text, from: `webhook (${name})` };
  const known = { id: id ?? null, session: fields.session ?? null, loop: fields.loop ?? null };
  if (question !== undefined) {
    if (fields.type !== undefined) return { wrong: 'question and type cannot stand together' };
    if (option === undefined && text.trim() === '') return { wrong: 'an answer needs text or option' };
    return {
      ...known,
      spoken: { ...base, type: 'ANSWER', question, ...(option === undefined ? {} : { option }) },
    };
  }
  const type = SAYABLE.find((one) => one === fields.type);
  if (type === undefined) return { wrong: `question is missing, or type: one of ${SAYABLE.join(', ')}` };
  if ((type === 'STEER' || type === 'INFO') && text.trim() === '') return { wrong: `${type} needs text` };
  return {
    ...known,
    spoken: { ...base, type, ...(target === undefined ? {} : { target }), ...(urgent ? { urgent } : {}) },
  };
}
