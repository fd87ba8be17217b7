/**
 * Which parts of a Markdown file hold tasks. A checkbox below "Definition of Done", in a legend or
 * under a line "Acceptance criteria:" is not work to do, however it looks.
 */
import { priorityOfWord } from './story-fields.ts';

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
  return /:\s*(?:\*\*|__)?\s*$/.test(text) || /^(\*\*|__).+\1\s*$/.test(text);
}

const NO_TASKS = new RegExp(
  `^(?:${[
    'success (?:metrics?|criteria)',
    '(?:overall |key )?metrics',
    'definitions? of (?:done|ready)',
    'acceptance(?: (?:criteria|tests?|checklist|checks?))?',
    '(?:exit|completion|done) criteria',
    'notes?(?: (?:for|on|to|about|and) .*)?',
    '.{0,40} notes',
    '(?:status |marker |checkbox |symbol )?legend',
    '(?:status )?(?:key|markers?|symbols?)',
    'non[- ]goals?',
    '(?:explicitly )?out of scope',
    'open questions?',
    'risks?(?: and .*)?',
    'assumptions?',
    'references?',
    'glossary',
    'appendix.*',
    'learnings?',
    'lessons learned',
    'change ?log',
  ].join('|')})$`,
);

/** True for the title of a section that plainly holds no tasks. */
export function isNoTaskTitle(text: string): boolean {
  return NO_TASKS.test(plainTitle(text));
}

function plainTitle(text: string): string {
  return text
    .toLowerCase()
    .replace(/[*_`]/g, '')
    .replace(/\([^)]*\)\s*:?\s*$/, '')
    .replace(/^[^a-z]+/, '')
    .replace(/[^a-z)]+$/, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?& ?/g, ' and ')
    .trim();
}

function headingPriority(text: string): number | null {
  const plain = plainTitle(text.replace(/\bP(\d)\b/g, 'p$1_')).replace(/_/g, '');
  const named =
    /^(critical|urgent|high|medium|low)[ -]priority\b/.exec(plain) ?? /^priority[ :-]+(\w+)/.exec(plain);
  const level = named ?? /^\W*\(?\[?(P\d)\b/.exec(text);
  return level === null ? null : priorityOfWord(level[1]!);
}

const STATUS_PHRASE =
  /^(?:not (?:yet )?started|to ?do|open|pending(?: review)?|in progress|wip|work in progress|(?:in|needs|ready for|awaiting) review|completed?|done|finished|failed|cancelled|canceled|blocked|skipped)(?: tasks?| items?)?[.;]?$/i;

/** `- [x] Completed`: a line that explains a marker instead of naming work. */
export function isLegendLine(title: string): boolean {
  if (title.length > 40) return false;
  return STATUS_PHRASE.test(
    title
      .replace(/[*_`]/g, '')
      .replace(/^[=:–—-]\s*/, '')
      .trim(),
  );
}
