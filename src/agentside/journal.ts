/** The session's journal, read-only and from the agent's side: facts of some kinds, and what comes after them. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Fact, FactType } from '../core/index.ts';

export interface Seen<T extends FactType> {
  fact: Extract<Fact, { type: T }>;
  /** Epoch ms. */
  at: number;
}

export interface JournalReader<T extends FactType> {
  /** Facts of the wanted types that were not told before, in their order. Empty where there is no journal. */
  next(): Seen<T>[];
}

const CHUNK_BYTES = 1024 * 1024;

/** Only lines that can hold a wanted fact are parsed; one that is not whole yet is read the next time. */
export function journalOf<T extends FactType>(sessionDir: string, types: readonly T[]): JournalReader<T> {
  const file = join(sessionDir, 'journal.jsonl');
  const marks = types.map((type) => `"type":"${type}"`);
  const wanted = new Set<string>(types);
  let at = 0;
  return {
    next() {
      const found: Seen<T>[] = [];
      at = eachLine(file, at, (line) => {
        if (!marks.some((mark) => line.includes(mark))) return;
        const record = parsed(line);
        for (const fact of record?.facts ?? [])
          if (wanted.has(fact.type)) found.push({ fact: fact as Seen<T>['fact'], at: record!.at });
      });
      return found;
    },
  };
}

/** Every whole line of the journal. */
export function wholeLines(sessionDir: string): string[] {
  const lines: string[] = [];
  eachLine(join(sessionDir, 'journal.jsonl'), 0, (line) => {
    if (line !== '') lines.push(line);
  });
  return lines;
}

/** Answers where the last whole line ends. */
function eachLine(file: string, from: number, visit: (line: string) => void): number {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return from;
  }
  try {
    const { size } = fstatSync(descriptor);
    let end = from;
    let rest = Buffer.alloc(0);
    for (let at = from; at < size; ) {
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size - at));
      const count = readSync(descriptor, chunk, 0, chunk.length, at);
      if (count === 0) break;
      at += count;
      const bytes = Buffer.concat([rest, chunk.subarray(0, count)]);
      const cut = bytes.lastIndexOf(0x0a) + 1;
      for (const line of bytes.toString('utf8', 0, cut).split('\n')) visit(line);
      end += cut;
      rest = bytes.subarray(cut);
    }
    return end;
  } finally {
    closeSync(descriptor);
  }
}

function parsed(line: string): { at: number; facts: Fact[] } | null {
  try {
    const record = JSON.parse(line) as { at: number; facts: Fact[] };
    return Array.isArray(record.facts) ? record : null;
  } catch {
    return null;
  }
}
