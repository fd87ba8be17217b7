/**
 * A shell line as the commands that it holds: words without their quotes, what is written where, and every text
 * inside that is a line of its own. What only the shell knows (variables, substitutions, globs) is a hole in a word.
 * It reads for whoever has to say no: what it does not understand it says, and it never throws.
 */

/** Stands in a word for what only the shell knows; no command line can hold it. */
export const HOLE = '\0';

/** One simple command. */
export interface ShellCommand {
  /** Each with holes; assignments and reserved words before the program are among them. */
  words: string[];
  /** Files that its output goes to. */
  writes: string[];
  /** Texts of here-documents and here-strings that it is given to read. */
  given: string[];
  /** Such texts that it finds elsewhere than where it reads: `3<<< x`. */
  aside: string[];
}

export interface ShellLine {
  commands: ShellCommand[];
  /** Lines inside of this one that run whatever becomes of it: substitutions. */
  inner: ShellLine[];
  /** It ends in the middle of something, so that it is not what it looks like. */
  broken: boolean;
}

interface Reading extends ShellLine {
  text: string;
  at: number;
  now: ShellCommand;
  /** The word that is being read; null: none is. */
  word: string | null;
  /** What the next word is the target of. */
  target: 'read' | 'write' | 'text' | 'end' | null;
  /** It was begun with a number of its own. */
  aside: boolean;
  /** Brackets that are open; null: it ends with the text, else with the bracket that closes what it stands in. */
  depth: number | null;
  /** Of each `case` that is open, the brackets that were: its patterns end with one that nothing opened. */
  cases: (number | null)[];
  /** In so many lines it stands. */
  level: number;
  /** Here-documents whose bodies follow the line: who gets them, and the words that end them. */
  awaited: { to: ShellCommand; end: string; aside: boolean }[];
}

const empty = (): ShellCommand => ({ words: [], writes: [], given: [], aside: [] });

/** Reads a line, or a script of several. */
export function readShell(text: string): ShellLine {
  return lineOf(read(text, { at: 0, depth: null, level: 0 }));
}

function read(text: string, start: Pick<Reading, 'at' | 'depth' | 'level'>): Reading {
  const lists = { awaited: [], commands: [], inner: [], cases: [] };
  const reading: Reading = {
    ...start,
    ...lists,
    text,
    now: empty(),
    word: null,
    target: null,
    aside: false,
    broken: false,
  };
  if (reading.level > MOST_LEVELS) Object.assign(reading, { at: text.length, broken: true });
  while (reading.at < text.length && (reading.depth ?? 0) >= 0) step(reading);
  endCommand(reading);
  reading.broken ||= reading.awaited.length > 0 || (reading.depth !== null && reading.depth >= 0);
  return reading;
}

/** So many lines in lines are read. */
const MOST_LEVELS = 20;

const lineOf = ({ commands, inner, broken }: Reading): ShellLine => ({ commands, inner, broken });

function add(reading: Reading, piece: string): void {
  reading.word = (reading.word ?? '') + piece;
}

/** Words that begin a part of a construct, or say how a command is run: they change nothing of what it does. */
export const RESERVED = /^(?:then|do|else|if|while|until|elif|time|!|\{)$/;

function endWord(reading: Reading): void {
  const { word, target, now, aside } = reading;
  if (word === null) return;
  reading.word = null;
  reading.target = null;
  if (target === null) {
    const isFirst = now.words.every((before) => RESERVED.test(before));
    if (isFirst && word === 'case') reading.cases.push(reading.depth);
    if (isFirst && word === 'esac') reading.cases.pop();
    now.words.push(word);
  } else if (target === 'write') now.writes.push(word);
  else if (target === 'text') now[aside ? 'aside' : 'given'].push(word);
  else if (target === 'end') reading.awaited.push({ to: now, end: word, aside });
}

function endCommand(reading: Reading): void {
  endWord(reading);
  const { words, writes, given, aside } = reading.now;
  if (
    words.length + writes.length + given.length + aside.length > 0 ||
    reading.awaited.some(({ to }) => to === reading.now)
  )
    reading.commands.push(reading.now);
  reading.now = empty();
}

const SPACE = /[ \t\r]/;
const OPERATOR = /[;&|()\n]/;
/** What becomes the names of files. `[` by itself is a program. */
const GLOB = /[*?]|\[[^\s[\]]+\]/y;
/** A file descriptor before a redirection is no word. */
const DESCRIPTOR = /^(?:\d+|\{\w+\})$/;
const REDIRECTION = /(?:&>>?|<<<|<<-?|<>|[<>]&|>\||>>|[<>])/y;

function step(reading: Reading): void {
  const { text, at } = reading;
  const char = text[at]!;
  if (char === '\\') return escaped(reading);
  if (char === "'") return single(reading);
  if (char === '"') return double(reading);
  if (char === '$') return dollar(reading);
  if (char === '`') return backtick(reading);
  if (char === '#' && reading.word === null) {
    const end = text.indexOf('\n', at);
    reading.at = end === -1 ? text.length : end;
    return;
  }
  if (SPACE.test(char)) endWord(reading);
  else if (/[<>&]/.test(char) && redirection(reading)) return;
  else if (OPERATOR.test(char)) return operator(reading, char);
  else if (char === '{' && braces(reading)) return;
  else return plain(reading, char);
  reading.at++;
}

function plain(reading: Reading, char: string): void {
  GLOB.lastIndex = reading.at;
  const glob = GLOB.exec(reading.text)?.[0];
  add(reading, glob === undefined ? char : HOLE);
  reading.at += glob?.length ?? 1;
}

function operator(reading: Reading, char: string): void {
  endCommand(reading);
  reading.at++;
  const isPattern = char === ')' && reading.cases.at(-1) === reading.depth;
  if (reading.depth !== null && !isPattern) reading.depth += char === '(' ? 1 : char === ')' ? -1 : 0;
  if (char === '\n' && reading.awaited.length > 0) bodies(reading);
}

function escaped(reading: Reading): void {
  const next = reading.text[reading.at + 1];
  // The shell joins the lines.
  if (next !== undefined && next !== '\n') add(reading, next);
  reading.at += 2;
}

function single(reading: Reading): void {
  const end = reading.text.indexOf("'", reading.at + 1);
  const to = end === -1 ? reading.text.length : end;
  if (end === -1) reading.broken = true;
  add(reading, reading.text.slice(reading.at + 1, to));
  reading.at = to + 1;
}

function double(reading: Reading): void {
  const { text } = reading;
  add(reading, '');
  reading.at++;
  while (reading.at < text.length) {
    const char = text[reading.at]!;
    if (char === '"') {
      reading.at++;
      return;
    }
    if (char === '$') expansion(reading);
    else if (char === '`') backtick(reading);
    else if (char === '\\' && /[\\"$`\n]/.test(text[reading.at + 1] ?? '')) escaped(reading);
    else {
      add(reading, char);
      reading.at++;
    }
  }
  reading.broken = true;
}

function dollar(reading: Reading): void {
  const { text, at } = reading;
  const next = text[at + 1] ?? '';
  if (next !== "'" && next !== '"') return expansion(reading);
  reading.at++;
  if (next === '"') return double(reading);
  const from = at + 2;
  let end = from;
  while (end < text.length && text[end] !== "'") end += text[end] === '\\' ? 2 : 1;
  if (end >= text.length) reading.broken = true;
  const inside = text.slice(from, end);
  add(reading, inside.includes('\\') ? HOLE : inside);
  reading.at = end + 1;
}

function expansion(reading: Reading): void {
  const { text, at } = reading;
  if (text.startsWith('$(', at) && !text.startsWith('$((', at)) return substitution(reading, at + 2);
  if (/[({]/.test(text[at + 1] ?? '')) {
    inside(reading, enclosed(reading, at + 1));
    return add(reading, HOLE);
  }
  const name = /\$(?:\w+|[@*#?$!-])/y;
  name.lastIndex = at;
  const found = name.exec(text)?.[0];
  add(reading, found === undefined ? '$' : HOLE);
  reading.at += found?.length ?? 1;
}

/** A line in brackets, which ends with the one that closes them. */
function substitution(reading: Reading, from: number): void {
  const nested = read(reading.text, { at: from, depth: 0, level: reading.level + 1 });
  reading.inner.push(lineOf(nested));
  reading.at = nested.at;
  add(reading, HOLE);
}

/** `${X:-$(…)}`, `{a,$(…)}`, `$((…))`: mostly no line, so that it need not be whole, and it may be or hold one. */
function inside(reading: Reading, text: string): void {
  reading.inner.push({ ...nestedIn(reading, text), broken: false });
}

const nestedIn = ({ level }: Reading, text: string): ShellLine =>
  lineOf(read(text, { at: 0, depth: null, level: level + 1 }));

function backtick(reading: Reading): void {
  const { text } = reading;
  let end = reading.at + 1;
  while (end < text.length && text[end] !== '`') end += text[end] === '\\' ? 2 : 1;
  if (end >= text.length) reading.broken = true;
  reading.inner.push(nestedIn(reading, text.slice(reading.at + 1, end).replace(/\\([\\`$])/g, '$1')));
  reading.at = end + 1;
  add(reading, HOLE);
}

/** What stands between the bracket at `from` and its partner, quotes seen; reading goes on behind it. */
function enclosed(reading: Reading, from: number): string {
  const { text } = reading;
  const [open, close] = text[from] === '{' ? ['{', '}'] : ['(', ')'];
  let depth = 0;
  let quote = '';
  let end = from;
  for (; end < text.length; end++) {
    const char = text[end]!;
    if (char === '\\' && quote !== "'") end++;
    else if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === "'" || char === '"') quote = char;
    else if (char === open) depth++;
    else if (char === close && --depth === 0) break;
  }
  if (end >= text.length) reading.broken = true;
  reading.at = end + 1;
  return text.slice(from + 1, end);
}

/** `{a,b}` becomes several words; a brace by itself opens a group. */
function braces(reading: Reading): boolean {
  const list = /\{[^\s{}]*(?:,|\.\.)[^\s]*\}/y;
  list.lastIndex = reading.at;
  const found = list.exec(reading.text)?.[0];
  if (found === undefined) return false;
  reading.at += found.length;
  inside(reading, found.slice(1, -1));
  add(reading, HOLE);
  return true;
}

/** Process substitutions are lines of their own; other redirections take their target out of the words. */
function redirection(reading: Reading): boolean {
  const { text, at } = reading;
  if (/[<>]/.test(text[at]!) && text[at + 1] === '(') {
    add(reading, '/dev/fd/');
    substitution(reading, at + 2);
    return true;
  }
  REDIRECTION.lastIndex = at;
  const found = REDIRECTION.exec(text)?.[0];
  if (found === undefined) return false;
  const number = found[0] !== '&' && DESCRIPTOR.test(reading.word ?? '') ? reading.word : null;
  if (number !== null) reading.word = null;
  endWord(reading);
  reading.at += found.length;
  reading.aside = number !== null && number !== '0';
  const isNumber = /^\s*(?:\d+-?|-)(?![^\s;&|()<>])/.test(text.slice(reading.at, reading.at + 20));
  if (found === '<<<') reading.target = 'text';
  else if (found.startsWith('<<')) reading.target = 'end';
  else if (found.includes('>') && !(found.endsWith('&') && isNumber)) reading.target = 'write';
  else reading.target = 'read';
  return true;
}

/** The bodies of the here-documents whose line has just ended. */
function bodies(reading: Reading): void {
  const { text, awaited } = reading;
  while (awaited.length > 0) {
    const { to, end, aside } = awaited[0]!;
    const lines: string[] = [];
    let isOver = false;
    while (!isOver && reading.at < text.length) {
      const newline = text.indexOf('\n', reading.at);
      const next = newline === -1 ? text.length : newline;
      const line = text.slice(reading.at, next);
      reading.at = next + 1;
      isOver = line.replace(/^\t+/, '') === end;
      if (!isOver) lines.push(line);
    }
    to[aside ? 'aside' : 'given'].push(lines.join('\n'));
    if (!isOver) return;
    awaited.shift();
  }
}
