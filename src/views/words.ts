/**
 * The words every window shares: text from agents made safe for a terminal, and numbers as people read
 * them. Nothing an agent wrote reaches a terminal without passing `plain` or `oneLine`.
 */
import { type CostSource, printable, spentWords } from '../core/index.ts';

/** Text without control sequences, several lines kept. At most `max` characters, then `…`. */
export function plain(text: string, max = 4_000): string {
  // Cut before the search, so that a huge text costs no more than a long one.
  const cut = text.length > max * 4 ? text.slice(0, whereToCut(text, max * 4)) : text;
  const safe = printable(cut);
  return shorten(cut === text ? safe : `${safe}…`, max);
}

/** The same on one line: every run of white space is one blank. Default 200 characters. */
export function oneLine(text: string, max = 200): string {
  return shorten(
    plain(text, max * 4)
      .replace(/\s+/g, ' ')
      .trim(),
    max,
  );
}

function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, whereToCut(text, Math.max(0, max - 1))).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** As long as what could be a secret, and as far as one is looked for on both sides of a cut. */
const SECRET_CHARS = 16;
const LOOK_CHARS = 400;

/**
 * What is shown here loses its secrets only behind this: half of one would not be known any more. So a run of characters
 * that could be one goes as a whole; words, numbers, paths and names are cut anywhere.
 */
function whereToCut(text: string, at: number): number {
  const before = /[\w+=.~-]*$/.exec(text.slice(Math.max(0, at - LOOK_CHARS), at))![0];
  const behind = /^[\w+=.~-]*/.exec(text.slice(at, at + LOOK_CHARS))![0];
  const run = before + behind;
  const isSecretLike = run.length >= SECRET_CHARS && /\d/.test(run) && /[A-Za-z]/.test(run);
  return behind !== '' && isSecretLike ? at - before.length : at;
}

/** `0s`, `47m 23s`, `2h 05m`. Milliseconds in; negative and unknown lengths are 0. */
export function duration(ms: number): string {
  const s = Number.isFinite(ms) ? Math.max(0, Math.floor(ms / 1000)) : 0;
  if (s < 60) return `${s}s`;
  if (s < 3_600) return `${Math.floor(s / 60)}m ${two(s % 60)}s`;
  return `${Math.floor(s / 3_600)}h ${two(Math.floor((s % 3_600) / 60))}m`;
}

/** A length somebody set, without its zeros: `15m`, `90s`, `1h`, `1h 30m`. Milliseconds in. */
export function span(ms: number): string {
  const s = Number.isFinite(ms) ? Math.max(0, Math.round(ms / 1000)) : 0;
  if (s < 120 && s !== 60) return `${s}s`;
  const parts = [
    { n: Math.floor(s / 3_600), unit: 'h' },
    { n: Math.floor((s % 3_600) / 60), unit: 'm' },
    { n: s % 60, unit: 's' },
  ];
  return parts
    .filter(({ n }) => n > 0)
    .map(({ n, unit }) => `${n}${unit}`)
    .join(' ');
}

function two(n: number): string {
  return String(n).padStart(2, '0');
}

/** A price alone. */
export function price(usd: number | null, source?: CostSource): string {
  const words = spentWords({ costUsd: usd, estimated: null });
  return source === 'subscription'
    ? `${words} by subscription`
    : `${source === 'estimated' ? 'about ' : ''}${words}`;
}

/** `950`, `12.3k`, `4.1M`. */
export function tally(n: number): string {
  if (n < 1_000) return String(n);
  return n < 1_000_000 ? `${(n / 1_000).toFixed(1)}k` : `${(n / 1_000_000).toFixed(1)}M`;
}

/** `1 task`, `2 tasks`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

/** UTC, ISO 8601 with `Z`; null for a time no calendar has. Epoch ms in. */
export function iso(at: number): string | null {
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : null;
}

/** A point in time as people compare it with now: `in 3m 10s (14:05 UTC)`; past times say `due`. */
export function until(at: number, now: number): string {
  const clock = iso(at)?.slice(11, 16);
  if (clock === undefined) return 'at an unknown time';
  return at <= now ? `due since ${clock} UTC` : `in ${duration(at - now)} (${clock} UTC)`;
}

/** Up to `max` names, and how many more there are. */
export function some(names: readonly string[], max = 10): string {
  const shown = names.slice(0, max).map((name) => oneLine(name, 120));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

/** Why an attempt was ended, after `was ended for`. */
export const STOPPED_FOR = {
  pause: 'a pause',
  abort: 'an abort',
  signal: 'a process signal',
  limit: 'a limit',
  steer: 'an urgent word',
} as const;
