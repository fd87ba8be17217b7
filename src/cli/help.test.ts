import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { addManual, examplesOf } from './manual.ts';
import { PAGES } from './manual-pages.ts';
import { commandTree } from './program.ts';
import { mistakeIn } from './read-line.ts';
import { cliReference } from './reference.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const PAGE = join(ROOT, 'docs/reference/cli.md');

const tree = commandTree(() => undefined);
const commands = everyCommand(tree);
const names = commands.map(([words]) => words);

function everyCommand(command: Command, before = ''): [string, Command][] {
  return command.commands.flatMap((child) => {
    const words = `${before}${child.name()}`;
    return [[words, child] as [string, Command], ...everyCommand(child, `${words} `)];
  });
}

describe('every command', () => {
  test('says in one line what it does', () => {
    const silent = commands.filter(([, command]) => command.description().length < 10);
    expect(silent.map(([words]) => words)).toEqual([]);
  });

  test('has a page in the manual, and every page has a command', () => {
    expect(Object.keys(PAGES).toSorted()).toEqual(names.toSorted());
  });

  test('has examples that it understands, each with what it does', async () => {
    for (const [words, command] of commands) {
      const examples = examplesOf(command, PAGES[words]);
      expect(examples.length, words).toBeGreaterThan(0);
      for (const [line, does] of examples) {
        expect(does, line).not.toBe('');
        expect(line, words).toContain(`ralph ${words}`);
        expect(await mistakeIn(line), line).toBeNull();
      }
    }
  });

  test('says of every option what it means and what holds without it', () => {
    const faults = commands.flatMap(([words, { options }]) =>
      options.flatMap(({ flags, description, defaultValue, required, optional }) => {
        const found: string[] = [];
        if (description.length < 10) found.push(`${words} ${flags}: no meaning`);
        const told = defaultValue !== undefined || /default|only where/i.test(description);
        if ((required || optional) && !told) found.push(`${words} ${flags}: no default`);
        return found;
      }),
    );
    expect(faults).toEqual([]);
  });

  test('says of every argument what it is', () => {
    const faults = commands.flatMap(([words, { registeredArguments }]) =>
      registeredArguments
        .filter(({ description }) => description.length < 5)
        .map((one) => `${words} ${one.name()}`),
    );
    expect(faults).toEqual([]);
  });

  test('takes --json, -C and --color', () => {
    const without = commands.filter(
      ([, { options, commands: children }]) =>
        children.length === 0 &&
        !['--json', '--dir', '--color'].every((long) => options.some((option) => option.long === long)),
    );
    expect(without.map(([words]) => words)).toEqual([]);
  });

  test('sends its reader on to commands and pages that exist', () => {
    const known = (name: string) =>
      names.includes(name) || (name.endsWith('.md') && existsSync(join(ROOT, name)));
    const lost = Object.entries(PAGES).flatMap(([words, { see }]) =>
      see.filter((name) => !known(name)).map((name) => `${words} → ${name}`),
    );
    expect(lost).toEqual([]);
    expect(Object.entries(PAGES).filter(([, { see }]) => see.length === 0)).toEqual([]);
  });
});

test('the help of a command holds its text, options, examples, exit codes and where to read on', () => {
  const program = commandTree(() => undefined);
  addManual(program);
  for (const [words, command] of everyCommand(program)) {
    let text = '';
    command.configureOutput({ writeOut: (more) => (text += more) });
    command.outputHelp();
    expect(text, words).toMatch(/^Usage: ralph /);
    for (const part of ['Options:', '  ralph ', 'Exit codes:', 'See also: '])
      expect(text, words).toContain(part);
    expect(text, words).toMatch(/^Examples?:$/m);
  }
});

test('the overview names every command once, in groups', () => {
  const program = commandTree(() => undefined);
  addManual(program);
  const text = program.helpInformation();
  for (const heading of ['Work:', 'Look:', 'Say something:', 'Set up:'])
    expect(text).toContain(`\n${heading}\n`);
  for (const command of program.commands)
    expect(text.match(new RegExp(`^  ${command.name()}\\b`, 'gm'))).toHaveLength(1);
});

test('docs/reference/cli.md is what the program says', () => {
  const page = cliReference(commandTree(() => undefined));
  if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, 'utf8'), 'regenerate: UPDATE_DOCS=1 npx vitest run src/cli').toBe(page);
});
