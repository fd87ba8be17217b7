/** The command line as a table of commands; each loads what it needs only when it is called. */
import { Command, CommanderError } from 'commander';
import { VERSION } from '../app/product.ts';
import { nearest } from '../core/index.ts';
import { controlCommands } from './control.ts';
import { complain } from './io.ts';
import { runCommands } from './run.ts';
import { windowCommands } from './windows.ts';

const AGENT_SIDE = `
For the agents it starts, inside an attempt:
  emit <topic> [payload]                         publish a topic, or report a result
  tools interact progress <text>                 tell a person, without waiting

\`ralph COMMAND --help\` tells the options of one command.`;

/** Runs one command line; answers its exit code. */
export async function runProgram(argv: string[]): Promise<number> {
  const outcome = { code: 0 };
  const program = new Command('ralph')
    .description('Runs coding agents unattended on a git repository until a task list is truly done.')
    .version(VERSION)
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, '')) });
  program.addHelpText('after', AGENT_SIDE);
  const done = (code: number) => {
    outcome.code = code;
  };
  runCommands(program, done);
  controlCommands(program, done);
  windowCommands(program, done);
  for (const command of program.commands) command.exitOverride().showSuggestionAfterError();
  program.on('command:*', ([name]: string[]) => {
    const near = nearest(
      name ?? '',
      program.commands.map((command) => command.name()),
    );
    process.stderr.write(
      `There is no command "${name}".${near === null ? '' : ` Did you mean ${near}?`}\n  fix: see ralph --help\n`,
    );
    done(5);
  });
  try {
    if (argv.length === 0) {
      program.outputHelp();
      return 0;
    }
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 5;
    return complain(error, { json: argv.includes('--json') });
  }
  return outcome.code;
}
