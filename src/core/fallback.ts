/**
 * Which agent runs an item, and which one takes over when it keeps failing. The policy names one agent and
 * others to fall back on, and may name others for a role. A task that the ladder gave to another keeps it until
 * it is done or a person acts on it, and whose circuit breaker tripped gives up all its tasks. While a provider
 * says of one agent that it is down or must wait, another of the choice stands in for it, in every role; the
 * item goes back to its own agent once that is over.
 */
import type { Policy } from './policy.ts';
import type { Item, RoleName } from './role.ts';
import type { State, TaskState } from './state.ts';
import { isTerminal } from './task.ts';

/** Who plays a role: the agent, its model, and the others to fall back on. */
interface Choice {
  agent: string;
  /** null: the agent's own. */
  model: string | null;
  fallback: readonly string[];
}

/** What the policy says of a role. */
export function choiceFor(policy: Policy, role: RoleName): Choice {
  const roles = policy.roles ?? {};
  const own = Object.hasOwn(roles, role) ? roles[role] : undefined;
  const agent = own?.agent ?? policy.agent;
  // The general model is one of the general agent's.
  const model = own?.model ?? (agent === policy.agent ? policy.model : null);
  return { agent, model, fallback: own?.fallback ?? policy.fallback };
}

/** The model with which this agent plays the role; null: its own, as for one that has taken over. */
export function modelFor(policy: Policy, role: RoleName, agent: string): string | null {
  const choice = choiceFor(policy, role);
  return agent === choice.agent ? choice.model : null;
}

/**
 * The agent that would run this item at `now` (epoch ms): its own, or the first of the others that can be
 * started. Where none can: the one whose wait ends first; its own where all are down.
 */
export function agentFor(state: State, item: Item, now: number): string {
  const own = ownAgent(state, item);
  if (isAvailable(state, own, now)) return own;
  const all = choiceOf(state, item);
  const ready = all.find((name) => isAvailable(state, name, now));
  if (ready !== undefined) return ready;
  const until = (name: string) => state.parked.get(name)?.until ?? 0;
  const waiting = all.filter((name) => !state.down.has(name)).sort((a, b) => until(a) - until(b));
  return waiting[0] ?? own;
}

/** All that could run this item, each once, the one whose it is first. */
export function choiceOf(state: State, item: Item): string[] {
  const choice = chosen(state, item.role);
  const own = ownAgent(state, item);
  return [...new Set(choice === null ? [own] : [own, ...choice.fallback, choice.agent])];
}

/** The item's own agent: the policy's for its role, unless another has taken the task over. */
function ownAgent(state: State, item: Item): string {
  const task = item.role === 'executor' && item.task !== undefined ? state.tasks.get(item.task) : undefined;
  return task?.agent ?? chosen(state, item.role)?.agent ?? '';
}

function chosen({ policy }: State, role: RoleName): Choice | null {
  return policy === null ? null : choiceFor(policy, role);
}

/** Whether the agent could be started now: neither down nor told to wait. `now`: epoch ms. */
export function isAvailable(state: State, agent: string, now: number): boolean {
  return !state.down.has(agent) && (state.parked.get(agent)?.until ?? 0) <= now;
}

/** The task goes to another agent; with `all`, so does every other open task of the one that is relieved. */
export function takeOver(
  state: State,
  task: TaskState,
  { from, to, all }: { from: string; to: string; all: boolean },
): void {
  task.agent = to;
  if (!all) return;
  for (const other of state.tasks.values()) if (passesOn(state, other, { from, to })) other.agent = to;
}

/** Whether this task is one that `from` has, that is open, and that `to` has not tried. */
export function passesOn(state: State, task: TaskState, { from, to }: { from: string; to: string }): boolean {
  if (isTerminal(task.status) || (task.agent ?? chosen(state, 'executor')?.agent) !== from) return false;
  return !triedBy(state, task).has(to);
}

/**
 * The next of `fallback` that can take this task over: available, and not one that has tried it since a
 * person last acted on it. null: there is none.
 */
export function nextAgent(state: State, task: TaskState, current: string, now: number): string | null {
  const tried = triedBy(state, task).add(current);
  const others = chosen(state, 'executor')?.fallback ?? [];
  return others.find((name) => !tried.has(name) && isAvailable(state, name, now)) ?? null;
}

/** The agents that have tried this task since a person last acted on it. */
function triedBy(state: State, task: TaskState): Set<string> {
  const tried = new Set<string>();
  for (const iteration of task.attempts) {
    const agent = state.attempts.get(iteration)?.agent;
    if (agent !== undefined && iteration > task.ladderFrom) tried.add(agent);
  }
  return tried;
}
