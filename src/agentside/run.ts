/**
 * The agent's side of the loop: `ralph emit`, `ralph tools` and `ralph mcp`. It runs inside an attempt, often and
 * in a hurry, so this room loads node built-ins only and the command line forks to it before anything
 * else is loaded. It can publish and claim; it cannot command, answer or speak for another attempt.
 */
import { emit } from './emit.ts';
import { complain, OK, USAGE } from './say.ts';
import { tools } from './tools.ts';

/**
 * Runs `emit …`, `tools …` or `mcp`; `argv` begins with that word. Answers the exit code: 0, or 5 with three
 * lines on stderr that say what to do. Never throws. `mcp` answers when its client is gone.
 */
export async function runAgentside(argv: string[]): Promise<number> {
  const [command, ...rest] = argv;
  switch (command) {
    case 'emit':
      return emit(rest);
    case 'tools':
      return tools(rest);
    case 'mcp':
      if (rest.length === 0) return (await import('./mcp.ts')).serve();
      process.stdout.write(`${USAGE}\n`);
      return OK;
    case 'help':
    case '--help':
    case undefined:
      process.stdout.write(`${USAGE}\n`);
      return OK;
    default:
      return complain({
        what: `"${command}" is not a command for agents.`,
        why: 'Inside an attempt there are emit, tools and mcp.',
        fix: USAGE,
      });
  }
}
