/**
 * The layers of the configuration, later ones winning: files (the user's, the project's, the session's),
 * environment, flags. All are laid over each other before anything is checked, so one schema judges them
 * and a problem can name the line, variable or flag it came from.
 */
import { nearest, type ProblemFacts } from '../core/index.ts';
import {
  hasFreeNames,
  isBelow,
  isMapping,
  keysAt,
  nodeAt,
  type Path,
  pathText,
  settingPaths,
  valueAt,
} from './path.ts';
import { presetOf } from './presets.ts';
import type { SchemaNode } from './shape.ts';
import { parseValue, type Source } from './source.ts';

/** What the command line said. Numbers may still be text: the same check that guards the file reads them. */
export interface Flags {
  team?: string;
  agent?: string;
  model?: string;
  mode?: string;
  tasks?: string;
  maxIterations?: number | string;
  maxStuck?: number | string;
  /** US dollars. */
  maxCost?: number | string;
  /** Seconds, or a duration such as `90s`, `15m`, `2h`. */
  maxTime?: number | string;
  maxTokens?: number | string;
  reviewCap?: number | string;
  parallel?: number | string;
  /** Command lines, added to the file's gates as `gate-1`, `gate-2` … */
  gates?: string[];
  promptFile?: string;
  /** The only task to work on. */
  task?: string;
  skipReview?: boolean;
  wait?: boolean;
  noWait?: boolean;
  allowDirty?: boolean;
  noGit?: boolean;
}

/** The files' data with everything laid over it, and where each value came from. */
export interface Layered {
  /** As read, earliest first. */
  sources: Source[];
  data: Record<string, unknown>;
  laid: { path: Path; from: string }[];
  problems: ProblemFacts[];
}

const PREFIX = 'RALPH_CONFIG_';
/** Names that are fixed outside the scheme; they win over it. */
const FIXED_VARIABLES: [string, Path][] = [
  ['RALPH_TELEGRAM_BOT_TOKEN', ['RObot', 'telegram', 'bot_token']],
  ['RALPH_TELEGRAM_API_URL', ['RObot', 'telegram', 'api_url']],
];
const FLAGS: [keyof Flags, string, Path[]][] = [
  ['team', '--team', [['team']]],
  ['agent', '--agent', [['agent']]],
  ['model', '--model', [['model']]],
  ['mode', '--mode', [['mode']]],
  ['tasks', '--tasks', [['tasks']]],
  ['maxIterations', '--max-iterations', [['limits', 'max_iterations']]],
  ['maxStuck', '--max-stuck', [['limits', 'max_stuck']]],
  ['maxCost', '--max-cost', [['limits', 'max_cost_usd']]],
  ['maxTime', '--max-time', [['limits', 'max_time']]],
  ['maxTokens', '--max-tokens', [['limits', 'max_tokens']]],
  ['reviewCap', '--review-cap', [['limits', 'review_cap']]],
  [
    'parallel',
    '--parallel',
    ['executors', 'reviewers', 'questioners'].map((who) => ['parallel', `max_parallel_${who}`]),
  ],
];

/** Lays files over each other: mappings join key by key, anything else replaces what was below it. */
export function layFiles(sources: Source[]): Layered {
  for (const { data } of sources) dropEmptySections(data, []);
  const data = sources.reduce<Record<string, unknown>>((below, source) => joined(below, source.data), {});
  return {
    sources,
    data: structuredClone(data),
    laid: [],
    problems: sources.flatMap(({ problems }) => problems),
  };
}

/** `limits:` with nothing below it is an empty section, not a wrong one. */
function dropEmptySections(data: Record<string, unknown>, path: Path): void {
  for (const [key, value] of Object.entries(data)) {
    if (isMapping(value)) dropEmptySections(value, [...path, key]);
    if (value !== null) continue;
    const node = nodeAt([...path, key]);
    if (node?.type === 'object' || node?.type === 'array') delete data[key];
  }
}

function joined(below: Record<string, unknown>, above: Record<string, unknown>): Record<string, unknown> {
  const data = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = data[key];
    data[key] = isMapping(under) && isMapping(value) ? joined(under, value) : value;
  }
  return data;
}

/** Where the place was set: the last flag or variable, else the file and its line; undefined: nowhere. */
export function placeOf({ sources, laid }: Layered, path: Path): string | undefined {
  const from = laid.findLast((one) => isBelow(path, one.path))?.from;
  if (from !== undefined) return from;
  const source = ownerOf(sources, path);
  const line = source?.lineOf(path) ?? null;
  return source === null || line === null ? undefined : `${source.file}:${line}`;
}

/** The last file that holds the place, or hides what others hold there; else the one that comes nearest to it. */
function ownerOf(sources: Source[], path: Path): Source | null {
  let [owner, deepest] = [null as Source | null, 0];
  for (const source of sources.toReversed()) {
    let value: unknown = source.data;
    let depth = 0;
    while (depth < path.length && isMapping(value) && Object.hasOwn(value, String(path[depth]))) {
      value = value[String(path[depth++])];
    }
    if (depth > 0 && (depth === path.length || !isMapping(value))) return source;
    if (depth > deepest) [owner, deepest] = [source, depth];
  }
  return owner;
}

/** Lays the environment over the data: `RALPH_CONFIG_<KEY>`, nested with `__`, any case. Empty is unset. */
export function layEnvironment(layered: Layered, env: Record<string, string | undefined>): void {
  const names = Object.keys(env).filter((name) => name.toUpperCase().startsWith(PREFIX) && env[name] !== '');
  // Sorted, so that two spellings of one variable always end the same way.
  for (const name of names.sort()) {
    const raw = env[name];
    if (raw === undefined) continue;
    const path = variablePath(name, layered);
    if (path !== null) lay(layered, path, { value: fromText(raw, nodeAt(path)), from: name });
  }
  for (const [name, path] of FIXED_VARIABLES) {
    if (env[name]) lay(layered, path, { value: env[name], from: name });
  }
}

/** The place a variable names, or null after saying what is wrong with it. */
function variablePath(name: string, { data, problems }: Layered): Path | null {
  const path: string[] = [];
  let here: unknown = data;
  for (const word of name.slice(PREFIX.length).split('__')) {
    const node = nodeAt(path);
    const known = keysAt(path);
    const free = node !== null && hasFreeNames(node);
    const choices = free && isMapping(here) ? Object.keys(here) : known;
    const key = choices.find((one) => one.toLowerCase() === word.toLowerCase());
    if (word === '' || (key === undefined && !free)) {
      problems.push(unknownVariable(name, word, { path, known }));
      return null;
    }
    path.push(key ?? word.toLowerCase());
    here = isMapping(here) ? here[path.at(-1)!] : undefined;
  }
  return path;
}

function unknownVariable(name: string, word: string, at: { path: string[]; known: string[] }): ProblemFacts {
  // One underscore where two belong is the commonest slip.
  const joined = settingPaths().find((path) => path.join('_').toLowerCase() === word.toLowerCase());
  const meant = at.path.length === 0 && joined !== undefined ? joined.join('__') : nearest(word, at.known);
  const begun = [...at.path, meant].join('__').toUpperCase();
  const place = at.path.length === 0 ? 'ralph.yml' : pathText(at.path);
  return {
    code: 'config.unknown_key',
    at: name,
    what: word === '' ? `${name} names no key` : `${place} has no key ${word.toLowerCase()}`,
    why: `Variables that begin with ${PREFIX} set keys of ralph.yml, nested ones with __ in between.`,
    fix:
      meant === null
        ? 'Unset it, or see docs/reference/configuration.md for the keys.'
        : `Did you mean ${PREFIX}${begun}?`,
  };
}

/** Lays the flags over the data. Numbers given as text become numbers where the key wants one. */
export function layFlags(layered: Layered, flags: Flags): void {
  for (const [flag, from, paths] of FLAGS) {
    const raw = flags[flag];
    if (raw === undefined) continue;
    for (const path of paths) {
      lay(layered, path, { value: typeof raw === 'string' ? fromText(raw, nodeAt(path)) : raw, from });
    }
  }
  layGates(layered, flags.gates ?? []);
}

/**
 * Lays the roles of a preset team below everything else. A team of that name of one's own goes before it, and
 * whoever writes `hats` gets the roles there: both keys at once are refused.
 */
export function layPreset(layered: Layered): void {
  const { data } = layered;
  const preset = presetOf(data.team);
  if (preset === null || hasOwn(data.teams, String(data.team))) return;
  const { roles, ...rest } = preset;
  const section = isMapping(data.hats) && data.roles === undefined ? 'hats' : 'roles';
  for (const [key, value] of Object.entries(rest)) layBelow(layered, [key], value);
  for (const [name, role] of Object.entries(roles)) {
    for (const [key, value] of Object.entries(role)) layBelow(layered, [section, name, key], value);
  }
}

const hasOwn = (data: unknown, key: string): boolean => isMapping(data) && Object.hasOwn(data, key);

function layBelow(layered: Layered, path: Path, value: unknown): void {
  if (valueAt(layered.data, path) !== undefined) return;
  lay(layered, path, { value: structuredClone(value), from: `team ${String(layered.data.team)}` });
}

/** A gate on the command line is one more: it must never quietly take the file's gates away. */
function layGates({ data, laid }: Layered, commands: string[]): void {
  const present = data.gates ?? [];
  if (!Array.isArray(present) || commands.length === 0) return;
  const names = new Set(present.map((gate) => (isMapping(gate) ? gate.name : undefined)));
  const gates = [...present];
  let n = 0;
  for (const run of commands) {
    do n++;
    while (names.has(`gate-${n}`));
    laid.push({ path: ['gates', gates.length], from: '--gate' });
    gates.push({ name: `gate-${n}`, run });
  }
  data.gates = gates;
}

function lay({ data, laid }: Layered, path: Path, { value, from }: { value: unknown; from: string }): void {
  let here = data;
  for (const step of path.slice(0, -1).map(String)) {
    const next = Object.hasOwn(here, step) ? here[step] : undefined;
    // A wrong section in the file is told as such; writing through it would hide the mistake.
    if (next !== undefined && next !== null && !isMapping(next)) return;
    if (!isMapping(next)) here[step] = {};
    here = here[step] as Record<string, unknown>;
  }
  here[String(path.at(-1))] = value;
  laid.push({ path, from });
}

/** Text as the value its key wants: text stays text where only text is allowed, else YAML decides. */
function fromText(raw: string, node: SchemaNode | null): unknown {
  const kinds = node === null ? [] : kindsOf(node);
  if (kinds.every((kind) => kind === 'string')) return raw;
  if (kinds.every((kind) => kind === 'string' || kind === 'null'))
    return /^(null|~)$/i.test(raw) ? null : raw;
  return parseValue(raw);
}

/** The flag of `ralph run` that sets this key, or null. */
export function flagFor(path: Path): string | null {
  if (pathText(path) === 'gates') return '--gate';
  const row = FLAGS.find(([, , paths]) => paths.some((one) => pathText(one) === pathText(path)));
  return row?.[1] ?? null;
}

/** The variable that sets this key: a name that is fixed, else by the scheme. */
export function variableFor(path: Path): string {
  const fixed = FIXED_VARIABLES.find(([, one]) => pathText(one) === pathText(path));
  return fixed?.[0] ?? PREFIX + path.join('__').toUpperCase();
}

function kindsOf(node: SchemaNode): string[] {
  if (node.anyOf !== undefined) return node.anyOf.flatMap(kindsOf);
  if (node.type === undefined) return ['string'];
  return Array.isArray(node.type) ? node.type : [node.type];
}
