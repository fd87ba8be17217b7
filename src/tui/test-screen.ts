/** A terminal for tests: a real stream that keeps what was written, with a size that can change. */
import { Writable } from 'node:stream';

export interface TestScreen {
  out: NodeJS.WriteStream;
  /** All that was written. */
  raw(): string;
  /** The same without escape sequences. */
  text(): string;
  resize(columns: number, rows: number): void;
}

export function testScreen(columns = 100, rows = 30): TestScreen {
  let written = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString();
      done();
    },
  });
  const out = Object.assign(stream, { isTTY: true, columns, rows }) as unknown as NodeJS.WriteStream;
  return {
    out,
    raw: () => written,
    text: () => written.replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, ''),
    resize(width, height) {
      Object.assign(out, { columns: width, rows: height });
      out.emit('resize');
    },
  };
}

/** Waits until the condition holds; gives up after 5 s. */
export async function eventually(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 250; tries++) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the condition never held');
}
