/**
 * Lines that look like a checkbox and are none, because a blank or the bullet is missing or is another
 * character: `-[ ] a`, `- [ ]a`, `[ ] a`, `• [ ] a`. They are never read as tasks; they are named with their
 * lines, so that no task is lost in silence, and can be repaired.
 */
import { linesOf } from './checklist-omitted.ts';
import { isLegendLine } from './checklist-sections.ts';
import type { Block } from './markdown-blocks.ts';
import type { Edit } from './text.ts';

const BULLETS = '[-+*•◦▪‣·–—]|\\d{1,9}[.)]';
/** In a paragraph: with or without a bullet, which may stand without a blank or be none that Markdown knows. */
const IN_TEXT = new RegExp(
  `^(${BULLETS})?([ \\t\\u00a0]*)(\\[[ xX/\\u00a0]?\\])([ \\t\\u00a0]*)(?=[^\\s([:])`,
  'u',
);
/** Behind a bullet: no blank behind the bracket, or one that Markdown does not take for a blank. */
const IN_ITEM = /^(\[[ xX/\u00a0]?\])(\u00a0*)(?=[^\s([:])/u;

/** The edit by which the line becomes a checkbox; null for a line that does not look like one. */
export function nearBox(block: Block): Edit | null {
  if (block.kind === 'heading') return null;
  const { text, at } = block;
  if (block.kind === 'item') {
    const match = block.box === null ? IN_ITEM.exec(text) : null;
    if (match === null || isLegendLine(text.slice(match[0].length))) return null;
    return { start: at, end: at + match[0].length, text: `${plain(match[1]!)} ` };
  }
  const match = IN_TEXT.exec(text);
  if (match === null) return null;
  const [all, bullet, gap, box, behind] = match as unknown as [string, string?, string?, string?, string?];
  // Without a bullet only a box with a blank behind it is meant as one: `[x]y` is anything.
  if (bullet === undefined && (box === '[]' || behind === '')) return null;
  if (isLegendLine(text.slice(all.length)) || (bullet !== undefined && gap === '' && box === '[]'))
    return null;
  const known = bullet !== undefined && /^(?:[-+*]|\d)/.test(bullet) ? bullet : '-';
  return { start: at, end: at + all.length, text: `${known} ${plain(box!)} ` };
}

function plain(box: string): string {
  return box === '[]' ? '[ ]' : box.replace('\u00a0', ' ');
}

/** The lines as a sentence without an end; null for none. */
export function nearTold(lines: readonly number[]): string | null {
  if (lines.length === 0) return null;
  const what = lines.length === 1 ? 'this looks like a check box' : 'these look like check boxes';
  const is = lines.length === 1 ? 'is none, so it is no task' : 'are none, so they are no tasks';
  return `${linesOf(lines)}: ${what} and ${is}; write "- [ ] Title" with a blank behind the bullet and the bracket (\`ralph import FILE --fix\` does it)`;
}
