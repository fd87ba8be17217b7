/**
 * Which agent runs an item, and which one takes over when it keeps failing. The policy names one agent and
 * others to fall back on; a task that the ladder gave to another keeps it until it is done or a person acts on
 * it, and whose circuit breaker tripped gives up all its tasks. What a provider
 * said of one agent, that it is down or must wait, holds up only the work of that agent.
 */
import type { Item } from './role.ts';
import type { State, TaskState } from './state.ts';
import { isTerminal } from './task.ts';

/** The agent that runs this item next: the policy's, unless another has taken the task over. */
export function agentFor(state: State, item: Item): string {
  const task = item.role === 'executor' && item.task !== undefined ? state.tasks.get(item.task) : undefined;
  return task?.agent ?? state.policy?.agent ?? '';
}

/** The agents that would run these items, each once. */
export function agentsFor(state: State, items: readonly Item[]): string[] {
  return [...new Set(items.map((item) => agentFor(state, item)))];
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
  if (isTerminal(task.status) || (task.agent ?? state.policy?.agent) !== from) return false;
  return !triedBy(state, task).has(to);
}

/**
 * The next of `fallback` that can take this task over: available, and not one that has tried it since a
 * person last acted on it. null: there is none.
 */
export function nextAgent(state: State, task: TaskState, current: string, now: number): string | null {
  const tried = triedBy(state, task).add(current);
  const others = state.policy?.fallback ?? [];
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
