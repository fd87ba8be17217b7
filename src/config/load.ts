/**
 * From files, the environment and the command line to settings, or to every problem at once.
 *
 * ```
 * user's, project's, session's file ─parse→ data ←lay─ environment ←lay─ flags      (later wins)
 *        data ─schema→ config ─rules→ settings           each problem names the line, variable or flag
 * ```
 */
import type { ProblemFacts } from '../core/index.ts';
import { explainIssues, type Found, isSecret, unlessTold, type WhereIs } from './explain.ts';
import { type ReadFile, readIfThere, readProjectSource, readUserSource } from './file.ts';
import { parseInstructions } from './instructions.ts';
import {
  type Flags,
  type Layered,
  layEnvironment,
  layFiles,
  layFlags,
  layPreset,
  placeOf,
} from './layers.ts';
import { notCarriedOut } from './not-yet.ts';
import {
  hasFreeNames,
  isBelow,
  isMapping,
  nodeAt,
  type Path,
  pathText,
  settingPaths,
  valueAt,
} from './path.ts';
import { plainConfig } from './plain.ts';
import { throwAll } from './problems.ts';
import { brokenRules, oddities } from './rules.ts';
import type { Config } from './schema.ts';
import { type Settings, toSettings } from './settings.ts';
import { CONFIG_FILE, type Source } from './source.ts';

export interface LoadRequest {
  /** Absolute path of the folder that holds ralph.yml. */
  projectDir: string;
  env: Record<string, string | undefined>;
  flags: Flags;
  /** Reads one file; rejects with code ENOENT where there is none. Default: the disk. */
  readFile?: ReadFile;
  /** Names of the agents that come with the product; the room itself knows none. Default: any name is taken. */
  agentNames?: readonly string[];
  /** Output formats of own agents that can be read. Default: any that looks like one. */
  agentOutputs?: readonly string[];
  /** The session's `<SESSION_ID>.instructions.md`: its path, and its name in warnings. */
  instructions?: { path: string; name: string } | undefined;
  /** Default: this machine's. */
  platform?: NodeJS.Platform;
}

export interface Loaded {
  settings: Settings;
  /** Every key with a value of its own, to `default`, `ralph.yml:12`, a variable or a flag. */
  origin: Map<string, string>;
  /** Keys that are set and that this version does not carry out: a run must refuse them. */
  notYet: ProblemFacts[];
  /** Odd things that work, one sentence each. */
  warnings: string[];
  /** The same settings in the file's spelling. Holds secrets: show `configLines` instead. */
  config: Config;
}

/**
 * Reads and checks the whole configuration. Throws one `Problem`, or `Problems` with all of them;
 * nothing else, whatever the file, the variables and the flags hold.
 */
export async function loadConfig(request: LoadRequest): Promise<Loaded> {
  const sources = await readSources(request);
  if (sources.some(({ broken }) => broken)) throwAll(sources.flatMap(({ problems }) => problems));
  const layered = layFiles(sources);
  layEnvironment(layered, request.env);
  layFlags(layered, request.flags);
  layPreset(layered);
  layered.problems.push(...flagProblems(request.flags));

  const whereIs: WhereIs = (path) => placeOf(layered, path);
  const { config, told } = await check(layered.data, whereIs);
  const { agentNames, agentOutputs: outputs } = request;
  const ground = { config, data: layered.data, agentNames, outputs, whereIs };
  told.push(...unlessTold(brokenRules(ground), told));
  throwAll([...layered.problems, ...inFileOrder(oncePerFlag(told), sources)]);

  const origin = originOf(config, layered);
  return {
    settings: toSettings(config, request.flags, (key) => origin.get(key) !== 'default'),
    origin,
    notYet: notCarriedOut({ config, origin, whereIs }),
    warnings: [...sources.flatMap(({ warnings }) => warnings), ...oddities(ground)],
    config,
  };
}

/** Every file of the configuration, earlier layers first. */
async function readSources({
  projectDir,
  env,
  platform,
  readFile,
  instructions,
}: LoadRequest): Promise<Source[]> {
  const user = await readUserSource({ env, platform }, readFile);
  const project = await readProjectSource(projectDir, readFile);
  const text =
    instructions === undefined ? null : await readIfThere(instructions.path, instructions.name, readFile);
  return [
    ...(user === null ? [] : [user]),
    project,
    ...(text === null ? [] : [parseInstructions(text, instructions!.name)]),
  ];
}

/** What stands in the place of a secret. */
export const HIDDEN = 'set (hidden)';

/**
 * `key`, `value` and `origin` of every key there is, secrets hidden: what `ralph config --origin`
 * prints. A key without a default that nobody set has no value.
 */
export function configLines({ config, origin }: Loaded): { key: string; value: unknown; origin: string }[] {
  const set = leaves(config, []);
  const known = new Set(set.map(pathText));
  const unset = settingPaths().filter(
    (path) => !known.has(pathText(path)) && valueAt(config, path) === undefined,
  );
  return [...set, ...unset].map((path) => {
    const key = pathText(path);
    const value = valueAt(config, path);
    const shown = value !== undefined && isSecret(path) ? HIDDEN : value;
    return { key, value: shown, origin: origin.get(key) ?? 'default' };
  });
}

/**
 * Checks against the schema. What it refuses is taken out and the rest is checked again, so that the
 * rules can still look at everything that is sound and one run tells every mistake.
 */
async function check(
  data: Record<string, unknown>,
  whereIs: WhereIs,
): Promise<{ config: Config; told: Found[] }> {
  const plain = plainConfig(data);
  if (plain !== null) return { config: plain, told: [] };
  const { configSchema } = await import('./schema.ts');
  const told: Found[] = [];
  let sound: unknown = structuredClone(data);
  for (;;) {
    const result = configSchema.safeParse(sound);
    if (result.success) return { config: result.data, told };
    const found = explainIssues(result.error.issues, sound, whereIs);
    told.push(...unlessTold(found, told));
    // All places first: taking one out may take the next one along.
    const places = found.map(({ path }) => removable(sound, path));
    for (const place of places) sound = without(sound, place);
  }
}

/**
 * The place itself, or the nearest thing around it that is there. A list goes as a whole: its items
 * would change their numbers, and later problems their lines.
 */
function removable(data: unknown, path: Path): Path {
  const item = path.findIndex((step) => typeof step === 'number');
  let depth = item === -1 ? path.length : item;
  while (depth > 0 && valueAt(data, path.slice(0, depth)) === undefined) depth--;
  return path.slice(0, depth);
}

function without(data: unknown, place: Path): unknown {
  if (place.length === 0) return {};
  const holder = valueAt(data, place.slice(0, -1));
  if (isMapping(holder)) delete holder[String(place.at(-1))];
  return data;
}

/** `--parallel` sets three keys; what is wrong with it is one mistake. */
function oncePerFlag(found: Found[]): Found[] {
  const seen = new Set<string>();
  return found.filter(({ facts: { at } }) => {
    if (at === undefined || !at.startsWith('--') || at === '--gate') return true;
    if (seen.has(at)) return false;
    seen.add(at);
    return true;
  });
}

/** By file and line; what stands in no file comes after. */
function inFileOrder(found: Found[], sources: Source[]): ProblemFacts[] {
  const rank = ({ facts: { at = '' } }: Found): number => {
    const [, file, line] = /^(.*?):(\d+)(?::\d+)?$/.exec(at) ?? [];
    const layer = sources.findIndex((source) => source.file === file);
    return layer === -1 ? Number.MAX_SAFE_INTEGER : layer * 10_000_000 + Number(line);
  };
  return found.toSorted((a, b) => rank(a) - rank(b)).map(({ facts }) => facts);
}

/** Flags that set no key of the file and so pass no schema. */
function flagProblems(flags: Flags): ProblemFacts[] {
  const problems: ProblemFacts[] = [];
  if (flags.wait === true && flags.noWait === true) {
    problems.push({
      code: 'config.flags_disagree',
      at: '--wait',
      what: 'Both --wait and --no-wait are given',
      why: 'A run either waits for people or it does not.',
      fix: 'Keep one of the two.',
    });
  }
  const texts = { '--task': flags.task, '--prompt-file': flags.promptFile };
  for (const [name, value] of Object.entries(texts)) {
    if (value !== undefined && value.trim() === '') problems.push(emptyFlag(name));
  }
  if (flags.gates?.some((command) => command.trim() === '')) problems.push(emptyFlag('--gate'));
  return problems;
}

function emptyFlag(name: string): ProblemFacts {
  return {
    code: 'config.empty_flag',
    at: name,
    what: `${name} is empty`,
    why: 'It names nothing, most often because a shell variable was not set.',
    fix: `Give ${name} a value, or leave it out.`,
  };
}

function originOf(config: Config, layered: Layered): Map<string, string> {
  return new Map(
    leaves(config, []).map((path) => {
      if (valueAt(layered.data, path) === undefined) return [pathText(path), 'default'];
      // A gate on the command line is added to the list that a file holds.
      const added = layered.laid.filter((one) => one.path.length > path.length && isBelow(one.path, path));
      const places = new Set([placeOf(layered, path), ...added.map(({ from }) => from)]);
      places.delete(undefined);
      return [pathText(path), [...places].join(' and ') || CONFIG_FILE];
    }),
  );
}

/** Places with a value of their own. A list is one value; a mapping of free names is one while empty. */
function leaves(value: unknown, path: Path): Path[] {
  if (!isMapping(value)) return value === undefined ? [] : [path];
  const entries = Object.entries(value);
  const node = nodeAt(path);
  if (entries.length === 0) return node !== null && hasFreeNames(node) ? [path] : [];
  return entries.flatMap(([key, child]) => leaves(child, [...path, key]));
}
