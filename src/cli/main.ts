#!/usr/bin/env node
/**
 * The program's one entry. What agents call in a hurry and what only prints a word is answered before
 * the command framework is loaded; everything else is looked up there.
 */
import { VERSION } from '../app/product.ts';

const argv = process.argv.slice(2);

// Who reads our output may stop reading (`| head`). What only shows something then ends; a run goes on.
const WORKS = ['run', 'resume', 'demo'];
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  if (!WORKS.includes(argv[0] ?? '')) process.exit(process.exitCode ?? 0);
});

async function main(): Promise<void> {
  switch (argv[0]) {
    case '--version':
    case '-V':
      process.stdout.write(`${VERSION}\n`);
      return;
    case 'emit':
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

await main();
