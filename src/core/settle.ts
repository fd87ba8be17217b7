/**
 * What follows from a verdict, as the facts of one record: moves, charges, corrections, questions.
 * They are written together, so that no crash can leave a verdict without its consequences.
 */
import { readQuestionText } from './ask-text.ts';
import { type Correction, correct } from './correct.ts';
import type { Fact } from './event.ts';
import type { AgentError } from './evidence.ts';
import { passesOn } from './fallback.ts';
import type { Intervention, InterventionKind } from './finding.ts';
import type { Evidence, Judgement } from './judgement.ts';
import { downBy, outageNotice, parkingFor } from './outage.ts';
import { sentenceFor } from './prompt/index.ts';
import type { Question, QuestionKind } from './question.ts';
import { carriesOut } from './role.ts';
import { hatFacts } from './settle-hat.ts';
import { cutsAnew, isScopeChange, maySplit, replacedFacts } from './split.ts';
import { type AttemptState, hires, type State, type TaskState } from './state.ts';
import { isTerminal } from './task.ts';

export interface Settlement {
  state: State;
  attempt: AttemptState;
  evidence: Evidence;
  judgement: Judgement;
  tree: string;
  at: number;
}

export function settle(settlement: Settlement): Fact[] {
  const { state, attempt, evidence, judgement, tree } = settlement;
  const error = deathOf(settlement);
  const refused = error && { attempt, error, at: settlement.at };
  const parking = refused && parkingFor(state, refused);
  const down = downBy(error);
  const facts: Fact[] = [
    {
      type: 'verdict.reached',
      iteration: attempt.iteration,
      item: attempt.item,
      value: judgement.value,
      findings: judgement.findings,
      charged: judgement.charged,
      tree,
      newTree: evidence.newTree,
      reason: judgement.reason,
      parks: parking !== null,
      down,
      ...(evidence.receipt === null ? {} : { receipt: evidence.receipt }),
    },
  ];
  if (parking !== null) facts.push(parking);
  if (refused && (parking ?? down) !== null) facts.push(...outageNotice(state, refused, parking));
  const task = attempt.item.task === undefined ? undefined : state.tasks.get(attempt.item.task);
  // A person who cancelled or finished the task meanwhile has the last word.
  if (task && isTerminal(task.status)) return facts;
  if (attempt.item.mode === 'hat') facts.push(...hatFacts(settlement, task ?? null));
  else if (task) facts.push(...moves(settlement, task));
  else facts.push(...planned(settlement));
  facts.push(...notices(settlement));
  facts.push(...correction(settlement));
  const finished = facts.some((fact) => fact.type === 'task.moved' && fact.to === 'done');
  if (!finished) facts.push(...questions(settlement, task ?? null));
  return facts;
}

/** What the agent died of; null: it did not. */
function deathOf({ judgement, evidence: { report } }: Settlement): AgentError | null {
  if (judgement.value !== 'died') return null;
  const unnamed = { kind: 'crash' as const, message: judgement.reason, resetsAt: null };
  return report.error ?? (report.ending === 'died' ? unnamed : null);
}

/** What a person should hear in the evening rather than find out in the morning. */
function notices({ state, attempt, evidence, judgement }: Settlement): Fact[] {
  const facts: Fact[] = [];
  const say = (level: 'warning' | 'critical', text: string) => {
    if (!state.notices.some((given) => given.text === text))
      facts.push({ type: 'notice.given', level, text });
  };
  for (const { kind, detail } of judgement.findings) {
    if (kind === 'gate_red_before' && judgement.value === 'accepted')
      say('warning', `Accepted with a red gate: ${detail}`);
    if (kind === 'uncommitted_inside' && judgement.value === 'accepted')
      say('warning', `Task ${attempt.item.task ?? ''} was accepted without this part of its work: ${detail}`);
    if (kind === 'tests_dropped' || kind === 'branch_changed') say('warning', detail);
  }
  const claimed = attempt.committedMarks.filter(
    (id) => id !== attempt.item.task || judgement.value !== 'accepted',
  );
  if (claimed.length > 0) say('warning', committedMarksText(state, attempt.iteration, claimed));
  const limits = state.policy?.limits;
  const priced = limits?.maxCostUsd ?? limits?.maxCostUsdPerTask ?? limits?.maxCostUsdPerDay ?? null;
  if (priced !== null && evidence.report.usage.costUsd === null && evidence.report.ending === 'ended') {
    say(
      'warning',
      `${attempt.agent} reports no price, and the price table does not name its model, so a limit in money cannot bind; use --max-iterations or --max-time.`,
    );
  }
  return facts;
}

/** HEAD and the work tree differ then, and undoing that would bring the claim back. */
function committedMarksText(state: State, iteration: number, ids: string[]): string {
  const path = state.source?.path ?? 'the task list';
  const more = ids.length > 5 ? ` and ${ids.length - 5} more` : '';
  return `A commit of iteration ${iteration} marks ${ids.slice(0, 5).join(', ')}${more} as done in ${path}. That is only the agent's claim, so the marks are open in the work tree and git shows ${path} as changed: leave it so, or commit it.`;
}

function moves({ state, attempt, judgement, evidence }: Settlement, task: TaskState): Fact[] {
  const facts: Fact[] = [];
  const { iteration, item } = attempt;
  if (cutsAnew(item)) return cutFacts({ state, attempt, judgement }, task);
  if (judgement.review) return reviewMoves(state, { task, iteration, review: judgement.review });
  if (judgement.charged && item.mode !== 'TASK_REVIEW') {
    facts.push({ type: 'task.charged', task: task.def.id, budget: 'evidence', iteration });
  }
  if (judgement.value !== 'accepted' || item.mode === 'TASK_REVIEW') return facts;
  const missing = missingTopics(state, evidence);
  if (task.def.id === 'objective' && missing.length > 0) return facts;
  const to = hires(state, 'TASK_REVIEW') ? 'review' : 'done';
  facts.push({ type: 'task.moved', task: task.def.id, to, reason: judgement.reason, by: 'engine' });
  return facts;
}

/** What an accepted planner put in the place of the task. */
function cutFacts(
  { state, attempt, judgement }: Pick<Settlement, 'state' | 'attempt' | 'judgement'>,
  task: TaskState,
): Fact[] {
  const parts = attempt.works?.tasks;
  return judgement.value === 'accepted' && parts !== undefined ? replacedFacts(state, task, parts) : [];
}

function missingTopics(state: State, evidence: Evidence): string[] {
  const now = new Set(evidence.claim.topics.map((published) => published.topic));
  return (state.policy?.requiredTopics ?? []).filter(
    (topic) => !now.has(topic) && !state.publishedTopics.has(topic),
  );
}

/** The tasks that an accepted breakdown defines, in the record of its verdict. */
function planned({ state, attempt, judgement }: Settlement): Fact[] {
  const set = attempt.works?.tasks;
  if (judgement.value !== 'accepted' || set === undefined) return [];
  const gone = [...state.tasks.values()]
    .filter(({ def, status }) => !isTerminal(status) && set.every(({ id }) => id !== def.id))
    .map(({ def }) => def.id);
  const source = { kind: 'objective' as const, path: null, dialect: 'ralph-v2', reviewed: false };
  return [{ type: 'tasks.read', source, sha256: '', set, gone, by: 'agent' }];
}

interface Reviewed {
  task: TaskState;
  iteration: number;
  review: { verdict: 'Qualified' | 'Failed'; feedback: string };
}

/** The feedback of a story that is approved only because its reviews are used up starts with this. */
export const AUTO_APPROVED = '[AUTO-APPROVED AT CAP]';

function reviewMoves(state: State, { task, iteration, review }: Reviewed): Fact[] {
  const id = task.def.id;
  const count = task.review.count + 1;
  const cap = state.policy?.limits.reviewCap ?? 5;
  const capped = review.verdict === 'Failed' && count >= cap && task.def.review !== undefined;
  const recorded = capped
    ? { verdict: 'Qualified' as const, feedback: `${AUTO_APPROVED} ${review.feedback}`.trim() }
    : review;
  const facts: Fact[] = [{ type: 'review.recorded', task: id, iteration, ...recorded, count }];
  if (recorded.verdict === 'Qualified') {
    const reason = capped ? `approved at the review cap (${cap})` : 'qualified by review';
    facts.push({ type: 'task.moved', task: id, to: 'done', reason, by: 'engine' });
    if (capped) {
      const text = `Task ${id} was approved at the review cap (${cap}) with open feedback: ${review.feedback}`;
      facts.push({ type: 'notice.given', level: 'warning', text });
    }
    return facts;
  }
  facts.push({ type: 'task.charged', task: id, budget: 'review', iteration });
  facts.push({
    type: 'task.moved',
    task: id,
    to: 'todo',
    reason: 'changes requested by review',
    by: 'engine',
  });
  return facts;
}

function correction({ state, attempt, evidence, judgement, at }: Settlement): Fact[] {
  const { newTree } = evidence;
  const chosen = correct(state, { attempt, judgement, newTree, at });
  if (!chosen) return [];
  const { iteration, agent } = attempt;
  const task = cutsAnew(attempt.item) ? null : (attempt.item.task ?? null);
  const { kind, findings, to, trip, time } = chosen;
  const tooOften = trip ? `${trip.did} in ${trip.count} of your ${trip.of}` : undefined;
  const say = (as: InterventionKind) =>
    findings
      .map((finding) =>
        sentenceFor(finding, { kind: as, iteration, task: task ?? 'session', tooOften, time }),
      )
      .join('\n');
  const intervention: Intervention = { kind, findings: findings.map((one) => one.kind), sentence: say(kind) };
  if (to !== null) Object.assign(intervention, { agent: to, relieved: say('insist') });
  if (trip) intervention.aggressive = true;
  const facts: Fact[] = [{ type: 'intervention.chosen', iteration, agent, task, intervention }];
  if (trip?.fresh)
    facts.push({
      type: 'notice.given',
      // Nobody has to act where only the words become stronger.
      level: to !== null || kind === 'question' ? 'critical' : 'warning',
      text: tripText(state, chosen, { agent, task }),
    });
  return facts;
}

/** Told once for each trip, on every channel. */
function tripText(
  state: State,
  { kind, to, trip }: Correction,
  { agent, task }: { agent: string; task: string | null },
): string {
  const what = `Circuit breaker: ${agent} ${trip!.did} in ${trip!.count} of its ${trip!.of} (${trip!.threshold}).`;
  if (to !== null) {
    const passed = [...state.tasks.values()].filter(
      (other) => other.def.id !== task && passesOn(state, other, { from: agent, to }),
    ).length;
    const more = passed === 0 ? '' : ` and ${passed === 1 ? '1 other task' : `${passed} other tasks`}`;
    return `${what} ${to} takes over task ${task}${more}.`;
  }
  if (kind === 'question') return `${what} No other agent of \`fallback\` is left, so a person is asked.`;
  return `${what} Nothing of that was accepted, and the loop goes on by itself: the next prompt says so in the strongest words (\`fallback\` has no other agent that could take over).`;
}

function questions({ state, attempt, evidence, judgement, at }: Settlement, task: TaskState | null): Fact[] {
  const asked: Question[] = [];
  const about = task?.def.id ?? 'session';
  const base = { about, askedBy: attempt.agent, iteration: attempt.iteration, askedAt: at };
  for (const { topic, payload } of evidence.claim.topics) {
    if (topic !== 'human.interact') continue;
    const question = interaction(state, payload, base);
    if (!alreadyAsked(state, question)) asked.push(question);
  }
  const { claim } = evidence;
  if (
    judgement.value === 'blocked' &&
    !plannersTurn(state, attempt, task) &&
    (claim.kind === 'blocked' || claim.kind === 'decide')
  ) {
    const read = readQuestionText(claim.text);
    const kind: QuestionKind = claim.kind === 'blocked' ? 'blocker' : 'decision';
    const hold = state.policy?.questions.hold ?? 'session';
    const scope = isScopeChange(claim.text);
    asked.push({
      ...base,
      id: '',
      kind,
      text: read.text,
      options: read.options,
      default: read.default,
      hold: scope ? 'task' : hold,
      deadline: null,
      onTimeout: 'proceed',
    });
  }
  return asked.map((question, index) => ({
    type: 'question.asked',
    question: { ...question, id: questionId(state, index) },
  }));
}

/** Guidance made another task of it, and the planner puts that in its place. */
function plannersTurn(state: State, { item, claim }: AttemptState, task: TaskState | null): boolean {
  const scope = claim?.kind === 'blocked' && isScopeChange(claim.text);
  return scope && carriesOut(item) && task !== null && maySplit(state, task);
}

/** Questions are numbered in the order they were asked; one writer makes that unique. */
export function questionId(state: State, offset = 0): string {
  return `q${state.questions.size + 1 + offset}`;
}

type Asker = Pick<Question, 'about' | 'askedBy' | 'iteration' | 'askedAt'>;

/** The question a `human.interact` topic asks: it holds the session for the configured time. */
export function interaction(state: State, payload: string, asker: Asker): Question {
  const read = readQuestionText(payload);
  const policy = state.policy?.questions;
  const seconds = policy?.interactTimeoutS ?? null;
  return {
    ...asker,
    id: questionId(state),
    kind: read.kind ?? 'decision',
    text: read.text,
    options: read.options,
    default: read.default,
    hold: read.hold ?? 'session',
    deadline: seconds === null || seconds === 0 ? null : asker.askedAt + seconds * 1000,
    onTimeout: policy?.interactOnTimeout ?? 'proceed',
    interact: true,
  };
}

function alreadyAsked(state: State, question: Question): boolean {
  for (const known of state.questions.values()) {
    if (known.question.iteration === question.iteration && known.question.text === question.text) return true;
  }
  return false;
}
