/**
 * How topics and the runs that they wake change the state. What a run publishes counts once it stands, that is
 * accepted or unfinished; its own topic is gone then, and waits on where it died, was rejected or asked.
 */
import type { Fact } from './event.ts';
import { FIRST_TOPIC, isForTheLoop, isHeard } from './hats.ts';
import { topicMatches } from './hear.ts';
import type { AttemptState, QueuedTopic, State } from './state.ts';
import { isTerminal } from './task.ts';

/** Who publishes what the loop says by itself. */
export const LOOP = 'ralph';

/** A topic from outside of any run, or one that the loop adds to a run that stands, counts at once. */
export function hearTopic(state: State, fact: Extract<Fact, { type: 'topic.published' }>): void {
  const { policy, hats } = state;
  if (policy?.hats === undefined) return;
  const attempt = state.attempts.get(fact.iteration);
  if (attempt !== undefined && (attempt.item.mode !== 'hat' || !stands(attempt))) return;
  const task = fact.task ?? attempt?.item.task ?? objectiveOf(state);
  if (fact.topic === FIRST_TOPIC && fact.role === LOOP && task !== null) hats.begun.push(task);
  const { topic, payload, iteration, role } = fact;
  take(state, { topic, payload, iteration, role, task });
}

/** The verdict on a run that a hat made. */
export function settleHat(state: State, attempt: AttemptState, tree: string): void {
  if (!stands(attempt)) return;
  const { hats } = state;
  const { subject, task = null } = attempt.item;
  const at = hats.queue.findIndex((queued) => queued.topic === subject && queued.task === task);
  if (at >= 0) hats.queue.splice(at, 1);
  hats.seen[`${subject}\0${attempt.after?.tree ?? tree}`] ??= attempt.iteration;
  const about = task === null ? undefined : state.tasks.get(task);
  // What was handed on was worth its attempts: the next run has its own.
  if (about && attempt.verdict?.value === 'accepted') Object.assign(about, { charged: 0, fruitless: 0 });
  const said = state.topics.filter(({ iteration }) => iteration === attempt.iteration);
  for (const published of said) take(state, { ...published, role: attempt.item.role, task });
  withdraw(state, attempt, new Set(said.map(({ topic }) => topic)));
}

/**
 * A required topic is about the work as it stood. A run that changes files, or hands the work on, takes back those
 * that were published before it; one that hands on has no say in its end.
 */
function withdraw(state: State, { changeCount }: AttemptState, said: ReadonlySet<string>): void {
  const { policy, hats } = state;
  const isRequired = (topic: string) =>
    policy!.requiredTopics.some((pattern) => topicMatches(pattern, topic));
  const handsOn = [...said].some((topic) => !isRequired(topic) && isHeard(policy!.hats!.roles, topic));
  if (changeCount === 0 && !handsOn) return;
  hats.told = hats.told.filter((topic) => !isRequired(topic) || (said.has(topic) && !handsOn));
}

/** Runs that died or were interrupted use up nothing. */
export function countActivation({ hats }: State, { item }: AttemptState): void {
  if (item.mode !== 'hat') return;
  hats.activations[item.role] = activationsOf({ hats }, item.role) + 1;
}

/** How often this role has run since the limits last started. */
export function activationsOf({ hats }: Pick<State, 'hats'>, role: string): number {
  return Object.hasOwn(hats.activations, role) ? hats.activations[role]! : 0;
}

function stands({ verdict }: AttemptState): boolean {
  return verdict?.value === 'accepted' || verdict?.value === 'unfinished';
}

/** Required topics are for the loop, unless a role listens for them too. */
function take(state: State, queued: QueuedTopic): void {
  const { policy, hats } = state;
  const { topic } = queued;
  if (!hats.told.includes(topic)) hats.told.push(topic);
  if (isForTheLoop(topic) || topic === policy!.completionWord) return;
  const required = policy!.requiredTopics.some((pattern) => topicMatches(pattern, topic));
  if (!required || isHeard(policy!.hats!.roles, topic)) hats.queue.push(queued);
}

/** What nobody said it is about is about the objective, where that is the task and open. */
function objectiveOf(state: State): string | null {
  const task = state.tasks.get('objective');
  return task === undefined || isTerminal(task.status) ? null : 'objective';
}
