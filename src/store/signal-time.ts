/** When a message was made: its own word (created_at), else its file's name. */
import { instantOf, isRealTime, readStamp } from './zone.ts';

// 260208-143000 · 20260208-143000 · …-123 (ms) · …Z · …+0100 · …-0530; further suffixes are not time.
const IN_NAME =
  /(?<!\d)(\d{8}|\d{6})[-_T](\d{6})(?!\d)(?:[-.](\d{3})(?!\d))?(?:(Z)(?![A-Za-z])|([+-])(\d{2})[:.]?(\d{2})(?!\d))?/i;

// ISO 8601 with a space allowed for the T; seconds, fraction and zone may be missing.
const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ]+(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)? ?(?:([Zz]|UTC|GMT)|([+-])(\d{2}):?(\d{2})?)?$/;

/** The instant (epoch ms) that a file's name tells; null when it tells none. `timezone` serves names without an offset. */
export function timeOfName(name: string, timezone: string): number | null {
  const match = IN_NAME.exec(name);
  if (match === null) return null;
  const [, date, time, ms, utc, sign, hours, minutes] = match;
  const wall = readStamp(date!, time!);
  if (wall === null) return null;
  wall.ms = Number(ms ?? 0);
  if (utc !== undefined) return instantOf(wall, 'UTC');
  const offset = sign === undefined ? null : offsetMs(sign, hours!, minutes!);
  return offset === null ? instantOf(wall, timezone) : instantOf(wall, 'UTC') - offset;
}

// `-7342` after a name's time is somebody's random suffix, no offset: zones end in :00, :15, :30 or :45.
function offsetMs(sign: string, hours: string, minutes: string): number | null {
  const [h, m] = [Number(hours), Number(minutes)];
  if (h > 14 || m % 15 !== 0 || m > 45) return null;
  return (sign === '-' ? -1 : 1) * (h * 60 + m) * 60_000;
}

/** The instant (epoch ms) of a `created_at`; null when the text is no time. */
export function timeOfText(text: string, timezone: string): number | null {
  const match = ISO.exec(text.trim());
  if (match === null) return timeOfWholeName(text.trim(), timezone);
  const [, year, month, day, hour, minute, second, fraction, utc, sign, hours, minutes] = match;
  const wall = {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour ?? 0),
    minute: Number(minute ?? 0),
    second: Number(second ?? 0),
    ms: Math.floor(Number(`0.${fraction ?? 0}`) * 1000),
  };
  if (!isRealTime(wall)) return null;
  if (utc !== undefined) return instantOf(wall, 'UTC');
  if (sign === undefined) return instantOf(wall, timezone);
  const offset = offsetMs(sign, hours!, minutes ?? '00');
  return offset === null ? null : instantOf(wall, 'UTC') - offset;
}

function timeOfWholeName(text: string, timezone: string): number | null {
  return IN_NAME.exec(text)?.[0] === text ? timeOfName(text, timezone) : null;
}
