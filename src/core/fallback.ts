/**
 * Which agent runs an item, and which one takes over when it keeps failing. The policy names one agent and
 * others to fall back on; a task that the ladder gave to another keeps it until it is done. What a provider
 * said of one agent, that it is down or must wait, holds up only the work of that agent.
 */
import type { Item } from './role.ts';
import type { State, TaskState } from './state.ts';

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

/**
 * The next of `fallback` that can take this task over: available, and not one that has tried it since a
 * person last acted on it. null: there is none.
 */
export function nextAgent(state: State, task: TaskState, current: string, now: number): string | null {
  const tried = new Set([current]);
  for (const iteration of task.attempts) {
    const agent = state.attempts.get(iteration)?.agent;
    if (agent !== undefined && iteration > task.ladderFrom) tried.add(agent);
  }
  const others = state.policy?.fallback ?? [];
  return others.find((name) => !tried.has(name) && isAvailable(state, name, now)) ?? null;
}
