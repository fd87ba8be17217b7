/**
 * What can be told of an agent without paying for a start: where its program is, which version, whether it
 * is logged in, and what a person does to get there. One row for each kind, beside its adapter.
 */
import type { Capabilities } from '../engine/index.ts';
import { findProgram, run } from '../process/index.ts';
import { type AcpSpec, acpAgent, greet } from './acp.ts';
import { CLAUDE } from './claude.ts';
import type { About } from './cli.ts';
import { CLIS } from './clis.ts';
import { AGENTS, type AgentKind, type AgentSpec, createAgent } from './registry.ts';

/** The kinds that come with the product and have a program of their own. */
type BuiltIn = Exclude<AgentKind, 'acp' | 'command' | 'script'>;

const ABOUT: Record<BuiltIn, About> = { claude: CLAUDE, ...CLIS };

/** One agent as it stands on this machine. */
export interface AgentInfo {
  name: string;
  title: string;
  kind: AgentKind;
  /** Absolute path where it was found on the PATH; null: not installed. */
  program: string | null;
  /** null: not installed, or it does not tell. */
  version: string | null;
  /** null: nobody can tell without a start. */
  loggedIn: boolean | null;
  capabilities: Capabilities;
  /** What to do to install it; null for an agent of the user's own. */
  install: string | null;
  login: string | null;
}

const ASK_MS = 20_000;

/** Looks at an agent: at most two short child processes, nothing that costs money. Never throws. */
export async function inspectAgent(spec: AgentSpec, env: Record<string, string>): Promise<AgentInfo> {
  const { capabilities } = createAgent(spec);
  const { name, kind } = spec;
  if (kind === 'acp') return inspectAcp(spec, env);
  if (kind === 'command' || kind === 'script') {
    const first = kind === 'command' ? (spec.command[0] ?? '') : process.execPath;
    const program = findProgram(first, env);
    return {
      name,
      kind,
      title: 'own command',
      program,
      version: null,
      loggedIn: null,
      capabilities,
      install: null,
      login: null,
    };
  }
  const about = ABOUT[kind];
  const program = findProgram(AGENTS[kind].program ?? kind, env);
  const [version, login] =
    program === null
      ? ['', '']
      : await Promise.all([
          printed([program, '--version'], env),
          about.loginStatus === null ? '' : printed([program, ...about.loginStatus], env),
        ]);
  return {
    name,
    kind,
    title: about.title,
    program,
    version: /(\d+\.\d+(?:\.\d+)?)/.exec(version)?.[1] ?? null,
    loggedIn: about.readLogin(login),
    capabilities,
    install: about.install,
    login: about.login,
  };
}

/** What an agent behind the protocol says of itself when it is greeted; no session is opened, so nothing is paid. */
async function inspectAcp(spec: AcpSpec, env: Record<string, string>): Promise<AgentInfo> {
  const agent = acpAgent(spec);
  const program = findProgram(spec.command[0] ?? '', env);
  const said = program === null ? null : await greet(spec, env);
  const { capabilities } = agent;
  return {
    name: spec.name,
    kind: 'acp',
    title: said === null || said.name === '' ? 'agent behind the Agent Client Protocol' : said.name,
    program,
    version: said?.version ?? null,
    loggedIn: null,
    capabilities:
      said === null
        ? capabilities
        : { ...capabilities, sessionResume: said.resume !== null, liveInput: said.live !== null },
    install: null,
    login: null,
  };
}

async function printed(command: string[], env: Record<string, string>): Promise<string> {
  const result = await run({ command, cwd: process.cwd(), env, wallMs: ASK_MS, idleMs: null }).done;
  // Some print on stderr what others print on stdout.
  return `${result.stdout.head}\n${result.stderrTail}`;
}

/** How a person lets this agent run a command. */
export function permissionFix(kind: AgentKind, command: string): string {
  if (kind !== 'acp' && kind !== 'command' && kind !== 'script') return ABOUT[kind].allow(command);
  return `Allow \`${command}\` in the settings of the program behind this agent, or in how ralph.yml starts it.`;
}

/** A specification of each agent that comes with the product, in the order of preference. */
export function builtInSpecs(): AgentSpec[] {
  return (Object.keys(ABOUT) as BuiltIn[]).map((kind) => ({ kind, name: kind }));
}
