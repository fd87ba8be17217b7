/** Why an attempt gets the seconds it gets, told with every number it comes from. */
import type { TimeReckoning } from '../core/index.ts';
import { count, duration, span } from './words.ts';

/** What a reckoning says, spelled as data for programs. */
export interface ReckoningJson {
  mode: string;
  base_s: number;
  /** null for work on the session. */
  complexity: string | null;
  because: string;
  multiplier: number;
  /** The factor an unblocking gave the task; 1 for none. */
  granted: number;
  /** The seconds an unblocking gave it, in place of the formula; null: none. */
  granted_s: number | null;
  growth: number;
  /** Attempts of this task that ran out of time before this one. */
  timeouts: number;
  min_s: number;
  max_s: number;
  /** The formula before its bounds. */
  computed_s: number;
  clamped: 'min' | 'max' | null;
  /** What nine of ten accepted attempts of the class took, of how many, and whether that was used. */
  p90_s: number | null;
  samples: number;
  learned: boolean;
}

/** Without the reckoning where the journal is of a version that did not write it down. */
export interface TimeJson extends Partial<ReckoningJson> {
  timeout_s: number;
  idle_timeout_s: number;
  /** What the attempt took, or has taken so far; null before it begins. */
  used_s: number | null;
  text: string;
}

export interface TimeInput {
  /** null: the journal does not say. */
  time: TimeReckoning | null;
  /** As it was granted, ms. */
  wallMs: number;
  idleMs: number;
  usedMs: number | null;
}

/** The seconds of one attempt with every number they come from. */
export function explainTime(input: TimeInput): TimeJson {
  const { time, wallMs, idleMs, usedMs } = input;
  return {
    timeout_s: wallMs / 1000,
    idle_timeout_s: idleMs / 1000,
    used_s: usedMs === null ? null : usedMs / 1000,
    ...(time ? reckoningJson(time) : {}),
    text: timeText(input),
  };
}

function reckoningJson(time: TimeReckoning): ReckoningJson {
  return {
    mode: time.mode,
    base_s: time.baseS,
    complexity: time.complexity,
    because: time.because,
    multiplier: time.multiplier,
    granted: time.granted,
    granted_s: time.grantedS,
    growth: time.growth,
    timeouts: time.timeouts,
    min_s: time.minS,
    max_s: time.maxS,
    computed_s: time.computedS,
    clamped: clampedBy(time),
    p90_s: time.p90S,
    samples: time.samples,
    learned: time.learned,
  };
}

function clampedBy({ computedS, minS, maxS }: TimeReckoning): 'min' | 'max' | null {
  if (computedS > maxS) return 'max';
  return computedS < minS ? 'min' : null;
}

/** "ui_heavy because of 'Chart' in acceptance 2; 900 s × 3.0 × 1.5¹ = 3600 s (max)", and what else to know. */
function timeText({ time, wallMs, idleMs, usedMs }: TimeInput): string {
  const told = time ? reckoningText(time) : `${wallMs / 1000} s, as it was granted when it began`;
  const used = usedMs === null ? '' : `; used ${duration(usedMs)}`;
  return `${told}; silent for at most ${span(idleMs)}${used}`;
}

/** The class with its reason, then the formula; what history says stands after it. */
export function reckoningText(time: TimeReckoning): string {
  const parts = [];
  if (time.complexity !== null) parts.push(`${time.complexity} because ${time.because}`);
  parts.push(time.grantedS === null ? formula(time) : `${time.grantedS} s, granted when it was unblocked`);
  if (time.p90S !== null && !time.learned) {
    parts.push(`90 % of ${samples(time)} took at most ${time.p90S} s (adaptive_timeout.learn is off)`);
  }
  return parts.join('; ');
}

function formula(time: TimeReckoning): string {
  const base = time.learned
    ? `${time.p90S} s (90 % of ${samples(time)})`
    : `${time.baseS} s${time.multiplier === 1 ? '' : ` × ${factor(time.multiplier)}`}`;
  const granted = time.granted === 1 ? '' : ` × ${factor(time.granted)} (granted)`;
  const grown = time.growth !== 1 && time.timeouts > 0;
  const growth = grown ? ` × ${factor(time.growth)}${raised(time.timeouts)}` : '';
  const clamped = clampedBy(time);
  const factors = `${base}${granted}${growth}`;
  if (clamped === null && factors === `${time.timeoutS} s`) return `${factors} (mode ${time.mode})`;
  return `${factors} = ${time.timeoutS} s${clamped === null ? '' : ` (${clamped})`}`;
}

function samples({ samples: known, complexity }: TimeReckoning): string {
  return `${count(known, `accepted ${complexity} attempt`)}`;
}

/** 3 as 3.0, so that a factor is seen to be one. */
function factor(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function raised(value: number): string {
  return [...String(value)].map((digit) => RAISED[Number(digit)]).join('');
}
