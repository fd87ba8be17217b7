/** `npm run map`: draws the code map of ARCHITECTURE.md anew. */
import { PAGE, writeMap } from '../test/tidy/code-map.ts';

process.stdout.write(writeMap() ? `${PAGE} has a new code map.\n` : `${PAGE} was up to date.\n`);
