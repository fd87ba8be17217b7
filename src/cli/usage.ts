/**
 * A command line that cannot be read, told as every other problem: what is wrong with it, why, and what
 * to write instead. The command framework finds the mistakes; its own words name only the first half.
 */
import type { Command, CommanderError, Option } from 'commander';
import { nearest, Problem, type ProblemFacts } from '../core/index.ts';
import { exampleOf } from './io.ts';

/** What the framework refused, in the words of a Problem. `command` is the one that read these words. */
export function usageProblem(error: CommanderError, command: Command, words: readonly string[]): Problem {
  const quoted = /'([^']*)'/.exec(error.message)?.[1] ?? '';
  switch (error.code) {
    case 'commander.unknownOption':
      return new Problem(unknownOption(command, quoted, words));
    case 'commander.optionMissingArgument':
      return new Problem(withoutValue(command, quoted));
    case 'commander.missingArgument':
      return new Problem(withoutWord(command, quoted));
    case 'commander.excessArguments':
      return new Problem(tooManyWords(command));
    default:
      return new Problem({
        code: 'usage.refused',
        what: sentence(error.message.replace(/^error: /, '')),
        why: `That is no way to call ${nameOf(command)}.`,
        fix: seeHelp(command),
      });
  }
}

/** The Problem of a word that is no command. */
export function unknownCommand(program: Command, name: string): Problem {
  const names = program.commands.map((command) => command.name());
  const near = nearest(name, names);
  return new Problem({
    code: 'usage.command',
    what: `There is no command ${JSON.stringify(name)}.${didYouMean(near)}`,
    why: `There are ${names.join(', ')}.`,
    fix: near === null ? 'Name one of them; `ralph --help` says what each does.' : `ralph ${near} --help`,
  });
}

function nameOf(command: Command): string {
  return command.parent === null ? 'ralph' : `${nameOf(command.parent)} ${command.name()}`;
}

function seeHelp(command: Command): string {
  const example = exampleOf(command);
  const see = `\`${nameOf(command)} --help\` tells the rest.`;
  return example === undefined ? see : `For example: ${example}. ${see}`;
}

function sentence(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return `${line.charAt(0).toUpperCase()}${line.slice(1)}${/[.?!]$/.test(line) ? '' : '.'}`;
}

function didYouMean(near: string | null): string {
  return near === null ? '' : ` Did you mean ${near}?`;
}

function shown(command: Command): string[] {
  return command.options.filter(({ hidden }) => !hidden).map(({ long, short }) => long ?? short ?? '');
}

function unknownOption(command: Command, given: string, words: readonly string[]): ProblemFacts {
  const flag = given.replace(/=.*$/s, '');
  const facts = { code: 'usage.option', what: `${nameOf(command)} has no option ${flag}.` };
  const option = (child: Command) => child.options.find(({ long, short }) => flag === long || flag === short);
  const owners = command.commands.filter((child) => option(child) !== undefined);
  if (owners.length > 0) {
    const meant = owners.find((child) => words.includes(child.name())) ?? owners[0]!;
    const whose =
      owners.length > 6 ? 'Commands have it' : `It is an option of ${owners.map(nameOf).join(', ')}`;
    return {
      ...facts,
      why: `${whose}, and options stand behind the name of the command.`,
      fix: `${nameOf(meant)} ${option(meant)!.flags.replace(/^-\w, /, '')}`,
    };
  }
  const known = shown(command);
  const below = command.commands.flatMap(shown);
  const near = nearest(flag, [...known, ...below]);
  return {
    ...facts,
    what: `${facts.what}${didYouMean(near)}`,
    why:
      near !== null && !known.includes(near)
        ? 'Options stand behind the name of the command.'
        : `It has ${known.join(', ')}.`,
    fix: seeHelp(command),
  };
}

function withoutValue(command: Command, flags: string): ProblemFacts {
  const option: Option | undefined = command.options.find((known) => known.flags === flags);
  const name = option?.long ?? flags;
  return {
    code: 'usage.value',
    what: `${name} was given without a value.`,
    why: sentence(`it takes one: ${option?.description ?? flags}`),
    fix: `Write it as ${flags}. ${seeHelp(command)}`,
  };
}

function withoutWord(command: Command, name: string): ProblemFacts {
  const argument = command.registeredArguments.find((known) => known.name() === name);
  return {
    code: 'usage.missing',
    what: `${nameOf(command)} was not told its <${name}>.`,
    why: sentence(`it takes ${argument?.description || name}`),
    fix: seeHelp(command),
  };
}

function tooManyWords(command: Command): ProblemFacts {
  const taken = command.registeredArguments;
  const extra = command.args.slice(taken.length);
  const near = nearest(
    `--${extra[0] ?? ''}`,
    shown(command).filter((flag) => flag !== '--dir'),
  );
  const most =
    taken.length === 0 ? 'no words behind it' : `only ${taken.map((each) => `<${each.name()}>`).join(' ')}`;
  const words = extra.slice(0, 4).map((word) => JSON.stringify(word));
  return {
    code: 'usage.words',
    what: `${nameOf(command)} takes ${most}, and ${words.join(' ')}${extra.length > words.length ? ' …' : ''} was given as well.${didYouMean(near)}`,
    why: 'Nobody can say what it was meant for; words that belong together stand in quotes.',
    fix: seeHelp(command),
  };
}
