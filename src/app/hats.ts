/**
 * `ralph hats`: the roles that this project's configuration describes, which topic wakes which of them, and
 * whether all of it fits together. Nothing is started.
 */
import { hatsOf, type Loaded, Problems } from '../config/index.ts';
import {
  aliasesOf,
  BUILT_IN_ROLES,
  findHat,
  type Hat,
  type HatGraph,
  hatGraph,
  isOwn,
  mermaid,
  nearest,
  Problem,
  type ProblemFacts,
  problemText,
  thereAre,
} from '../core/index.ts';
import { count, oneLine } from '../views/index.ts';
import { loadSettings } from './config.ts';
import { findPlace } from './place.ts';

export interface HatsRequest {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** A role as `ralph hats list --json` shows it. Absent is null; lists are as the configuration has them. */
export interface RoleJson {
  name: string;
  title: string | null;
  /** `own`: topics wake it. `built-in`: its phase does. */
  kind: 'own' | 'built-in';
  /** Gets ready tasks, and topics that nobody listens for. */
  default: boolean;
  aliases: readonly string[];
  phase: string | null;
  triggers: readonly string[];
  publishes: readonly string[];
  default_publishes: string | null;
  max_activations: number | null;
  instructions: string | null;
  agent: string;
  model: string | null;
  fallback: readonly string[];
  /** The team whose preset it comes with, in whole or in part: `team bugfix`. */
  from: string | null;
}

export interface HatsView<Data> {
  data: Data;
  text: string;
  /** What a run would refuse, because nothing carries it out yet. */
  notYet: ProblemFacts[];
}

async function load({ cwd, env }: HatsRequest): Promise<Loaded> {
  return loadSettings({ place: await findPlace(cwd), env, flags: {}, session: null });
}

/** Every role: one's own in their order, then the built-in ones. */
export async function listHats(request: HatsRequest): Promise<HatsView<RoleJson[]>> {
  const loaded = await load(request);
  const roles = rolesIn(loaded);
  return { data: roles, text: roles.map(roleLine).join('\n'), notYet: loaded.notYet };
}

export async function showHat(request: HatsRequest, name: string): Promise<HatsView<RoleJson>> {
  const loaded = await load(request);
  const roles = rolesIn(loaded);
  const found = findHat(everyHat(loaded), name)?.name;
  const role = roles.find((one) => one.name === found);
  if (role === undefined) throw unknownRole(name, roles);
  return { data: role, text: roleText(role), notYet: loaded.notYet };
}

/** The topics as a graph: data, and the text of a Mermaid flowchart. */
export async function graphHats(request: HatsRequest): Promise<HatsView<HatGraph>> {
  const loaded = await load(request);
  const graph = hatGraph(hatsOf(loaded.config));
  return { data: graph, text: graph.nodes.length === 0 ? NO_OWN : mermaid(graph), notYet: loaded.notYet };
}

const NO_OWN =
  'There are no roles of your own, so no topic wakes anybody: the built-in roles have their phases.';

export interface Validated {
  valid: boolean;
  problems: ProblemFacts[];
  warnings: string[];
  not_carried_out: ProblemFacts[];
}

/** Whether a run would take this configuration, and what is odd about it. */
export async function validateHats(request: HatsRequest): Promise<{ data: Validated; text: string }> {
  try {
    const loaded = await load(request);
    const { warnings, notYet } = loaded;
    const own = hatsOf(loaded.config).hats.filter(isOwn).length;
    const text = [
      `Valid: ${count(own, 'role')} of your own.`,
      ...warnings.map((warning) => `warning: ${warning}`),
      ...notYet.map(problemText),
    ].join('\n');
    return { data: { valid: true, problems: [], warnings, not_carried_out: notYet }, text };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const problems = error instanceof Problems ? error.all : [error.facts];
    const text = [...problems.map(problemText), `Not valid: ${count(problems.length, 'problem')}.`].join(
      '\n',
    );
    return { data: { valid: false, problems, warnings: [], not_carried_out: [] }, text };
  }
}

/** The roles of the configuration, and the built-in ones that it leaves as they are. */
function everyHat({ config }: Loaded): Hat[] {
  const { hats } = hatsOf(config);
  const names = hats.map(({ name }) => name);
  const untouched = BUILT_IN_ROLES.filter((name) => !names.includes(name)).map((name) => ({
    ...UNCHANGED,
    name,
    aliases: aliasesOf(name, names),
  }));
  const all = [...hats, ...untouched];
  return [
    ...all.filter(isOwn),
    ...BUILT_IN_ROLES.flatMap((name) => all.filter((hat) => hat.name === name && !isOwn(hat))),
  ];
}

const UNCHANGED: Omit<Hat, 'name' | 'aliases'> = {
  title: null,
  phase: null,
  triggers: [],
  publishes: [],
  defaultPublishes: null,
  instructions: null,
  agent: null,
  model: null,
  fallback: null,
  maxActivations: null,
};

function rolesIn(loaded: Loaded): RoleJson[] {
  const { settings, config } = loaded;
  const { defaultRole } = hatsOf(config);
  return everyHat(loaded).map((hat) => {
    const agent = hat.agent ?? settings.agent;
    return {
      name: hat.name,
      title: hat.title,
      kind: isOwn(hat) ? 'own' : 'built-in',
      default: hat.name === defaultRole,
      aliases: hat.aliases,
      phase: hat.phase,
      triggers: hat.triggers,
      publishes: hat.publishes,
      default_publishes: hat.defaultPublishes,
      max_activations: hat.maxActivations,
      instructions: hat.instructions,
      agent,
      model: hat.model ?? (agent === settings.agent ? settings.model : null),
      fallback: hat.fallback ?? settings.fallback,
      from: presetBehind(loaded, hat.name),
    };
  });
}

/** The team whose preset anything of this role comes from. */
function presetBehind({ origin, config }: Loaded, name: string): string | null {
  const from = `team ${config.team}`;
  const below = [`roles.${name}.`, `hats.${name}.`];
  const comes = [...origin].some(([key, at]) => at === from && below.some((start) => key.startsWith(start)));
  return comes ? from : null;
}

function roleLine(role: RoleJson): string {
  const { name, kind, agent, model, publishes } = role;
  const parts = [
    wakes(role),
    ...(publishes.length > 0 ? [`publishes ${publishes.join(', ')}`] : []),
    `agent ${agent}${model === null ? '' : `, model ${model}`}`,
    ...(role.from === null ? [] : [`from ${role.from}`]),
  ];
  return `${name.padEnd(12)} ${kind === 'own' ? 'own     ' : 'built-in'}  ${parts.join(' · ')}`;
}

function wakes({ kind, phase, triggers, default: isDefault }: RoleJson): string {
  const by = [...triggers, ...(phase === null ? [] : [`phase ${phase}`])];
  if (isDefault) by.push('what nobody else listens for');
  if (kind === 'built-in' && by.length === 0) return 'woken by its phase';
  return by.length === 0 ? 'woken by nothing' : `woken by ${by.join(', ')}`;
}

function roleText(role: RoleJson): string {
  const { name, title, kind, aliases, publishes, instructions, agent, model, fallback } = role;
  const lines = [
    `${name}${title === null ? '' : ` (${oneLine(title)})`}: ${kind === 'own' ? 'a role of your own' : 'a built-in role'}, ${wakes(role)}`,
    ...(role.from === null ? [] : [`  comes with   ${role.from}`]),
    ...(aliases.length === 0 ? [] : [`  also called  ${aliases.join(', ')}`]),
    ...(kind === 'own' ? [`  publishes    ${publishes.join(', ') || 'anything'}`] : []),
    ...(role.default_publishes === null ? [] : [`  by default   ${role.default_publishes}`]),
    ...(role.max_activations === null ? [] : [`  at most      ${count(role.max_activations, 'run')}`]),
    `  agent        ${agent}${model === null ? '' : `, model ${model}`}${fallback.length === 0 ? '' : `, then ${fallback.join(', ')}`}`,
    ...(instructions === null ? [] : [`  is told      ${oneLine(instructions, 200)}`]),
  ];
  return lines.join('\n');
}

function unknownRole(name: string, roles: readonly RoleJson[]): Problem {
  const names = roles.map((role) => role.name);
  const near = nearest(name, names);
  return new Problem({
    code: 'cli.unknown_role',
    what: `There is no role "${name}".`,
    why: thereAre(names),
    fix: near === null ? 'Name one of them.' : `Did you mean ${near}?`,
  });
}
