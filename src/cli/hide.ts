/** Nothing that a command prints holds a secret: one place for all of them, the live display and problems too. */
import { redactorHere } from '../app/secrets.ts';

/** From now on; what is printed piece by piece is to be looked through before (`ralph logs`). */
export function hideSecrets(): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => write(hidden(chunk), ...rest);
  }
}

function hidden(chunk: string | Uint8Array): string | Uint8Array {
  if (typeof chunk === 'string') return redactorHere().text(chunk);
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
  const shown = redactorHere().text(text);
  return shown === text ? chunk : Buffer.from(shown, 'latin1');
}
