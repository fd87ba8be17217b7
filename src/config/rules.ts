/**
 * Rules that look at two places of the configuration at once: a name and the list it must be in, a
 * switch and what it then needs. Values by themselves are judged by the schema.
 */
import { type HatFault, hatFaults, nearest, TEAMS } from '../core/index.ts';
import { parseDuration } from './duration.ts';
import { type Found, found, type WhereIs } from './explain.ts';
import { isMapping, type Path, pathText } from './path.ts';
import { PRESETS } from './presets.ts';
import { hatsOf, rolesOf } from './roles.ts';
import type { Config } from './schema.ts';

interface Ground {
  config: Config;
  /** The data before defaults: names that are there although their definition is wrong still count. */
  data: Record<string, unknown>;
  /** Built-in agents; undefined takes any name. */
  agentNames?: readonly string[] | undefined;
  /** Output formats that can be read; undefined takes any that looks like one. */
  outputs?: readonly string[] | undefined;
  whereIs: WhereIs;
}

/** Every broken rule, with its place. */
export function brokenRules(ground: Ground): Found[] {
  return [
    agentRules,
    reservedAgents,
    outputRules,
    teamRules,
    gateRules,
    protectRules,
    timeRules,
    robotRules,
    webhookRules,
    roleRules,
  ].flatMap((rule) => rule(ground));
}

/** What is odd but works. */
export function oddities({ config, agentNames, whereIs }: Ground): string[] {
  const odd: string[] = [];
  const note = (path: Path, text: string): void => {
    odd.push(`${whereIs(path) ?? 'ralph.yml'}: ${pathText(path)} ${text}`);
  };
  for (const [key, value] of Object.entries(config.parallel)) {
    if (typeof value === 'number' && value < 1) note(['parallel', key], `is ${value} and counts as 1.`);
  }
  for (const name of Object.keys(config.agents)) {
    if (agentNames?.includes(name)) note(['agents', name], 'replaces the built-in agent of that name.');
  }
  for (const fault of faultsOf(config).filter((one) => one.odd)) {
    const at = whereIs(placeOfFault(config, fault)) ?? 'ralph.yml';
    odd.push(`${at}: ${fault.what}. ${fault.fix}`);
  }
  return odd;
}

function namesIn(data: Record<string, unknown>, ...keys: string[]): string[] {
  return keys.flatMap((key) => {
    const section = data[key];
    return isMapping(section) ? Object.keys(section) : [];
  });
}

function unknownName(
  path: Path,
  name: string,
  choice: { kind: string; names: readonly string[] },
): Omit<Found['facts'], 'at'> {
  const near = nearest(name, choice.names);
  return {
    code: `config.unknown_${choice.kind}`,
    what: `${pathText(path)} names the ${choice.kind} ${JSON.stringify(name)}, and there is no ${choice.kind} of that name`,
    why: choice.names.length === 0 ? `No ${choice.kind} is defined.` : `Known: ${choice.names.join(', ')}.`,
    fix: near === null ? `Use a known name, or define it under ${choice.kind}s.` : `Did you mean ${near}?`,
  };
}

/** An agent that is named by the command which starts it, and spoken to over the Agent Client Protocol. */
const PROTOCOL_AGENT = /^acp:.*\S/s;

function agentRules({ config, data, agentNames, whereIs }: Ground): Found[] {
  if (agentNames === undefined) return [];
  const names = [...new Set([...agentNames, ...namesIn(data, 'agents')])];
  const uses: [Path, string][] = [];
  if (config.agent !== 'auto') uses.push([['agent'], config.agent]);
  config.fallback.forEach((name, i) => {
    uses.push([['fallback', i], name]);
  });
  if (config.merge.resolve !== null) uses.push([['merge', 'resolve'], config.merge.resolve]);
  for (const key of ['roles', 'hats'] as const) {
    for (const [role, spec] of Object.entries(config[key] ?? {})) {
      if (spec.agent !== undefined) uses.push([[key, role, 'agent'], spec.agent]);
      spec.fallback?.forEach((name, i) => {
        uses.push([[key, role, 'fallback', i], name]);
      });
    }
  }
  return uses
    .filter(([, name]) => !names.includes(name) && !PROTOCOL_AGENT.test(name))
    .map(([path, name]) => {
      const choices = path[0] === 'agent' ? ['auto', ...names] : names;
      return found(path, unknownName(path, name, { kind: 'agent', names: choices }), whereIs);
    });
}

/** `auto` asks for the first installed agent wherever it stands, so nothing of that name could be chosen. */
function reservedAgents({ config, whereIs }: Ground): Found[] {
  if (!Object.hasOwn(config.agents, 'auto')) return [];
  const facts = {
    code: 'config.reserved_name',
    what: 'agents.auto redefines a reserved name',
    why: '`agent: auto` means the first installed agent, so this one could never be chosen.',
    fix: 'Give your agent a name of its own, and name it under `agent`.',
  };
  return [found(['agents', 'auto'], facts, whereIs)];
}

function outputRules({ config, outputs, whereIs }: Ground): Found[] {
  if (outputs === undefined) return [];
  return Object.entries(config.agents)
    .filter(([, { output }]) => !outputs.includes(output))
    .map(([name, { output }]) => {
      const path = ['agents', name, 'output'];
      const near = nearest(output, outputs);
      const facts = {
        code: 'config.unknown_output',
        what: `${pathText(path)} is ${JSON.stringify(output)}, a format that cannot be read`,
        why: `Known: ${outputs.join(', ')}.`,
        fix: near === null ? 'Use a known format; text fits every program.' : `Did you mean ${near}?`,
      };
      return found(path, facts, whereIs);
    });
}

function teamRules({ config, data, whereIs }: Ground): Found[] {
  const builtIn = ['auto', ...Object.keys(TEAMS)];
  const names = [...builtIn, ...Object.keys(PRESETS), ...namesIn(data, 'teams')];
  const broken: Found[] = [];
  if (!names.includes(config.team)) {
    broken.push(found(['team'], unknownName(['team'], config.team, { kind: 'team', names }), whereIs));
  }
  for (const name of Object.keys(config.teams)) {
    if (!builtIn.includes(name)) continue;
    const facts = {
      code: 'config.reserved_name',
      what: `teams.${name} redefines a built-in team`,
      why: 'Whoever reads the name must be able to rely on what it means.',
      fix: 'Give your team a name of its own.',
    };
    broken.push(found(['teams', name], facts, whereIs));
  }
  return broken;
}

/** Works on the data as written: a gate with another mistake still takes its name. */
function gateRules({ data, whereIs }: Ground): Found[] {
  const seen = new Set<string>();
  const gates = Array.isArray(data.gates) ? data.gates : [];
  return gates.flatMap((gate, i) => {
    const name: unknown = isMapping(gate) ? gate.name : undefined;
    if (typeof name !== 'string') return [];
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const facts = {
      code: 'config.duplicate_gate',
      what: `Two gates are called ${name}`,
      why: 'Results and baselines are kept by name.',
      fix: 'Give each gate a name of its own.',
    };
    return [found(['gates', i, 'name'], facts, whereIs)];
  });
}

/** A pattern that can match nothing protects nothing, and whoever wrote it believes that it does. */
function protectRules({ config, whereIs }: Ground): Found[] {
  return config.protect.flatMap((pattern, i) => {
    const why = whyNothing(pattern);
    if (why === null) return [];
    const facts = {
      code: 'config.invalid_value',
      what: `protect[${i}] is ${JSON.stringify(pattern)}, which protects nothing`,
      why,
      fix: 'Name files of the project, from its folder on: for example "test/golden/**".',
    };
    return [found(['protect', i], facts, whereIs)];
  });
}

function whyNothing(pattern: string): string | null {
  const path = pattern.trim().replaceAll('\\', '/');
  if (path === '' || path === '.' || path === './' || path === '/') return 'It names no file.';
  if (pattern !== pattern.trim()) return 'Blanks at its ends would be part of the names.';
  if (pattern.includes('\\')) return 'Folders are divided by forward slashes.';
  if (pattern.startsWith('!'))
    return 'Exceptions are not known here; each pattern adds to what is protected.';
  if (/^~|^[a-z]:\//i.test(path))
    return 'Patterns begin at the folder of the project; this one lies elsewhere.';
  if (path.split('/').includes('..'))
    return 'Only what lies in the project is looked at, and `..` leads out of it.';
  return null;
}

function timeRules({ config, whereIs }: Ground): Found[] {
  const broken: Found[] = [];
  const { max_time: maxTime } = config.limits;
  if (maxTime !== null && !((parseDuration(maxTime) ?? 0) > 0)) {
    const facts = {
      code: 'config.invalid_value',
      what: `limits.max_time is ${JSON.stringify(maxTime)}`,
      why: 'A run without any time could not start an agent.',
      fix: 'Give a duration above zero, such as 90s, 15m or 2h, or null for no limit.',
    };
    broken.push(found(['limits', 'max_time'], facts, whereIs));
  }
  const { min_timeout: min, max_timeout: max } = config.adaptive_timeout;
  if (min > max) {
    const facts = {
      code: 'config.invalid_value',
      what: `adaptive_timeout.min_timeout (${min}) is above max_timeout (${max})`,
      why: 'No attempt could keep both bounds.',
      fix: 'Lower min_timeout or raise max_timeout.',
    };
    broken.push(found(['adaptive_timeout', 'min_timeout'], facts, whereIs));
  }
  return broken;
}

function robotRules({ config: { RObot: robot }, whereIs }: Ground): Found[] {
  if (!robot.enabled) return [];
  const broken: Found[] = [];
  if (robot.timeout_seconds === undefined) {
    const facts = {
      code: 'config.missing',
      what: 'RObot.timeout_seconds is missing',
      why: 'RObot is enabled, and how long a question may hold the session is yours to say.',
      fix: 'Add timeout_seconds, for example 300; 0 waits without a limit.',
    };
    broken.push(found(['RObot', 'timeout_seconds'], facts, whereIs));
  }
  if (robot.telegram.bot_token === undefined) {
    const facts = {
      code: 'config.missing',
      what: 'RObot.telegram.bot_token is missing',
      why: 'RObot is enabled, and without a token no message can be sent or heard.',
      fix: 'Set RALPH_TELEGRAM_BOT_TOKEN.',
    };
    broken.push(found(['RObot', 'telegram', 'bot_token'], facts, whereIs));
  }
  return broken;
}

function webhookRules({ config, whereIs }: Ground): Found[] {
  const { webhook } = config.channels;
  if (!webhook?.answers || webhook.secret !== undefined) return [];
  const facts = {
    code: 'config.missing',
    what: 'channels.webhook.secret is missing',
    why: 'channels.webhook takes answers, and without a signature anybody who reaches it could answer for you.',
    fix: 'Add a secret, for example RALPH_CONFIG_CHANNELS__WEBHOOK__SECRET, or set answers: false.',
  };
  return [found(['channels', 'webhook', 'secret'], facts, whereIs)];
}

function roleRules({ config, data, whereIs }: Ground): Found[] {
  if (namesIn(data, 'roles').length > 0 && namesIn(data, 'hats').length > 0) {
    const facts = {
      code: 'config.two_keys',
      what: 'Both roles and hats are there',
      why: 'They are two names of one key.',
      fix: 'Move all of them under roles.',
    };
    return [found(['hats'], facts, whereIs)];
  }
  // A role whose definition has another mistake is there all the same.
  const half = namesIn(data, 'roles', 'hats').length > Object.keys(rolesOf(config)).length;
  return faultsOf(config)
    .filter(({ odd, code }) => !odd && !(half && OF_THE_WHOLE.has(code)))
    .map(({ code, what, why, fix, ...place }) =>
      found(placeOfFault(config, place), { code: `config.${code}`, what, why, fix }, whereIs),
    );
}

/** Faults that a role which is not looked at could mend. */
const OF_THE_WHOLE = new Set(['unknown_role', 'unreachable_role', 'no_exit']);

function faultsOf(config: Config): HatFault[] {
  return hatFaults(hatsOf(config), sectionOf(config));
}

function sectionOf({ hats = {} }: Config): 'roles' | 'hats' {
  return Object.keys(hats).length > 0 ? 'hats' : 'roles';
}

function placeOfFault(config: Config, { role, key, index }: Pick<HatFault, 'role' | 'key' | 'index'>): Path {
  const above = role === null ? [] : [sectionOf(config), role];
  return [...above, ...(key === null ? [] : [key]), ...(index === undefined ? [] : [index])];
}
