/**
 * A gate's run, read: did it pass, could it be run at all, did it execute any test, and what failed.
 * Failures are written so that equal lists mean the same failure: nothing in them changes from run to run.
 */
import type { GateResult } from './evidence.ts';
import type { GateDef } from './policy.ts';
import { readRunners } from './runners.ts';

/** What is known of one gate run. */
export interface GateRun {
  def: GateDef;
  /** null: a signal ended it. */
  exitCode: number | null;
  timedOut: boolean;
  /** Both streams, bounded: their head and tail. */
  stdoutAndErr: string;
}

/** The part of a gate result that the output decides. */
export type GateReading = Pick<GateResult, 'outcome' | 'tests' | 'failures'>;

const MAX_FAILURES = 200;
const MAX_FAILURE_CHARACTERS = 300;
const LAST_LINES = 10;
/** Longer lines are minified code or data; no message for people is that long. */
const MAX_LINE_CHARACTERS = 2000;

/**
 * Reads one gate run (law, section 4). With exit 0 it is `empty` when a runner says that it executed
 * no test, and, where `minTests` asks for tests, also when fewer or no countable ones were executed.
 */
export function readGate({ def, exitCode, timedOut, stdoutAndErr }: GateRun): GateReading {
  const text = plainText(stdoutAndErr);
  const reading = readRunners(text);
  const tests = reading?.tests ?? null;
  if (timedOut) return { outcome: 'timed_out', tests, failures: ['timed out'] };
  if (exitCode === 0) {
    const isEmpty = tests === 0 || (def.minTests > 0 && (tests ?? 0) < def.minTests);
    return { outcome: isEmpty ? 'empty' : 'passed', tests, failures: [] };
  }
  const missing = missingTool(text, exitCode, tests);
  if (missing !== null) return { outcome: 'unavailable', tests, failures: [missing] };
  const names = bounded((reading?.failing ?? []).map(testName));
  const failures = names.length > 0 ? names : errorLines(text);
  const ending = exitCode === null ? 'ended by a signal' : `exit code ${exitCode}`;
  return { outcome: 'failed', tests, failures: failures.length > 0 ? failures : [ending] };
}

/**
 * `new`: something fails after that did not before, or more often; `fixed`: nothing does, and
 * something that failed before does not any more; `same`: neither.
 */
export function compareFailures(before: string[], after: string[]): 'same' | 'new' | 'fixed' {
  const [was, is] = [countEach(before), countEach(after)];
  for (const [failure, times] of is) if (times > (was.get(failure) ?? 0)) return 'new';
  for (const [failure, times] of was) if (times > (is.get(failure) ?? 0)) return 'fixed';
  return 'same';
}

function countEach(failures: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const failure of failures) {
    const match = /^(.*) \(\u00d7(\d+)\)$/s.exec(failure);
    const [name, times] = match === null ? [failure, 1] : [match[1]!, Number(match[2])];
    counts.set(name, (counts.get(name) ?? 0) + times);
  }
  return counts;
}

/**
 * Without colour and cursor codes; a carriage return starts a line, as a progress bar means it. Blank
 * lines in a row become one: patterns that look for a line's start would else try each with all that follow.
 */
function plainText(text: string): string {
  return text
    .replace(/\u001b\][^\u0007\u001b]{0,500}(?:\u0007|\u001b\\)/g, '')
    .replace(/(?:\u001b\[|\u009b)[0-9;:?<=>]*[ -/]*[@-~]/g, '')
    .replace(/\u001b[@-Z\\-_]/g, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
    .split('\n')
    .map((line) => line.slice(0, MAX_LINE_CHARACTERS).trimEnd())
    .filter((line, i, lines) => line !== '' || lines[i - 1] !== '')
    .join('\n');
}

/** What a shell, a package manager or make prints when the thing to run is not there. */
const MISSING = [
  /^(?:\S*\/)?(?:sh|bash|dash|zsh|ash|ksh)(?:: line \d+|: \d+)?: .*: (?:command )?not found$/,
  /^(?:zsh|fish)(?::\d+)?: (?:command not found|Unknown command):? .*$/,
  /^.{1,300} is not recognized as an internal or external command/,
  /^.{0,300}The term '.{1,300}' is not recognized as/,
  /^npm (?:ERR!|error) .*Missing script:/,
  /^npm (?:ERR!|error) could not determine executable to run/,
  /^npm (?:ERR!|error) enoent .*package\.json/,
  /^Error: no test specified$/,
  /^[ \t]*ERR_PNPM_(?:NO_SCRIPT|RECURSIVE_EXEC_FIRST_FAIL)/,
  /^error Command "[^"]*" not found\.$/,
  /^(?:Usage Error: )?Couldn't find a script named /,
  /^error: Script not found "/,
  /^(?:g?make)(?:\[\d+\])?: \*\*\* No rule to make target /,
  /^(?:g?make)(?:\[\d+\])?: \*\*\* \[.*\] Error 12[67]$/,
  /^\S*python[\d.]*(?:\.exe)?: No module named \S+$/,
  /^env: .{1,300}: No such file or directory$/,
];

/**
 * Why the gate could not be run; null where it could. After executed tests a line like these is only
 * output of a test about shells, so then the exit code alone counts.
 */
function missingTool(text: string, exitCode: number | null, tests: number | null): string | null {
  const isShellCode = exitCode === 127 || exitCode === 126;
  if (!isShellCode && tests !== null && tests > 0) return null;
  const line = text.split('\n').find((each) => MISSING.some((pattern) => pattern.test(each.trim())));
  if (line !== undefined) return errorLine(line);
  return isShellCode ? `exit code ${exitCode}` : null;
}

/** A test's name as it is the next time: without the duration at its end. */
function testName(name: string): string {
  const bare = name
    .replace(/\s+(?:\([\d.]+ ?m?s\)|\[[\d.]+ ?m?s\]|[\d.]+ ?ms)[ \t]*$/, '')
    .replace(/\s+#.*duration.*$/, '');
  return withoutPlaces(bare);
}

/** A message as it is the next time. */
function errorLine(line: string): string {
  return withoutPlaces(line)
    .replace(/^\d+:\d+ /, '')
    .replace(/\(\d+,\d+\)/g, '')
    .replace(/:\d+(?::\d+)?(?=\D|$)/g, '')
    .replace(/\bline \d+(?:, col(?:umn)? \d+)?/gi, 'line')
    .replace(/\bpid[ =:]*\d+/gi, 'pid')
    .replace(/\(node\b.?\d+\)|\[\d{3,}\]/g, '')
    .replace(/\(?\b\d+(?:\.\d+)? ?(?:ms|s|sec|secs|seconds?|minutes?|min|m)\b\)?/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Without times, temporary folders, addresses and random ids. */
function withoutPlaces(text: string): string {
  return text
    .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>')
    .replace(/\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/g, '<time>')
    .replace(/(?:\/private)?\/var\/folders\/[^/\s]+\/[^/\s]+\/T(?:\/[^/\s'"`:)\]]+)?/g, '<tmp>')
    .replace(/(?<![\w.])(?:\/private)?(?:\/var)?\/tmp\/[^/\s'"`:)\]]+/g, '<tmp>')
    .replace(/[A-Za-z]:[\\/][^\s'"`]{0,200}?[\\/]Temp[\\/][^\\/\s'"`:)\]]+/g, '<tmp>')
    .replace(/\b0x[0-9a-fA-F]+\b/g, '<hex>')
    .replace(/\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b/g, '<id>')
    .replace(/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,64}\b/g, '<hex>')
    .replace(/\s+/g, ' ')
    .trim();
}

const LOOKS_LIKE_ERROR =
  /\b(?:error|errors|failed|failure|failures|failing|fatal|exception|traceback|panic|panicked|undefined reference|cannot|assert\w*)\b|\w(?:Error|Exception)\b|^[ \t]*(?:not ok|FAIL|[\u2716\u2717\u2718\u00d7])/i;
const SAYS_NONE = /\b(?:0|no) (?:errors?|failed|failures?|failing|problems?|warnings?)\b/i;
/** `file:1:2: error`, `file(1,2): error`, or a linter's indented `1:2  error`. */
const HAS_POSITION = /^[ \t]*\S*?(?::\d+|\(\d+,\d+\)|^[ \t]*\d+:\d+)(?::|\s).*\b(?:error|warning)\b/i;
const LINT_LINE = /^[ \t]+\d+:\d+\s+error\b/;
/** A path alone on a line: linters print it above the lines that are about it. */
const PATH_LINE = /^\S*[\\/]\S+$|^\S+\.\w{1,5}$/;

/** For a runner we do not know: the lines that look like errors, else the last lines. */
function errorLines(text: string): string[] {
  let path = '';
  const found: string[] = [];
  const counted: string[] = [];
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  for (const line of lines) {
    if (PATH_LINE.test(line)) path = `${withoutPlaces(line)} `;
    if (!LOOKS_LIKE_ERROR.test(line) || SAYS_NONE.test(line)) continue;
    if (LINT_LINE.test(line)) counted.push(path + errorLine(line));
    else if (HAS_POSITION.test(line)) counted.push(errorLine(line));
    else found.push(errorLine(line));
  }
  if (found.length + counted.length === 0) return bounded(lines.slice(-LAST_LINES).map(errorLine));
  return bounded([...found, ...timesEach(counted)]);
}

/** Compilers and linters repeat one message at several places: the number tells a new place from an old one. */
function timesEach(lines: string[]): string[] {
  return [...countEach(lines)].map(([line, times]) => (times === 1 ? line : `${cut(line)} (\u00d7${times})`));
}

function cut(line: string): string {
  return line.length > MAX_FAILURE_CHARACTERS ? `${line.slice(0, MAX_FAILURE_CHARACTERS)}\u2026` : line;
}

/** Each once, in an order that does not depend on which ran first, at most 201 entries. */
function bounded(failures: string[]): string[] {
  const isCounted = (line: string) => / \(\u00d7\d+\)$/.test(line);
  const each = [...new Set(failures.map((line) => (isCounted(line) ? line : cut(line))))];
  const sorted = each.filter((line) => line !== '').sort();
  const more = sorted.length - MAX_FAILURES;
  return more > 0 ? [...sorted.slice(0, MAX_FAILURES), `more failures (\u00d7${more})`] : sorted;
}

const RUNNER =
  /^(?:(?:npx|bunx|pnpm(?: exec| dlx)?|yarn|bun|uv run|poetry run|bundle exec|python3? -m)\s+)?(?:(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:t|tests?|test:[\w:-]+)|vitest|jest|mocha|ava|tap|pytest|unittest|rspec|phpunit|tsc(?=.*--noEmit)|mypy|pyright|cargo (?:test|check|nextest)|go (?:test|vet)|dotnet test|node --test|deno test)(?:\s[^;&|<>\n]*)?$/;
const UPDATES = /(?:^|\s)(?:-u|-w|--update\S*|--fix\S*|--write|--snapshot-update)(?=\s|=|$)/;

/**
 * Whether files that changed while a gate ran can be its doing. A command that plainly only tests rewrites no
 * source, so what changed meanwhile was somebody else.
 */
export function mayRewrite(run: string): boolean {
  return !RUNNER.test(run.trim()) || UPDATES.test(run);
}
