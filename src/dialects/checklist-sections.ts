/**
 * Which parts of a Markdown file hold tasks. A checkbox below "Definition of Done", in a legend or
 * under a line "Acceptance criteria:" is not work to do, however it looks.
 */
import { headingPriority, isNoTaskTitle, stateOfPhrase } from './checklist-words.ts';

/** Where the reader is in the file. */
export interface Sections {
  /** Level of the heading whose section holds no tasks; null outside of such. */
  excluded: number | null;
  /** A line such as "Notes:" rules the list behind it. */
  excludedByLine: boolean;
  /** Level and priority of the heading that names one, e.g. "High Priority". */
  priority: { level: number; value: number } | null;
}

/** Before the first heading. */
export function beginSections(): Sections {
  return { excluded: null, excludedByLine: false, priority: null };
}

/** A heading ends what headings of its level or below began. */
export function enterHeading(sections: Sections, level: number, text: string): void {
  sections.excludedByLine = false;
  if (sections.excluded !== null && level <= sections.excluded) sections.excluded = null;
  if (sections.excluded === null && isNoTaskTitle(text)) sections.excluded = level;
  if (sections.priority !== null && level <= sections.priority.level) sections.priority = null;
  const value = headingPriority(text);
  if (value !== null) sections.priority = { level, value };
}

/** A paragraph line outside of any list: "Acceptance criteria:" excludes the list behind it. */
export function passLine(sections: Sections, text: string): void {
  sections.excludedByLine = isLabel(text) && isNoTaskTitle(text);
}

/** True where a checkbox of the outermost list would be a task. */
export function holdsTasks(sections: Sections): boolean {
  return sections.excluded === null && !sections.excludedByLine;
}

/** A line that only announces what follows: bold, or ending in a colon. */
export function isLabel(text: string): boolean {
  const plain = text.trimEnd();
  const last = plain.at(-1);
  if (last === ':' || last === '：') return true;
  if (last !== '*' && last !== '_') return false;
  return /[:：] ?(?:\*\*|__)$/.test(plain.slice(-4)) || /^(\*\*|__)[^*_].{0,200}\1$/.test(plain);
}

/** `- [x] Completed`: a line that explains a marker instead of naming work. */
export function isLegendLine(title: string): boolean {
  return title.length <= 40 && stateOfPhrase(title.replace(/^[=:–—-]\s*/, '')) !== null;
}
