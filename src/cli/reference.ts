/**
 * docs/reference/cli.md, written from the tree of commands and the manual, so that the page and the
 * product cannot disagree.
 */
import type { Argument, Command, Option } from 'commander';
import { examplesOf, exitsOf } from './manual.ts';
import { PAGES } from './manual-pages.ts';

/** The whole page as Markdown. `program` is the tree before the manual was put on it. */
export function cliReference(program: Command): string {
  const commands = program.commands;
  const shared = commonOptions(commands);
  return [
    '# Command line',
    '',
    '<!-- Written from the program: UPDATE_DOCS=1 npx vitest run src/cli. -->',
    '',
    'Nothing prompts when stdin is not a terminal. An unknown command, flag or value ends with exit code 5,',
    'and with the nearest one that exists. `ralph COMMAND --help` and `ralph help COMMAND` say what stands here.',
    '',
    ...overview(commands),
    '## Options of every command',
    '',
    ...optionTable(shared),
    '## Exit codes',
    '',
    ...exitTable(exitsOf(PAGES.run)),
    '[What to do when it stops](../guides/when-it-stops.md)',
    '',
    ...commands.flatMap((command) => section(command, command.name(), shared)),
    ...AGENT_SIDE,
  ].join('\n');
}

const AGENT_SIDE = [
  '## ralph emit, ralph tools, ralph mcp',
  '',
  "The agent's side, for programs that Ralph starts: [the agent contract](agent-contract.md) and [the tools](../guides/agent-tools.md).",
  '',
];

function overview(commands: readonly Command[]): string[] {
  const rows = commands.map((command) => [
    `[${command.name()}](#ralph-${command.name()})`,
    command.description(),
  ]);
  return table(['command', 'does'], rows);
}

function section(command: Command, words: string, shared: readonly Option[]): string[] {
  const page = PAGES[words];
  const own = command.options.filter((option) => !shared.some(({ flags }) => flags === option.flags));
  const examples = examplesOf(command, page);
  const width = Math.max(...examples.map(([line]) => line.length));
  const see = page?.see.map((name) =>
    name.includes('/') ? docLink(name) : `[ralph ${name}](#ralph-${name.split(' ').join('-')})`,
  );
  return [
    `## ralph ${words}`,
    '',
    '```text',
    usage(command, words),
    '```',
    '',
    page?.text ?? command.description(),
    '',
    ...argumentTable(command.registeredArguments),
    ...optionTable(own),
    '```bash',
    ...examples.map(([line, does]) => (does === '' ? line : `${line.padEnd(width)}  # ${does}`)),
    '```',
    '',
    ...(page?.exits === undefined || words === 'run' ? [] : exitNote(page.exits)),
    ...(see === undefined || see.length === 0 ? [] : [`See also: ${see.join(', ')}`, '']),
    ...command.commands.flatMap((child) => section(child, `${words} ${child.name()}`, shared)),
  ];
}

function exitNote(exits: Record<number, string>): string[] {
  if (exits === PAGES.run?.exits) return ['Exit codes: [those of a run](#exit-codes).', ''];
  return exitTable(exits);
}

function usage(command: Command, words: string): string {
  const names = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return ['ralph', words, '[options]', ...names].join(' ');
}

function docLink(path: string): string {
  const name = path.split('/').at(-1)?.replace(/\.md$/, '').replaceAll('-', ' ');
  return `[${name}](${path.replace(/^docs\//, '../').replace('../reference/', '')})`;
}

function commonOptions(commands: readonly Command[]): Option[] {
  const [first, ...others] = commands;
  const has = (command: Command, wanted: Option) =>
    command.options.some(({ flags }) => flags === wanted.flags);
  return (first?.options ?? []).filter((option) => others.every((command) => has(command, option)));
}

function argumentTable(taken: readonly Argument[]): string[] {
  const rows = taken.map((argument) => [`\`${argument.name()}\``, argument.description]);
  return rows.length === 0 ? [] : table(['argument', 'meaning'], rows);
}

function optionTable(options: readonly Option[]): string[] {
  const rows = options.map((option) => [`\`${option.flags}\``, meaningOf(option)]);
  return rows.length === 0 ? [] : table(['option', 'meaning'], rows);
}

function meaningOf({ description, defaultValue, defaultValueDescription }: Option): string {
  if (defaultValue === undefined || typeof defaultValue === 'boolean') return description;
  return `${description}; default: ${defaultValueDescription ?? String(defaultValue)}`;
}

function exitTable(exits: Record<number, string>): string[] {
  return table(
    ['code', 'meaning'],
    Object.entries(exits).map(([code, meaning]) => [code, meaning]),
  );
}

function table(head: string[], rows: string[][]): string[] {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''];
}
