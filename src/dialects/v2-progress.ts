/**
 * Ralph-v2's `progress.md`: one marker line per planning step and task. The file is redrawn from the
 * journal, yet people write notes into it, so a rewrite changes marker lines and the cycles' table and
 * leaves every other line alone. What a person does to a marker is read here and becomes a message.
 */
import { MARKERS, type TaskStatus } from '../core/index.ts';
import { statusOfMarker } from './checklist.ts';
import { type Block, walkBlocks } from './markdown-blocks.ts';
import { utc } from './summary.ts';
import { applyEdits, type Edit, lineEnding } from './text.ts';

type Section = 'planning' | 'implementation' | 'knowledge';

/** One marker line as the journal wants it. */
export interface ProgressLine {
  id: string;
  status: TaskStatus;
  /** Tasks only: the attempt's ordinal in the cycle. */
  attempt?: number;
  /** Epoch ms: when it started, completed, qualified or failed; null where nothing happened yet. */
  at: number | null;
  /** Reason of a failure or note of a cancellation; one line. */
  note?: string;
}

export interface ProgressFacts {
  cycle: number;
  planning: ProgressLine[];
  tasks: ProgressLine[];
  /** Absent or empty: the section is left out. */
  knowledge?: ProgressLine[];
  /** Rows of the cycles' table, oldest first. */
  cycles: { cycle: number; status: string; done: number; total: number; feedbacks: string[] }[];
}

/** One marker line as the file has it. */
export interface ProgressMarker {
  id: string;
  section: Section;
  /** The cycle its heading names; null where it names none. */
  cycle: number | null;
  /** `unknown`: a sign nobody knows; never to be taken as done. */
  status: TaskStatus | 'unknown';
  /** As it stands there: `[x]`. */
  sign: string;
  line: number;
  /** The text behind the id, verbatim. */
  rest: string;
  attempt: number | null;
  /** Epoch ms of the time in the line; null without a readable one. */
  at: number | null;
}

/** The text of `progress.md`: `previous` with its markers brought up to date, or a new file. */
export function writeProgress(facts: ProgressFacts, previous: string | null = null): string {
  if (previous === null || previous.trim() === '') return freshProgress(facts);
  const newline = lineEnding(previous);
  const text = previous.endsWith('\n') ? previous : `${previous}${newline}`;
  const found = scan(text);
  const edits: Edit[] = [];
  for (const [section, lines] of sectionsOf(facts)) {
    edits.push(...sectionEdits(text, found, { section, lines, facts, newline }));
  }
  edits.push(...tableEdits(text, found, facts, newline));
  return applyEdits(text, edits);
}

/** The markers of the file, tolerant of bullets, case, spacing and bold; the first line of an id rules. */
export function readProgressMarkers(text: string): { markers: ProgressMarker[]; warnings: string[] } {
  const { markers, warnings } = scan(text);
  return { markers: markers.map(({ marker }) => marker), warnings };
}

/** What people, or agents, wrote into the file beside its markers, their details and the rows of the cycles' table. */
export function progressWords(text: string): string[] {
  const { markers, sections } = scan(text);
  const byLine = new Map(markers.map(({ marker }) => [marker.line, marker]));
  const table = sections.find(({ kind }) => kind === 'iterations');
  let at = 0;
  return text.split('\n').flatMap((line, index) => {
    const start = at;
    at += line.length + 1;
    const marker = byLine.get(index + 1);
    const said = marker === undefined ? line.trim() : marker.rest.replace(/^\s*\([^)]*\)/, '').trim();
    const isRow = table !== undefined && start >= table.start && start < table.end && said.startsWith('|');
    return said === '' || isRow ? [] : [said];
  });
}

function sectionsOf(facts: ProgressFacts): [Section, ProgressLine[]][] {
  const sections: [Section, ProgressLine[]][] = [
    ['planning', facts.planning],
    ['implementation', facts.tasks],
  ];
  if (facts.knowledge !== undefined && facts.knowledge.length > 0)
    sections.push(['knowledge', facts.knowledge]);
  return sections;
}

function heading(section: Section, facts: ProgressFacts): string {
  const planning = facts.planning.some(({ id }) => id.startsWith('plan-re') && id !== 'plan-research');
  const names: Record<Section, string> = {
    planning: planning ? 'Replanning' : 'Planning',
    implementation: 'Implementation',
    knowledge: 'Knowledge',
  };
  return `## ${names[section]} Progress (Iteration ${facts.cycle})`;
}

const LEGEND = [
  '## Legend',
  '- `[ ]` Not started',
  '- `[/]` In progress',
  '- `[P]` Pending review',
  '- `[x]` Completed',
  '- `[F]` Failed',
  '- `[C]` Cancelled',
];

function freshProgress(facts: ProgressFacts): string {
  const lines = ['# Progress', '', ...LEGEND];
  for (const [section, markers] of sectionsOf(facts)) {
    lines.push('', heading(section, facts), ...markers.map((line) => markerLine(line, section, facts.cycle)));
  }
  lines.push('', '## Iterations', ...table(facts));
  return `${lines.join('\n')}\n`;
}

function table(facts: ProgressFacts): string[] {
  return [
    '| Iteration | Status | Tasks | Feedbacks |',
    '|-----------|--------|-------|-----------|',
    ...facts.cycles.map(progressRow),
  ];
}

/** One row of the cycles' table, without its newline. */
export function progressRow({
  cycle,
  status,
  done,
  total,
  feedbacks,
}: ProgressFacts['cycles'][number]): string {
  return `| ${cycle} | ${status} | ${done}/${total} | ${feedbacks.join(', ') || 'N/A'} |`;
}

/** The line of a task in the file as it is drawn, without its newline. */
export function progressLine(line: ProgressLine, cycle: number): string {
  return markerLine(line, 'implementation', cycle);
}

function markerLine(line: ProgressLine, section: Section, cycle: number): string {
  const { id, status, attempt, at, note } = line;
  const told: string[] = [];
  if (attempt !== undefined && status !== 'todo') told.push(`Attempt ${attempt}`, `Iteration ${cycle}`);
  const time = at === null ? null : utc(at);
  const done = section === 'implementation' ? 'qualified' : 'completed';
  if (status === 'review') told.push('review-pending');
  else if (time !== null && status === 'doing') told.push(`started: ${time}`);
  else if (time !== null && status === 'done') told.push(`${done}: ${time}`);
  else if (time !== null && status === 'failed') told.push(`failed: ${time}`);
  const details = told.length === 0 ? '' : ` (${told.join(', ')})`;
  const reason = note === undefined || note.trim() === '' ? '' : ` - ${note.replace(/\s+/g, ' ').trim()}`;
  return `- ${MARKERS[status]} ${id}${details}${reason}`;
}

interface FoundMarker {
  marker: ProgressMarker;
  start: number;
  end: number;
}

interface FoundSection {
  kind: Section | 'iterations';
  cycle: number | null;
  /** Offsets behind the heading's line and of the next heading. */
  start: number;
  end: number;
}

interface Found {
  markers: FoundMarker[];
  sections: FoundSection[];
  warnings: string[];
}

const SECTION = /^(?:re)?(planning|implementation|knowledge) progress\b(?:.*?(\d+))?/i;

function scan(text: string): Found {
  const starts = lineStarts(text);
  const found: Found = { markers: [], sections: [], warnings: [] };
  let current: FoundSection | null = null;
  const seen = new Set<string>();
  walkBlocks(text, (block) => {
    if (block.kind === 'heading') {
      if (current !== null) current.end = starts[block.line - 1]!;
      current = sectionAt(block, starts[block.line] ?? text.length, text.length);
      if (current !== null) found.sections.push(current);
    } else if (block.kind === 'item' && current !== null && current.kind !== 'iterations') {
      const marker = markerOf(block, current.kind, current.cycle);
      if (marker === null) return;
      if (seen.has(marker.id))
        return void found.warnings.push(`line ${block.line}: ${marker.id} stands twice`);
      seen.add(marker.id);
      if (marker.status === 'unknown') {
        found.warnings.push(
          `line ${block.line}: the marker [${block.box?.inner}] of ${marker.id} is unknown`,
        );
      }
      found.markers.push({ marker, start: block.start, end: endOfLine(text, block.start) });
    }
  });
  return found;
}

function sectionAt(block: Block & { kind: 'heading' }, start: number, end: number): FoundSection | null {
  if (/^iterations\b/i.test(block.text)) return { kind: 'iterations', cycle: null, start, end };
  // Written by hand, it is often only that.
  if (/^tasks$/i.test(block.text.trim())) return { kind: 'implementation', cycle: null, start, end };
  const match = SECTION.exec(block.text);
  if (match === null) return null;
  const cycle = match[2] === undefined ? null : Number(match[2]);
  return { kind: match[1]!.toLowerCase() as Section, cycle, start, end };
}

const MARKED = /^(?:\*\*|__|`)?([A-Za-z0-9][\w.-]*?)(?:\*\*|__|`)?(?=[\s:,(]|$)(.*)$/;

function markerOf(
  block: Block & { kind: 'item' },
  section: Section,
  cycle: number | null,
): ProgressMarker | null {
  const match = block.box === null ? null : MARKED.exec(block.text);
  if (block.box === null || match === null) return null;
  const rest = match[2]!;
  const time = /(?:started|completed|qualified|failed)\s*:\s*([0-9T:.+Z -]{10,35})/i.exec(rest);
  const at = time === null ? Number.NaN : Date.parse(time[1]!.trim().replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  const attempt = /attempt\s+(\d{1,6})/i.exec(rest);
  return {
    id: match[1]!,
    section,
    cycle,
    status: statusOfMarker(block.box.inner) ?? 'unknown',
    sign: `[${block.box.inner}]`,
    line: block.line,
    rest,
    attempt: attempt === null ? null : Number(attempt[1]),
    at: Number.isNaN(at) ? null : at,
  };
}

interface SectionWish {
  section: Section;
  lines: ProgressLine[];
  facts: ProgressFacts;
  newline: string;
}

function sectionEdits(text: string, found: Found, wish: SectionWish): Edit[] {
  const { section, lines, facts, newline } = wish;
  const byId = new Map(found.markers.map((entry) => [entry.marker.id, entry]));
  const edits: Edit[] = [];
  const missing: string[] = [];
  for (const line of lines) {
    const wanted = markerLine(line, section, facts.cycle);
    const old = byId.get(line.id);
    if (old === undefined) missing.push(wanted);
    else if (!saysTheSame(old.marker, line, wanted))
      edits.push({ start: old.start, end: old.end, text: wanted });
  }
  const place = found.sections.find(({ kind }) => kind === section);
  if (place !== undefined) {
    const inside = found.markers.filter(({ start }) => start >= place.start && start < place.end);
    if (missing.length > 0)
      edits.push(...appended(text, place, inside.at(-1), missing.join(newline), newline));
    return edits;
  }
  const before = found.sections.find(({ kind }) => kind === 'iterations');
  const at = before === undefined ? text.length : startOfLineBefore(text, before.start);
  const lead = before === undefined ? newline : '';
  const added = [heading(section, facts), ...missing, ''].join(newline);
  edits.push({ start: at, end: at, text: `${lead}${added}${newline}` });
  return edits;
}

/** A line that says what it should keeps the words a person gave it. */
function saysTheSame(old: ProgressMarker, line: ProgressLine, wanted: string): boolean {
  const fresh = MARKED.exec(wanted.slice(6))?.[2] ?? '';
  return old.status === line.status && old.rest.trim().startsWith(fresh.trim());
}

function appended(
  text: string,
  place: FoundSection,
  last: FoundMarker | undefined,
  lines: string,
  newline: string,
): Edit[] {
  if (last !== undefined) return [{ start: last.end, end: last.end, text: `${newline}${lines}` }];
  const placeholder = /^[ \t]*\[To be filled\][ \t]*\r?$/m.exec(text.slice(place.start, place.end));
  if (placeholder !== null) {
    const start = place.start + placeholder.index;
    return [{ start, end: start + placeholder[0].replace(/\r$/, '').length, text: lines }];
  }
  return [{ start: place.start, end: place.start, text: `${lines}${newline}` }];
}

function tableEdits(text: string, found: Found, facts: ProgressFacts, newline: string): Edit[] {
  const rows = table(facts).join(newline);
  const place = found.sections.find(({ kind }) => kind === 'iterations');
  if (place === undefined) {
    return [
      { start: text.length, end: text.length, text: `${newline}## Iterations${newline}${rows}${newline}` },
    ];
  }
  const inside = text.slice(place.start, place.end);
  const old = /^[ \t]*\|.*(?:\r?\n[ \t]*\|.*)*/m.exec(inside);
  const start = place.start + (old?.index ?? 0);
  if (old === null) return [{ start, end: start, text: `${rows}${newline}` }];
  const end = start + old[0].replace(/\r$/, '').length;
  return text.slice(start, end) === rows ? [] : [{ start, end, text: rows }];
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  const end = at === -1 ? text.length : at;
  return text[end - 1] === '\r' ? end - 1 : end;
}

function startOfLineBefore(text: string, lineStart: number): number {
  return text.lastIndexOf('\n', lineStart - 2) + 1;
}
