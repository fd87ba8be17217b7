/**
 * Wall-clock times and instants. Session ids and the names of signal files carry local time without an
 * offset, so they mean something only in the time zone that the session recorded.
 */

import { localZone } from './local-zone.ts';

/** A wall-clock time; month and day count from 1. */
export interface WallTime {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  ms: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatFor(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      era: 'short',
    });
    formats.set(timezone, format);
  }
  return format;
}

/** What a clock in that zone shows at an instant (epoch ms). Throws RangeError for an unknown zone. */
export function wallTime(at: number, timezone: string): WallTime {
  // What `Date` tells by itself costs a start less than the tables of `Intl`.
  if (at >= 0 && timezone === 'UTC') return utcTime(new Date(at));
  if (at >= 0 && timezone === localZone()) return localTime(new Date(at));
  const parts: Record<string, number> = {};
  for (const { type, value } of formatFor(timezone).formatToParts(at)) parts[type] = Number(value);
  const { year, month, day, hour, minute, second } = parts as unknown as WallTime;
  return { year, month, day, hour, minute, second, ms: ((at % 1000) + 1000) % 1000 };
}

function utcTime(date: Date): WallTime {
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    ms: date.getUTCMilliseconds(),
  };
}

function localTime(date: Date): WallTime {
  return {
    year: date.getFullYear(),
    month: date.getMonth() + 1,
    day: date.getDate(),
    hour: date.getHours(),
    minute: date.getMinutes(),
    second: date.getSeconds(),
    ms: date.getMilliseconds(),
  };
}

const asUtc = (wall: WallTime): number =>
  Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second, wall.ms);

/**
 * The instant (epoch ms) of a wall-clock time in a zone. A time that an autumn change shows twice is its
 * first; one that a spring change skips is taken as if the clock had not been changed.
 */
export function instantOf(wall: WallTime, timezone: string): number {
  const guess = asUtc(wall);
  const offsetAt = (at: number) => asUtc(wallTime(at, timezone)) - at;
  const day = 24 * 3_600_000;
  const [before, after] = [offsetAt(guess - day), offsetAt(guess + day)];
  const candidates = [guess - before, guess - after].sort((a, b) => a - b);
  return candidates.find((at) => asUtc(wallTime(at, timezone)) === guess) ?? guess - before;
}

/** True where the calendar has that day and the clock that time. */
export function isRealTime(wall: WallTime): boolean {
  const date = new Date(asUtc(wall));
  return (
    date.getUTCFullYear() === wall.year &&
    date.getUTCMonth() === wall.month - 1 &&
    date.getUTCDate() === wall.day &&
    date.getUTCHours() === wall.hour &&
    date.getUTCMinutes() === wall.minute &&
    date.getUTCSeconds() === wall.second
  );
}

/** `260208-143000`, as session ids and signal names write a time. */
export function stampOf(wall: WallTime): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const date = two(wall.year % 100) + two(wall.month) + two(wall.day);
  return `${date}-${two(wall.hour)}${two(wall.minute)}${two(wall.second)}`;
}

/** Reads `yyMMdd` or `yyyyMMdd` and `HHmmss`; null when that is no real time. */
export function readStamp(date: string, time: string): WallTime | null {
  const short = date.length === 6;
  const pair = (text: string, at: number) => Number(text.slice(at, at + 2));
  const wall = {
    year: short ? 2000 + pair(date, 0) : Number(date.slice(0, 4)),
    month: pair(date, short ? 2 : 4),
    day: pair(date, short ? 4 : 6),
    hour: pair(time, 0),
    minute: pair(time, 2),
    second: pair(time, 4),
    ms: 0,
  };
  return isRealTime(wall) ? wall : null;
}
