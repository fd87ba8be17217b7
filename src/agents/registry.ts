/** Every agent by name. A new agent CLI is a file of its own and a row here. */
import { Problem } from '../core/index.ts';
import type { Agent } from '../engine/index.ts';
import { findProgram } from '../process/index.ts';
import { type AcpSpec, acpAgent } from './acp.ts';
import { claudeAgent } from './claude.ts';
import { type Cli, type CliSpec, cliAgent } from './cli.ts';
import { CLIS, type CliKind } from './clis.ts';
import { type CommandSpec, commandAgent } from './command.ts';
import { type ScriptSpec, scriptAgent } from './script.ts';

/** What an agent is made of: its kind, its name in facts, and what that kind needs. */
export type AgentSpec =
  | ({ kind: 'claude' | CliKind } & CliSpec)
  | ({ kind: 'acp' } & AcpSpec)
  | ({ kind: 'command' } & CommandSpec)
  | ({ kind: 'script' } & ScriptSpec);

export type AgentKind = AgentSpec['kind'];

type SpecOf<K extends AgentKind> = K extends 'command'
  ? CommandSpec
  : K extends 'script'
    ? ScriptSpec
    : K extends 'acp'
      ? AcpSpec
      : CliSpec;

interface KindRow<K extends AgentKind> {
  /** The program that `auto` looks for; null: never found by itself. */
  program: string | null;
  make(spec: SpecOf<K>): Agent;
}

const ROWS = Object.fromEntries(
  Object.entries<Cli>(CLIS).map(([kind, cli]) => [
    kind,
    { program: cli.program, make: (spec: CliSpec) => cliAgent(cli, spec) },
  ]),
) as { [K in CliKind]: KindRow<K> };

/** In the order in which `agent: auto` looks for them. */
export const AGENTS: { [K in AgentKind]: KindRow<K> } = {
  claude: { program: 'claude', make: claudeAgent },
  ...ROWS,
  acp: { program: null, make: acpAgent },
  command: { program: null, make: commandAgent },
  script: { program: null, make: scriptAgent },
};

/** Makes the agent of a specification. Throws a `Problem` for a kind that does not exist. */
export function createAgent(spec: AgentSpec): Agent {
  const row = Object.hasOwn(AGENTS, spec.kind)
    ? (AGENTS[spec.kind] as { make(spec: AgentSpec): Agent })
    : null;
  if (row !== null) return row.make(spec);
  throw new Problem({
    code: 'agent.unknown',
    what: `There is no agent "${spec.kind}".`,
    why: `Known are ${Object.keys(AGENTS).join(', ')}.`,
    fix: 'Name one of these, or describe your own under `agents:` with a `command`.',
  });
}

/** The built-in agents whose program stands on the PATH of `env`, in the order of preference. */
export function findAgents(env: Record<string, string | undefined>): { name: AgentKind; program: string }[] {
  return (Object.keys(AGENTS) as AgentKind[]).flatMap((name) => {
    const wanted = AGENTS[name].program;
    const program = wanted === null ? null : findProgram(wanted, env);
    return program === null ? [] : [{ name, program }];
  });
}
