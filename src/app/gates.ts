/** Gates as child processes of the engine: the shell's own line, its output kept, its whole tree ended. */

import { sieveOf } from '../agents/index.ts';
import { type Redactor, readGate } from '../core/index.ts';
import type { Gates } from '../engine/index.ts';
import { run } from '../process/index.ts';

const KEEP_BYTES = 256 * 1024;
const EXCERPT_CHARS = 4_000;
const GRACE_MS = 5_000;

/** What a gate prints goes through the redactor before any of it is cut: half a secret would not be known as one. */
export function processGates(redactor: Redactor): Gates {
  return {
    run(def, { ground, env, marker }) {
      const child = run({
        command: { shell: def.run },
        cwd: ground.cwd,
        env: { ...env, CI: env.CI ?? 'true' },
        wallMs: def.timeoutS * 1000,
        idleMs: null,
        marker: { name: 'RALPH_MARKER', value: marker },
        keepBytes: KEEP_BYTES,
        keptThrough: sieveOf(redactor),
      });
      const done = child.done.then((result) => {
        if (result.ending === 'stopped') return null;
        const exitCode = result.ending === 'spawn_failed' ? 127 : result.exitCode;
        const error = result.error === null ? '' : `\n${redactor.text(result.error)}`;
        const text = `${result.output.text}${error}`;
        const read = readGate({ def, exitCode, timedOut: result.ending === 'wall', stdoutAndErr: text });
        return {
          gate: def.name,
          run: def.run,
          ...read,
          exitCode,
          durationMs: result.durationMs,
          excerpt: text.slice(-EXCERPT_CHARS),
          outputText: text,
        };
      });
      return { done, stop: () => child.stop(GRACE_MS) };
    },
  };
}
