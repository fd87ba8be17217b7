/**
 * What a result object says beside the fields that all roles share: the counts, files and gaps of its role. A
 * field of the wrong type is left out and told, and what was left out is never guessed.
 */
import type {
  CriteriaBreakdown,
  ExecutorDetails,
  LibrarianDetails,
  PlannerDetails,
  QuestionerDetails,
  ResultDetails,
  ReviewerDetails,
} from './claim.ts';
import { type Fields, fieldsOf, MAX_ITEMS, plain, readText } from './result-fields.ts';
import { MODE_NAMES, MODES, type Mode } from './role.ts';

/** Names of older texts for modes that are called otherwise here. */
const MODE_ALIASES: Record<string, Mode> = { rebreakdowntask: 'SPLIT_TASK', review: 'TASK_REVIEW' };
const MODES_BY_NAME = new Map<string, Mode>([
  ...MODE_NAMES.map((mode) => [plain(mode), mode] as const),
  ...Object.entries(MODE_ALIASES),
]);

/** The mode that a word names in any spelling, or by an older name; null: none. */
export function modeNamed(word: string): Mode | null {
  return MODES_BY_NAME.get(plain(word)) ?? null;
}

/**
 * Fields that belong to one role alone. Where the mode is not told they tell the role, and they show an object to
 * be a result; words like `files` could stand in any object.
 */
const OWN_FIELDS: Record<ResultDetails['role'], readonly string[]> = {
  planner: ['artifactscreated', 'artifactsupdated', 'tasksdefined', 'nextaction'],
  questioner: ['questionsgenerated', 'questionsanswered', 'newquestionsemerged', 'filesupdated'],
  executor: ['attemptnumber', 'reportpath', 'criteriabreakdown', 'feedbackaddressed', 'discoveredtasks'],
  reviewer: ['assessment', 'gaps'],
  librarian: ['itemsstaged', 'promoted'],
};
const ROLES = Object.keys(OWN_FIELDS) as ResultDetails['role'][];

export const TELLING_DETAILS: readonly string[] = Object.values(OWN_FIELDS).flat();

/** What one role's fields say. `details` is null where none of them is there. */
interface ReadDetails {
  details: ResultDetails | null;
  /** One sentence for each field that could not be read. */
  warnings: string[];
}

/** Reads the fields of the role of that mode; without one, of the role whose fields are there. Never throws. */
export function readDetails(fields: Fields, mode: Mode | null): ReadDetails {
  const told = ROLES.find((role) => mode !== null && role === MODES[mode].role);
  if (told !== undefined) {
    const read = detailsOf(told, fields);
    if (read.details !== null || read.warnings.length > 0) return read;
  }
  const shown = ROLES.find((role) => OWN_FIELDS[role].some((name) => fields.has(name)));
  return shown === undefined ? { details: null, warnings: [] } : detailsOf(shown, fields);
}

function detailsOf(role: ResultDetails['role'], fields: Fields): ReadDetails {
  const warnings: string[] = [];
  const details = READERS[role](readerOf(fields, warnings));
  return { details: Object.keys(details).length > 1 ? details : null, warnings };
}

const READERS: Record<ResultDetails['role'], (read: Reader) => ResultDetails> = {
  planner: (read): PlannerDetails => ({
    role: 'planner',
    ...read.list('artifacts_created', 'artifactsCreated'),
    ...read.list('artifacts_updated', 'artifactsUpdated'),
    ...read.count('tasks_defined', 'tasksDefined'),
    ...read.text('next_action', 'nextAction'),
  }),
  questioner: (read): QuestionerDetails => ({
    role: 'questioner',
    ...read.text('category', 'category'),
    ...read.count('cycle', 'cycle'),
    ...read.count('questions_generated', 'questionsGenerated'),
    ...read.count('questions_answered', 'questionsAnswered'),
    ...read.count('new_questions_emerged', 'newQuestionsEmerged'),
    ...read.list('files_updated', 'filesUpdated'),
  }),
  executor: (read): ExecutorDetails => ({
    role: 'executor',
    ...read.count('attempt_number', 'attemptNumber'),
    ...read.text('report_path', 'reportPath'),
    ...read.field(
      'criteria_breakdown',
      'criteriaBreakdown',
      'an object with total, met and not_met',
      breakdown,
    ),
    ...read.list('feedback_addressed', 'feedbackAddressed'),
    ...read.list('discovered_tasks', 'discoveredTasks'),
  }),
  reviewer: (read): ReviewerDetails =>
    worseOf(
      {
        role: 'reviewer',
        ...read.field('assessment', 'assessment', 'Complete or Gaps Identified', assessment),
        ...read.list('gaps', 'gaps'),
      },
      read,
    ),
  librarian: (read): LibrarianDetails => ({
    role: 'librarian',
    ...read.count('items_staged', 'itemsStaged'),
    ...read.list('files', 'files'),
    ...read.list('promoted', 'promoted'),
    ...read.list('conflicts', 'conflicts'),
  }),
};

interface Reader {
  /** A whole number from 0; a list counts as its length, and yes or no as 1 or 0. */
  count<K extends string>(name: string, key: K): { [P in K]?: number };
  text<K extends string>(name: string, key: K): { [P in K]?: string };
  list<K extends string>(name: string, key: K): { [P in K]?: string[] };
  /** `wanted`: what it should be, for the warning. `read` gives null for what it is not. */
  field<K extends string, T>(
    name: string,
    key: K,
    wanted: string,
    read: (value: unknown) => T | null,
  ): { [P in K]?: T };
  warn(sentence: string): void;
}

function readerOf(fields: Fields, warnings: string[]): Reader {
  const field: Reader['field'] = <K extends string, T>(
    name: string,
    key: K,
    wanted: string,
    read: (value: unknown) => T | null,
  ) => {
    const value = fields.get(plain(name));
    if (value === undefined) return {};
    const said = read(value);
    if (said !== null) return { [key]: said } as { [P in K]?: T };
    warnings.push(`\`${name}\` is passed over: it should be ${wanted}.`);
    return {};
  };
  return {
    field,
    warn: (sentence) => warnings.push(sentence),
    count: (name, key) => field(name, key, 'a whole number', countOf),
    text: (name, key) => field(name, key, 'a text', textOf),
    list: (name, key) => field(name, key, 'a list of texts', listOf),
  };
}

const MAX_COUNT = 100_000;

function countOf(value: unknown): number | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (Array.isArray(value)) return value.length;
  const number = typeof value === 'string' && /^\s*\d{1,6}\s*$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) return null;
  return number >= 0 && number <= MAX_COUNT ? number : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? readText(value) : null;
}

/** What people write where there is nothing. */
const NOTHING = /^(?:none|nothing|n\/?a|no|-+|—)\.?$/i;

/** One text is a list of one; an object in it is known by its title, name or file beside its words. */
function listOf(value: unknown): string[] | null {
  if (typeof value === 'string') return listOf(value.trim() === '' ? [] : [value]);
  if (!Array.isArray(value)) return null;
  const texts = value
    .slice(0, MAX_ITEMS)
    .map(itemText)
    .filter((text) => !NOTHING.test(text));
  const readable = texts.filter((text) => text !== '');
  return readable.length === 0 && texts.length > 0 ? null : readable;
}

function itemText(item: unknown): string {
  const inner = fieldsOf(item);
  if (inner === null) return Array.isArray(item) || typeof item === 'boolean' ? '' : readText(item);
  const named = ['id', 'title', 'name', 'file', 'target', 'gap', 'criterion'].map((key) => inner.get(key));
  const words = [...named, readText(item)].filter((text): text is string => typeof text === 'string');
  return readText([...new Set(words.map((text) => text.trim()).filter((text) => text !== ''))].join(': '));
}

/** A number that is left out follows from the other two. */
function breakdown(value: unknown): CriteriaBreakdown | null {
  const fields = fieldsOf(value);
  if (fields === null) return null;
  const [total, met, notMet] = ['total', 'met', 'notmet'].map((name) => countOf(fields.get(name)));
  if (met == null)
    return total == null || notMet == null || notMet > total ? null : { total, met: total - notMet, notMet };
  if (notMet != null) return { total: total ?? met + notMet, met, notMet };
  return total == null || met > total ? null : { total, met, notMet: total - met };
}

const COMPLETE = ['complete', 'completed', 'done', 'passed'];
const GAPS = ['gapsidentified', 'gaps', 'gapsfound', 'incomplete', 'notcomplete', 'failed'];

function assessment(value: unknown): NonNullable<ReviewerDetails['assessment']> | null {
  if (typeof value !== 'string') return null;
  const word = plain(value).replace(/[.!*`"']/g, '');
  if (GAPS.includes(word)) return 'Gaps Identified';
  return COMPLETE.includes(word) ? 'Complete' : null;
}

/** Of two words about one thing the worse holds. */
function worseOf(details: ReviewerDetails, read: Reader): ReviewerDetails {
  if (details.assessment !== 'Complete' || (details.gaps?.length ?? 0) === 0) return details;
  read.warn('`assessment` says Complete beside a list of gaps: it counts as Gaps Identified.');
  return { ...details, assessment: 'Gaps Identified' };
}

/** Two results of one call as one: fields of the more trusted, where it has them; the worse assessment. */
export function mergedDetails(
  first: ResultDetails | undefined,
  second: ResultDetails | undefined,
): ResultDetails | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  if (first.role !== second.role) return first;
  const both = { ...second, ...first };
  const gaps = [first, second].some((one) => one.role === 'reviewer' && one.assessment === 'Gaps Identified');
  return both.role === 'reviewer' && gaps ? { ...both, assessment: 'Gaps Identified' } : both;
}
