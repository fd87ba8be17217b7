/**
 * Whether anybody was told. A correction stands in the next prompt of its agent and, until the task is accepted,
 * of its task; where no attempt followed, it stood in none.
 */
import type { VerdictValue } from '../core/index.ts';
import type { IterationStory, Story } from './story.ts';

interface Followed {
  session: string;
  iteration: number;
  agent: string;
  task: string | null;
}

/** The attempts of one session or of many, as far as they say who was given a prompt after whom. */
export interface Sequel {
  /** The newest iteration of each agent and of each task, by session. */
  newest: Map<string, number>;
  /** Iterations whose work was accepted. */
  accepted: Set<string>;
}

export function newSequel(): Sequel {
  return { newest: new Map(), accepted: new Set() };
}

const ofAgent = ({ session, agent }: Followed) => `${session}\0agent\0${agent}`;
const ofTask = ({ session, task }: Followed) => `${session}\0task\0${task}`;
const ofIteration = ({ session, iteration }: Followed) => `${session}\0${iteration}`;

/** Adds one attempt. `outcome`: null where it was not judged. */
export function follows(sequel: Sequel, attempt: Followed, outcome: VerdictValue | null): void {
  const keys = attempt.task === null ? [ofAgent(attempt)] : [ofAgent(attempt), ofTask(attempt)];
  for (const key of keys) sequel.newest.set(key, Math.max(attempt.iteration, sequel.newest.get(key) ?? 0));
  if (outcome === 'accepted') sequel.accepted.add(ofIteration(attempt));
}

/** The sequel of one session. */
export function sequelOf(story: Story): Sequel {
  const sequel = newSequel();
  const session = story.state.session?.id ?? '';
  for (const { iteration, agent, item, verdict } of story.iterations.values())
    follows(sequel, { session, iteration, agent, task: item.task ?? null }, verdict?.value ?? null);
  return sequel;
}

/** What became of what an attempt was to be told: it was, it is still to come, or its work was accepted and nobody was. */
export function becameOf(sequel: Sequel, attempt: Followed): 'told' | 'to_come' | 'nobody' {
  const after = (key: string) => (sequel.newest.get(key) ?? 0) > attempt.iteration;
  const accepted = sequel.accepted.has(ofIteration(attempt));
  if (after(ofAgent(attempt)) || (!accepted && attempt.task !== null && after(ofTask(attempt))))
    return 'told';
  return accepted ? 'nobody' : 'to_come';
}

/** The same as words for a person. */
export const TOLD_WORDS = {
  told: 'corrected in the next prompt',
  to_come: 'will be told in the next prompt',
  nobody: 'told to nobody so far: the work was accepted, and this agent had no attempt since',
} as const;

/** The iteration whose prompt held the correction of this one; null: none did yet. */
export function toldIn(
  { iterations }: Story,
  { iteration }: IterationStory,
  sentence: string,
): number | null {
  const lines = sentence.split('\n');
  for (const later of iterations.values())
    if (later.iteration > iteration && later.reminded.some((line) => lines.includes(line)))
      return later.iteration;
  return null;
}
