/**
 * One task as one file: `tasks/<id>.md` of a five-role session. The planner writes it by hand, so the
 * reader takes many spellings; the file's name is the task's id. What keeps a task from being worked on
 * is a fault that the planner can be told, everything else that looks odd is a warning.
 */
import type { TaskDef } from '../core/index.ts';
import { utc } from './summary.ts';
import {
  type FrontMatter,
  frontMatterText,
  listField,
  splitFrontMatter,
  textField,
} from './v2-front-matter.ts';
import { headingsOf, namedSections, type Sections, wordLines } from './v2-sections.ts';
import { escapeBody, unescapeBody } from './v2-shield.ts';
import { countReferences, criteriaIn, idsOf, needsIn, pathsIn } from './v2-task-words.ts';

/** A task cites at least this many references. */
const REFERENCES_LEAST = 2;

type Part = 'title' | 'files' | 'objective' | 'grounded' | 'criteria' | 'dependencies' | 'notes';

const TASK_PARTS: Readonly<Record<Part, RegExp>> = {
  title: /^(?:task )?(?:title|name)$/,
  files: /^(?:target |affected |relevant )?files?(?: to (?:change|modify|create|touch|edit).*)?$/,
  objective: /^(?:objectives?|description|goal|purpose)$/,
  grounded: /^(?:grounded in|grounding|grounded on|references|sources)$/,
  criteria: /^(?:success|acceptance) criteria$|^criteria$/,
  dependencies: /^(?:task )?dependenc(?:y|ies)$|^depends on$/,
  notes: /^(?:implementation )?notes?$/,
};

/** One file of a folder of tasks. */
export interface TaskFile {
  path: string;
  text: string;
}

export interface TaskFileReading {
  def: TaskDef;
  /** How many references it cites. */
  references: number;
  /** What the planner must correct; each names the task. */
  faults: string[];
  warnings: string[];
}

/** Reads one task file. Never throws. */
export function readTaskFile(path: string, text: string): TaskFileReading {
  const front = splitFrontMatter(text);
  const sections = namedSections(front.body, TASK_PARTS, 'dependencies');
  const id = idOfPath(path);
  const [faults, warnings]: [string[], string[]] = [[], []];
  if (!/^[A-Za-z0-9][\w.-]*$/.test(id)) {
    faults.push(
      `${path}: the file's name is the task's id, and "${id}" is none; use letters, digits, "-", "_", "."`,
    );
  }
  if (text.trim() === '') faults.push(`${id}: its file is empty`);
  const named = textField(front, 'id');
  if (named !== null && named.replace(/\.md$/i, '') !== id) {
    warnings.push(`${id}: the front matter calls it "${named}"; the file's name counts`);
  }
  if (front.fault !== null) warnings.push(`${id}: its front matter is no plain YAML: ${front.fault}`);
  const criteria = criteriaIn(sections.get('criteria')?.text ?? '');
  if (criteria.length === 0) faults.push(`${id}: no success criteria; list them below "## Success Criteria"`);
  const references = countReferences(sections.get('grounded')?.text ?? '');
  if (references < REFERENCES_LEAST) {
    const cited = references === 0 ? 'no reference' : 'one reference';
    faults.push(`${id}: ${cited} below "## Grounded In"; cite at least ${REFERENCES_LEAST}`);
  }
  const files = pathsIn(sections.get('files')?.text ?? '');
  if (files.length === 0) warnings.push(`${id}: names no files below "## Files"`);
  const description = unescapeBody(sections.get('objective')?.text ?? '');
  const def: TaskDef = {
    id,
    title: titleOf(id, front, sections, description),
    description,
    acceptance: criteria,
    priority: priorityOf(front),
    order: 0,
    dependsOn: needsOf(id, front, sections, warnings),
    status: 'todo',
    files,
    changes: /^none$/i.test(textField(front, 'changes') ?? '') ? 'none' : 'expected',
  };
  if (isSequential(id, front, warnings)) def.sequential = true;
  return { def, references, faults, warnings };
}

/** `iterations/1/tasks/task-1.md` is `task-1`. */
function idOfPath(path: string): string {
  return path.replace(/^.*[\\/]/, '').replace(/\.(?:md|markdown)$/i, '');
}

function titleOf(id: string, front: FrontMatter, sections: Sections<Part>, description: string): string {
  const section = wordLines(sections.get('title')?.text ?? '')[0];
  const said = section ?? textField(front, 'title') ?? topHeading(id, front.body);
  if (said !== null)
    return said
      .replace(/^#+\s+/, '')
      .replace(/\s+/g, ' ')
      .trim();
  return (wordLines(description)[0] ?? id).replace(/\s+/g, ' ');
}

/** The heading above the sections, without the id in front. */
function topHeading(id: string, body: string): string | null {
  const top = headingsOf(body).find(
    ({ level, name }) => level === 1 && !Object.values(TASK_PARTS).some((part) => part.test(name)),
  );
  if (top === undefined) return null;
  const behindId = (words: string) =>
    words.toLowerCase().startsWith(id.toLowerCase()) ? words.slice(id.length) : words;
  const rest = behindId(behindId(top.title.trim()).replace(/^task\b[ \t]*:?[ \t]*/i, ''));
  const words = rest.replace(/^[ \t]*[\d.]*[ \t]*[:–—-][ \t]*/, '').trim();
  return words === '' ? null : words;
}

function priorityOf(front: FrontMatter): number {
  const text = textField(front, 'priority');
  const match = text === null ? null : /^p?(\d{1,3})$/i.exec(text);
  return match === null ? 0 : Number(match[1]);
}

function isSequential(id: string, front: FrontMatter, warnings: string[]): boolean {
  const type = textField(front, 'type');
  if (type === null || /^parallel/i.test(type)) return false;
  if (/^sequential$/i.test(type)) return true;
  warnings.push(`${id}: type "${type}" is neither Sequential nor Parallelizable; it may run beside others`);
  return false;
}

function needsOf(id: string, front: FrontMatter, sections: Sections<Part>, warnings: string[]): string[] {
  const dependsOn: string[] = [];
  const take = (found: readonly string[]) => {
    for (const one of found) if (!dependsOn.includes(one)) dependsOn.push(one);
  };
  for (const key of ['depends_on', 'dependson', 'dependencies', 'blocked_by']) {
    const held = front.fields.get(key);
    for (const said of listField(front, key)) take(idsOrWords(said));
    if (held instanceof Map)
      warnings.push(`${id}: ${key} in its front matter is no list of ids and is not read`);
  }
  const section = sections.get('dependencies')?.text ?? looseLines(front.body);
  const { dependsOn: written, unread } = needsIn(section);
  take(written);
  for (const line of unread) {
    warnings.push(`${id}: "${shortened(line)}" below Dependencies names no task and is not waited for`);
  }
  return dependsOn;
}

/** Behind the key every word is meant as a task: one that is none is better told than dropped. */
function idsOrWords(said: string): string[] {
  const ids = idsOf(said);
  return ids.length > 0 || /^(?:none|n\/?a|\[\s*\])$/i.test(said) ? ids : [shortened(said)];
}

/** `depends_on: …` somewhere in a body without a section for it. */
function looseLines(body: string): string {
  const at = /^[ \t]*(?:[-*][ \t]+)?(?:\*\*)?depends[ _-]?on(?:\*\*)?[ \t]*:/im.exec(body);
  if (at === null) return '';
  return body.slice(at.index).split(/\n[ \t]*(?:\n|#)/)[0]!;
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** What a task's file tells beside its definition. Times are epoch ms. */
export interface TaskFileFacts {
  cycle: number;
  createdAt: number;
  updatedAt: number;
  /** What it is grounded in, one line each. */
  references: readonly string[];
  /** Tasks that wait for it; informational. */
  inheritedBy?: readonly string[];
  notes?: string;
}

/** The canonical text of a task's file. Read back it is the same task. */
export function writeTaskFile(def: TaskDef, facts: TaskFileFacts): string {
  const front = frontMatterText({
    id: def.id,
    iteration: facts.cycle,
    type: def.sequential === true ? 'Sequential' : 'Parallelizable',
    ...(def.priority !== 0 && { priority: def.priority }),
    ...(def.changes === 'none' && { changes: 'none' }),
    created_at: utc(facts.createdAt),
    updated_at: utc(facts.updatedAt),
  });
  const parts: [string, string][] = [
    ['Title', oneLine(def.title)],
    ['Files', def.files.map((file) => `- \`${file}\``).join('\n')],
    ['Objective', escapeBody(def.description, Object.values(TASK_PARTS))],
    ['Grounded In', facts.references.map((line) => `- ${oneLine(line)}`).join('\n')],
    ['Success Criteria', def.acceptance.map((line) => `- [ ] ${oneLine(line)}`).join('\n')],
    ['Dependencies', `depends_on: ${flow(def.dependsOn)}\ninherited_by: ${flow(facts.inheritedBy ?? [])}`],
    ['Notes', escapeBody(facts.notes ?? '', Object.values(TASK_PARTS))],
  ];
  const body = parts.map(([name, text]) => `## ${name}\n${text === '' ? '' : `${text}\n`}`).join('\n');
  return `${front}\n${body}`;
}

function flow(ids: readonly string[]): string {
  return `[${ids.join(', ')}]`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
