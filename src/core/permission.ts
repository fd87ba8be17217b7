/**
 * What an agent may do without asking. A shell line is as many commands as it holds, and the strictest word about any
 * of them is the word about the line. A rule that asks or denies is held against everything that may be a command in
 * it, whoever runs it; a rule that allows is believed for a whole command that can be read. Where only the shell knows
 * what a command will be, and that may be what a rule asks about or denies, it is asked for.
 */
import { fileNames } from './file-names.ts';
import { givenIn } from './permission-input.ts';
import { readingsOf } from './shell-readings.ts';
import { HOLE } from './shell-words.ts';
import { fits, mayFit, type Pattern, patternOf } from './wildcard.ts';

export type PermissionWord = 'allow' | 'ask' | 'deny';

export interface PermissionPolicy {
  /** For what no rule matches. */
  default: PermissionWord;
  /** The first that matches a command is the word about it; `*` stands for anything. */
  rules: { match: string; policy: PermissionWord }[];
}

/** The word about something, and the rule it comes from; null: the default. */
export interface PermissionVerdict {
  word: PermissionWord;
  rule: string | null;
  /** Why nobody can tell what it does; absent where one can. */
  unread?: string;
}

export interface Wanted {
  /** The shell line; null: it is a change of files. */
  command: string | null;
  paths: readonly string[];
  /** Where paths are relative to; default: they are matched as they are. */
  cwd?: string;
  /** The folder that the command is run in; default: `cwd`. */
  from?: string;
  /** The tool's own name, by which a rule knows it where it neither runs a command nor names files. */
  tool?: string;
  /** What else the tool is given. */
  input?: Readonly<Record<string, unknown>>;
}

const STRICTNESS: Record<PermissionWord, number> = { allow: 0, ask: 1, deny: 2 };

/** Whether this policy lets everything through, so that nobody has to be asked anything. */
export function allowsAll({ default: fallback, rules }: PermissionPolicy): boolean {
  return fallback === 'allow' && rules.every(({ policy }) => policy === 'allow');
}

/** A pattern that is ready to be held against texts. */
interface Rule {
  match: string;
  policy: PermissionWord;
  text: string;
  pattern: Pattern;
}

const rulesOf = ({ rules }: PermissionPolicy): Rule[] =>
  rules.map((rule) => {
    const text = rule.match.trim().replace(/\s+/g, ' ');
    return { ...rule, text, pattern: patternOf(text) };
  });

/** The first rule about any of these names of one thing. */
const ruleFor = (rules: readonly Rule[], names: readonly string[]): Rule | undefined =>
  rules.find(({ pattern }) => names.some((name) => fits(pattern, name)));

/** Whether a rule that does not allow may be about this, once its holes are filled. */
function mayBeHeld(rules: readonly Rule[], text: string): boolean {
  for (const { pattern, policy } of rules) {
    if (fits(pattern, text)) return false;
    if (policy !== 'allow' && mayFit(pattern, text)) return true;
  }
  return false;
}

/** `git push*` is about a command: which file a hole is, it says nothing of. */
const ABOUT_COMMAND = /^[\w.+-]+ /;

const strictest = (verdicts: readonly PermissionVerdict[]): PermissionVerdict =>
  verdicts.reduce((all, one) => (STRICTNESS[one.word] > STRICTNESS[all.word] ? one : all));

/** The rules, ready to be held against one request. */
function openRules(policy: PermissionPolicy, { cwd, from }: Wanted) {
  const rules = rulesOf(policy);
  const strict = rules.filter((rule) => rule.policy !== 'allow');
  const aboutFiles = rules.filter(({ text }) => !ABOUT_COMMAND.test(text));
  const fallback: PermissionVerdict = { word: policy.default, rule: null };
  const verdictOf = (names: readonly string[], among = rules): PermissionVerdict => {
    const rule = ruleFor(among, names);
    return rule === undefined ? fallback : { word: rule.policy, rule: rule.match };
  };

  /** `own`: the word about the line itself; `held`: what rules hold in it; `why` nobody can tell. */
  function line(command: string) {
    const { simple, whole, known, open, writes, unread } = readingsOf(command, cwd, from);
    const own = simple.map(({ text, isRead }) => {
      const verdict = verdictOf([text]);
      return verdict.word === 'allow' && !isRead ? fallback : verdict;
    });
    const held = [
      ...[...whole].map((text) => verdictOf([text])),
      ...[...known].map((text) => verdictOf([text], strict)),
      ...writes.map((names) => verdictOf(names)),
    ];
    const mayRun = [...open].some(([text, stands]) => mayBeHeld(stands ? rules : strict, text));
    const mayWrite = writes.flat().some((name) => name.includes(HOLE) && mayBeHeld(aboutFiles, name));
    const why = mayRun ? SHELL_KNOWS : mayWrite ? SHELL_KNOWS_FILE : unread;
    return { own: own.length === 0 ? [fallback] : own, held, why };
  }

  return { strict, fallback, verdictOf, line };
}

/** The word about what an agent wants to do: rules are held against its command, its files, and its tool. */
export function permissionFor(policy: PermissionPolicy, wanted: Wanted): PermissionVerdict {
  const { command, paths, cwd, tool = '', input } = wanted;
  const { strict, fallback, verdictOf, line } = openRules(policy, wanted);
  const files = paths.map((path) => verdictOf(fileNames(path, cwd)));
  const own: PermissionVerdict[] = [];
  const held: PermissionVerdict[] = [];
  let why: string | null = null;
  if (command !== null) {
    const read = line(command);
    own.push(...read.own);
    held.push(...read.held, ...files);
    why = read.why;
  } else own.push(...(files.length > 0 ? files : [verdictOf([tool])]));
  if (input !== undefined) {
    const { commands, texts, isAll } = givenIn(input);
    const lines = commands.map(line);
    const names = texts.flatMap((text) => (/\s|:\/\//.test(text) ? [text] : fileNames(text, cwd)));
    held.push(...[tool, ...names].map((name) => verdictOf([name], strict)));
    held.push(...lines.flatMap((one) => one.held));
    why ??= lines.map((one) => one.why).find((one) => one !== null) ?? (isAll ? null : TOO_MUCH);
  }
  const isTold = command !== null || paths.length > 0 || Object.keys(input ?? {}).length > 0;
  if (!isTold && own[0]!.rule === null) why = UNTOLD;
  // Readings that no rule knows say nothing beside those that one does.
  const known = held.filter(({ rule, word }) => rule !== null && word !== 'allow');
  const verdict = strictest([...(own.length === 0 ? [fallback] : own), ...known]);
  if (verdict.word !== 'allow' || why === null || allowsAll(policy)) return verdict;
  return { word: 'ask', rule: null, unread: why };
}

const SHELL_KNOWS = 'only the shell knows what it will run, and that may be what a rule holds';
const SHELL_KNOWS_FILE = 'only the shell knows which file it will write, and that may be what a rule holds';
const UNTOLD = 'the agent does not tell what it would do';
const TOO_MUCH = 'its tool is given too much to be read';
