/** What a call owed and left in the session's folder, and what a review found, for `ralph why`. */
import { itemKey, MODES, pathWord, questionsOf, type ResultDetails } from '../core/index.ts';
import { type IterationStory, outcomeOf, type Story } from './story.ts';
import { oneLine, some } from './words.ts';

export interface WorksJson {
  /** What its mode has to write, below the cycle's folder; empty where it owes no file. */
  owed: string[];
  /** Relative to the session's folder. */
  written: string[];
  /** The exact errors it was returned with. */
  faults: string[];
  /** What its result says beside what all roles say; null where nothing. */
  details: ResultDetails | null;
  /** What of its result could not be read. */
  warnings: string[];
}

export interface ReviewJson {
  iteration: number;
  verdict: string;
  criteria: { criterion: string; met: boolean; note: string }[];
  feedback: string;
  /** Relative to the session's folder. */
  report: string | null;
}

/** null in a team that keeps no works. */
export function worksJson({ item, works, claim }: IterationStory): WorksJson | null {
  if (works === null) return null;
  const { details = null, warnings = [] } = claim?.result ?? {};
  const written = works.written.map(({ path }) => path);
  return { owed: owedBy(item), written, faults: works.faults, details, warnings };
}

function owedBy(item: IterationStory['item']): string[] {
  const { category } = questionsOf(item);
  return MODES[item.mode].mustWrite.map((path) => path.replace('{category}', category));
}

/** What a reviewer said of a task; null for every other call, and where it said nothing. */
export function reviewJson({ item, iteration, claim, reportFile }: IterationStory): ReviewJson | null {
  const result = claim?.result;
  if (item.mode !== 'TASK_REVIEW' || !result || result.verdict === null) return null;
  const { verdict, criteriaResults, feedback } = result;
  return { iteration, verdict, criteria: criteriaResults, feedback, report: reportFile };
}

/** The last review of a task that said something; null without one. */
export function lastReview(told: readonly IterationStory[]): ReviewJson | null {
  return told.flatMap((one) => reviewJson(one) ?? []).at(-1) ?? null;
}

/** Labelled lines: what a result object of a call says beside what all roles say, and what of it could not be read. */
function toldRows({ claim }: IterationStory): [string, string][] {
  const { details, warnings = [] } = claim?.result ?? {};
  const said = Object.entries(details ?? {}).filter(([name]) => name !== 'role');
  const words = said.map(
    ([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
  return [
    ...(words.length === 0 ? [] : [['told', oneLine(words.join(', '), 400)] as [string, string]]),
    ...warnings.slice(0, 10).map((text): [string, string] => ['unread', oneLine(text, 300)]),
  ];
}

/** Labelled lines: what was owed, written, told and wrong. */
export function worksRows(told: IterationStory): [string, string][] {
  const works = worksJson(told);
  if (works === null) return [];
  const written = works.written.length === 0 ? 'nothing' : some(works.written, 8);
  return [
    ...(works.owed.length === 0 ? [] : [['owed', some(works.owed)] as [string, string]]),
    ['wrote', written],
    ...toldRows(told),
    ...works.faults.slice(0, 20).map((fault): [string, string] => ['fault', oneLine(fault, 400)]),
    ...told.trespass
      .filter(({ keptAs }) => keptAs !== null)
      .slice(0, 5)
      .map(({ path, keptAs }): [string, string] => [
        'kept',
        `its ${oneLine(pathWord(path), 120)} lies as ${oneLine(keptAs ?? '', 160)}`,
      ]),
  ];
}

/** Labelled lines: the verdict of a review, each criterion, and where the report lies. */
export function reviewRows(review: ReviewJson | null): [string, string][] {
  if (review === null) return [];
  const feedback = review.feedback === '' ? '' : `: ${oneLine(review.feedback, 400)}`;
  return [
    ['review', `${review.verdict}${feedback}`],
    ...review.criteria
      .slice(0, 30)
      .map(({ criterion, met, note }): [string, string] => [
        '',
        `${met ? 'met' : 'NOT MET'}: ${oneLine(criterion, 160)}${note === '' ? '' : ` — ${oneLine(note, 200)}`}`,
      ]),
  ];
}

/** What came after a call that is about no task: the same call again, else the next one; null: nothing yet. */
export function afterCall({ iterations }: Story, told: IterationStory): string | null {
  const later = [...iterations.values()].filter(
    ({ iteration, cycle }) => iteration > told.iteration && cycle === told.cycle,
  );
  const again = later.find(({ item }) => itemKey(item) === itemKey(told.item));
  if (again !== undefined)
    return `iteration ${again.iteration} made the same call again: ${outcomeOf(again).replace('_', ' ')}`;
  const [next] = later;
  return next === undefined ? null : `iteration ${next.iteration} (${next.item.mode}) came next`;
}
