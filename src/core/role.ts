/**
 * Who works, and what one call owes. The mode table serves the judge, ownership, the prompt and
 * (later) the sandbox, so that hiring a role is a row and not code.
 */

export type RoleName = 'planner' | 'questioner' | 'executor' | 'reviewer' | 'librarian' | (string & {});

/** What teams hire. */
export const MODE_NAMES = [
  'INITIALIZE',
  'TASK_BREAKDOWN',
  'UPDATE',
  'REBREAKDOWN',
  'SPLIT_TASK',
  'brainstorm',
  'research',
  'feedback-analysis',
  'implement',
  'review-fix',
  'TASK_REVIEW',
  'SESSION_REVIEW',
  'TIMEOUT_FAIL',
  'STAGE',
  'PROMOTE',
] as const;
/** `hat`: a run of a role of one's own, which no team hires and topics wake. */
export type Mode = (typeof MODE_NAMES)[number] | 'hat';

/** What one mode's call must leave behind, may touch, and what its outcome costs. */
export interface ModeContract {
  role: RoleName;
  /**
   * `code`: the repository must change. `works`: the named works must be written. `verdict`: a result. `topic`: it
   * hands the work on, or ends it.
   */
  owes: 'code' | 'works' | 'verdict' | 'topic';
  /** Works by path relative to the cycle's folder; `*` is one name. */
  mustWrite: readonly string[];
  /**
   * Works it may write, relative to the cycle's folder: `*` is one name, `**` anything below, `{category}` and
   * `{report}` the call's own.
   */
  works: readonly string[];
  mayWrite: 'repository' | 'works' | 'nothing';
  /** Required gates run after the attempt and their results bind. */
  runsGates: boolean;
  /** Which budget a rejection charges. */
  charges: 'evidence' | 'item';
  /** The word summary.csv uses. */
  csvMode: string;
}

const planning = (
  role: RoleName,
  mustWrite: string[],
  csvMode: string,
  works: string[] = mustWrite,
): ModeContract => ({
  role,
  owes: 'works',
  mustWrite,
  works,
  mayWrite: 'works',
  runsGates: false,
  charges: 'item',
  csvMode,
});
const coding = (csvMode: string): ModeContract => ({
  role: 'executor',
  owes: 'code',
  mustWrite: [],
  works: ['reports/{report}'],
  mayWrite: 'repository',
  runsGates: true,
  charges: 'evidence',
  csvMode,
});
const judging = (csvMode: string): ModeContract => ({
  role: 'reviewer',
  owes: 'verdict',
  mustWrite: [],
  works: ['reports/{report}'],
  mayWrite: 'nothing',
  runsGates: false,
  charges: 'item',
  csvMode,
});

export const MODES: Record<Mode, ModeContract> = {
  INITIALIZE: planning('planner', ['plan.md'], 'INITIALIZE'),
  TASK_BREAKDOWN: planning('planner', ['tasks/*.md'], 'TASK_BREAKDOWN'),
  UPDATE: planning('planner', ['plan.md'], 'UPDATE'),
  REBREAKDOWN: planning('planner', ['tasks/*.md'], 'REBREAKDOWN'),
  SPLIT_TASK: planning('planner', ['tasks/*.md'], 'SPLIT_TASK'),
  brainstorm: planning('questioner', ['questions/{category}.md'], 'brainstorm'),
  research: planning('questioner', [], 'research', ['questions/*.md']),
  'feedback-analysis': planning('questioner', ['questions/feedback-driven.md'], 'feedback-analysis'),
  implement: coding('implement'),
  'review-fix': coding('review-fix'),
  TASK_REVIEW: judging('review'),
  SESSION_REVIEW: {
    ...judging('SESSION_REVIEW'),
    mayWrite: 'works',
    mustWrite: ['review.md'],
    works: ['review.md'],
  },
  TIMEOUT_FAIL: { ...judging('TIMEOUT_FAIL'), mayWrite: 'works' },
  STAGE: planning('librarian', [], 'STAGE', ['knowledge/**']),
  PROMOTE: planning('librarian', [], 'PROMOTE'),
  // The role is the run's own; what it may do to the repository is what an executor may.
  hat: { ...coding('hat'), owes: 'topic', works: [] },
};

/** Role × mode × subject: what budgets and back-off hang on. Subject is a task id, `session` or a topic. */
export interface Item {
  role: RoleName;
  mode: Mode;
  subject: string;
  /** The task the item is about; absent for work on the session. */
  task?: string;
}

/** Whether this call does the work of a task itself; a mode that only a newer version knows may. */
export function carriesOut({ mode }: Pick<Item, 'mode'>): boolean {
  return MODES[mode] === undefined || ['code', 'topic'].includes(MODES[mode].owes);
}

/** The key of an item, e.g. `executor|implement|task-3`. */
export function itemKey(item: Item): string {
  return `${item.role}|${item.mode}|${item.subject}`;
}

/** The modes of the built-in teams. A phase whose modes nobody hires is walked through. */
export const TEAMS: Record<string, readonly Mode[]> = {
  solo: ['implement'],
  pair: ['implement', 'review-fix', 'TASK_REVIEW'],
  full: MODE_NAMES,
};
