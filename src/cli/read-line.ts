/**
 * Reads a command line as the real program would and carries nothing out: for the tests that hold every
 * line of the manual, the guides and the README against the commands and flags that exist.
 */
import { type Command, CommanderError } from 'commander';
import { commandTree } from './program.ts';

/** Splits as a shell does: quotes, backslashes, `$(…)` and `<(…)` as one word, a comment cut off. */
export function shellWords(line: string): string[] {
  const words: string[] = [];
  const pattern = /\s+|#.*$|(?:"(?:\\.|[^"\\])*"|'[^']*'|[$<]\([^)]*\)|\\.|[^\s"'\\])+/gy;
  for (const [word] of line.matchAll(pattern)) {
    if (/^\s/.test(word) || word.startsWith('#')) continue;
    words.push(
      word.replace(
        /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g,
        (_, double, single, one) => double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? one,
      ),
    );
  }
  return words;
}

/** The command lines of ralph in one line of a shell: behind `&&`, `;`, `|` and variables, within `<(…)`. */
export function ralphLines(line: string): string[][] {
  const inner = [...line.matchAll(/[$<]\((ralph [^)]*)\)/g)].map(([, command]) => command ?? '');
  const outer = shellWords(line);
  const parts: string[][] = [[]];
  for (const word of outer) {
    if (/^(&&|\|\||\||;|&)$/.test(word)) parts.push([]);
    else if (/^\d?(>>?|<)/.test(word)) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  const own = parts
    .map((words) => words.slice(words.findIndex((word) => !/^\w+=/.test(word))))
    .filter(([first]) => first === 'ralph');
  return [...inner.flatMap(ralphLines), ...own.map((words) => words.slice(1))];
}

/** What the program would complain about in this line; null when it understands it. */
export async function mistakeIn(line: string): Promise<string | null> {
  const lines = ralphLines(line);
  if (lines.length === 0) return `There is no ralph in: ${line}`;
  for (const words of lines) {
    const mistake = await mistakeOf(words);
    if (mistake !== null) return mistake;
  }
  return null;
}

async function mistakeOf(words: string[]): Promise<string | null> {
  if (
    words.length === 0 ||
    words[0]?.startsWith('__') ||
    words[0] === 'emit' ||
    words[0] === 'tools' ||
    words[0] === 'mcp' ||
    words[0] === '--version'
  )
    return null;
  const program = commandTree(() => undefined);
  let said = '';
  const quiet = (command: Command) => {
    command.configureOutput({ writeErr: (text) => (said += text), writeOut: () => undefined });
    command.action(() => undefined);
    command.exitOverride();
    command.commands.forEach(quiet);
  };
  program.commands.forEach(quiet);
  program.configureOutput({ writeErr: (text) => (said += text), writeOut: () => undefined });
  program.exitOverride();
  if (
    !program.commands.some((known) => known.name() === words[0]) &&
    words[0] !== 'help' &&
    words[0] !== '--help'
  )
    return `There is no command ${words[0]}.`;
  try {
    await program.parseAsync(words, { from: 'user' });
    return null;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? null : said || error.message;
    return (error as Error).message;
  }
}
