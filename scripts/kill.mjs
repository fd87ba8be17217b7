// `npm run test:kill [-- vitest arguments]`: kills the runner at every kind of moment and starts again.
import { finish, runVitest } from './suite.mjs';

finish(await runVitest(['--config', 'vitest.kill.config.ts', ...process.argv.slice(2)]));
