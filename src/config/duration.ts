/**
 * A duration as people write it: `90s`, `15m`, `2h`, `1d`, or joined, `1h30m`. A bare number is
 * seconds.
 */

/** The form without its meaning, for the schema: units from large to small, each at most once. */
export const DURATION_FORM = /^(?=\d)(\d+(\.\d+)?d)?(\d+(\.\d+)?h)?(\d+(\.\d+)?m)?(\d+(\.\d+)?s)?$/;

const SECONDS: Record<string, number> = { d: 86_400, h: 3_600, m: 60, s: 1 };

/** Seconds, or null when the text is no duration. Zero is a duration; whether it is allowed is the caller's word. */
export function parseDuration(value: string | number): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : null;
  const text = value.trim().toLowerCase();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  if (!DURATION_FORM.test(text)) return null;
  let seconds = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)([dhms])/g)) {
    seconds += Number(count) * SECONDS[unit!]!;
  }
  return Number.isFinite(seconds) ? seconds : null;
}
