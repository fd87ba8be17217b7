/** `ralph blocked`: the blocked tasks of any session, and which agents could take over. */
import { findAgents } from '../agents/index.ts';
import type { Settings } from '../config/index.ts';
import type { State } from '../core/index.ts';
import { usableFallback } from './agents.ts';
import { loadSettings } from './config.ts';
import { findPlace } from './place.ts';
import { openState } from './windows.ts';

export interface BlockedView {
  state: State;
  /** Agents that could take over; null: no suggestions are wanted. */
  others: string[] | null;
}

export async function blockedTasks({
  cwd,
  env,
  session,
  suggest,
}: {
  cwd: string;
  env: NodeJS.ProcessEnv;
  session?: string | undefined;
  suggest: boolean;
}): Promise<BlockedView> {
  const { state } = await openState(cwd, session);
  if (!suggest) return { state, others: null };
  const place = await findPlace(cwd);
  // A mistake in ralph.yml is no reason to say nothing: only its own agents are then not known.
  const settings = await loadSettings({ place, env, flags: {}, session: null })
    .then((loaded) => loaded.settings)
    .catch(() => null);
  return { state, others: await otherAgents(settings, env) };
}

/**
 * `fallback` in its order, then the project's own agents, then what else is installed; of all of them those that
 * can be started on this machine.
 */
export async function otherAgents(settings: Settings | null, env: NodeJS.ProcessEnv): Promise<string[]> {
  const installed = findAgents(env).map(({ name }) => name as string);
  if (settings === null) return installed;
  const first = settings.roles.executor?.fallback ?? settings.fallback;
  const named = [...first, ...Object.keys(settings.agents)];
  const { usable } = await usableFallback({ ...settings, fallback: named, roles: {} });
  return [...new Set([...usable.fallback, ...installed])];
}
