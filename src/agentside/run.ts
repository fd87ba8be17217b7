/**
 * The agent's side of the loop: `ralph emit` and `ralph tools`. It runs inside an attempt, often and
 * in a hurry, so this room loads node built-ins only and the command line forks to it before anything
 * else is loaded. It can publish and claim; it cannot command, answer or speak for another attempt.
 */
import { emit } from './emit.ts';
import { complain, OK, USAGE } from './say.ts';
import { tools } from './tools.ts';

/**
 * Runs `emit …` or `tools …`; `argv` begins with that word. Answers the exit code: 0, or 5 with three
 * lines on stderr that say what to do. Never throws.
 */
export async function runAgentside(argv: string[]): Promise<number> {
  const [command, ...rest] = argv;
  switch (command) {
    case 'emit':
      return emit(rest);
    case 'tools':
      return tools(rest);
    case 'help':
    case '--help':
    case undefined:
      process.stdout.write(`${USAGE}\n`);
      return OK;
    default:
      return complain({
        what: `"${command}" is not a command for agents.`,
        why: 'Inside an attempt there are emit and tools.',
        fix: USAGE,
      });
  }
}
