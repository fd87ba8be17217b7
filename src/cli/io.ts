/** How commands speak: text for people, one JSON value for programs, three lines for a problem. */
import type { Command } from 'commander';
import { nearest, Problem, type ProblemFacts, printable, problemText, systemProblem } from '../core/index.ts';

export interface Common {
  json?: boolean;
  /** `-C`: as if called there. */
  dir?: string;
  color?: string;
}

const examples = new WeakMap<Command, string>();

/** The example that `common` took; the manual prints it. */
export function exampleOf(command: Command): string | undefined {
  return examples.get(command);
}

/** Adds the options every command takes, and its example. The rest of its help stands in manual.ts. */
export function common(command: Command, example: string): Command {
  examples.set(command, example);
  return command
    .option('--json', 'one JSON value instead of text, for programs')
    .option('-C, --dir <folder>', 'work as if called in this folder; default: the current one')
    .option(
      '--color <when>',
      'colours: auto, always or never',
      oneOf('--color', ['auto', 'always', 'never']),
      'auto',
    );
}

/** Refuses words after an action that takes `most` of them: one that is heard for nothing was meant for something. */
export function refuseSurplus(action: string, given: readonly (string | undefined)[], most = Infinity): void {
  const words = given.filter((word) => word !== undefined);
  if (words.length <= most) return;
  const surplus = words.slice(most).map((word) => JSON.stringify(word));
  throw new Problem({
    code: 'usage.too_many',
    what: `ralph ${action} takes nothing called ${surplus.slice(0, 3).join(' ')}.`,
    why: `It takes ${most === 0 ? 'no word' : most === 1 ? 'one word' : `${most} words`} after itself, and ${words.length} ${words.length === 1 ? 'was' : 'were'} given; nothing was done.`,
    fix: `ralph ${[action, ...words.slice(0, most)].join(' ')}, or see ralph ${action.split(' ')[0]} --help.`,
  });
}

/** A reader of an option that takes one of these words. */
function oneOf(flag: string, words: readonly string[]): (raw: string) => string {
  return (raw) => {
    if (words.includes(raw)) return raw;
    const near = nearest(raw, words);
    throw new Problem({
      code: 'usage.value',
      what: `${flag} cannot be "${raw}".${near === null ? '' : ` Did you mean ${near}?`}`,
      why: `It is ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`,
      fix: `Name one of them, or leave ${flag} away.`,
    });
  };
}

/** A reader of an option that takes a whole number of at least `least`; answers the text as it was given. */
export function wholeNumber(flag: string, least: number): (raw: string) => string {
  return (raw) => {
    if (/^\d{1,9}$/.test(raw) && Number(raw) >= least) return raw;
    throw new Problem({
      code: 'usage.value',
      what: `${flag} cannot be "${raw}".`,
      why: `It is a whole number of at least ${least}.`,
      fix: `Give such a number, or leave ${flag} away.`,
    });
  };
}

export function folderOf({ dir }: Common): string {
  return dir ?? process.cwd();
}

/** A person who says no has stopped it: the exit code of a stop. */
export const DECLINED = 7;

/** Somebody can answer at this terminal; a program's call (`--json`) is never made to wait. */
export function isAsked({ json }: Common): boolean {
  return json !== true && process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** Prints the value as JSON, or the text. */
export function answer(options: Common, value: unknown, text: string): void {
  process.stdout.write(
    options.json
      ? `${JSON.stringify(value, null, 2)}\n`
      : printable(text.endsWith('\n') ? text : `${text}\n`),
  );
}

const CHUNK_CHARS = 1 << 16;

/** Prints values as they come, as one JSON array with a value a line: thousands need no second copy. */
export function answerEach(values: Iterable<unknown>): void {
  let text = '[';
  let any = false;
  for (const value of values) {
    text += `${any ? ',' : ''}\n${JSON.stringify(value)}`;
    any = true;
    if (text.length < CHUNK_CHARS) continue;
    // A pipe takes bytes as they are; text it would measure first and copy then.
    process.stdout.write(Buffer.from(text));
    text = '';
  }
  process.stdout.write(`${text}${any ? '\n' : ''}]\n`);
}

/** Prints an error and answers the exit code: 5 or 6 for a problem, 70 for a defect or a full disk. */
export function complain(thrown: unknown, options: Common): number {
  const error = systemProblem(thrown) ?? thrown;
  if (error instanceof Problem) {
    const all = (error as Problem & { all?: ProblemFacts[] }).all ?? [error.facts];
    process.stderr.write(`${printable(all.map(problemText).join('\n'))}\n`);
    if (options.json)
      printResult(
        {
          code: error.exitCode,
          word: { 5: 'PROBLEM', 6: 'AGENT_FAILURE', 70: 'BUG' }[error.exitCode],
          reason: error.facts.what,
        },
        { problems: all },
      );
    return error.exitCode;
  }
  const { message, stack } = error as Error;
  process.stderr.write(
    `This is a defect of ralph: ${message}\n${stack ?? ''}\n  The journal is intact; running again goes on from it.\n`,
  );
  if (options.json) printResult({ code: 70, word: 'BUG', reason: message }, {});
  return 70;
}

/** The last line of every `--json` run. */
export function printResult(
  exit: { code: number; word: string; reason: string },
  more: Record<string, unknown>,
): void {
  process.stdout.write(`${JSON.stringify({ type: 'result', exit, ...more })}\n`);
}
