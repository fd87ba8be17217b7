/**
 * Secrets are taken out of what a child prints before any of it is cut: half a secret would not be known as one. Bytes
 * for logs and for what is kept of the output, lines for those who read it.
 */
import type { RedactingStream, Redactor } from '../core/index.ts';
import type { LogSieve } from '../process/index.ts';

/** For each of a child's streams. */
export function sieveOf(redactor: Redactor): () => LogSieve {
  return () => sieveThrough(redactor.stream());
}

/** A character for each byte: what is no secret comes out as it came, whatever its encoding. */
function sieveThrough(stream: RedactingStream): LogSieve {
  return {
    add: (bytes) =>
      Buffer.from(
        stream.add(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')),
        'latin1',
      ),
    end: () => Buffer.from(stream.end(), 'latin1'),
  };
}

/** One stream of a child: its sieve, and a line of it once the sieve had the bytes of that line. */
export interface CleanLines {
  sieve: LogSieve;
  line(text: string): string;
}

/** Lines are looked through only where the sieve found something in the bytes that they came in. */
export function cleanLines(redactor: Redactor): CleanLines {
  const bytes = redactor.stream();
  const lines = redactor.stream();
  const through = sieveThrough(bytes);
  let since = false;
  return {
    sieve: {
      add(chunk) {
        const sieved = through.add(chunk);
        since ||= bytes.foundAny();
        return sieved;
      },
      end: through.end,
    },
    line(text) {
      const clean = since ? lines.line(text) : text;
      // The next line may have begun in the same bytes.
      since = bytes.foundAny();
      return clean;
    },
  };
}
