/**
 * `ralph __complete SHELL -- WORD… CURRENT`: what the shell scripts ask at every TAB. The first line of
 * the answer is `words`, `files` or `folders` (whether the shell should offer paths as well), each other
 * line a candidate, a tab, and a few words about it. Candidates stand for the whole current word.
 *
 * It reads the same tree of commands that runs them, so a new flag is completed the day it exists.
 */
import type { Argument, Command, Option } from 'commander';
import type { KnownKind, KnownName } from '../app/index.ts';
import { COMPLEXITIES } from '../core/index.ts';
import { BOT_ACTIONS } from './bot.ts';
import { SHELLS } from './completions.ts';
import { HAT_ACTIONS } from './hats.ts';
import { LOOP_ACTIONS } from './loops.ts';
import { SIGNALS } from './say.ts';

/** Paths that the shell offers beside the candidates. */
export type Paths = 'words' | 'files' | 'folders';

export interface Candidates {
  paths: Paths;
  found: KnownName[];
}

/** Where a value comes from: fixed words, names of the project, or paths. */
type Source = readonly string[] | { known: KnownKind | KnownKind[] } | { paths: Paths; known?: KnownKind };

/** Looks up names of the project; in the folder that `-C` names, in the session that `--session` names. */
export type LookUp = (kind: KnownKind, where: { dir?: string; session?: string }) => Promise<KnownName[]>;

/** Values by flag, wherever the flag stands. A flag with choices of its own needs no row. */
const FLAG_VALUES: Record<string, Source> = {
  '--color': ['auto', 'always', 'never'],
  '--mode': ['speed', 'balanced', 'quality'],
  '--team': { known: 'teams' },
  '--agent': { known: 'agents' },
  '--session': { known: 'sessions' },
  '--task': { known: 'tasks' },
  '--worktree': { known: 'loops' },
  '--tasks': { paths: 'files', known: 'taskFiles' },
  '--prompt-file': { paths: 'files' },
  '--dir': { paths: 'folders' },
  '--to': { paths: 'files' },
  '--option': { known: 'options' },
  '--filter': COMPLEXITIES,
  '--target': { known: 'roles' },
  '--topic': { known: 'topics' },
  '--type': { known: 'interventions' },
};

/** Where the same flag takes something else at one command. */
const OWN_FLAG_VALUES: Record<string, Source> = {
  'tell --to': { known: 'roles' },
};

/** Values by command and position; where a command takes any number of one thing, its first is for all. */
const ARGUMENT_VALUES: Record<string, Source[]> = {
  tasks: [['list', 'done', 'cancel', 'reopen'], { known: 'tasks' }],
  unblock: [{ known: 'tasks' }],
  answer: [{ known: 'questions' }, { known: 'options' }],
  why: [{ known: ['tasks', 'iterations', 'sessions'] }],
  signal: [SIGNALS],
  approve: [{ paths: 'files' }],
  feedback: [{ paths: 'files' }],
  knowledge: [['list', 'show'], { known: 'notes' }],
  status: [{ known: 'sessions' }],
  resume: [{ known: 'sessions' }],
  logs: [{ known: 'iterations' }],
  completions: [SHELLS],
  bot: [BOT_ACTIONS],
  hats: [HAT_ACTIONS, { known: 'hats' }],
  loops: [LOOP_ACTIONS, { known: 'loops' }],
  import: [{ paths: 'files', known: 'taskFiles' }],
};

/** Whom an action of `ralph loops` is about: what runs may be in the main checkout as well. */
const LOOP_NAMES: Record<string, Source> = {
  logs: { known: 'followed' },
  attach: { known: 'followed' },
  stop: { known: 'followed' },
  merge: { known: 'loops' },
  discard: { known: 'loops' },
};

/** Prints the candidates for one command line; answers the exit code, always 0. */
export async function completeMain(argv: string[]): Promise<number> {
  const words = argv.slice(argv.indexOf('--') + 1);
  const { commandTree } = await import('./program.ts');
  const lookUp: LookUp = async (kind, { dir, session }) => {
    const app = await import('../app/index.ts');
    const where = { cwd: dir ?? process.cwd(), env: process.env };
    return app.knownNames(kind, session === undefined ? where : { ...where, session });
  };
  const { paths, found } = await candidates(
    commandTree(() => undefined),
    words,
    lookUp,
  );
  const lines = found.map(({ value, about }) => `${value}\t${oneLine(about)}`);
  process.stdout.write(`${[paths, ...lines].join('\n')}\n`);
  return 0;
}

/** What can stand in place of the last of `words`, which may be empty. */
export async function candidates(program: Command, words: string[], lookUp: LookUp): Promise<Candidates> {
  const current = words.at(-1) ?? '';
  const read = readWords(program, words.slice(0, -1));
  const ofFlag = (option: Option): Source | undefined => flagSource(read.command, option);
  const values = async (source: Source | undefined, prefix: string): Promise<Candidates> => {
    const paths = source !== undefined && 'paths' in source ? source.paths : 'words';
    const names = await namesOf(source, read, lookUp);
    const found = names.map(({ value, about }) => ({ value: `${prefix}${value}`, about }));
    return { paths, found: matching(found, current) };
  };
  if (read.waiting !== null) return values(ofFlag(read.waiting), '');
  const assigned = /^(--[^=]+)=/.exec(current);
  if (assigned !== null && !read.ended) {
    const option = optionOf(read.command, assigned[1] ?? '');
    return values(option && takesValue(option) ? ofFlag(option) : undefined, assigned[0]);
  }
  if (current.startsWith('-') && !read.ended)
    return { paths: 'words', found: matching(flags(read), current) };
  const children = read.positions.length === 0 ? commandNames(read.command) : [];
  const own = await values(argumentSource(read), '');
  return { paths: own.paths, found: [...matching(children, current), ...own.found] };
}

interface Read {
  command: Command;
  /** The words that are no flags and no commands, so far. */
  positions: string[];
  given: Set<Option>;
  values: Map<string, string>;
  /** The flag whose value comes next. */
  waiting: Option | null;
  /** `--` was read: no more flags. */
  ended: boolean;
}

/** Reads the finished words as the program would. */
function readWords(program: Command, words: string[]): Read {
  const read: Read = {
    command: program,
    positions: [],
    given: new Set(),
    values: new Map(),
    waiting: null,
    ended: false,
  };
  for (const word of words) readWord(read, word);
  return read;
}

function readWord(read: Read, word: string): void {
  if (read.waiting !== null) {
    read.values.set(read.waiting.long ?? '', word);
    read.waiting = null;
  } else if (word === '--' && !read.ended) read.ended = true;
  else if (word.startsWith('-') && word !== '-' && !read.ended) readFlag(read, word);
  else {
    const child = read.positions.length === 0 ? childOf(read.command, word) : undefined;
    if (child === undefined) read.positions.push(word);
    else read.command = child;
  }
}

function readFlag(read: Read, word: string): void {
  const [name = '', value] = word.startsWith('--')
    ? [word.split('=')[0], word.includes('=') ? word.slice(word.indexOf('=') + 1) : undefined]
    : [word.slice(0, 2), word.length > 2 ? word.slice(2) : undefined];
  const option = optionOf(read.command, name);
  if (option === undefined) return;
  read.given.add(option);
  if (!takesValue(option)) return;
  if (value === undefined) read.waiting = option;
  else read.values.set(option.long ?? '', value);
}

/** `help` is a way to say `--help`: it takes the name of a command. */
function childOf(command: Command, word: string): Command | undefined {
  return command.commands.find((child) => child.name() === word || child.aliases().includes(word));
}

function optionOf(command: Command, name: string): Option | undefined {
  return command.options.find(({ long, short }) => long === name || short === name);
}

const takesValue = (option: Option): boolean => option.required || option.optional;

/** What the value of a flag is completed from; undefined where it is free text or a number. */
export function flagSource(command: Command, { argChoices, long }: Option): Source | undefined {
  return argChoices ?? OWN_FLAG_VALUES[`${command.name()} ${long}`] ?? FLAG_VALUES[long ?? ''];
}

function argumentSource({ command, positions }: Read): Source | undefined {
  const name = command.name();
  if (command.parent === null)
    return positions[0] === 'help' ? commandNames(command).map(({ value }) => value) : undefined;
  if (name === 'tasks' && positions.length === 1 && positions[0] === 'list') return undefined;
  if (name === 'hats' && positions.length === 1 && positions[0] !== 'show') return undefined;
  if (name === 'loops' && positions.length === 1) return LOOP_NAMES[positions[0] ?? ''];
  const [only, second] = command.registeredArguments;
  return positionSource(command, only?.variadic && !second ? 0 : positions.length);
}

/** What a command's argument at that position is completed from; undefined where it is free text. */
export function positionSource(command: Command, position: number): Source | undefined {
  const declared: Argument | undefined = command.registeredArguments[position];
  return declared?.argChoices ?? ARGUMENT_VALUES[command.name()]?.[position];
}

async function namesOf(source: Source | undefined, read: Read, lookUp: LookUp): Promise<KnownName[]> {
  if (source === undefined) return [];
  if (!('known' in source) && !('paths' in source)) return source.map((value) => ({ value, about: '' }));
  if (source.known === undefined) return [];
  const dir = read.values.get('--dir');
  const session = read.values.get('--session');
  const where = { ...(dir === undefined ? {} : { dir }), ...(session === undefined ? {} : { session }) };
  const found = await Promise.all([source.known].flat().map((kind) => lookUp(kind, where)));
  return found.flat();
}

function commandNames(command: Command): KnownName[] {
  if (command.commands.length === 0) return [];
  const own = command
    .createHelp()
    .visibleCommands(command)
    .map((child) => ({ value: child.name(), about: child.summary() || child.description() }));
  return own;
}

/** The flags that are not given yet; those that can be repeated always. */
function flags({ command, given }: Read): KnownName[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter((option) => !given.has(option) || Array.isArray(option.defaultValue))
    .map((option) => ({ value: option.long ?? option.short ?? '', about: option.description }));
}

function matching(names: KnownName[], current: string): KnownName[] {
  const seen = new Set<string>();
  return names.filter(({ value }) => {
    if (!value.startsWith(current) || seen.has(value)) return false;
    seen.add(value);
    return true;
  });
}

/** Data of the project becomes one short line without control characters: it goes to a terminal. */
function oneLine(text: string): string {
  const plain = text.replace(/[\p{C}\s]+/gu, ' ').trim();
  return plain.length > 60 ? `${plain.slice(0, 59)}…` : plain;
}
