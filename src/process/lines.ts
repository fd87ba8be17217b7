/**
 * Bytes to lines. Lines are cut out as bytes and decoded whole, so a code point split over two chunks
 * is joined and invalid UTF-8 becomes U+FFFD. No line takes more memory than its bound.
 */
import { decodeFront } from './kept.ts';

/** A sink that calls back for every whole line; `end` gives the last one if it had no line end. */
export interface LineSplitter {
  add(chunk: Uint8Array): void;
  end(): void;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Lines end with LF or CRLF. Past `maxLineBytes` a line is dropped up to its end and marked. */
export function lineSplitter(maxLineBytes: number, onLine: (line: string) => void): LineSplitter {
  let held = Buffer.alloc(Math.min(1024, maxLineBytes));
  let length = 0;
  let dropped = 0;
  let isOpen = false;

  function hold(bytes: Uint8Array): void {
    isOpen = true;
    const taken = bytes.subarray(0, maxLineBytes - length);
    dropped += bytes.length - taken.length;
    if (length + taken.length > held.length) {
      const grown = Buffer.alloc(Math.min(maxLineBytes, Math.max(held.length * 2, length + taken.length)));
      held.copy(grown, 0, 0, length);
      held = grown;
    }
    held.set(taken, length);
    length += taken.length;
  }

  function flush(): void {
    if (dropped > 0) {
      onLine(`${decodeFront(held.subarray(0, length))} [... ${dropped} bytes dropped]`);
    } else {
      const end = length > 0 && held[length - 1] === CARRIAGE_RETURN ? length - 1 : length;
      onLine(held.toString('utf8', 0, end));
    }
    length = 0;
    dropped = 0;
    isOpen = false;
  }

  return {
    add(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let from = 0;
      for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, from)) {
        // Most lines lie whole in one chunk.
        if (!isOpen && at - from <= maxLineBytes) {
          const end = at > from && bytes[at - 1] === CARRIAGE_RETURN ? at - 1 : at;
          onLine(bytes.toString('utf8', from, end));
        } else {
          hold(chunk.subarray(from, at));
          flush();
        }
        from = at + 1;
      }
      if (from < chunk.length) hold(chunk.subarray(from));
    },
    end() {
      if (isOpen) flush();
    },
  };
}
