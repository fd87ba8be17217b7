/**
 * The work on the session as a whole, phase by phase: which call of the planner, the questioner, the
 * reviewer or the librarian comes next, and when a phase is over. Tasks have their own law (`pick.ts`);
 * what hangs on both, guards and waves, stands in `work.ts`.
 */
import { commandFor } from './command.ts';
import type { Fact } from './event.ts';
import { type Item, itemKey, MODES, type Mode } from './role.ts';
import { hires, type QuestionState, type State } from './state.ts';

/** A call that fails is returned with its exact errors this often; the next failure uses it up. */
const RETURNS = 2;

/** What questions are asked about, one call each. */
export const CATEGORIES = ['technical', 'requirements', 'constraints', 'assumptions', 'risks'] as const;

/** The next thing a phase owes. */
export type Owed =
  | { owes: 'call'; item: Item }
  /** Nobody can do without it, and it was returned too often. */
  | { owes: 'stop'; item: Item; code: 6 | 8; reason: string }
  /** It failed too often, and the phase can do without it. */
  | { owes: 'pass'; item: Item; reason: string }
  | { owes: 'approval' }
  | { owes: 'answer'; question: QuestionState }
  /** Nobody answered it, and the next cycle is due. */
  | { owes: 'carry'; question: QuestionState }
  | { owes: 'nothing' };

const NOTHING: Owed = { owes: 'nothing' };

/** What the phase the session is in still owes; tasks are not looked at. */
export function owedByPhase(state: State): Owed {
  switch (state.phase) {
    case 'INITIALIZING':
      return isGiven(state) ? NOTHING : firstOf(state, [needed('INITIALIZE')]);
    case 'PLANNING':
      return isGiven(state) ? NOTHING : planning(state);
    case 'REPLANNING':
      return firstOf(state, [
        spare('feedback-analysis'),
        spare('research'),
        needed('UPDATE'),
        needed('REBREAKDOWN'),
      ]);
    case 'SESSION_REVIEW':
      return firstOf(state, [spare('SESSION_REVIEW')]);
    case 'KNOWLEDGE_EXTRACTION':
      return firstOf(state, [spare('STAGE')]);
    case 'KNOWLEDGE_APPROVAL':
      return approval(state);
    default:
      return NOTHING;
  }
}

/** Whether this team writes plans, reports and notes into the session; a task list alone needs none. */
export function keepsWorks(state: State): boolean {
  return (state.policy?.modes ?? []).some(
    // A journal may name modes that this version does not know.
    (mode) => mode === 'SESSION_REVIEW' || MODES[mode]?.owes === 'works',
  );
}

/** A list of the user's own is a plan already: nobody plans it again. */
function isGiven(state: State): boolean {
  return state.source?.kind === 'file';
}

/** Whether a planner turns feedback into tasks; else the feedback is the task. */
export function plansAgain(state: State): boolean {
  return !isGiven(state) && hires(state, 'REBREAKDOWN');
}

interface Call {
  item: Item;
  /** The phase cannot do without it. */
  needed: boolean;
}

const call = (mode: Mode, needed: boolean, subject = 'session'): Call => ({
  item: { role: MODES[mode].role, mode, subject },
  needed,
});
const needed = (mode: Mode) => call(mode, true);
const spare = (mode: Mode, subject?: string) => call(mode, false, subject);

/** The first call of these that is neither done nor passed over. */
function firstOf(state: State, calls: readonly Call[]): Owed {
  const next = calls.find(({ item }) => hires(state, item.mode) && !isOver(state, item));
  if (next === undefined) return NOTHING;
  const why = callUsedUp(state, next.item);
  if (why === null) return { owes: 'call', item: next.item };
  if (!next.needed) return { owes: 'pass', item: next.item, reason: why };
  const reason = `${next.item.role} ${next.item.mode}: ${why}. Reduce the scope of the objective, or look at the prompt and the answer with \`${commandFor(state, 'ralph logs')}\`; \`${commandFor(state, 'ralph run')}\` tries again`;
  return { owes: 'stop', item: next.item, code: 6, reason };
}

function isOver({ cycleWork }: State, item: Item): boolean {
  const key = itemKey(item);
  return cycleWork.done.includes(key) || cycleWork.passedOver.includes(key);
}

/** Why a call is not made again; null while it may be. */
export function callUsedUp(state: State, item: Item): string | null {
  const known = state.items.get(itemKey(item));
  if (known === undefined) return null;
  const { maxSubagentRetries } = state.policy!.limits;
  if (known.died > maxSubagentRetries) return `its agent died ${known.died} times`;
  if (known.charged <= RETURNS) return null;
  return `it was returned ${known.charged} times, last because ${lastReason(state, itemKey(item))}`;
}

function lastReason(state: State, key: string): string {
  for (let iteration = state.lastIteration; iteration > 0; iteration--) {
    const attempt = state.attempts.get(iteration);
    if (attempt?.verdict && itemKey(attempt.item) === key) return attempt.verdict.reason;
  }
  return 'it said nothing';
}

/** Rounds of questions while new ones emerge, then the breakdown into tasks. */
function planning(state: State): Owed {
  const rounds: Call[] = [];
  const { maxCycles } = state.policy!.limits;
  for (let round = 1; round <= maxCycles; round++) {
    const asked = questioned(round);
    rounds.push(...asked);
    if (!asked.every(({ item }) => isOver(state, item) || !hires(state, item.mode))) break;
    const last = asked.at(-1)!.item;
    // Only what the research itself brought up asks for another round.
    const emerged = state.cycleWork.done.includes(itemKey(last)) && state.cycleWork.questions.fresh > 0;
    const begun = questioned(round + 1).some(({ item }) => state.items.has(itemKey(item)));
    if (!emerged && !begun) break;
  }
  return firstOf(state, [...rounds, needed('TASK_BREAKDOWN')]);
}

/** The calls of one round; from the second on the subject names it. */
function questioned(round: number): Call[] {
  const subject = (name: string) => (round === 1 ? name : `${name}-${round}`);
  return [
    ...CATEGORIES.map((category) => spare('brainstorm', subject(category))),
    spare('research', subject('session')),
  ];
}

/** What may be asked at the same time as this call: the other categories of its round that are still owed. */
export function askedBeside(state: State, item: Item): Item[] {
  if (item.mode !== 'brainstorm') return [];
  const { round } = questionsOf(item);
  return questioned(round)
    .map((asked) => asked.item)
    .filter((one) => one.mode === item.mode && one.subject !== item.subject)
    .filter((one) => !isOver(state, one) && callUsedUp(state, one) === null);
}

/** Category and round that a questioner's item is about. */
export function questionsOf(item: Item): { category: string; round: number } {
  const [, name = '', round] = /^([a-z]+)(?:-(\d+))?$/.exec(item.subject) ?? [];
  return { category: name === 'session' ? '' : name, round: round === undefined ? 1 : Number(round) };
}

/** What a planned task fails with whose file somebody removed; it is open again once the file is back. */
export const DEFINITION_MISSING = 'Task definition missing';

/** Whether the session's tasks are files of the cycle that a planner wrote. */
export function isPlanned(state: State): boolean {
  return state.source?.dialect === 'ralph-v2';
}

/** What follows where files of planned tasks are gone, or came back. `defined`: ids that have a file. */
export function definitionFacts(state: State, defined: ReadonlySet<string>): Fact[] {
  if (!isPlanned(state) || state.phase === 'REPLANNING') return [];
  const move = (task: string, to: 'failed' | 'todo'): Fact => ({
    type: 'task.moved',
    task,
    to,
    reason: to === 'failed' ? DEFINITION_MISSING : 'its definition is back',
    by: 'engine',
  });
  return [...state.tasks.values()].flatMap(({ def: { id }, status, reason }) => {
    const there = defined.has(id);
    if (there && status === 'failed' && reason === DEFINITION_MISSING) return [move(id, 'todo')];
    return !there && (status === 'todo' || status === 'review') ? [move(id, 'failed')] : [];
  });
}

/** Where the report of a task's attempt lies, relative to the cycle's folder. */
export function reportPath(task: string, attempt: number): string {
  return `reports/${task}-report${attempt > 1 ? `-r${attempt}` : ''}.md`;
}

/** The report this call writes or reviews; null where it has none. */
export function reportOf(state: State, item: Item): string | null {
  const task = item.task === undefined ? undefined : state.tasks.get(item.task);
  if (task === undefined) return null;
  return reportPath(task.def.id, Math.max(1, task.runs));
}

/** Whether this call may write the work at `path`, relative to the cycle's folder. */
export function mayWriteWork(state: State, item: Item, path: string): boolean {
  const own = {
    '{category}': questionsOf(item).category,
    '{report}': reportOf(state, item)?.slice('reports/'.length) ?? '',
  };
  return MODES[item.mode].works.some((pattern) => fits(pattern, path, own));
}

/** What this call owes and `present` lacks, as errors for the next try. */
export function missingWorks(item: Item, present: readonly string[]): string[] {
  const own = { '{category}': questionsOf(item).category, '{report}': '' };
  return MODES[item.mode].mustWrite
    .filter((pattern) => !present.some((path) => fits(pattern, path, own)))
    .map((pattern) => `${pattern.replace('{category}', own['{category}'])} is missing`);
}

function fits(pattern: string, path: string, own: Record<string, string>): boolean {
  const named = pattern.replace(/\{\w+\}/g, (name) => own[name] ?? name);
  if (named.endsWith('/**')) return path.startsWith(named.slice(0, -2));
  const [head, tail] = named.split('*');
  if (tail === undefined) return named === path;
  const inner = path.slice(head!.length, path.length - tail.length);
  return path.startsWith(head!) && path.endsWith(tail) && inner !== '' && !inner.includes('/');
}

function approval(state: State): Owed {
  const { staged, approval: id } = state.cycleWork;
  if (staged.length === 0) return NOTHING;
  const question = id === null ? undefined : state.questions.get(id);
  // Feedback opens the next cycle, and what nobody has decided on is offered there again.
  const carried = state.feedback.length > 0;
  if (question === undefined) return carried ? NOTHING : { owes: 'approval' };
  if (question.state === 'open') return carried ? { owes: 'carry', question } : { owes: 'answer', question };
  if (question.state !== 'answered' || !approves(question)) return NOTHING;
  const next = firstOf(state, [needed('PROMOTE')]);
  if (next.owes !== 'stop') return next;
  return {
    ...next,
    code: 8,
    reason: `what was approved could not be promoted: ${next.reason}`,
  };
}

/** Whether the answer to an approval says yes; anything else leaves things as they are. */
export function approves({ option, via, answer }: QuestionState): boolean {
  if (option !== null) return option.toUpperCase() === 'APPROVE';
  if (via === 'approve') return true;
  return via !== 'skip' && /^\W*(approved?|yes|ok)\b/i.test(answer ?? '');
}
