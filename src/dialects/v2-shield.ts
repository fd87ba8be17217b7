/**
 * Words put into a section of a file must not read as the file's own structure. A backslash before a
 * line's first sign shields it, as Markdown has it, and is taken off again on reading.
 */
import { walkBlocks } from './markdown-blocks.ts';
import { everyHeading } from './v2-sections.ts';

/** The words for below a heading of the second level, in a file whose sections have these names. */
export function escapeBody(text: string, names: readonly RegExp[]): string {
  const plain = text.replace(/\r\n?/g, '\n').trim();
  if (plain === '') return '';
  const lines = plain.split('\n').map((line) => line.replace(SHIELDED, '$1\\$2'));
  // Shielding one line may show what it had hidden, so it is looked at again; each line once at most.
  const left = new Set(lines.keys());
  for (let pass = 1; ; pass++) {
    const found = structureIn(lines, names).filter((line) => left.has(line));
    if (found.length === 0) return lines.join('\n');
    // A text that opens one thing after the other is not followed through all of them.
    if (pass > 5) found.push(...[...left].filter((line) => /^[ \t]*(?:`{3}|~{3}|<)/.test(lines[line]!)));
    for (const line of new Set(found)) {
      left.delete(line);
      lines[line] = lines[line]!.replace(/^([ \t]*)(?=\S)/, '$1\\');
    }
  }
}

/** The lines that open what is never closed, or that are headings of the file's own kind; from 0. */
function structureIn(lines: readonly string[], names: readonly RegExp[]): number[] {
  const text = `## Words\n${lines.join('\n')}`;
  const found: number[] = [];
  for (const warning of walkBlocks(text, () => {}).warnings) {
    const line = /^line (\d+)/.exec(warning);
    if (line !== null) found.push(Number(line[1]) - 2);
  }
  for (const { level, name, line, underlined } of everyHeading(text).slice(1)) {
    const known = names.some((one) => one.test(name));
    // An underlined heading is one by its second line.
    if (level <= 2 || known) found.push(underlined ? line - 1 : line - 2);
  }
  return found;
}

const SHIELDED = /^([ \t]*)(\\+[#`~<=*_-])/;

/** The words of a section as they were before `escapeBody`. */
export function unescapeBody(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/^([ \t]*)\\(\\*[#`~<=*_-])/, '$1$2'))
    .join('\n')
    .trim();
}
