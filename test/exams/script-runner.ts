/** Runs the scripted agent's program from its source, where the built one is not there. */
import { scriptMain } from '../../src/agents/index.ts';

process.exitCode = await scriptMain(process.argv.slice(2));
