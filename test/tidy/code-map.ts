/**
 * The code map of ARCHITECTURE.md: every room with its files and one line on what each is, taken from
 * the first sentence of the file. `npm run map` writes it; a test holds its names to the tree.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOMS, roomOf } from './rooms.ts';
import { headerOf, isTest, ROOT, type Source, sourcesIn } from './sources.ts';

export const PAGE = 'ARCHITECTURE.md';
const BEGIN = '<!-- code map: written by `npm run map` -->';
const END = '<!-- end of the code map -->';
const NAME_WIDTH = 26;
const WORDS_MOST = 96;

/** Files the map tells of: sources, without tests and without the doors. */
export function mappedFiles(): Source[] {
  return sourcesIn('src').filter(({ path }) => !isTest(path) && !path.endsWith('/index.ts'));
}

function firstSentence(words: string): string {
  const sentence = /^.*?[.:;](?=\s|$)/.exec(words)?.[0] ?? words;
  const plain = sentence.replace(/[.:;]$/, '');
  return plain.length <= WORDS_MOST ? plain : `${plain.slice(0, WORDS_MOST - 1).trimEnd()}…`;
}

/** The fenced block, from the tree as it is. */
export function drawMap(files: Source[] = mappedFiles()): string {
  const rows = ROOMS.flatMap(({ name, floor, meaning }) => {
    const own = files.filter(({ path }) => roomOf(path)?.name === name);
    if (own.length === 0) return [];
    const lines = own.map((source) => {
      const file = source.path.slice(`src/${name}/`.length);
      return `  ${file.padEnd(NAME_WIDTH)} ${firstSentence(headerOf(source))}`.trimEnd();
    });
    return [`src/${name}/  (floor ${floor}) ${meaning}`, ...lines, ''];
  });
  return `${BEGIN}\n\`\`\`text\n${rows.join('\n').trimEnd()}\n\`\`\`\n${END}`;
}

/** Paths that a page's map names; null when the page has no map. */
export function namesInMap(page: string): string[] | null {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from === -1 || to < from) return null;
  let room = '';
  const names: string[] = [];
  for (const line of page.slice(from, to).split('\n')) {
    room = /^(src\/[^/]+\/)/.exec(line)?.[1] ?? room;
    const file = /^ {2}(\S+\.tsx?)(\s|$)/.exec(line)?.[1];
    if (file !== undefined) names.push(`${room}${file}`);
  }
  return names;
}

/** The page with its map drawn anew; a page without one gets it at the end. */
export function withMap(page: string, map = drawMap()): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from === -1 || to < from) {
    if (/^## Code map$/m.test(page)) return page.replace(/^## Code map$/m, () => `## Code map\n\n${map}`);
    return `${page.trimEnd()}\n\n## Code map\n\n${map}\n`;
  }
  return page.slice(0, from) + map + page.slice(to + END.length);
}

/** Writes the page; answers whether it changed. A missing page is made with a title and the map. */
export function writeMap(): boolean {
  const file = join(ROOT, PAGE);
  let page = '# Architecture\n';
  try {
    page = readFileSync(file, 'utf8');
  } catch {
    // The first time.
  }
  const next = withMap(page);
  if (next === page) return false;
  writeFileSync(file, next);
  return true;
}
