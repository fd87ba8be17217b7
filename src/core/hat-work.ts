/**
 * Which role goes next where topics wake roles. Topics that wait come first, in the order in which they were
 * published; then the tasks that are ready, each begun by the first topic; and a task that is open with no
 * topic left goes to the default role. A role that has run as often as it may is passed over for the default
 * role; where that has, too, the run has reached its limit.
 */

import type { Fact } from './event.ts';
import { activationsOf, LOOP } from './evolve-hats.ts';
import { FIRST_TOPIC, isForTheLoop, isHeard, publishedBy, routeTopic } from './hats.ts';
import { topicMatches } from './hear.ts';
import type { HatEvidence } from './judgement.ts';
import { candidates, inScope, isExhausted, isReady } from './pick.ts';
import type { HatPolicy, HatsPolicy, Policy } from './policy.ts';
import { type Item, itemKey, MODES } from './role.ts';
import { type AttemptState, heldBy, type QueuedTopic, type State } from './state.ts';
import { isTerminal } from './task.ts';

export type Waking =
  | { wake: Item }
  /** The first topic of a task. */
  | { publish: Fact }
  /** There is work, and every role that it could wake has run as often as it may. */
  | { spent: string };

/** The next thing that topics, or their absence, lead to; null: there is nothing to do now. */
export function nextWaking(state: State): Waking | null {
  const hats = state.policy?.hats;
  if (hats === undefined) return null;
  let spent: string | null = null;
  for (const queued of state.hats.queue) {
    if (!isWorkable(state, queued)) continue;
    const role = roleFor(state, hats, queued.topic);
    if (role !== null) return { wake: itemOf(role.name, queued.topic, queued.task) };
    spent ??= queued.topic;
  }
  return (
    idleTask(state, hats, spent !== null) ?? (spent === null ? null : { spent: limitWords(state, hats) })
  );
}

/** A task that no topic is about: it is begun, or the default role takes it up again. */
function idleTask(state: State, hats: HatsPolicy, spent: boolean): Waking | null {
  const waiting = new Set(state.hats.queue.map(({ task }) => task));
  const next = candidates(state).find(({ task }) => !waiting.has(task.def.id));
  if (next === undefined) return null;
  const { id } = next.task.def;
  if (!state.hats.begun.includes(id))
    return {
      publish: {
        type: 'topic.published',
        iteration: 0,
        role: LOOP,
        topic: FIRST_TOPIC,
        payload: '',
        task: id,
      },
    };
  const role = roleFor(state, hats, null);
  if (role !== null) return { wake: itemOf(role.name, id, id) };
  return spent ? null : { spent: limitWords(state, hats) };
}

const itemOf = (role: string, subject: string, task: string | null): Item => ({
  role,
  mode: 'hat',
  subject,
  ...(task === null ? {} : { task }),
});

/** The role that this topic, or null for none, wakes now; null: all that it could wake may not run again. */
function roleFor(state: State, { roles, defaultRole }: HatsPolicy, topic: string | null): HatPolicy | null {
  const listener = topic === null ? null : routeTopic(roles, topic);
  if (listener !== null && !isSpent(state, listener)) return listener;
  const fallback = roles.find(({ name }) => name === defaultRole) ?? null;
  return fallback === null || isSpent(state, fallback) ? null : fallback;
}

/** Whether the role has run as often as it may. */
export function isSpent(state: State, { name, maxActivations }: HatPolicy): boolean {
  return maxActivations !== null && activationsOf(state, name) >= maxActivations;
}

function limitWords(state: State, { roles, defaultRole }: HatsPolicy): string {
  const role = roles.find(({ name }) => name === defaultRole);
  const ran = activationsOf(state, defaultRole);
  return `the default role ${defaultRole} has run ${ran} of ${role?.maxActivations ?? ran} times (max_activations), and there is work that only it could take`;
}

/** Whether the topic can be worked on now. What is about a task that is over waits for its reopening. */
function isWorkable(state: State, { topic, task: id }: QueuedTopic): boolean {
  const { limits, hats } = state.policy!;
  if (id === null) {
    const role = routeTopic(hats!.roles, topic)?.name ?? hats!.defaultRole;
    return (state.items.get(itemKey(itemOf(role, topic, null)))?.charged ?? 0) < limits.maxTaskAttempts;
  }
  const task = state.tasks.get(id);
  if (task === undefined || isTerminal(task.status) || task.status === 'doing') return false;
  if (!inScope(state, task) || heldBy(state, id) !== null || !isReady(state, task)) return false;
  return isExhausted(state, task) === null;
}

/** The role of one's own that makes this call; null for every other call. */
export function hatOf(policy: Policy | null, { mode, role }: Pick<Item, 'mode' | 'role'>): HatPolicy | null {
  return mode === 'hat' ? (policy?.hats?.roles.find(({ name }) => name === role) ?? null) : null;
}

/** The topics that a call may publish, `*` for one segment; null: any. */
export function boundsOf(policy: Policy | null, item: Pick<Item, 'mode' | 'role'>): string[] | null {
  const hat = hatOf(policy, item);
  return hat === null || hat.publishes.length === 0 ? null : publishedBy(hat);
}

/** Who is woken by what this role may publish. */
export function listenersFor({ hats }: Policy, hat: HatPolicy): { topic: string; role: string }[] {
  const roles = hats?.roles ?? [];
  const topics = hat.publishes.length === 0 ? roles.flatMap(({ triggers }) => triggers) : publishedBy(hat);
  return [...new Set(topics)].flatMap((topic) => {
    const role = topic === FIRST_TOPIC ? undefined : routeTopic(roles, topic)?.name;
    return role === undefined ? [] : [{ topic, role }];
  });
}

/** What the judge has to know of a role's run. */
export function hatEvidence(
  { policy, hats }: State,
  { item, claim, changeCount }: AttemptState,
): HatEvidence | null {
  if (item.mode !== 'hat') return null;
  const roles = policy?.hats?.roles ?? [];
  const told = (claim?.topics ?? [])
    .map(({ topic }) => topic)
    .filter((topic) => !isForTheLoop(topic) && topic !== policy?.completionWord);
  const preset = hatOf(policy, item)?.defaultPublishes ?? null;
  return {
    told,
    preset,
    heard: [...told, ...(preset === null ? [] : [preset])].filter((topic) => isHeard(roles, topic)),
    missing: (policy?.requiredTopics ?? []).filter(
      // What was said before is about the work as it was.
      (pattern) => changeCount > 0 || !hats.told.some((topic) => topicMatches(pattern, topic)),
    ),
  };
}

/** The topic that woke this call; null where none did. */
export function wakingTopic({ hats }: State, item: Item): QueuedTopic | null {
  if (item.mode !== 'hat') return null;
  const about = item.task ?? null;
  return hats.queue.find(({ topic, task }) => topic === item.subject && task === about) ?? null;
}

/** Every role that this policy hires: the built-in ones of its modes, and one's own. */
export function hiredRoles({ modes, hats }: Policy): string[] {
  // A journal may name modes that this version does not know.
  const builtIn = modes.flatMap((mode) => (mode === 'hat' ? [] : (MODES[mode]?.role ?? [])));
  return [...new Set([...builtIn, ...(hats?.roles ?? []).map(({ name }) => name)])];
}
