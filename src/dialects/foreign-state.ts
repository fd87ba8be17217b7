/**
 * What other loops leave behind: settings in shell notation and files with the state of a run. Settings
 * are parsed and never run; a run's state is shown so that a person knows what is there, and is never
 * believed, because nobody can say whether it is still true.
 */
import { readJson } from './json-tree.ts';
import { isObject } from './story-place.ts';

/** One `KEY=value` line. */
export interface ShellSetting {
  key: string;
  /** As written, without its quotes. */
  value: string;
  line: number;
  /** The shell would have put something else here: the text is kept, never run. */
  runs?: 'command' | 'variable';
}

/** What a settings file says, and the lines that are no settings. */
export interface ShellSettings {
  settings: ShellSetting[];
  /** Sentences with a line number. */
  warnings: string[];
}

const ASSIGNMENT = /^\s*(?:export\s+|declare\s+(?:-\w+\s+)*|readonly\s+)?([A-Za-z_]\w*)(\+?)=(.*)$/;

/** Reads a file like `.ralphrc`. Later lines of one key rule. Never throws. */
export function readShellSettings(path: string, text: string): ShellSettings {
  const byKey = new Map<string, ShellSetting>();
  const warnings: string[] = [];
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    const line = at + 1;
    const match = ASSIGNMENT.exec(lines[at]!);
    if (match === null) {
      if (!/^\s*(?:#.*)?$/.test(lines[at]!))
        warnings.push(`${path}:${line}: this is no KEY=value and is not run`);
      continue;
    }
    const [, key, adds, first] = match;
    const word = readWord(lines, at, first!);
    at = word.last;
    if (!word.closed) warnings.push(`${path}:${line}: the quote of ${key} is not closed`);
    if (word.rest !== '')
      warnings.push(`${path}:${line}: what stands behind the value of ${key} is left out`);
    if (adds === '+') warnings.push(`${path}:${line}: ${key} is added to; only what is added is read`);
    if (word.runs === 'command') {
      warnings.push(
        `${path}:${line}: ${key} would be what a command prints; commands in settings are not run`,
      );
    }
    byKey.delete(key!);
    byKey.set(key!, { key: key!, value: word.value, line, ...(word.runs && { runs: word.runs }) });
  }
  return { settings: [...byKey.values()], warnings };
}

interface Word {
  value: string;
  /** Index of the last line that belongs to it. */
  last: number;
  closed: boolean;
  rest: string;
  runs?: 'command' | 'variable';
}

/** Lines a value in quotes may go over. */
const MOST_LINES = 200;

/** One word of the shell: plain and quoted pieces side by side. */
function readWord(lines: readonly string[], from: number, first: string): Word {
  let [text, last, at] = [first, from, 0];
  let value = '';
  let live = '';
  let quote = '';
  for (;;) {
    const sign = text[at];
    if (sign === undefined) {
      if (quote === '' || last + 1 >= lines.length || last - from >= MOST_LINES) break;
      last += 1;
      text = lines[last]!;
      at = 0;
      value += '\n';
      continue;
    }
    if (quote === '' && /[\s;]/.test(sign)) break;
    if (sign === quote) quote = '';
    else if (quote === '' && (sign === '"' || sign === "'")) quote = sign;
    else if (sign === '\\' && quote !== "'" && isEscaped(text[at + 1], quote)) {
      at += 1;
      value += text[at] ?? '';
      live += ' ';
    } else {
      value += sign;
      live += quote === "'" ? ' ' : sign;
      // A command's own blanks and quotes belong to the value as it is written.
      const end = quote === "'" ? at : substitutionEnd(text, at);
      value += text.slice(at + 1, end + 1);
      live += text.slice(at + 1, end + 1);
      at = end;
    }
    at += 1;
  }
  const rest = quote === '' ? text.slice(at).trim().replace(/^;$/, '') : '';
  const word: Word = { value, last, closed: quote === '', rest: rest.startsWith('#') ? '' : rest };
  if (/\$\(|`/.test(live)) word.runs = 'command';
  else if (/\$[A-Za-z_{]/.test(live)) word.runs = 'variable';
  return word;
}

function isEscaped(next: string | undefined, quote: string): boolean {
  return quote === '' ? next !== undefined : next !== undefined && '$`"\\'.includes(next);
}

/** The offset of the last character of `$( … )` or of a back-quoted command that begins here; else `at`. */
function substitutionEnd(text: string, at: number): number {
  if (text[at] === '`') {
    const end = text.indexOf('`', at + 1);
    return end === -1 ? at : end;
  }
  if (text[at] !== '$' || text[at + 1] !== '(') return at;
  let level = 0;
  for (let to = at + 1; to < text.length; to++) {
    if (text[to] === '(') level += 1;
    if (text[to] === ')') level -= 1;
    if (level === 0) return to;
  }
  return at;
}

/** A state file of another loop, in a line. */
export interface ForeignState {
  path: string;
  /** What the file is for, in the words of a person. */
  meaning: string;
  /** What it says, at most a line; empty where it says nothing readable. */
  says: string;
}

interface KnownState {
  name: RegExp;
  meaning: string;
  /** Fields worth showing, in this order. */
  shows: readonly string[];
}

const KNOWN: readonly KnownState[] = [
  {
    name: /(^|\/)\.ralph\/status\.json$/,
    meaning: 'the last state another loop wrote about itself',
    shows: ['status', 'loop_count', 'last_action', 'exit_reason', 'calls_made_this_hour', 'timestamp'],
  },
  {
    name: /(^|\/)\.ralph\/progress\.json$/,
    meaning: 'how far another loop said its current call was',
    shows: ['status', 'indicator', 'elapsed_seconds', 'last_output', 'timestamp'],
  },
  {
    name: /(^|\/)\.circuit_breaker_state$/,
    meaning: 'whether another loop had stopped itself for want of progress',
    shows: [
      'state',
      'reason',
      'consecutive_no_progress',
      'consecutive_same_error',
      'last_progress_loop',
      'current_loop',
    ],
  },
  {
    name: /(^|\/)\.circuit_breaker_history$/,
    meaning: 'when another loop stopped itself and went on',
    shows: [],
  },
  {
    name: /(^|\/)\.exit_signals$/,
    meaning: 'the signs another loop counted for being done',
    shows: ['done_signals', 'completion_indicators', 'test_only_loops'],
  },
  {
    name: /(^|\/)\.response_analysis$/,
    meaning: 'what another loop made of its agent’s last answer',
    shows: ['loop_number', 'exit_signal', 'work_type', 'files_modified', 'confidence_score'],
  },
  { name: /(^|\/)\.(?:call_count|loop_count)$/, meaning: 'a counter of calls of another loop', shows: [] },
  { name: /(^|\/)\.last_reset$/, meaning: 'when another loop last began its hour of calls', shows: [] },
  {
    name: /(^|\/)\.(?:claude_session_id|ralph_session|ralph_session_history)$/,
    meaning: 'the conversation another loop went on with',
    shows: ['session_id', 'created_at', 'last_used', 'reset_reason'],
  },
  { name: /(^|\/)\.last-branch$/, meaning: 'the branch another loop worked on last', shows: [] },
  {
    name: /(^|\/)(?:\.ralph\/state\.json|ralph-loop\.local\.md|\.ralph-state\.json)$/,
    meaning: 'the state of a run of another loop',
    shows: ['status', 'state', 'active', 'iteration', 'max_iterations', 'completion_promise', 'updated_at'],
  },
];

/** True for a file that only another loop's run writes; it is told by its path. */
export function isForeignState(path: string): boolean {
  return known(path) !== undefined;
}

/** What such a file says; null for a file that is none. Never throws, and nothing in it is believed. */
export function readForeignState(path: string, text: string): ForeignState | null {
  const state = known(path);
  if (state === undefined) return null;
  return { path, meaning: state.meaning, says: shownState(state, text) };
}

function known(path: string): KnownState | undefined {
  const plain = path.replaceAll('\\', '/');
  return KNOWN.find(({ name }) => name.test(plain));
}

function shownState({ shows }: KnownState, text: string): string {
  const reading = readJson(text);
  if (reading.kind === 'fault') {
    const head = /^\ufeff?---\r?\n([\s\S]*?)\r?\n---/.exec(text)?.[1];
    return oneLine(
      head === undefined ? (text.trim().split('\n', 1)[0] ?? '') : head.split(/\r?\n/).join(', '),
    );
  }
  const { value } = reading;
  if (Array.isArray(value)) return `${value.length} ${value.length === 1 ? 'entry' : 'entries'}`;
  if (!isObject(value)) return oneLine(String(value));
  const keys = shows.filter((key) => Object.hasOwn(value, key));
  return oneLine(keys.map((key) => `${key}: ${brief(value[key])}`).join(', '));
}

function brief(value: unknown): string {
  if (Array.isArray(value)) return String(value.length);
  return isObject(value) ? '{…}' : String(value);
}

/** One line that is safe to show on a terminal. */
function oneLine(text: string): string {
  const plain = text
    .replace(/^\ufeff/, '')
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim();
  return plain.length <= 160 ? plain : `${plain.slice(0, 159)}…`;
}
