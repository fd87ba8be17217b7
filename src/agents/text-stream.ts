/**
 * Plain text: stdout as a whole is the final message. Kept as bytes from the end, so that an agent that
 * prints gigabytes costs a quarter of a megabyte.
 */
import { MESSAGE_BYTES, nothingTold, type StreamReader } from './stream.ts';

/** A reader that keeps the last 256 KiB of stdout as the final message. */
export function readText(): StreamReader {
  let parts: Uint8Array[] = [];
  let kept = 0;

  function trim(): void {
    const bytes = Buffer.concat(parts);
    parts = [bytes.subarray(Math.max(0, bytes.length - MESSAGE_BYTES))];
    kept = parts[0]?.length ?? 0;
  }

  return {
    // The last line may have no end and be huge.
    chunk(bytes) {
      parts.push(Uint8Array.from(bytes));
      kept += bytes.length;
      if (kept > 2 * MESSAGE_BYTES) trim();
    },
    line: (text) => (text.trim() === '' ? [] : [{ kind: 'text', text }]),
    told() {
      trim();
      const bytes = Buffer.from(parts[0] ?? new Uint8Array());
      let from = 0;
      // The cut may fall inside a character; its rest would read as a replacement sign.
      while (from < 3 && kept === MESSAGE_BYTES && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
      return { ...nothingTold(), finalMessage: bytes.toString('utf8', from) };
    },
    leaving: () => 'no',
    hopeless: () => null,
  };
}
