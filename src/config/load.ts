/**
 * From ralph.yml, the environment and the command line to settings, or to every problem at once.
 *
 * ```
 * file ─parse→ data ←lay─ environment ←lay─ flags      (later wins)
 *        data ─schema→ config ─rules→ settings         each problem names the line, variable or flag
 * ```
 */
import type { ProblemFacts } from '../core/index.ts';
import { explainIssues, type Found, isSecret, unlessTold, type WhereIs } from './explain.ts';
import { type ReadFile, readSource } from './file.ts';
import { type Flags, type Layered, layEnvironment, layFlags } from './layers.ts';
import { hasFreeNames, isBelow, isMapping, nodeAt, type Path, pathText, valueAt } from './path.ts';
import { throwAll } from './problems.ts';
import { BUILT_IN_AGENTS, brokenRules, oddities } from './rules.ts';
import { type Config, configSchema } from './schema.ts';
import { type Settings, toSettings } from './settings.ts';
import { CONFIG_FILE, type Source } from './source.ts';

export interface LoadRequest {
  /** Absolute path of the folder that holds ralph.yml. */
  projectDir: string;
  env: Record<string, string | undefined>;
  flags: Flags;
  /** Reads one file; rejects with code ENOENT where there is none. Default: the disk. */
  readFile?: ReadFile;
  /** Names of the agents that come with the product. */
  agentNames?: readonly string[];
  /** Output formats of own agents that can be read. Default: any that looks like one. */
  agentOutputs?: readonly string[];
}

export interface Loaded {
  settings: Settings;
  /** Every key with a value of its own, to `default`, `ralph.yml:12`, a variable or a flag. */
  origin: Map<string, string>;
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
  const source = await readSource(request.projectDir, request.readFile);
  if (source.broken) throwAll(source.problems);
  const layered: Layered = { data: source.data, laid: [], problems: [...source.problems] };
  layEnvironment(layered, request.env);
  layFlags(layered, request.flags);
  layered.problems.push(...flagProblems(request.flags));
  dropEmptySections(layered.data, []);

  const whereIs = locator(source, layered);
  const { config, told } = check(layered.data, whereIs);
  const agentNames = request.agentNames ?? BUILT_IN_AGENTS;
  const ground = { config, data: layered.data, agentNames, outputs: request.agentOutputs, whereIs };
  told.push(...unlessTold(brokenRules(ground), told));
  throwAll([...layered.problems, ...inFileOrder(oncePerFlag(told))]);

  const origin = originOf(config, layered, whereIs);
  return {
    settings: toSettings(config, request.flags, (key) => origin.get(key) !== 'default'),
    origin,
    warnings: [...source.warnings, ...oddities(ground)],
    config,
  };
}

/** `key`, `value` and `origin` of every setting, secrets hidden: what `ralph config --origin` prints. */
export function configLines({ config, origin }: Loaded): { key: string; value: unknown; origin: string }[] {
  return leaves(config, []).map((path) => {
    const key = pathText(path);
    const value = isSecret(path) ? '(hidden)' : valueAt(config, path);
    return { key, value, origin: origin.get(key) ?? 'default' };
  });
}

/** The innermost layer that set the place: the last flag or variable, else the line of the file. */
function locator(source: Source, { laid }: Layered): WhereIs {
  return (path) => {
    const from = laid.findLast((one) => isBelow(path, one.path))?.from;
    if (from !== undefined) return from;
    const line = source.lineOf(path);
    return line === null ? undefined : `${CONFIG_FILE}:${line}`;
  };
}

/** `limits:` with nothing below it is an empty section, not a wrong one. */
function dropEmptySections(data: Record<string, unknown>, path: Path): void {
  for (const [key, value] of Object.entries(data)) {
    const node = nodeAt([...path, key]);
    if (value === null && (node?.type === 'object' || node?.type === 'array')) delete data[key];
    else if (isMapping(value)) dropEmptySections(value, [...path, key]);
  }
}

/**
 * Checks against the schema. What it refuses is taken out and the rest is checked again, so that the
 * rules can still look at everything that is sound and one run tells every mistake.
 */
function check(data: Record<string, unknown>, whereIs: WhereIs): { config: Config; told: Found[] } {
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

/** By line; what stands in no file comes after. */
function inFileOrder(found: Found[]): ProblemFacts[] {
  const line = ({ facts }: Found): number => {
    const at = /^ralph\.yml:(\d+)$/.exec(facts.at ?? '')?.[1];
    return at === undefined ? Number.MAX_SAFE_INTEGER : Number(at);
  };
  return found.toSorted((a, b) => line(a) - line(b)).map(({ facts }) => facts);
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

function originOf(config: Config, { data }: Layered, whereIs: WhereIs): Map<string, string> {
  return new Map(
    leaves(config, []).map((path) => {
      const set = valueAt(data, path) !== undefined;
      return [pathText(path), set ? (whereIs(path) ?? CONFIG_FILE) : 'default'];
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
