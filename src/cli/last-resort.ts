/**
 * What becomes of an error that nobody caught, and of output that nobody takes. A loop goes on without
 * readers; a defect ends what runs and is told as 70, never as another exit code.
 */

/** What has to be ended first; a loop that holds agents puts its own here. */
export const lastResort: { end(error: Error): Promise<void> } = { end: () => Promise.resolve() };

/** A loop is given this long to end what it started. */
const ENDING_MS = 10_000;

/** `works`: the command does something, so that it goes on where its output cannot be written. */
export function guardProcess({ works }: { works: boolean }): void {
  // There is nowhere left to say that this failed.
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (works) return;
    // Who reads may stop reading (`| head`).
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0);
    process.stderr.write(`The output could not be written: ${error.message}\n`);
    process.exit(70);
  });
  let ending = false;
  process.on('uncaughtException', (error: Error) => {
    process.stderr.write(`This is a defect of ralph: ${error.stack ?? String(error)}\n`);
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(70), ENDING_MS);
    lastResort.end(error).then(
      () => process.exit(70),
      () => process.exit(70),
    );
  });
}
