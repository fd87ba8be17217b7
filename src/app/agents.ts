/** The agents a project may use: the built-in ones and those its configuration describes. */
import {
  AGENTS,
  type AgentInfo,
  type AgentKind,
  type AgentSpec,
  acpSpecOf,
  createAgent,
  findAgents,
  inspectAgent,
  OUTPUTS,
} from '../agents/index.ts';
import type { Settings } from '../config/index.ts';
import { choiceFor, hiredRoles, type Policy, Problem } from '../core/index.ts';
import type { Agent } from '../engine/index.ts';
import { shutIn } from './sandbox.ts';

/** Names the configuration may use without describing them. */
export const BUILT_IN_AGENTS = (Object.keys(AGENTS) as AgentKind[]).filter(
  (name) => AGENTS[name].program !== null,
);
export const AGENT_OUTPUTS = [...Object.keys(OUTPUTS), 'acp'];

/** The agent's name, `auto` resolved to the first that is installed. */
export function chooseAgent(settings: Settings, env: Record<string, string>): string {
  if (settings.agent !== 'auto') return settings.agent;
  const installed = findAgents(env)[0];
  if (installed) return installed.name;
  const own = Object.keys(settings.agents)[0];
  if (own !== undefined) return own;
  throw new Problem({
    code: 'agent.none',
    what: 'No coding agent was found.',
    why: `Looked on the PATH for ${BUILT_IN_AGENTS.join(', ')}.`,
    fix: 'Install one (`ralph agents` tells how), or describe your own command under `agents:` in ralph.yml. `ralph demo` and the examples play without one.',
  });
}

/** Makes agents by name, each once. */
export function agentMaker(settings: Settings): (name: string) => Agent {
  const made = new Map<string, Agent>();
  return (name) => {
    const known = made.get(name) ?? shutIn(createAgent(specOf(settings, name)), settings.sandbox);
    made.set(name, known);
    return known;
  };
}

/**
 * The settings with those of each `fallback` that can be started on this machine, in their order; and for each
 * other one a sentence. A run goes without them: who takes over must be there, and nothing may need them at all.
 */
export async function usableFallback(settings: Settings): Promise<{ usable: Settings; warnings: string[] }> {
  const agent = agentMaker(settings);
  const warnings: string[] = [];
  const usableOf = async (listed: readonly string[], key: string): Promise<string[]> => {
    const names: string[] = [];
    for (const name of new Set(listed)) {
      const [problem] = await agent(name).check();
      if (problem === undefined) names.push(name);
      else
        warnings.push(
          `${key} names ${name}, which cannot take over here: ${problem.what} ${problem.fix} Until then it is passed over.`,
        );
    }
    return names;
  };
  const usable = { ...settings, roles: { ...settings.roles } };
  usable.fallback = await usableOf(settings.fallback, 'fallback');
  for (const [name, role] of Object.entries(settings.roles)) {
    if (role.fallback === null) continue;
    usable.roles[name] = { ...role, fallback: await usableOf(role.fallback, `roles.${name}.fallback`) };
  }
  return { usable, warnings };
}

/** The agents that play hired roles in place of the one that works, each with the roles it plays. */
export function roleAgents(policy: Policy): { name: string; roles: string[] }[] {
  const found = new Map<string, string[]>();
  for (const role of hiredRoles(policy)) {
    const { agent } = choiceFor(policy, role);
    if (agent !== policy.agent) found.set(agent, [...(found.get(agent) ?? []), role]);
  }
  return [...found].map(([name, roles]) => ({ name, roles }));
}

/** What can be told of a named agent without starting it on work. */
export function inspectNamed(
  settings: Pick<Settings, 'agents'>,
  name: string,
  env: Record<string, string>,
): Promise<AgentInfo> {
  return inspectAgent(specOf(settings, name), env);
}

/** The kind behind an agent's name. */
export function kindOf(settings: Settings, name: string): AgentKind {
  return specOf(settings, name).kind;
}

function specOf(settings: Pick<Settings, 'agents'>, name: string): AgentSpec {
  const own = settings.agents[name];
  if (own?.output === 'acp') return { kind: 'acp', name, command: own.command };
  if (own?.command[0] === 'ralph') {
    // The very program that runs, also where no `ralph` is installed.
    const command = [process.execPath, process.argv[1] ?? 'ralph', ...own.command.slice(1)];
    return { kind: 'command', name, command, prompt: own.prompt, output: own.output as 'text' };
  }
  if (own)
    return { kind: 'command', name, command: own.command, prompt: own.prompt, output: own.output as 'text' };
  const behind = acpSpecOf(name);
  if (behind !== null) return { kind: 'acp', ...behind };
  if (name === 'claude') return { kind: 'claude', name };
  return { kind: name as 'claude', name };
}
