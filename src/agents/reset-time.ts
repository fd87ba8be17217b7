/**
 * When a used-up limit ends, as agents and providers say it: in a sentence or in the headers of an answer.
 * Times are epoch ms; `now` is when it was said.
 */
import type { Json } from './json.ts';

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const UNIT_MS: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** "Jan 1st, 2100 12:00 AM", or "2:11 AM" for the next such time; by this machine's own zone. */
const CLOCK = /\bat (?:([A-Z][a-z]{2})[a-z]* (\d{1,2})[a-z]{0,2},? (\d{4}),? )?(\d{1,2}):(\d\d) ?([AP]M)\b/;
/** "in 3 days 4 hours 5 minutes", "in 1h2m3.5s", "in 20 seconds". */
const SPAN =
  /\bin ((?:\d+(?:\.\d+)? ?(?:days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|ms|[dhms])\b,?\s*(?:and )?)+|(?:\d+(?:\.\d+)?[dhms])+)/i;
const ISO = /\b(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d))/;

function clockTime(parts: RegExpExecArray, now: number): number | null {
  const [, month, day, year, hour, minute, half] = parts;
  const hours = (Number(hour) % 12) + (half === 'PM' ? 12 : 0);
  if (month === undefined) {
    const today = new Date(now);
    today.setHours(hours, Number(minute), 0, 0);
    // Minutes are cut, so the limit may end anywhere in that one.
    const at = today.getTime() + MINUTE_MS;
    return at <= now ? at + DAY_MS : at;
  }
  const index = MONTHS.indexOf(month.toLowerCase());
  if (index === -1) return null;
  return new Date(Number(year), index, Number(day), hours, Number(minute)).getTime() + MINUTE_MS;
}

function spanMs(words: string): number {
  let sum = 0;
  for (const [, number, unit] of words.matchAll(/(\d+(?:\.\d+)?) ?(ms|[dhms])/gi)) {
    sum +=
      unit?.toLowerCase() === 'ms'
        ? Number(number)
        : Number(number) * (UNIT_MS[unit?.toLowerCase() ?? ''] ?? 0);
  }
  return Math.ceil(sum);
}

/** The time that a sentence names; null where it names none. */
export function resetTimeIn(sentence: string, now: number): number | null {
  const said = sentence.slice(0, 4_000);
  const iso = ISO.exec(said)?.[1];
  if (iso !== undefined) return Number.isNaN(Date.parse(iso)) ? null : Date.parse(iso);
  const clock = CLOCK.exec(said);
  if (clock !== null) return clockTime(clock, now);
  const span = SPAN.exec(said)?.[1];
  const ms = span === undefined ? 0 : spanMs(span);
  return ms > 0 ? now + ms : null;
}

/** The time that `retry-after` tells; null where there is none. Names of headers are in lower case. */
export function resetTimeOf(headers: Json, now: number): number | null {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (exact > 0) return now + Math.ceil(exact);
  const told = headers['retry-after'];
  if (typeof told !== 'string' && typeof told !== 'number') return null;
  const seconds = Number(told);
  if (seconds > 0) return now + Math.ceil(seconds * 1_000);
  const at = Date.parse(String(told));
  return Number.isNaN(at) || at <= now ? null : at;
}
