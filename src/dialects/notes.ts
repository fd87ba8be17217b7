/**
 * Notes of other loops: what people and earlier agents wrote down beside the tasks, in `progress.txt`,
 * `AGENT.md`, `learnings.md` and in the notes of a plan. Each file has a part that is meant to be read
 * again and a log that is not; these readers give the first.
 */

import { walkBlocks } from './markdown-blocks.ts';
import { fold } from './word-fold.ts';

const HEADING = /^(#{1,6})[ \t]+(.*)$/;
const RULE = /^(?:-{3,}|={3,}|\*{3,})[ \t]*$/;
/** A heading of the log that follows: a date, an iteration, a story. */
const ENTRY = /^#{1,6}[ \t]+(?:\[?\d{4}-\d\d-\d\d|iteration\b|story\b|US-\d)/i;

/**
 * The curated part of progress.txt: the section whose heading speaks of patterns, else what stands
 * before the first rule or log entry. Empty where that is only a title.
 */
export function patternsOf(text: string): string {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /\bpatterns?\b/i.test(HEADING.exec(line)?.[2] ?? ''));
  if (start !== -1) {
    const depth = HEADING.exec(lines[start]!)![1]!.length;
    const length = lines.slice(start + 1).findIndex((line) => {
      const heading = HEADING.exec(line);
      return RULE.test(line) || (heading !== null && heading[1]!.length <= depth);
    });
    return saying(lines.slice(start + 1, length === -1 ? undefined : start + 1 + length));
  }
  const end = lines.findIndex((line) => RULE.test(line) || ENTRY.test(line));
  return saying(end === -1 ? lines : lines.slice(0, end));
}

/** `AGENT.md` or `learnings.md`: all of it, unless it holds nothing but titles. */
export function learningsOf(text: string): string {
  return saying(text.split('\n'));
}

const NOTES =
  /^(?:(?:(?:agent|implementation|technical|dev|developer|build) )?notes|learnings?|lessons learned|what (?:we|i) learned|discoveries|gotchas|codebase patterns|patterns|notizen|hinweise|erkenntnisse|notas|aprendizajes|remarques|apprentissages|备注|笔记|经验|备忘|メモ|備考|学び|ملاحظات)$/;

/** The sections of a plan that hold notes, such as "Notes" and "Learnings", with their headings. */
export function planNotes(text: string): string {
  const parts: string[] = [];
  let open: { level: number; at: number } | null = null;
  const close = (end: number): void => {
    const part = open === null ? '' : saying(text.slice(open.at, end).split('\n'));
    if (part !== '') parts.push(part);
    open = null;
  };
  walkBlocks(text, (block) => {
    if (block.kind !== 'heading') return;
    if (open !== null && block.level <= open.level) close(block.lineStart);
    if (open === null && NOTES.test(fold(block.text))) open = { level: block.level, at: block.lineStart };
  });
  close(text.length);
  return parts.join('\n\n');
}

function saying(lines: string[]): string {
  const says = lines.some((line) => line.trim() !== '' && !HEADING.test(line));
  return says ? lines.join('\n').trim() : '';
}
