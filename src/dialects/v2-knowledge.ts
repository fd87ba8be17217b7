/**
 * Knowledge that the librarian stages: notes under `knowledge/<category>/` with a front matter that says
 * where they come from. A note that nobody approved is carried to a few later cycles.
 */
import { utc } from './summary.ts';
import {
  type FrontMatter,
  frontMatterText,
  listField,
  numberField,
  plainFields,
  splitFrontMatter,
  textField,
  timeField,
} from './v2-front-matter.ts';
import { headingsOf, wordLines } from './v2-sections.ts';

type Category = 'tutorials' | 'how-to' | 'reference' | 'explanation';

const CATEGORIES: Readonly<Record<Category, RegExp>> = {
  tutorials: /^tutorials?$/,
  'how-to': /^how[-_ ]?to(?:s|[-_ ]guides?)?$|^guides?$/,
  reference: /^references?$/,
  explanation: /^explanations?$|^concepts?$/,
};

/** What a note's front matter tells. Times are epoch ms; null is not said. */
export interface KnowledgeFacts {
  category: Category | null;
  sourceSession: string | null;
  sourceCycle: number | null;
  sourceArtifacts: string[];
  stagedAt: number | null;
  /** The cycle it was first staged in, for one that was carried. */
  carriedFrom: number | null;
  originalStagedAt: number | null;
  outcome: string | null;
}

/** A note by its path, e.g. `knowledge/how-to/run.md`. */
export interface KnowledgeNote {
  path: string;
  text: string;
}

export interface KnowledgeReading {
  facts: KnowledgeFacts;
  title: string;
  body: string;
  /** Fields that the format does not name. */
  others: Record<string, unknown>;
  /** What the librarian should correct; each names the file. */
  faults: string[];
}

/** Reads a staged note; its folder tells the category. Never throws. */
export function readKnowledge({ path, text }: KnowledgeNote): KnowledgeReading {
  const front = splitFrontMatter(text);
  const facts: KnowledgeFacts = {
    category: categoryOfPath(path) ?? categoryNamed(textField(front, 'category') ?? ''),
    sourceSession: textField(front, 'source_session'),
    sourceCycle: numberField(front, 'source_iteration'),
    sourceArtifacts: listField(front, 'source_artifacts'),
    stagedAt: timeField(front, 'staged_at'),
    carriedFrom: numberField(front, 'carried_from_iteration'),
    originalStagedAt: timeField(front, 'original_staged_at'),
    outcome: textField(front, 'outcome'),
  };
  const heading = headingsOf(front.body)[0]?.title;
  const title = heading ?? textField(front, 'title') ?? fileName(path).replace(/\.md$/i, '');
  const others = plainFields(front, OWN);
  return { facts, title, body: front.body, others, faults: faultsOf(path, front, facts) };
}

const OWN: ReadonlySet<string> = new Set([
  'category',
  'source_session',
  'source_iteration',
  'source_artifacts',
  'staged_at',
  'carried_from_iteration',
  'original_staged_at',
  'outcome',
]);

function fileName(path: string): string {
  return path.replace(/^.*[\\/]/, '');
}

function categoryNamed(word: string): Category | null {
  const wanted = word.trim().toLowerCase();
  const names = Object.keys(CATEGORIES) as Category[];
  return names.find((name) => CATEGORIES[name].test(wanted)) ?? null;
}

/** The folder below `knowledge/`. */
function categoryOfPath(path: string): Category | null {
  const folders = path.split(/[\\/]/).slice(0, -1);
  return categoryNamed(folders[folders.lastIndexOf('knowledge') + 1] ?? '');
}

function faultsOf(path: string, front: FrontMatter, facts: KnowledgeFacts): string[] {
  if (!front.present && front.fault === null) return [`${path} has no front matter`];
  const faults: string[] = [];
  if (front.fault !== null) faults.push(`${path}: its front matter is no plain YAML: ${front.fault}`);
  const said = textField(front, 'category');
  if (facts.category === null) {
    faults.push(`${path} has no category; it is one of ${Object.keys(CATEGORIES).join(', ')}`);
  } else if (said !== null && categoryNamed(said) !== facts.category) {
    faults.push(`${path}: category "${said}" is not its folder's, ${facts.category}; the folder counts`);
  }
  if (facts.sourceSession === null) faults.push(`${path} has no source_session`);
  if (facts.sourceCycle === null) faults.push(`${path} has no source_iteration`);
  if (facts.stagedAt === null) faults.push(`${path} has no readable staged_at`);
  if (wordLines(front.body).length === 0) faults.push(`${path} says nothing`);
  return faults;
}

/** What the librarian should correct in its staged notes; the manifest is none. */
export function knowledgeFaults(notes: readonly KnowledgeNote[]): string[] {
  return notes.filter(({ path }) => !isManifest(path)).flatMap((note) => readKnowledge(note).faults);
}

function isManifest(path: string): boolean {
  return /^index\.md$/i.test(fileName(path));
}

/** The canonical text of a note. */
export function writeKnowledge({
  facts,
  body,
  others = {},
}: Pick<KnowledgeReading, 'facts' | 'body'> & { others?: Record<string, unknown> }): string {
  const front = frontMatterText({
    category: facts.category,
    source_session: facts.sourceSession,
    source_iteration: facts.sourceCycle,
    source_artifacts: facts.sourceArtifacts,
    staged_at: utcOrNull(facts.stagedAt),
    carried_from_iteration: facts.carriedFrom,
    original_staged_at: utcOrNull(facts.originalStagedAt),
    outcome: facts.outcome,
    ...others,
  });
  return `${front}\n${body.replace(/^\n+/, '').trimEnd()}\n`;
}

function utcOrNull(at: number | null): string | null {
  return at === null ? null : utc(at);
}

export interface CarriedKnowledge {
  /** With the front matter of the new cycle. */
  carried: KnowledgeNote[];
  /** Those that were offered often enough. */
  dropped: { path: string; reason: string }[];
  warnings: string[];
}

/**
 * The notes that nobody decided about, for cycle `cycle`. One is offered in at most `most` cycles after
 * the one it was first staged in. `at` is epoch ms: what is carried is staged again now.
 */
export function carryKnowledge(
  notes: readonly KnowledgeNote[],
  { cycle, most, at }: { cycle: number; most: number; at: number },
): CarriedKnowledge {
  const result: CarriedKnowledge = { carried: [], dropped: [], warnings: [] };
  for (const note of notes) {
    if (isManifest(note.path)) continue;
    const { facts, body, others } = readKnowledge(note);
    const from = originOf(facts, cycle);
    if (facts.carriedFrom !== null && facts.carriedFrom !== from) {
      result.warnings.push(
        `${note.path}: carried_from_iteration ${facts.carriedFrom} is no cycle before ${cycle}; ${from} is taken`,
      );
    }
    if (cycle - from > most) {
      const offered = most === 1 ? '1 later cycle' : `${most} later cycles`;
      result.dropped.push({
        path: note.path,
        reason: `first staged in cycle ${from} and offered in ${offered}`,
      });
      continue;
    }
    const first = [facts.originalStagedAt, facts.stagedAt].find((time) => time !== null && time <= at) ?? at;
    const now: KnowledgeFacts = { ...facts, stagedAt: at, carriedFrom: from, originalStagedAt: first };
    result.carried.push({ path: note.path, text: writeKnowledge({ facts: now, body, others }) });
  }
  return result;
}

/** The cycle it was first staged in; what cannot be is taken as the cycle before this one. */
function originOf({ carriedFrom, sourceCycle }: KnowledgeFacts, cycle: number): number {
  const said = [carriedFrom, sourceCycle].find((from) => from !== null && from >= 1 && from < cycle);
  return said ?? Math.max(1, cycle - 1);
}

/** The manifest `knowledge/index.md` of a cycle's staged notes. */
export function writeKnowledgeIndex(cycle: number, notes: readonly KnowledgeNote[]): string {
  const rows = notes
    .filter(({ path }) => !isManifest(path))
    .map((note) => {
      const { facts, title } = readKnowledge(note);
      const from = facts.carriedFrom === null ? '' : `iteration ${facts.carriedFrom}`;
      const cells = [note.path, facts.category ?? '', title, facts.outcome ?? '', from];
      return `| ${cells.map(cell).join(' | ')} |`;
    });
  const head = ['| File | Category | Title | Outcome | Carried from |', '|---|---|---|---|---|'];
  return `# Knowledge (Iteration ${cycle})\n\n${[...head, ...rows].join('\n')}\n`;
}

function cell(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
}
