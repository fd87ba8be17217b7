/** `ralph agents`: who could work here, how each stands on this machine, and what is configured. */
import { type AgentInfo, acpSpecOf, builtInSpecs } from '../agents/index.ts';
import type { Settings } from '../config/index.ts';
import { costSource, Problem, type ProblemFacts, type Spent, spentWords } from '../core/index.ts';
import { isTime, type ProjectRecord, readProject } from '../store/index.ts';
import { oneLine } from '../views/index.ts';
import { chooseAgent, inspectNamed } from './agents.ts';
import { problemsOf } from './checks/check.ts';
import { loadSettings } from './config.ts';
import { findPlace } from './place.ts';
import { stringEnv } from './plan.ts';
import { spentToday } from './spending.ts';
import { type UnknownEvents, unknownOf, unknownWords } from './unknown-events.ts';

/** The last time an agent failed in this project. */
interface LastError {
  /** Epoch ms. */
  at: number;
  kind: string;
  message: string;
  /** Epoch ms at which a limit ends; null where nobody said. */
  resetsAt: number | null;
}

interface ListedAgent extends AgentInfo {
  /** A run without --agent takes it. */
  isDefault: boolean;
  /** Its place in `fallback`, from 1; null: not there. */
  fallback: number | null;
  roles: string[];
  lastError: LastError | null;
  /** What it has cost since midnight, over all loops of the project. */
  today: Spent;
  /** null: lately it told nothing that Ralph does not know. */
  unknown: UnknownEvents | null;
}

/** Every agent, as data and as text. A configuration that cannot be read is told beside. */
export async function listAgents(
  cwd: string,
  processEnv: NodeJS.ProcessEnv,
): Promise<{ data: unknown[]; text: string; problems: ProblemFacts[] }> {
  const env = stringEnv(processEnv);
  const place = await findPlace(cwd);
  const { settings, problems } = await settingsOf(() =>
    loadSettings({ place, env: processEnv, flags: {}, session: null }),
  );
  const names = [
    ...builtInSpecs().map(({ name }) => name),
    ...Object.keys(settings?.agents ?? {}),
    ...(settings === null ? [] : namedByCommand(settings)),
  ];
  const { records } = readProject(place.mainDir);
  const errors = lastErrors(records);
  const unknown = unknownOf(records, Date.now());
  const agents = await Promise.all(
    [...new Set(names)].map(async (name) => {
      const info = await inspectNamed(settings ?? { agents: {} }, name, env);
      return listed(info, {
        settings,
        chosen: chosen(settings, env),
        lastError: errors.get(name) ?? null,
        today: spentToday(records, name),
        unknown: unknown.get(name) ?? null,
      });
    }),
  );
  return {
    data: agents.map(agentJson),
    text: agents.map((each) => agentText(each, Date.now())).join('\n'),
    problems,
  };
}

/** Agents that stand in the configuration by the command that starts them. */
function namedByCommand({ agent, fallback, roles }: Settings): string[] {
  const inRoles = Object.values(roles).flatMap((role) => [role.agent, ...(role.fallback ?? [])]);
  return [agent, ...fallback, ...inRoles].filter(
    (name): name is string => name !== null && acpSpecOf(name) !== null,
  );
}

async function settingsOf(
  load: () => Promise<{ settings: Settings }>,
): Promise<{ settings: Settings | null; problems: ProblemFacts[] }> {
  try {
    return { settings: (await load()).settings, problems: [] };
  } catch (error) {
    if (error instanceof Problem) return { settings: null, problems: problemsOf(error) };
    throw error;
  }
}

function chosen(settings: Settings | null, env: Record<string, string>): string | null {
  try {
    return settings === null ? null : chooseAgent(settings, env);
  } catch {
    // No agent at all: then none is the default.
    return null;
  }
}

function listed(
  info: AgentInfo,
  {
    settings,
    chosen,
    ...seen
  }: { settings: Settings | null; chosen: string | null } & Pick<
    ListedAgent,
    'lastError' | 'today' | 'unknown'
  >,
): ListedAgent {
  const place = settings?.fallback.indexOf(info.name) ?? -1;
  const roles = Object.entries(settings?.roles ?? {}).filter(([, role]) => role.agent === info.name);
  return {
    ...info,
    isDefault: chosen === info.name,
    fallback: place === -1 ? null : place + 1,
    roles: roles.map(([name]) => name),
    ...seen,
  };
}

/** The newest failure of each agent that the project's journal holds. */
function lastErrors(records: readonly ProjectRecord[]): Map<string, LastError> {
  const found = new Map<string, LastError>();
  for (const { type, at, agent, kind, message, resetsAt } of records) {
    if (type !== 'agent.failed' || typeof agent !== 'string') continue;
    found.set(agent, {
      at,
      kind: typeof kind === 'string' ? kind : 'crash',
      message: typeof message === 'string' ? message : '',
      resetsAt: isTime(resetsAt) ? resetsAt : null,
    });
  }
  return found;
}

function agentJson(agent: ListedAgent): Record<string, unknown> {
  const { lastError: error } = agent;
  return {
    name: agent.name,
    title: agent.title,
    kind: agent.kind,
    installed: agent.program !== null,
    path: agent.program,
    version: agent.version,
    logged_in: agent.loggedIn,
    capabilities: agent.capabilities,
    default: agent.isDefault,
    fallback: agent.fallback,
    roles: agent.roles,
    spent_today_usd: agent.today.costUsd ?? 0,
    spent_today_source: costSource(agent.today),
    last_error: error && {
      at: new Date(error.at).toISOString(),
      kind: error.kind,
      message: error.message,
      resets_at: error.resetsAt === null ? null : new Date(error.resetsAt).toISOString(),
    },
    unknown_events: agent.unknown && {
      events: agent.unknown.events,
      runs: agent.unknown.runs,
      kinds: agent.unknown.kinds,
      version: agent.unknown.version,
      last_at: new Date(agent.unknown.at).toISOString(),
    },
    install: agent.install,
    login: agent.login,
  };
}

/** What each capability means to the person who chooses an agent. */
const CAPABILITIES: Record<keyof AgentInfo['capabilities'], string> = {
  stream: 'shows what it does while it works',
  toolEvents: 'names the commands it runs',
  sessionResume: 'can go on with an earlier conversation',
  choosesSessionId: 'takes our name for its conversation',
  liveInput: 'can be steered while it works',
  interrupt: 'can be interrupted without losing its conversation',
  tokens: 'counts tokens',
  cost: 'tells its cost',
  limits: 'tells when a used-up limit ends',
  readOnly: 'can be kept from writing',
  permissions: 'asks for permission, so that rules about it hold',
};

function agentText(agent: ListedAgent, now: number): string {
  const { program, version, loggedIn, install, login, lastError: error } = agent;
  const standing =
    program === null ? 'not installed' : [version, LOGIN[`${loggedIn}`]].filter(Boolean).join(', ');
  const uses = [
    ...(agent.isDefault ? ['works here unless --agent names another'] : []),
    ...(agent.fallback === null ? [] : [`fallback ${agent.fallback}`]),
    ...agent.roles.map((role) => `plays ${role}`),
  ];
  const can = (Object.keys(CAPABILITIES) as (keyof typeof CAPABILITIES)[]).filter(
    (key) => agent.capabilities[key],
  );
  const lines = [
    `${agent.name}: ${agent.title}, ${standing || 'installed'}`,
    ...(program === null ? [] : [`  program   ${program}`]),
    ...(uses.length === 0 ? [] : [`  here      ${uses.join('; ')}`]),
    `  it        ${can.map((key) => CAPABILITIES[key]).join('; ') || 'prints text when it ends, and nothing before'}`,
    ...(agent.today.costUsd === null ? [] : [`  today     ${spentWords(agent.today)}`]),
    ...(error === null ? [] : [`  last      ${errorText(error, now)}`]),
    ...(agent.unknown === null ? [] : [`  unknown   ${unknownWords(agent.unknown)}`]),
    ...(program === null && install !== null ? [`  install   ${install}`] : []),
    ...(program !== null && loggedIn === false && login !== null ? [`  log in    ${login}`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

const LOGIN: Record<`${boolean | null}`, string> = {
  true: 'logged in',
  false: 'not logged in',
  null: '',
};

function errorText({ at, kind, message, resetsAt }: LastError, now: number): string {
  const until = resetsAt === null || resetsAt <= now ? '' : `, until ${new Date(resetsAt).toISOString()}`;
  return `failed at ${new Date(at).toISOString()} (${kind}${until}): ${oneLine(message, 160)}`;
}
