/**
 * Where the program begins. What agents call in a hurry and what only prints a word is answered before
 * the command framework is loaded; everything else is looked up there.
 */
import { VERSION } from '../app/product.ts';
import { guardProcess } from './last-resort.ts';

const argv = process.argv.slice(2);

guardProcess({ works: ['run', 'resume', 'demo'].includes(argv[0] ?? '') });

async function main(): Promise<void> {
  switch (argv[0]) {
    case '--version':
    case '-V':
      process.stdout.write(`${VERSION}\n`);
      return;
    case 'emit':
    case 'mcp':
    case 'tools': {
      const { runAgentside } = await import('../agentside/index.ts');
      process.exitCode = await runAgentside(argv);
      return;
    }
    case '__script-agent': {
      const { scriptMain } = await import('../agents/index.ts');
      process.exitCode = await scriptMain(argv.slice(1));
      return;
    }
    case '__complete': {
      const { completeMain } = await import('./complete.ts');
      process.exitCode = await completeMain(argv.slice(1));
      return;
    }
    default: {
      const { runProgram } = await import('./program.ts');
      process.exitCode = await runProgram(argv);
    }
  }
}

void main();
