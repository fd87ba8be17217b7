/**
 * What an agent may do without asking. A shell line is as many commands as it holds, and the strictest word about any
 * of them is the word about the line. A rule that asks or denies is held against everything that may be a command in
 * it, whoever runs it; a rule that allows is believed for a whole command that can be read. Where only the shell knows
 * what a command will be, and that may be what a rule asks about or denies, it is asked for.
 */
import { fileNames } from './file-names.ts';
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

/** The word about a shell line, or about a change of files: then rules are held against their paths. */
export function permissionFor(policy: PermissionPolicy, { command, paths, cwd }: Wanted): PermissionVerdict {
  const rules = rulesOf(policy);
  const strict = rules.filter((rule) => rule.policy !== 'allow');
  const fallback = { word: policy.default, rule: null };
  const verdictOf = (names: readonly string[], among = rules): PermissionVerdict => {
    const rule = ruleFor(among, names);
    return rule === undefined ? fallback : { word: rule.policy, rule: rule.match };
  };
  if (command === null)
    return paths.length === 0 ? fallback : strictest(paths.map((path) => verdictOf(fileNames(path, cwd))));
  const { simple, whole, known, open, writes, unread } = readingsOf(command, cwd);
  // Readings that no rule knows say nothing beside those that one does.
  const held = [
    ...[...whole].map((text) => verdictOf([text])),
    ...[...known].map((text) => verdictOf([text], strict)),
    ...writes.map((names) => verdictOf(names)),
  ].filter(({ rule, word }) => rule !== null && word !== 'allow');
  const own = simple.map(({ text, isRead }) => {
    const verdict = verdictOf([text]);
    return verdict.word === 'allow' && !isRead ? fallback : verdict;
  });
  const verdict = strictest([...(own.length === 0 ? [fallback] : own), ...held]);
  if (verdict.word !== 'allow') return verdict;
  const aboutFiles = rules.filter(({ text }) => !ABOUT_COMMAND.test(text));
  const why = [...open].some(([text, stands]) => mayBeHeld(stands ? rules : strict, text))
    ? SHELL_KNOWS
    : writes.some((names) => names.some((name) => name.includes(HOLE) && mayBeHeld(aboutFiles, name)))
      ? SHELL_KNOWS_FILE
      : unread;
  return why === null || allowsAll(policy) ? verdict : { word: 'ask', rule: null, unread: why };
}

const SHELL_KNOWS = 'only the shell knows what it will run, and that may be what a rule holds';
const SHELL_KNOWS_FILE = 'only the shell knows which file it will write, and that may be what a rule holds';
