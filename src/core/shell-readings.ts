/**
 * Everything that a shell line may run, for rules to be held against: each command as it stands there, and every
 * other reading of it, whoever runs it. It finds too much and not too little; what it cannot read it says.
 */
import { fileNames } from './file-names.ts';
import { HOLE, RESERVED, readShell, type ShellCommand, type ShellLine } from './shell-words.ts';

export interface ShellReadings {
  /** Commands of the line itself; `isRead`: nothing in it is left to the shell, and it is nobody else's to run. */
  simple: readonly { text: string; isRead: boolean }[];
  /** The line and whole commands in it, as they stand there: the first rule about one of these is the word about it. */
  whole: ReadonlySet<string>;
  /** Everything else that may run: only rules that ask or deny are held against these. */
  known: ReadonlySet<string>;
  /** What certainly runs and holds holes, and whether it is a whole command. */
  open: ReadonlyMap<string, boolean>;
  /** Names of each file that output goes to. */
  writes: readonly (readonly string[])[];
  /** Why not all of it can be read; null: it can. */
  unread: string | null;
}

/** Words before a command that only lead to it. */
const LEADING =
  /^(?:[A-Za-z_]\w*\+?=.*|sudo|doas|env|command|builtin|exec|nohup|time|then|do|else|if|while|until|elif|!|\{)$/s;
/** Programs that run the rest of their words, which may begin with options of their own. */
const WRAPPER =
  /^(?:sudo|doas|env|command|builtin|exec|nohup|time|nice|ionice|timeout|stdbuf|setsid|xargs|parallel|chroot|unshare|flock|watch|busybox|script|strace)$/;
/** Options behind which a command stands. */
const EXEC = /^-(?:exec|execdir|ok|okdir)$/;
/** Programs that read a script: from their words, or from what they are given. */
const SHELL = /^(?:r?bash|sh|zsh|dash|m?ksh|ash|yash|t?csh|fish)$/;
/** The same for the shell itself. */
const SOURCE = /^(?:\.|source)$/;
/** Options of a shell whose next word is their value. */
const SHELL_VALUE = /^(?:[-+][A-Za-z]*[oO]|--(?:rcfile|init-file))$/;
/** What is no file: whoever reads it is given something, or another program. */
const STREAM = /^(?:\/|(?:\.\.\/)+)(?:dev\/(?:stdin|fd\/.*)|proc\/.*\/fd\/.*)$/s;
/** The same with a hole: a name of its own behind it makes it a file. */
const MAY_STREAM = /\0(?:(?:dev\/)?stdin|(?:(?:dev|self|\d+)\/)*(?:fd\/)?\d*)$/;
/** Options of git that stand before its command and take a value. */
const GIT_VALUES = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--config-env']);
/** Commands after which paths are others. */
const MOVES = /^(?:cd|chdir|pushd)$/;

/** So many words of a command are looked behind; so deep a script in a script is read. */
const MOST_WORDS = 200;
const MOST_DEPTH = 6;
/** A longer line is not read by anybody, and neither is one of so many commands. */
const MOST_CHARS = 20_000;
const MOST_COMMANDS = 3_000;
/** In so many folders a line may be; in more it may be anywhere. */
const MOST_PLACES = 16;

const BROKEN = 'its quotes or brackets do not close, so that it cannot be read';
const MANY_WORDS = 'it holds too many words to be read';

/** What the whole line shares. */
interface Shared {
  cwd: string | undefined;
  /** Folders in which it may be. */
  places: string[];
  commands: number;
  unread: string | null;
}

interface Readings {
  simple: { text: string; isRead: boolean }[];
  whole: Set<string>;
  known: Set<string>;
  open: Map<string, boolean>;
  /** As they are named. */
  writes: string[];
  /** A command in it is what it says: nothing around it changes that. */
  stands: boolean;
  /** The same for the scripts of the command that is read. */
  standsInside: boolean;
  shared: Shared;
}

const joined = (words: readonly string[]): string => words.join(' ').replace(/\s+/g, ' ').trim();
const baseName = (word: string): string => word.replace(/^.*\/(?=.)/s, '');
const named = (words: readonly string[]): string[] =>
  words.length === 0 ? [] : [baseName(words[0]!), ...words.slice(1)];

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

/** What a shell is told to run by its words: a script, a file with one, or neither: it reads it from somewhere else. */
function scriptIn(words: readonly string[]): { script?: string; file?: string } {
  let [at, isScript, isGiven] = [1, false, false];
  for (; at < words.length; at++) {
    const word = words[at]!;
    if (!/^[-+]/.test(word)) break;
    isScript ||= /^-[A-Za-z]*c[A-Za-z]*$/.test(word);
    isGiven ||= /^-[A-Za-z]*s[A-Za-z]*$/.test(word);
    if (SHELL_VALUE.test(word)) at++;
  }
  if (isScript) return { script: words[at] ?? '' };
  return isGiven || at >= words.length ? {} : { file: words[at]! };
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

function leadIn(words: readonly string[]): { reserved: number; leading: number } {
  const reserved = words.findIndex((word) => !RESERVED.test(word));
  const leading = words.findIndex((word) => !LEADING.test(word) && !LEADING.test(baseName(word)));
  return { reserved: reserved === -1 ? words.length : reserved, leading };
}

/** With paths as they are from the project, where that is something else. */
function withPaths(words: readonly string[], { cwd }: Shared): string[] | null {
  const plain = words.map((word) =>
    !word.includes('/') || word.includes(HOLE) || /:\/\/|^~/.test(word)
      ? word
      : (fileNames(word, cwd)[1] ?? word),
  );
  return plain.some((word, at) => word !== words[at]) ? plain : null;
}

function readCommand(readings: Readings, command: ShellCommand, depth: number): void {
  const { shared } = readings;
  if (shared.commands-- <= 0) {
    shared.unread ??= 'it holds too many commands to be read';
    return;
  }
  const { given, aside, writes } = command;
  if (command.words.length > MOST_WORDS) shared.unread ??= MANY_WORDS;
  const words = command.words.slice(0, MOST_WORDS);
  const { reserved, leading } = leadIn(words);
  const text = joined(words.slice(reserved));
  const isWhole = words.length === command.words.length;
  const holds = text.includes(HOLE) || writes.length + given.length + aside.length > 0 || /[<>$]/.test(text);
  if (text !== '') readings.simple.push({ text, isRead: isWhole && !holds });
  readings.writes.push(...writes);
  const stands = readings.stands && isWhole;
  const own = { ...readings, stands, standsInside: stands && (leading === -1 || leading === reserved) };
  if (own.stands) readings.whole.add(text);
  readWords(own, { words, text, leading }, depth);
  const plain = withPaths(words, shared);
  if (plain !== null)
    readWords({ ...own, stands: false, standsInside: false }, { words: plain, text, leading }, depth);
  readRun(own, { words, text, given, leading }, depth);
  for (const body of [...given, ...aside]) readScript(own, body, { depth, certain: false });
}

/** Whatever of it may be a command. */
function readWords(readings: Readings, { words, text, leading }: Omit<Run, 'given'>, depth: number): void {
  const { stands, standsInside } = readings;
  const led = leading === -1 ? [] : named(words.slice(leading));
  const add = (reading: readonly string[]) => {
    const one = joined(reading);
    const isWhole = one === text ? stands : standsInside && reading.length === 1 && isScript(one);
    readings[isWhole ? 'whole' : 'known'].add(one);
  };
  for (const [at, word] of words.entries()) {
    const rest = words.slice(at);
    add(rest);
    for (const one of [named(rest), ...behindOptions(named(rest))]) add(one);
    // `npm --prefix x publish`: whatever stands between may be an option's value.
    if (at > 1) add([baseName(words[0]!), ...rest]);
    if (led.length > at + 1 && at > 0) add([led[0]!, ...led.slice(at + 1)]);
    // A word with spaces is a text, or a script for whoever runs it.
    if (isScript(word)) readScript(readings, word, { depth, certain: false });
  }
}

const isScript = (word: string): boolean => /[\s;&|`(]/.test(word);

interface Run {
  words: readonly string[];
  /** The command as it stands there. */
  text: string;
  given: readonly string[];
  leading: number;
}

/** What certainly runs. */
function readRun(readings: Readings, { words, text: whole, given, leading }: Run, depth: number): void {
  const { stands } = readings;
  const ledIn = (all: readonly string[]) => (leading === -1 ? [] : named(all.slice(leading)));
  for (const one of certainIn(words, ledIn(words))) {
    if (!stands || joined(one) !== whole) readings.known.add(joined(one));
    const [program = '', ...rest] = one;
    if (SHELL.test(program)) readShellCall(readings, { ...scriptIn(one), given, depth });
    if (SOURCE.test(program)) readShellCall(readings, { file: rest[0] ?? '', given, depth });
    if (program === 'eval') readScript(readings, rest.join(' '), { depth, certain: true });
    if (program === 'tee') readings.writes.push(...rest.filter((word) => !word.startsWith('-')));
    if (MOVES.test(program)) move(readings.shared, rest);
  }
  const filled = fed(words);
  for (const one of certainIn(filled, ledIn(filled))) {
    const text = joined(one);
    if (text.includes(HOLE))
      readings.open.set(text, (readings.open.get(text) ?? true) && stands && text === whole);
  }
}

/** From here on paths may be relative to another folder. */
function move(shared: Shared, words: readonly string[]): void {
  const to = words.find((word) => !/^[-+]./.test(word)) ?? HOLE;
  if (to === '-') return;
  const { places } = shared;
  const next = places.map((place) => (place === '' || /^[/~]/.test(to) ? to : `${place}/${to}`));
  const all = new Set([...places, ...next]);
  shared.places = all.size > MOST_PLACES ? [...new Set([...places, HOLE])] : [...all];
}

interface ShellCall {
  script?: string;
  file?: string;
  given: readonly string[];
  depth: number;
}

function readShellCall(readings: Readings, { script, file, given, depth }: ShellCall): void {
  const { shared } = readings;
  if (script !== undefined) return readScript(readings, script, { depth, certain: true });
  const names = file === undefined ? [] : fileNames(file, shared.cwd, shared.places);
  const mayStream = names.some((name) => STREAM.test(name) || MAY_STREAM.test(name));
  if (file !== undefined && !mayStream) return;
  // Of a stream with a number, or of one that only the shell knows, nobody can say that it is what it is given.
  if (given.length === 0 || (file !== undefined && !names.some((name) => GIVEN.test(name))))
    shared.unread ??= 'what it hands to a shell cannot be read';
  for (const body of given) readScript(readings, body, { depth, certain: true });
}

const GIVEN = /^(?:\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0)$/;

/** `certain`: it runs; else it may be no more than a text. */
function readScript(
  readings: Readings,
  script: string,
  { depth, certain }: { depth: number; certain: boolean },
): void {
  if (depth >= MOST_DEPTH) {
    readings.shared.unread ??= 'it holds scripts in scripts that are too deep to be read';
    return;
  }
  const line = readShell(script);
  if (certain && line.broken) readings.shared.unread ??= BROKEN;
  // What a script inside does is no command that a rule allows by itself.
  const open = certain ? readings.open : new Map<string, boolean>();
  const own = { ...readings, simple: [], writes: [], open, stands: readings.standsInside };
  readLine(own, line, depth + 1);
  if (certain) readings.writes.push(...own.writes);
}

function readLine(readings: Readings, { commands, inner }: ShellLine, depth: number): void {
  for (const command of commands) readCommand(readings, command, depth);
  for (const line of inner) {
    if (line.broken) readings.shared.unread ??= BROKEN;
    readLine(readings, line, depth);
  }
}

/** Where `cwd` is not known, paths are matched as they are; `from`: where the line begins, seen from there. */
export function readingsOf(command: string, cwd: string | undefined, from = ''): ShellReadings {
  const shared: Shared = { cwd, places: [from], commands: MOST_COMMANDS, unread: null };
  if (command.length > MOST_CHARS) shared.unread = 'it is too long to be read';
  const text = command.slice(0, MOST_CHARS);
  const readings: Readings = {
    simple: [],
    whole: new Set([joined([text])]),
    known: new Set<string>(),
    open: new Map(),
    writes: [],
    stands: true,
    standsInside: true,
    shared,
  };
  const line = readShell(text);
  if (line.broken) shared.unread ??= BROKEN;
  readLine(readings, line, 0);
  const isProcess = (path: string) => path.startsWith(`/dev/fd/${HOLE}`);
  const writes = [...new Set(readings.writes)]
    .filter((path) => !isProcess(path))
    .map((path) => fileNames(path, cwd, shared.places));
  return { ...readings, writes, unread: shared.unread };
}
