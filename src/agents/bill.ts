/** The bill of a run that nobody saw to its end, out of the raw output that it left. */
import { createReadStream } from 'node:fs';
import type { Usage } from '../core/index.ts';
import { lineSplitter } from '../process/index.ts';
import { LINE_BYTES } from './child.ts';
import type { StreamReader } from './stream.ts';

/** Never throws: a log that cannot be read tells nothing. What it says is the least that was used. */
export async function billIn(logPath: string, reader: StreamReader): Promise<Usage | null> {
  const lines = lineSplitter(LINE_BYTES, (line) => void reader.line(line));
  try {
    for await (const bytes of createReadStream(logPath)) lines.add(bytes as Uint8Array);
  } catch {
    return null;
  }
  lines.end();
  const { usage } = reader.told();
  const used = usage.inputTokens + usage.outputTokens > 0 || usage.costUsd !== null;
  return used ? { ...usage, partial: true } : null;
}
