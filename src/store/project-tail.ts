/** The project journal read as it grows: what is new since the last look, nothing twice. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { projectBytes, projectFiles, projectJournal } from './project.ts';

export interface Grown {
  /** Whole lines. */
  text: string;
  /** It is another file than at the last look: the text is all there is, what was known before is in it. */
  anew: boolean;
}

/** Other loops and commands write there too. `compressed`: begin with files of long ago. */
export function projectText(mainDir: string, options: { compressed: boolean }): () => Grown {
  let known: { ino: number; read: number } | null = null;
  return () => {
    const stat = statSync(projectJournal(mainDir), { throwIfNoEntry: false });
    const [ino, size] = [stat?.ino ?? 0, stat?.size ?? 0];
    const anew = known === null || known.ino !== ino || size < known.read;
    if (known === null || anew) known = { ino, read: 0 };
    const closed = anew ? projectFiles(mainDir, options).slice(0, -1) : [];
    const earlier = closed.map((file) => projectBytes(file)?.toString('utf8') ?? '');
    if (size === known.read) return { text: earlier.join('\n'), anew };
    const { text, bytes } = wholeLinesFrom(projectJournal(mainDir), known.read, size);
    known.read += bytes;
    return { text: [...earlier, text].join('\n'), anew };
  };
}

function wholeLinesFrom(file: string, from: number, to: number): { text: string; bytes: number } {
  const handle = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(to - from);
    const length = readSync(handle, buffer, 0, buffer.length, from);
    const bytes = buffer.lastIndexOf(0x0a, length - 1) + 1;
    return { text: buffer.toString('utf8', 0, bytes), bytes };
  } finally {
    closeSync(handle);
  }
}
