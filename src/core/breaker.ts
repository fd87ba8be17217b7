/**
 * The circuit breaker: an agent that changed nothing, or claimed what was not so, too often in its last
 * iterations, whatever they were about. It trips once, and is closed again when enough of what it looks
 * at was better, or when a person acts on the task.
 */
import { FINDINGS, type Finding } from './finding.ts';
import type { InterventionPolicy } from './policy.ts';
import type { State } from './state.ts';

/** How many of an agent's last judged iterations are looked at. */
export const BREAKER_WINDOW = 5;

export interface Trip {
  /** Continues the agent's name, e.g. "claimed completion without progress". */
  did: string;
  count: number;
  /** Of how many, e.g. "last 3 iterations". */
  of: string;
  /** The key with its value, e.g. `interventions.threshold_no_files: 3`. */
  threshold: string;
  /** It tripped with this iteration; false: it had before. */
  fresh: boolean;
}

interface Fuse {
  eventType: string;
  did: string;
  key: string;
  most(policy: InterventionPolicy): number;
}

const FUSES: readonly Fuse[] = [
  {
    eventType: 'false_completion_detected',
    did: 'claimed completion without progress',
    key: 'threshold_false_completion',
    most: (policy) => policy.thresholdFalseCompletion,
  },
  {
    eventType: 'no_files_detected',
    did: 'changed no file',
    key: 'threshold_no_files',
    most: (policy) => policy.thresholdNoFiles,
  },
];

/**
 * The trip of this agent's breaker by an iteration with these findings; null while it holds. Only iterations
 * after `from` count: what lies before a person acted on the task is not held against what follows.
 */
export function tripped(
  state: State,
  { agent, from }: { agent: string; from: number },
  findings: readonly Finding[],
): Trip | null {
  const policy = state.policy?.interventions;
  if (!policy?.enabled) return null;
  const earlier = lastOf(state, agent, from);
  const now = [findings, ...earlier].slice(0, BREAKER_WINDOW);
  const over = (iterations: typeof now) =>
    FUSES.filter((fuse) => counted(iterations, fuse) >= fuse.most(policy));
  const blown = over(now).find((fuse) => shows(findings, fuse));
  if (!blown) return null;
  return {
    did: blown.did,
    count: counted(now, blown),
    of: now.length === 1 ? 'last iteration' : `last ${now.length} iterations`,
    threshold: `interventions.${blown.key}: ${blown.most(policy)}`,
    fresh: over(earlier).length === 0,
  };
}

/** What was held against the agent's last judged iterations, the newest first. */
function lastOf(state: State, agent: string, from: number): (readonly Finding[])[] {
  const found: (readonly Finding[])[] = [];
  for (let iteration = state.lastIteration; iteration > from && found.length < BREAKER_WINDOW; iteration--) {
    const attempt = state.attempts.get(iteration);
    if (attempt?.agent === agent && attempt.verdict) found.push(attempt.verdict.findings);
  }
  return found;
}

function counted(iterations: readonly (readonly Finding[])[], fuse: Fuse): number {
  return iterations.filter((findings) => shows(findings, fuse)).length;
}

function shows(findings: readonly Finding[], { eventType }: Fuse): boolean {
  return findings.some(({ kind }) => FINDINGS[kind].eventType === eventType);
}
