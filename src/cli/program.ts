/** The command line as a table of commands; each loads what it needs only when it is called. */
import { Command, CommanderError } from 'commander';
import { VERSION } from '../app/product.ts';
import { botCommand } from './bot.ts';
import { completionCommands } from './completions.ts';
import { configCommands } from './config.ts';
import { controlCommands } from './control.ts';
import { feedbackCommand } from './feedback.ts';
import { hatsCommand } from './hats.ts';
import { hideSecrets } from './hide.ts';
import { importCommand } from './import.ts';
import { refuseAgents } from './inside-attempt.ts';
import { complain } from './io.ts';
import { loopsCommand } from './loops.ts';
import { runCommands } from './run.ts';
import { sayCommands } from './say.ts';
import { setupCommands } from './setup.ts';
import { unblockCommands } from './unblock.ts';
import { unknownCommand, usageProblem } from './usage.ts';
import { windowCommands } from './windows.ts';

const END = `
Begin with:
  ralph demo                                     watch it work on a small example
  ralph run --dry-run                            what it would do here

For the agents it starts, inside an attempt:
  emit <topic> [payload]                         publish a topic, or report a result
  tools <tool>                                   guidance, memories, tasks, skills, a word to a person
  mcp                                            all of it as an MCP server on stdio

\`ralph COMMAND --help\` tells the options of one command, with examples.`;

/** Every command with its options and actions; `done` takes the exit code of the one that ran. */
export function commandTree(done: (code: number) => void): Command {
  const program = new Command('ralph')
    .description('Runs coding agents unattended on a git repository until a task list is truly done.')
    .version(VERSION)
    .enablePositionalOptions()
    .commandsGroup('Set up:')
    .helpCommand('help [command]', 'show the help of one command')
    // What is refused is told by `complain`, in the words of usage.ts.
    .configureOutput({ outputError: () => undefined });
  program.addHelpText('after', END);
  runCommands(program, done);
  controlCommands(program, done);
  sayCommands(program, done);
  feedbackCommand(program, done);
  unblockCommands(program, done);
  windowCommands(program, done);
  setupCommands(program, done);
  importCommand(program, done);
  botCommand(program, done);
  configCommands(program, done);
  hatsCommand(program, done);
  loopsCommand(program, done);
  completionCommands(program, done);
  return program;
}

function everyCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) everyCommand(child, visit);
}

/** Runs one command line; answers its exit code. */
export async function runProgram(argv: string[]): Promise<number> {
  hideSecrets();
  const outcome = { code: 0 };
  const done = (code: number) => {
    outcome.code = code;
  };
  const program = commandTree(done);
  program.hook('preAction', (_, command) =>
    refuseAgents(command.name(), { words: command.processedArgs, options: command.opts() }),
  );
  const refused = { by: program };
  everyCommand(program, (command) =>
    command.exitOverride((error) => {
      refused.by = command;
      throw error;
    }),
  );
  // `ralph help emit` asks about a command that the command framework does not know.
  if (argv[0] === 'help' && ['emit', 'tools', 'mcp'].includes(argv[1] ?? ''))
    return (await import('../agentside/index.ts')).runAgentside(['--help']);
  if (asksForHelp(argv)) (await import('./manual.ts')).addManual(program);
  program.on('command:*', ([name]: string[]) => {
    throw unknownCommand(program, name ?? '');
  });
  try {
    if (argv.length === 0 || (argv[0] === 'help' && argv[1] === 'help')) {
      program.outputHelp();
      return 0;
    }
    if (argv[0] === 'help' && argv[1] !== undefined && !isCommand(program, argv[1]))
      throw unknownCommand(program, argv[1]);
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const told = error instanceof CommanderError ? usageProblem(error, refused.by, argv) : error;
    return complain(told, { json: argv.includes('--json') });
  }
  return outcome.code;
}

/** The manual is text that only a reader of it should pay for. */
function asksForHelp(argv: string[]): boolean {
  return argv.length === 0 || argv[0] === 'help' || argv.includes('--help') || argv.includes('-h');
}

function isCommand(program: Command, name: string): boolean {
  return name.startsWith('-') || name === 'help' || program.commands.some((known) => known.name() === name);
}
