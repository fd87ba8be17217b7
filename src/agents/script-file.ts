/**
 * The script of the scripted agent: data, no code. A list of runs; the first one whose `when` fits the
 * attempt is played. It lets the demo, the examples and the tests work without any model.
 *
 *   { "runs": [
 *     { "when": { "task": "US-001", "attempt": 1 },
 *       "do": [ { "write": { "path": "a.txt", "content": "a\n" } },
 *               { "run": "git add -A && git commit -qm 'feat: a'" },
 *               { "say": "<promise>COMPLETE</promise>" } ] } ] }
 *
 * In texts, `{{task}}`, `{{iteration}}`, `{{attempt}}`, `{{mode}}`, `{{role}}`, `{{category}}`, `{{cycle}}` and
 * `{{session}}`, the session's folder, and `{{topic}}`, which woke it, stand for the attempt's.
 */
import { Problem } from '../core/index.ts';

export interface FileText {
  path: string;
  content: string;
}

/** One thing the agent does. Each is an object with a single key. */
export type Action =
  | { write: FileText }
  | { append: FileText }
  /** Replaces the first occurrence; nothing happens, but a note on stderr, where there is none. */
  | { replace: { path: string; find: string; with: string } }
  | { remove: string }
  /** A shell line; its output goes to stderr and its exit code is noted there, the run goes on. */
  | { run: string }
  /** A part of the final message, ended with a newline. */
  | { say: string }
  /** The same without the newline. */
  | { print: string }
  | { emit: { topic: string; payload: unknown } }
  | { sleep_ms: number }
  /** A shell line that is left running, with our stdout still open. */
  | { leave: string }
  | { ignore_sigterm: boolean }
  | { exit: number }
  | { hang: boolean };

/** Which attempts a run is for; a missing key fits all. */
export interface When {
  task?: string;
  mode?: string;
  role?: string;
  attempt?: number;
  iteration?: number;
  cycle?: number;
  /** The topic that woke a role; empty where none did. */
  topic?: string;
}

export interface ScriptRun {
  when: When;
  do: Action[];
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isFile = (value: unknown): boolean => isObject(value) && isText(value.path) && isText(value.content);

const ACTIONS: Record<string, { fits(value: unknown): boolean; wants: string }> = {
  write: { fits: isFile, wants: '{ path, content }' },
  append: { fits: isFile, wants: '{ path, content }' },
  replace: {
    fits: (value) => isObject(value) && isText(value.path) && isText(value.find) && isText(value.with),
    wants: '{ path, find, with }',
  },
  remove: { fits: isText, wants: 'a path' },
  run: { fits: isText, wants: 'a shell line' },
  say: { fits: isText, wants: 'a text' },
  print: { fits: isText, wants: 'a text' },
  emit: { fits: (value) => isObject(value) && isText(value.topic), wants: '{ topic, payload }' },
  sleep_ms: { fits: isCount, wants: 'milliseconds' },
  leave: { fits: isText, wants: 'a shell line' },
  ignore_sigterm: { fits: (value) => value === true, wants: 'true' },
  exit: { fits: isCount, wants: 'an exit code' },
  hang: { fits: (value) => value === true, wants: 'true' },
};
const WHEN: Record<keyof When, (value: unknown) => boolean> = {
  task: isText,
  mode: isText,
  role: isText,
  attempt: isCount,
  iteration: isCount,
  cycle: isCount,
  topic: isText,
};

function wrong(at: string, why: string): Problem {
  return new Problem({
    code: 'agent.script_invalid',
    what: 'The script of the scripted agent cannot be played.',
    why,
    fix: `A run is { "when": { "task": "…" }, "do": [ … ] }; actions are ${Object.keys(ACTIONS).join(', ')}.`,
    at,
  });
}

function readAction(value: unknown, at: string): Action {
  const keys = isObject(value) ? Object.keys(value) : [];
  const key = keys[0] ?? '';
  if (keys.length !== 1) throw wrong(at, 'An action must be an object with exactly one key.');
  const kind = Object.hasOwn(ACTIONS, key) ? ACTIONS[key] : undefined;
  if (kind === undefined) throw wrong(at, `There is no action "${key}".`);
  if (!kind.fits((value as Json)[key])) throw wrong(`${at}.${key}`, `"${key}" wants ${kind.wants}.`);
  return value as Action;
}

function readRun(value: unknown, at: string): ScriptRun {
  if (!isObject(value) || !Array.isArray(value.do)) throw wrong(at, 'A run needs a list "do".');
  const when = value.when ?? {};
  if (!isObject(when)) throw wrong(`${at}.when`, '"when" must be an object.');
  for (const [key, condition] of Object.entries(when)) {
    const fits = Object.hasOwn(WHEN, key) ? WHEN[key as keyof When] : undefined;
    if (fits === undefined) throw wrong(`${at}.when`, `There is no condition "${key}".`);
    if (!fits(condition)) throw wrong(`${at}.when.${key}`, `"${key}" has a value of the wrong kind.`);
  }
  return {
    when: when as When,
    do: value.do.map((action, index) => readAction(action, `${at}.do[${index}]`)),
  };
}

/** Reads a script; throws a `Problem` that names the wrong place. `path` stands in the message only. */
export function parseScript(text: string, path: string): ScriptRun[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong(path, `It is not JSON: ${(error as Error).message}`);
  }
  const runs = isObject(value) ? value.runs : value;
  if (!Array.isArray(runs) || runs.length === 0) throw wrong(path, 'It holds no list "runs".');
  return runs.map((run, index) => readRun(run, `${path} runs[${index}]`));
}

/** The attempt as the agent's environment tells it. */
export interface Attempt {
  task: string;
  mode: string;
  role: string;
  attempt: number;
  iteration: number;
  cycle: number;
  category: string;
  session: string;
  topic: string;
}

/** The first run that fits; null when none does. */
export function pickRun(runs: ScriptRun[], attempt: Attempt): ScriptRun | null {
  const fits = ({ when }: ScriptRun): boolean =>
    (Object.keys(when) as (keyof When)[]).every((key) => when[key] === attempt[key]);
  return runs.find(fits) ?? null;
}

/** The text with the attempt's values in place of `{{task}}` and the others. */
export function fillIn(text: string, attempt: Attempt): string {
  return text.replace(
    /\{\{(task|mode|role|attempt|iteration|cycle|category|session|topic)\}\}/g,
    (_, key: keyof Attempt) => String(attempt[key]),
  );
}
