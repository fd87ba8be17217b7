/**
 * What an agent may do without asking. A shell line is as many commands as it holds, and the strictest word about any
 * of them is the word about the line. A rule that asks or denies is held against everything that may be a command in
 * it, whoever runs it; a rule that allows is believed for a whole command that can be read. Where only the shell knows
 * what a command will be, and that may be what a rule asks about or denies, it is asked for.
 */
import { HOLE, readShell, type ShellCommand, type ShellLine } from './shell-words.ts';

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

/** Words before a command that only lead to it. */
const LEADING =
  /^(?:[A-Za-z_]\w*\+?=.*|sudo|doas|env|command|builtin|exec|nohup|time|then|do|else|if|while|until|elif|!|\{)$/s;
/** Programs that run the rest of their words, which may begin with options of their own. */
const WRAPPER =
  /^(?:sudo|doas|env|command|builtin|exec|nohup|time|nice|ionice|timeout|stdbuf|setsid|xargs|parallel|chroot|unshare|flock|watch|busybox|script|strace)$/;
/** Options behind which a command stands. */
const EXEC = /^-(?:exec|execdir|ok|okdir)$/;
/** Programs that read a script: from their words, or from what they are given. */
const SHELL = /^(?:bash|sh|zsh|dash|ksh|ash|fish)$/;
/** Options of git that stand before its command and take a value. */
const GIT_VALUES = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--config-env']);

/** Whether this policy lets everything through, so that nobody has to be asked anything. */
export function allowsAll({ default: fallback, rules }: PermissionPolicy): boolean {
  return fallback === 'allow' && rules.every(({ policy }) => policy === 'allow');
}

/**
 * Whether a text fits a pattern, in which `*` is anything. With holes: whether it can, whatever fills them; a hole
 * may be several words, and none.
 */
export function fits(pattern: string, text: string, holes = false): boolean {
  let row = new Uint8Array(text.length + 1);
  row[0] = 1;
  const isHole = (at: number) => holes && text[at] === HOLE;
  const spread = () => {
    // A hole may be empty.
    for (let at = 0; at < text.length; at++) if (row[at] === 1 && isHole(at)) row[at + 1] = 1;
  };
  spread();
  for (const char of pattern) {
    const next = new Uint8Array(text.length + 1);
    let seen = 0;
    for (let at = 0; at <= text.length; at++) {
      seen |= row[at]!;
      if (char === '*') next[at] = seen;
      else if (row[at] === 1 && at < text.length) {
        if (text[at] === char) next[at + 1] = 1;
        if (isHole(at)) next[at] = 1;
      }
    }
    row = next;
    spread();
  }
  return row[text.length] === 1;
}

/** A pattern, with what it must begin with: most texts do not. */
interface Rule {
  match: string;
  policy: PermissionWord;
  pattern: string;
  head: string;
}

const rulesOf = ({ rules }: PermissionPolicy): Rule[] =>
  rules.map((rule) => {
    const pattern = rule.match.trim().replace(/\s+/g, ' ');
    return { ...rule, pattern, head: pattern.split('*')[0]! };
  });

/** The first rule about any of these names of one thing. */
const ruleFor = (rules: readonly Rule[], names: readonly string[]): Rule | undefined =>
  rules.find(({ pattern, head }) => names.some((name) => name.startsWith(head) && fits(pattern, name)));

/** Whether a rule that does not allow may be about this, once its holes are filled. */
function mayBeHeld(rules: readonly Rule[], text: string): boolean {
  for (const { pattern, policy } of rules) {
    if (fits(pattern, text)) return false;
    if (policy !== 'allow' && fits(pattern, text, true)) return true;
  }
  return false;
}

const strictest = (verdicts: readonly PermissionVerdict[]): PermissionVerdict =>
  verdicts.reduce((all, one) => (STRICTNESS[one.word] > STRICTNESS[all.word] ? one : all));

const joined = (words: readonly string[]): string => words.join(' ').replace(/\s+/g, ' ').trim();
const baseName = (word: string): string => word.replace(/^.*\/(?=.)/s, '');
const named = (words: readonly string[]): string[] =>
  words.length === 0 ? [] : [baseName(words[0]!), ...words.slice(1)];

/** So many words of a command are looked behind; so deep a script in a script is read. */
const MOST_WORDS = 200;
const MOST_DEPTH = 6;
/** A longer line is not read by anybody, and neither is one of so many commands. */
const MOST_CHARS = 20_000;
const MOST_COMMANDS = 3_000;

interface Readings {
  /** Commands as they stand there, without what leads to them: rules that allow are held against these. */
  simple: { text: string; isRead: boolean }[];
  /** Everything that may run, in every reading of it: rules that ask or deny are held against these. */
  known: Set<string>;
  /** What certainly runs and holds holes. */
  open: Set<string>;
  /** Files that output goes to. */
  writes: string[];
  budget: Budget;
}

/** What is left of the reading of one line, and why not all of it can be read. */
interface Budget {
  commands: number;
  unread: string | null;
}

/** `git -C elsewhere push` is a push: the program with what stands behind its options. */
function behindOptions(words: readonly string[]): string[][] {
  const found: string[][] = [];
  for (let at = 1; at < words.length; at++) {
    const before = words[at - 1]!;
    const isOption = words[at]!.startsWith('-');
    const mayBeValue = at > 1 && before.startsWith('-');
    if (!isOption && !mayBeValue) {
      if (at > 1) found.push([words[0]!, ...words.slice(at)]);
      break;
    }
    if (isOption || (words[0] === 'git' && GIT_VALUES.has(before))) continue;
    found.push([words[0]!, ...words.slice(at)]);
  }
  return found;
}

/** What a shell is told to run by its words; null: it reads it from somewhere else. */
function scriptIn(words: readonly string[]): string | null {
  const at = words.findIndex((word, index) => index > 0 && /^-[A-Za-z]*c[A-Za-z]*$/.test(word));
  if (at !== -1) return words.slice(at + 1).find((word) => !/^[-+]/.test(word)) ?? '';
  return words.slice(1).some((word) => !/^[-+]/.test(word)) ? '' : null;
}

/** What a command reads from elsewhere are words of it too: `xargs git`, `xargs -I{} git {}`, `find -exec git {}`. */
function fed(words: readonly string[]): string[] {
  const at = words.findIndex((word) => /^(?:xargs|parallel)$/.test(baseName(word)));
  const mark = words
    .slice(at + 1)
    .map((word, index, rest) => (word === '-I' ? rest[index + 1] : /^(?:-I|--replace=)(.+)$/.exec(word)?.[1]))
    .find((one) => one !== undefined && one !== '');
  const marks = at === -1 || mark === undefined ? ['{}'] : ['{}', mark];
  const filled = words.map((word) => marks.reduce((all, one) => all.replaceAll(one, HOLE), word));
  return at === -1 ? filled : [...filled, HOLE];
}

/** Every reading of what runs: the command itself, and the one that a wrapper or an option leads to. */
function certainIn(words: readonly string[], led: readonly string[]): string[][] {
  const isWrapped = words.some((word) => WRAPPER.test(baseName(word)));
  const starts = words.flatMap((_, at) =>
    isWrapped || EXEC.test(words[at - 1] ?? '') ? [named(words.slice(at))] : [],
  );
  return [led, ...starts].flatMap((start) => [[...start], ...behindOptions(start)]);
}

function readCommand(readings: Readings, { words: all, given, writes }: ShellCommand, depth: number): void {
  if (readings.budget.commands-- <= 0) {
    readings.budget.unread ??= 'it holds too many commands to be read';
    return;
  }
  const words = all.slice(0, MOST_WORDS);
  const leading = words.findIndex((word) => !LEADING.test(word) && !LEADING.test(baseName(word)));
  const behind = leading === -1 ? words : words.slice(leading);
  const led = leading === -1 ? [] : named(behind);
  const text = joined(behind);
  const holds = text.includes(HOLE) || writes.length + given.length > 0 || /[<>$]/.test(text);
  if (text !== '') readings.simple.push({ text, isRead: !holds && words.length === all.length });
  readings.writes.push(...writes);
  for (const [at, word] of words.entries()) {
    const rest = words.slice(at);
    readings.known.add(joined(rest));
    for (const one of [named(rest), ...behindOptions(named(rest))]) readings.known.add(joined(one));
    // `npm --prefix x publish`: whatever stands between may be an option's value.
    if (at > 1) readings.known.add(joined([baseName(words[0]!), ...rest]));
    if (led.length > at + 1 && at > 0) readings.known.add(joined([led[0]!, ...led.slice(at + 1)]));
    // A word with spaces is a text, or a script for whoever runs it.
    if (/[\s;&|`(]/.test(word)) readScript(readings, word, { depth, certain: false });
  }
  for (const one of certainIn(words, led)) {
    readings.known.add(joined(one));
    if (SHELL.test(one[0] ?? '')) readShellCall(readings, { words: one, given, depth });
    if (one[0] === 'eval') readScript(readings, one.slice(1).join(' '), { depth, certain: true });
  }
  const filled = fed(words);
  for (const one of certainIn(filled, leading === -1 ? [] : named(filled.slice(leading)))) {
    const whole = joined(one);
    if (whole.includes(HOLE)) readings.open.add(whole);
  }
  for (const body of given) readScript(readings, body, { depth, certain: false });
}

interface ShellCall {
  words: string[];
  given: readonly string[];
  depth: number;
}

function readShellCall(readings: Readings, { words, given, depth }: ShellCall): void {
  const script = scriptIn(words);
  if (script !== null) return readScript(readings, script, { depth, certain: true });
  if (given.length === 0) readings.budget.unread ??= 'what it hands to a shell cannot be read';
  for (const body of given) readScript(readings, body, { depth, certain: true });
}

/** `certain`: it runs; else it may be no more than a text. */
function readScript(
  readings: Readings,
  script: string,
  { depth, certain }: { depth: number; certain: boolean },
): void {
  if (depth >= MOST_DEPTH) {
    readings.budget.unread ??= 'it holds scripts in scripts that are too deep to be read';
    return;
  }
  const line = readShell(script);
  if (certain && line.broken) readings.budget.unread ??= BROKEN;
  // What a script inside does is no command that a rule allows by itself.
  const own = { ...readings, simple: [], writes: [], open: certain ? readings.open : new Set<string>() };
  readLine(own, line, depth + 1);
  if (certain) readings.writes.push(...own.writes);
}

function readLine(readings: Readings, { commands, inner }: ShellLine, depth: number): void {
  for (const command of commands) readCommand(readings, command, depth);
  for (const line of inner) {
    if (line.broken) readings.budget.unread ??= BROKEN;
    readLine(readings, line, depth);
  }
}

const BROKEN = 'its quotes or brackets do not close, so that it cannot be read';

function readingsOf(command: string): Readings {
  const none = { simple: [], known: new Set<string>(), open: new Set<string>(), writes: [] };
  const budget: Budget = { commands: MOST_COMMANDS, unread: null };
  const readings: Readings = { ...none, budget };
  if (command.length > MOST_CHARS) budget.unread = 'it is too long to be read';
  const text = command.slice(0, MOST_CHARS);
  const line = readShell(text);
  if (line.broken) readings.budget.unread ??= BROKEN;
  readings.known.add(joined([text]));
  readLine(readings, line, 0);
  return readings;
}

/** A path as it is named, and as it is from the root. */
function namesOf(path: string, cwd: string | undefined): string[] {
  const plain = path.replace(/^(?:\.\/+)+/, '');
  return cwd === undefined || plain.startsWith('/') ? [path, plain] : [path, plain, `${cwd}/${plain}`];
}

/** The word about a shell line, or about a change of files: then rules are held against their paths. */
export function permissionFor(policy: PermissionPolicy, { command, paths, cwd }: Wanted): PermissionVerdict {
  const rules = rulesOf(policy);
  const fallback = { word: policy.default, rule: null };
  const verdictOf = (names: readonly string[]): PermissionVerdict => {
    const rule = ruleFor(rules, names);
    return rule === undefined ? fallback : { word: rule.policy, rule: rule.match };
  };
  if (command === null)
    return paths.length === 0 ? fallback : strictest(paths.map((path) => verdictOf(namesOf(path, cwd))));
  const { simple, known, open, writes, budget } = readingsOf(command);
  // Readings that no rule knows say nothing beside those that one does.
  const held = [
    ...[...known].map((text) => verdictOf([text])),
    ...writes.map((path) => verdictOf(namesOf(path, cwd))),
  ].filter(({ rule, word }) => rule !== null && word !== 'allow');
  const whole = simple.map(({ text, isRead }) => {
    const verdict = verdictOf([text]);
    return verdict.word === 'allow' && !isRead ? fallback : verdict;
  });
  const verdict = strictest([...(whole.length === 0 ? [fallback] : whole), ...held]);
  if (verdict.word !== 'allow') return verdict;
  const why = [...open].some((text) => mayBeHeld(rules, text)) ? SHELL_KNOWS : budget.unread;
  return why === null || allowsAll(policy) ? verdict : { word: 'ask', rule: null, unread: why };
}

const SHELL_KNOWS = 'only the shell knows what it will run, and that may be what a rule holds';
