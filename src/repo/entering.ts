/** The text of a log with raw lines and patches, read: which commits, which blobs, which lines came in. */

export interface EnteringText {
  /** Newest first. */
  commits: { id: string; parents: string[] }[];
  /** Blob id → a path it stands at. */
  blobs: Map<string, string>;
  /** Commits of submodules that it names. */
  links: string[];
  /** Lines that were not there in any parent. */
  added: AddedLine[];
}

export interface AddedLine {
  commit: string;
  path: string;
  /** In the file as that commit has it; from 1. */
  line: number;
  text: string;
}

/** Reads what `git log --format=%x00%H %P --raw --no-abbrev -p -c -U0` prints. */
export function readEntering(log: string): EnteringText {
  const read: EnteringText = { commits: [], blobs: new Map(), links: [], added: [] };
  let [path, line, columns] = ['', 0, 0];
  for (const text of log.split('\n')) {
    const mark = text[0];
    // A line of a hunk begins with a mark for each parent; whatever begins otherwise ends it.
    if (columns > 0 && (mark === '+' || mark === '-' || mark === ' ' || mark === '\\')) {
      const marks = text.slice(0, columns);
      if (mark === '\\' || marks.includes('-')) continue;
      const commit = read.commits.at(-1)?.id ?? '';
      if (!marks.includes(' ')) read.added.push({ commit, path, line, text: text.slice(columns) });
      line += 1;
      continue;
    }
    columns = 0;
    if (mark === '\0') {
      const [id = '', ...parents] = text.slice(1).split(' ').filter(Boolean);
      read.commits.push({ id, parents });
    } else if (mark === ':') takeRaw(read, text);
    else if (text.startsWith('+++ '))
      path = text
        .slice(4)
        .replace(/^"?b\//, '')
        .replace(/\t$/, '');
    else if (mark === '@') {
      const [, marks = '@@', first = '1'] = /^(@@+) .*?\+(\d+)/.exec(text) ?? [];
      [line, columns] = [Number(first), marks.length - 1];
    }
  }
  return read;
}

/** `:100644 100644 <old> <new> M\t<path>`, with more columns where there are more parents. */
function takeRaw(read: EnteringText, text: string): void {
  const [left = '', path = ''] = text.split('\t');
  const words = left.split(' ');
  const [id, status] = [words.at(-2) ?? '', words.at(-1) ?? ''];
  if (status.startsWith('D') || /^0+$/.test(id)) return;
  // A mode and an id for each parent, and then those of the commit itself.
  if (words[(words.length - 3) / 2] === '160000') read.links.push(id);
  else read.blobs.set(id, path);
}
