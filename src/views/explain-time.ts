/** Why an attempt gets the seconds it gets: base × growth^timeouts, whole, within its bounds. */
import type { Policy } from '../core/index.ts';
import { duration, span } from './words.ts';

export interface TimeJson {
  timeout_s: number;
  idle_timeout_s: number;
  mode: string;
  base_s: number;
  growth: number;
  /** Attempts of this task that ran out of time before this one. */
  timeouts: number;
  min_s: number;
  max_s: number;
  /** The formula before its bounds. */
  computed_s: number;
  clamped: 'min' | 'max' | null;
  used_s: number | null;
  text: string;
}

export interface TimeInput {
  policy: Policy;
  timeouts: number;
  /** As it was granted, ms; the truth where the formula of this version would say otherwise. */
  wallMs: number;
  idleMs: number;
  usedMs: number | null;
}

/** The seconds of one attempt with every number they come from. */
export function explainTime({ policy, timeouts, wallMs, idleMs, usedMs }: TimeInput): TimeJson {
  const { mode, baseS, growth, minS, maxS, failureScaling } = policy.timeout;
  const computed = Math.floor(baseS * (failureScaling ? growth ** timeouts : 1));
  const bounded = Math.min(maxS, Math.max(minS, computed));
  const wallS = wallMs / 1000;
  const clamped = bounded === computed ? null : computed < bounded ? 'min' : 'max';
  return {
    timeout_s: wallS,
    idle_timeout_s: idleMs / 1000,
    mode,
    base_s: baseS,
    growth: failureScaling ? growth : 1,
    timeouts,
    min_s: minS,
    max_s: maxS,
    computed_s: computed,
    clamped,
    used_s: usedMs === null ? null : usedMs / 1000,
    text: timeText({ policy, timeouts, wallMs, idleMs, usedMs }, computed, bounded),
  };
}

function timeText(input: TimeInput, computed: number, bounded: number): string {
  const { mode, baseS, growth, minS, maxS, failureScaling } = input.policy.timeout;
  const grown = failureScaling ? ` × ${growth}^${input.timeouts}` : '';
  const bound =
    bounded === computed ? `within ${minS}…${maxS} s` : `held to ${bounded} s by ${minS}…${maxS} s`;
  const formula = `${baseS} s (${mode})${grown} = ${computed} s, ${bound}`;
  const granted = input.wallMs / 1000 === bounded ? formula : 'as it was granted when it began';
  const grew = failureScaling && input.timeouts > 0 ? `; it grew after ${input.timeouts} timed-out` : '';
  const used = input.usedMs === null ? '' : `; used ${duration(input.usedMs)}`;
  return `${span(input.wallMs)} = ${granted}${grew}; silent for at most ${span(input.idleMs)}${used}`;
}
