/**
 * The manual: what `--help` says beyond a command's own line and flags. Loaded only when somebody asks
 * for help; the pages stand in manual-pages.ts.
 */
import type { Command } from 'commander';
import { exampleOf } from './io.ts';
import { type Example, PAGES, type Page } from './manual-pages.ts';

const USUAL_EXITS = {
  0: 'it was done',
  5: 'usage, configuration or nothing to look at: told in three lines, nothing was changed',
};

/** Puts every page on its command, and the commands into groups. */
export function addManual(program: Command): void {
  program.configureHelp({ subcommandTerm });
  for (const command of program.commands) addPage(command, command.name());
}

/** A command and its arguments, without the `[options]` that every one has. */
function subcommandTerm(command: Command): string {
  const taken = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...taken].join(' ');
}

function addPage(command: Command, words: string): void {
  const page = PAGES[words];
  if (page !== undefined) {
    command.summary(command.description()).description(page.text);
    if (command.parent?.parent === null) command.helpGroup(`${page.group}:`);
  }
  command.addHelpText('after', () => pageEnd(command, page));
  for (const child of command.commands) addPage(child, `${words} ${child.name()}`);
}

/** Every example of a command, the one that it names itself first. */
export function examplesOf(command: Command, page: Page | undefined): Example[] {
  const own = exampleOf(command);
  return [...(own === undefined ? [] : [[own, page?.does ?? ''] as Example]), ...(page?.examples ?? [])];
}

/** The exit codes that a page tells. */
export function exitsOf(page: Page | undefined): Record<number, string> {
  return page?.exits ?? USUAL_EXITS;
}

function pageEnd(command: Command, page: Page | undefined): string {
  const all = examplesOf(command, page);
  const examples = all.flatMap(([line, does]) => [`  ${line}`, ...(does === '' ? [] : [`      ${does}`])]);
  const codes = Object.entries(exitsOf(page)).map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}`);
  const see = page?.see.map((name) => (name.includes('/') ? name : `ralph ${name}`)) ?? [];
  return [
    '',
    all.length === 1 ? 'Example:' : 'Examples:',
    ...examples,
    '',
    'Exit codes:',
    ...codes,
    ...(see.length === 0 ? [] : ['', `See also: ${see.join(', ')}`]),
  ].join('\n');
}
