/** Output kept within bounds: its head, its tail, and a count of what lies between. */

/** The head and the tail of a stream, decoded. */
export interface KeptOutput {
  /** The first `keepBytes`. */
  head: string;
  /** The last `keepBytes`; overlaps the head when there was little output. */
  tail: string;
  /** Head and tail without the overlap, with a line that tells the gap where there is one. */
  text: string;
  /** Bytes that came in all. */
  bytes: number;
}

/** A sink that remembers the first and the last `keepBytes` of what it is given. */
export interface Keeper {
  add(chunk: Uint8Array): void;
  /** Bytes added so far. */
  count(): number;
  read(): KeptOutput;
}

/** What a sink begins with; most children say little. */
const FIRST_BYTES = 4096;

/** Memory use grows with what is added, to four times `keepBytes` at most. */
export function keeper(keepBytes: number): Keeper {
  let head: Buffer = Buffer.alloc(0);
  // Grows to twice what is kept, so that the move to the front is rare and each byte is copied about twice.
  let ring: Buffer = Buffer.alloc(0);
  let inHead = 0;
  let inRing = 0;
  let bytes = 0;

  function add(chunk: Uint8Array): void {
    bytes += chunk.length;
    if (inHead < keepBytes) {
      const taken = chunk.subarray(0, keepBytes - inHead);
      head = withRoom(head, inHead + taken.length, keepBytes);
      head.set(taken, inHead);
      inHead += taken.length;
    }
    const last = chunk.length > keepBytes ? chunk.subarray(chunk.length - keepBytes) : chunk;
    if (inRing + last.length > keepBytes * 2) {
      const stays = Math.min(inRing, keepBytes);
      ring.copyWithin(0, inRing - stays, inRing);
      inRing = stays;
    }
    ring = withRoom(ring, inRing + last.length, keepBytes * 2);
    ring.set(last, inRing);
    inRing += last.length;
  }

  function read(): KeptOutput {
    const front = head.subarray(0, inHead);
    const back = ring.subarray(Math.max(0, inRing - keepBytes), inRing);
    const overlap = Math.max(0, inHead + back.length - bytes);
    const gap = bytes - inHead - (back.length - overlap);
    const text =
      gap > 0
        ? `${decodeFront(front)}\n[... ${gap} bytes left out ...]\n${decodeBack(back)}`
        : Buffer.concat([front, back.subarray(overlap)]).toString('utf8');
    const isWhole = bytes <= keepBytes;
    return {
      head: isWhole ? text : decodeFront(front),
      tail: isWhole ? text : decodeBack(back),
      text,
      bytes,
    };
  }

  return { add, count: () => bytes, read };
}

/** The same bytes in a buffer that holds `needed`: at least twice as long as before, never longer than `most`. */
function withRoom(bytes: Buffer, needed: number, most: number): Buffer {
  if (needed <= bytes.length) return bytes;
  const longer = Buffer.alloc(Math.min(most, Math.max(needed, bytes.length * 2, FIRST_BYTES)));
  longer.set(bytes);
  return longer;
}

/** Decodes bytes that were cut at their end: a code point that lost its rest is left out. */
export function decodeFront(bytes: Uint8Array): string {
  let end = bytes.length;
  let steps = 0;
  while (steps < 3 && end - steps > 0 && (bytes[end - steps - 1]! & 0xc0) === 0x80) steps += 1;
  const lead = bytes[end - steps - 1];
  if (lead !== undefined && lead >= 0xc0) {
    const needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (steps + 1 < needed) end -= steps + 1;
  }
  return asBuffer(bytes).toString('utf8', 0, end);
}

/** Decodes bytes that were cut at their start: the rest of a code point is left out. */
export function decodeBack(bytes: Uint8Array): string {
  let start = 0;
  while (start < 3 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start += 1;
  return asBuffer(bytes).toString('utf8', start);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
