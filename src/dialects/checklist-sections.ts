/**
 * Which parts of a Markdown file hold tasks. A checkbox below "Definition of Done", in a legend or
 * under a line "Acceptance criteria:" is not work to do, however it looks.
 */
import { headingPriority } from './property-words.ts';
import { isNoTaskTitle } from './section-words.ts';
import { stateOfPhrase } from './state-words.ts';

/** A heading or a label by which what stands below it is no task. */
export interface Exclusion {
  text: string;
  line: number;
  /** Of the heading; 0 for a label, which rules the list behind it alone. */
  level: number;
}

/** Where the reader is in the file. */
export interface Sections {
  /** null: outside of a section that holds no tasks. */
  excluded: Exclusion | null;
  /** A line such as "Notes:" in front of the list. */
  label: Exclusion | null;
  /** Level and priority of the heading that names one, e.g. "High Priority". */
  priority: { level: number; value: number } | null;
}

/** Before the first heading. */
export function beginSections(): Sections {
  return { excluded: null, label: null, priority: null };
}

/** A heading ends what headings of its level or below began. */
export function enterHeading(sections: Sections, { level, text, line }: Exclusion): void {
  sections.label = null;
  if (sections.excluded !== null && level <= sections.excluded.level) sections.excluded = null;
  if (sections.excluded === null && isNoTaskTitle(text)) sections.excluded = { text, line, level };
  if (sections.priority !== null && level <= sections.priority.level) sections.priority = null;
  const value = headingPriority(text);
  if (value !== null) sections.priority = { level, value };
}

/** A paragraph line outside of any list: "Acceptance criteria:" excludes the list behind it. */
export function passLine(sections: Sections, { text, line }: { text: string; line: number }): void {
  sections.label = isLabel(text) && isNoTaskTitle(text) ? { text, line, level: 0 } : null;
}

/** What keeps a checkbox of the outermost list from being a task here; null: nothing does. */
export function exclusionOf({ excluded, label }: Sections): Exclusion | null {
  return excluded ?? label;
}

/** True where a checkbox of the outermost list would be a task. */
export function holdsTasks(sections: Sections): boolean {
  return exclusionOf(sections) === null;
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
