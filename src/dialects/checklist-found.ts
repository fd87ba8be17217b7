/**
 * What a Markdown file without tasks holds instead, told to whoever expected tasks in it; and whether
 * its numbered steps are the plan.
 */
import { linesOf } from './checklist-omitted.ts';
import { beginSections, enterHeading, holdsTasks, isLabel, passLine } from './checklist-sections.ts';
import { isTableHead } from './checklist-table.ts';
import type { Block } from './markdown-blocks.ts';

/**
 * True where the outermost lists of a file are numbered steps, at least two, each list counted from 1,
 * with no bullet among them, and the file says more in them than around them.
 */
export function isStepPlan(blocks: readonly Block[]): boolean {
  const sections = beginSections();
  let steps = 0;
  let prose = 0;
  let last = 0;
  for (const block of blocks) {
    if (block.kind === 'heading') {
      enterHeading(sections, block);
      last = 0;
    } else if (block.kind === 'text') {
      if (block.depth === 0 && !block.continues) passLine(sections, block);
      if (block.depth === 0 && holdsTasks(sections) && !isLabel(block.text)) prose += 1;
    } else if (block.depth === 0 && holdsTasks(sections)) {
      if (block.number === null || (block.number !== last + 1 && block.number !== 1)) return false;
      steps += 1;
      last = block.number;
    }
  }
  return steps >= 2 && steps > prose;
}

/** What stands in the file, as the middle of a sentence: "3 bullet points without a check box (line 5) …". */
export function foundInstead(blocks: readonly Block[], omitted: string | null): string {
  const found: string[] = [];
  const say = (lines: readonly number[], one: string, many: string) => {
    if (lines.length > 0)
      found.push(`${lines.length === 1 ? one : `${lines.length} ${many}`} (${linesOf(lines.slice(0, 1))})`);
  };
  const lines = (wanted: (block: Block) => boolean) => blocks.filter(wanted).map(({ line }) => line);
  const isPlain = (block: Block) => block.kind === 'item' && block.depth === 0 && block.box === null;
  say(
    lines((block) => isPlain(block) && block.kind === 'item' && block.number === null),
    'a bullet point without a check box',
    'bullet points without a check box',
  );
  say(
    lines((block) => isPlain(block) && block.kind === 'item' && block.number !== null),
    'a numbered point without a check box',
    'numbered points without a check box',
  );
  say(
    lines((block) => block.kind === 'text' && isTableHead(block.text)),
    'a table without a state that is known',
    'tables without a state that is known',
  );
  say(
    lines(({ kind }) => kind === 'heading'),
    'a heading',
    'headings',
  );
  const other = found.length === 0 && omitted === null ? ['no list at all'] : found;
  if (omitted !== null) other.unshift(omitted);
  return other.join('; ');
}
