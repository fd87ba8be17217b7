/**
 * What must hold on this machine and in this configuration before any agent is started: the part of the
 * doctor's checks that costs nothing. Everything that fails is told at once, each with its fix.
 */
import type { ProblemFacts } from '../core/index.ts';
import { agentMaker, inspectNamed, roleAgents } from './agents.ts';
import { failuresInRun } from './checks/check.ts';
import { MACHINE_CHECKS } from './checks/machine.ts';
import { PLACE_CHECKS } from './checks/place.ts';
import { START_CHECKS, type StartSubject } from './checks/start.ts';
import type { Plan } from './plan.ts';

/**
 * Everything that would keep a run from starting, what is to be done first in front: without a machine
 * there is no repository, and a merge is finished before anybody commits. Empty when it may start.
 */
export async function preflight(subject: StartSubject): Promise<ProblemFacts[]> {
  const found = await Promise.all([
    failuresInRun(MACHINE_CHECKS, subject),
    failuresInRun(PLACE_CHECKS, subject),
    failuresInRun(START_CHECKS, subject),
  ]);
  return found.flat();
}

/** Agents that take over from others. */
function standInsOf({ fallback, roles }: Plan['policy']): string[] {
  return [...new Set([...fallback, ...Object.values(roles ?? {}).flatMap((role) => role.fallback ?? [])])];
}

/** What the checks have to know, out of what is planned. */
export function startSubject(facts: {
  plan: Pick<
    Plan,
    'place' | 'settings' | 'policy' | 'notYet' | 'origin' | 'warnings' | 'taskPath' | 'reading'
  >;
  env: Record<string, string>;
  scratch: string;
  strangeDirt: string[];
}): Omit<StartSubject, 'agent' | 'allowDetached'> {
  const { plan, env } = facts;
  const { settings, policy } = plan;
  return {
    ...facts,
    ...plan,
    cwd: plan.place.dir,
    git: settings.git,
    commits: policy.commit !== 'none' && policy.commit !== 'agent',
    players: roleAgents(policy).map(({ name, roles }) => ({ agent: agentMaker(settings)(name), roles })),
    standIns: standInsOf(policy).map(agentMaker(settings)),
    inspect: () => inspectNamed(settings, policy.agent, env),
  };
}
