/**
 * What `git merge-tree` answers of two commits that do not fit. Not every conflict is one of a file: a folder that one
 * side split in two leaves no file in conflict, and is told in git's messages alone.
 */

/** A merge that does not fit, as git drafted it. */
export interface Draft {
  tree: string;
  /** A path that does not fit, with its mode by the side that has it: 1 the common ancestor, 2 the base, 3 the tip. */
  files: { path: string; modes: Record<number, string> }[];
  /** Conflicts that are about more than the lines of a file, in git's words. */
  beyond: string[];
}

/** `git merge-tree --write-tree --messages -z`, which ended with 1. */
export function readDraft(stdout: string): Draft {
  const parts = stdout.split('\0');
  const end = parts.indexOf('', 1);
  const rows = parts.slice(1, end === -1 ? undefined : end);
  const files = new Map<string, Record<number, string>>();
  for (const row of rows) {
    const [, mode = '', stage, path = ''] = /^(\d+) \S+ (\d)\t(.*)$/s.exec(row) ?? [];
    files.set(path, { ...files.get(path), [Number(stage)]: mode });
  }
  return {
    tree: parts[0]!.trim(),
    files: [...files].map(([path, modes]) => ({ path, modes })),
    beyond: end === -1 ? [] : beyondLines(parts.slice(end + 1)),
  };
}

/** Each message is a number of paths, those, its kind, which is the same in every language, and its words. */
function beyondLines(parts: readonly string[]): string[] {
  const found = new Set<string>();
  for (let at = 0; at < parts.length; ) {
    const [kind = '', words = ''] = parts.slice(at + Number(parts[at]) + 1);
    if (/^CONFLICT ?\(/.test(kind) && kind !== 'CONFLICT (contents)') found.add(words.trim());
    at += Number(parts[at]) + 3;
  }
  return [...found];
}
