/** Gates as child processes of the engine: the shell's own line, its output kept, its whole tree ended. */
import { type Redactor, readGate } from '../core/index.ts';
import type { Gates } from '../engine/index.ts';
import { run } from '../process/index.ts';

const KEEP_BYTES = 256 * 1024;
const EXCERPT_CHARS = 4_000;
const GRACE_MS = 5_000;

/** Whether a gate passed is read of all that it printed; what is told of that goes through the redactor. */
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
      });
      const done = child.done.then((result) => {
        if (result.ending === 'stopped') return null;
        const exitCode = result.ending === 'spawn_failed' ? 127 : result.exitCode;
        const text = result.error === null ? result.output.text : `${result.output.text}\n${result.error}`;
        const read = readGate({ def, exitCode, timedOut: result.ending === 'wall', stdoutAndErr: text });
        const outputText = redactor.text(text);
        return {
          gate: def.name,
          run: def.run,
          ...redactor.value(read),
          exitCode,
          durationMs: result.durationMs,
          excerpt: outputText.slice(-EXCERPT_CHARS),
          outputText,
        };
      });
      return { done, stop: () => child.stop(GRACE_MS) };
    },
  };
}
