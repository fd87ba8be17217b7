/**
 * Verdicts on runs of one's own roles. Such a run has done its part when it published a topic, or when what it
 * claims to be complete stands; whether that ends its task is another question: not while it handed the work on,
 * and not before every required topic was published.
 */
import { topicMatches } from './hear.ts';
import type { Evidence, HatEvidence } from './judgement.ts';

export interface HatOutcome {
  /** What was published, the default topic among it where that stands for a silent run. */
  topics: string[];
  /** The loop publishes the default topic in the run's place. */
  preset: boolean;
  /** Of those, the ones that wake a role. */
  handedOn: string[];
  /** Required topics that were never published. */
  missing: string[];
  /** It claims its task, hands nothing on, and nothing is missing. */
  ends: boolean;
}

/** What a run of a role published, and whether its task is at its end with it; null for every other run. */
export function hatOutcome({ hat, claim, changed, inner }: Evidence): HatOutcome | null {
  if (hat === null) return null;
  const complete = claim.kind === 'complete';
  const worked = changed.length > 0 || inner.length > 0;
  const silent = claim.kind === 'none' || complete;
  const preset = hat.told.length === 0 && hat.preset !== null && silent && (complete || worked);
  const topics = preset ? [hat.preset!] : hat.told;
  const handedOn = topics.filter((topic) => hat.heard.includes(topic));
  const missing = missingOf(hat, topics);
  return {
    topics,
    preset,
    handedOn,
    missing,
    ends: complete && handedOn.length === 0 && missing.length === 0,
  };
}

function missingOf({ missing }: HatEvidence, topics: readonly string[]): string[] {
  return missing.filter((required) => !topics.some((topic) => topicMatches(required, topic)));
}

/** Why such a run is accepted. */
export function hatAcceptance({ topics, handedOn, missing, ends }: HatOutcome): string {
  const named = topics.slice(0, 5).join(', ');
  if (ends) return topics.length === 0 ? 'claimed, and its work stands' : `claimed, after ${named}`;
  if (handedOn.length > 0) return `handed on: ${handedOn.slice(0, 5).join(', ')}`;
  return `published ${named}${missing.length === 0 ? '' : `; ${missing.join(', ')} is still to come`}`;
}
