/** `ralph why`: explains a task, an iteration, or why the session stopped or what it waits for. */
import {
  commandFor,
  correctionName,
  holdReason,
  isTerminal,
  naturalOrder,
  nearest,
  openQuestions,
  Problem,
  pathWord,
  type Reworded,
  reckonTime,
  type State,
  type TaskState,
  type Unblocking,
} from '../core/index.ts';
import { explainTime, type TimeJson } from './explain-time.ts';
import { type FalseClaimJson, falseClaimLines, falseClaims } from './false-claims.ts';
import { type QuestionJson, questionJson, questionText } from './inbox.ts';
import { nextWords, taskNext } from './next.ts';
import { type OutageJson, outageLines, outageStories, outagesNow, standInWords } from './outages.ts';
import { phaseWords } from './phase-words.ts';
import { rewordedJson, rewordedWords } from './reworded.ts';
import { statusDetail } from './status.ts';
import { commitOf, type IterationStory, outcomeOf, type Story } from './story.ts';
import { type TaskJson, taskJson } from './tasks.ts';
import { type IterationJson, iterationJson, iterationText, type Viewpoint } from './why-iteration.ts';
import { lastReview, type ReviewJson, reviewJson, reviewRows } from './why-works.ts';
import { count, duration, iso, oneLine, some, span } from './words.ts';

export interface SessionWhy {
  about: 'session';
  session_id: string;
  status_detail: string;
  exit: { code: number; word: string; reason: string } | null;
  /** One sentence: why it stopped, or what it waits for. */
  why: string;
  open_questions: QuestionJson[];
  /** The phase in plain words; null in a team that only works off tasks. */
  phase: string | null;
  /** Calls of this cycle that failed too often and were done without. */
  passed_over: string[];
  /** What each unfinished task waits for. */
  waiting: { task_id: string; reason: string }[];
  notices: { level: string; text: string }[];
  /** Agents whose provider says no now. */
  outages: OutageJson[];
  /** Each no of a provider: who went on, and when the agent was back. */
  provider_story: string[];
  /** Done tasks whose accepted attempt claimed what is not so. */
  false_claims: FalseClaimJson[];
  last_iteration: IterationJson | null;
  next: string;
}

export interface TaskWhy {
  about: 'task';
  task: TaskJson;
  reason: string;
  /** What the next attempt gets and why; null for a task that gets none, and before the first run. */
  time: TimeJson | null;
  commit: string | null;
  /** What an agent made of the task's own words; null where they are a person's. */
  reworded: Reworded | null;
  /** Earlier texts of files that could not be put back, relative to the session's folder. */
  kept: { path: string; file: string }[];
  /** The last review that said something; null without one. */
  review: ReviewJson | null;
  iterations: IterationJson[];
  /** Every unblocking, oldest first. */
  unblockings: UnblockingJson[];
  next: string;
}

export interface UnblockingJson {
  /** The last iteration before it, of any task; 0: none. */
  after_iteration: number;
  at: string | null;
  by: string;
  reason: string;
  timeout_s: number | null;
  timeout_multiplier: number | null;
  /** Charged tries it allowed; null: as many as the limits say. */
  max_attempts: number | null;
  /** The loop did it by itself (`unblock.auto`). */
  auto: boolean;
}

export type Why = SessionWhy | TaskWhy | ({ about: 'iteration' } & IterationJson);

/**
 * The explanation as data. `subject`: an iteration number, a task id, a session id, or undefined (or
 * `session`) for the session. A task whose id is a number is found first; a part of an id or title is
 * enough when only one task has it. Throws a Problem for a subject that is unknown or means several.
 */
export function whyJson(story: Story, subject: string | undefined, view: Viewpoint): Why {
  const found = find(story, subject);
  if (found.kind === 'session') return sessionWhy(story, view);
  if (found.kind === 'iteration') return { about: 'iteration', ...iterationJson(story, found.told, view) };
  const task = story.state.tasks.get(found.id)!;
  return {
    about: 'task',
    task: taskJson(story.state, task),
    reason: task.reason,
    time: nextTime(story.state, task),
    commit: task.commit,
    reworded: rewordedJson(task),
    kept: Object.entries(task.kept).map(([path, file]) => ({ path, file })),
    review: lastReview(iterationsOf(story, found.id)),
    iterations: iterationsOf(story, found.id).map((told) => iterationJson(story, told, view)),
    unblockings: task.unblocks.map(unblockingJson),
    next: taskNext(story.state, task, view),
  };
}

function unblockingJson({ after, at, by, reason, grant, attempts, auto }: Unblocking): UnblockingJson {
  return {
    after_iteration: after,
    at: iso(at),
    by,
    reason,
    timeout_s: grant?.timeoutS ?? null,
    timeout_multiplier: grant && grant.timeoutS === null ? grant.multiplier : null,
    max_attempts: attempts,
    auto,
  };
}

/** The explanation as text; the subject as in `whyJson`. */
export function whyText(story: Story, subject: string | undefined, view: Viewpoint): string {
  const found = find(story, subject);
  if (found.kind === 'session') return sessionText(story, view);
  if (found.kind === 'iteration') return iterationText(story, found.told, view);
  return taskText(story, found.id, view);
}

type Subject =
  | { kind: 'session' }
  | { kind: 'task'; id: string }
  | { kind: 'iteration'; told: IterationStory };

function find(story: Story, subject: string | undefined): Subject {
  const { state } = story;
  if (subject !== undefined && state.tasks.has(subject)) return { kind: 'task', id: subject };
  if ([undefined, '', 'session', state.session?.id].includes(subject)) return { kind: 'session' };
  const number = /^(?:iteration[- ]?)?0*(\d{1,9})$/i.exec(subject ?? '')?.[1];
  const told = story.iterations.get(Number(number));
  if (told) return { kind: 'iteration', told };
  const id = number === undefined ? likeTask(state, subject ?? '') : null;
  if (id !== null) return { kind: 'task', id };
  throw unknownSubject(story, subject ?? '');
}

/** The one task whose id, else whose title, has the text in it, a beginning before a middle; any case. */
function likeTask(state: State, text: string): string | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return null;
  const ranks: ((id: string, title: string) => boolean)[] = [
    (id) => id === wanted,
    (id) => id.startsWith(wanted),
    (id) => id.includes(wanted),
    (_, title) => title.startsWith(wanted),
    (_, title) => title.includes(wanted),
  ];
  const tasks = [...state.tasks.values()].map(({ def }) => def);
  for (const fits of ranks) {
    const like = tasks.filter(({ id, title }) => fits(id.toLowerCase(), title.toLowerCase()));
    if (like.length > 1) throw severalLike(text, like);
    if (like.length === 1) return like[0]!.id;
  }
  return null;
}

function severalLike(text: string, like: readonly { id: string; title: string }[]): Problem {
  const named = like.map(({ id, title }) => `${id} (${oneLine(title, 60)})`).sort(naturalOrder);
  return new Problem({
    code: 'why.several_tasks',
    what: `Several tasks are like ${oneLine(text, 80)}: ${some(named, 8)}.`,
    why: 'Each of them could be meant.',
    fix: 'Name one by its whole id: `ralph why ID`.',
  });
}

function unknownSubject(story: Story, subject: string): Problem {
  const { state } = story;
  const near = nearest(subject, [...state.tasks.keys()]);
  const last = lastIteration(story)?.iteration ?? 0;
  const tasks =
    state.tasks.size === 0 ? 'no task' : `tasks ${some([...state.tasks.keys()].sort(naturalOrder), 8)}`;
  return new Problem({
    code: 'why.unknown_subject',
    what: `There is no task, session or iteration ${oneLine(subject, 80)}.${near === null ? '' : ` Did you mean ${near}?`}`,
    why: `This session has ${tasks} and ${last === 0 ? 'no iteration yet' : `iterations 1 to ${last}`}.`,
    fix: 'Name one of them, or none: `ralph why`.',
  });
}

function iterationsOf(story: Story, task: string): IterationStory[] {
  return [...story.iterations.values()].filter((told) => told.item.task === task);
}

function sessionWhy(story: Story, view: Viewpoint): SessionWhy {
  const { state } = story;
  const last = lastIteration(story);
  return {
    about: 'session',
    session_id: state.session?.id ?? '',
    status_detail: statusDetail(state),
    exit: state.run?.stopped ?? null,
    why: sessionReason(state, view),
    open_questions: openQuestions(state).map(questionJson),
    phase: phaseWords(state),
    passed_over: passedOver(state),
    waiting: waiting(state),
    notices: state.notices.map(({ level, text }) => ({ level, text })),
    outages: outagesNow(state, view.now),
    provider_story: outageStories(story.outages, story.iterations).map((line) => line.trim()),
    false_claims: falseClaims(state),
    last_iteration: last && iterationJson(story, last, view),
    next: nextWords(state, view.now, view.live),
  };
}

function passedOver({ cycleWork }: State): string[] {
  return [...cycleWork.passedOver].map((key) => key.split('|').join(' '));
}

function lastIteration(story: Story): IterationStory | null {
  for (let last = story.state.lastIteration; last > 0; last--) {
    const told = story.iterations.get(last);
    if (told) return told;
  }
  return null;
}

function sessionReason(state: State, { now, live }: Viewpoint): string {
  if (!state.run) return 'no run has started yet';
  const { stopped } = state.run;
  if (live.runner !== null) return `it is running: ${nextWords(state, now, live)}`;
  if (state.aborted?.done && stopped?.code !== 9)
    return `it was aborted when no run was alive: ${oneLine(state.aborted.text, 400) || 'no reason given'}`;
  if (stopped)
    return `it stopped with exit ${stopped.code} (${stopped.word}): ${oneLine(stopped.reason, 400)}`;
  return 'the last run ended without a word: a crash, a kill or a lost machine';
}

function waiting(state: State): { task_id: string; reason: string }[] {
  return [...state.tasks.values()]
    .filter((task) => !isTerminal(task.status) || (task.status === 'done' && task.landed === 'failed'))
    .map((task) => ({
      task_id: task.def.id,
      reason:
        task.landed === 'failed'
          ? `not landed: ${oneLine(task.landingReason)}`
          : oneLine(holdReason(state, task)),
    }));
}

function sessionText(story: Story, view: Viewpoint): string {
  const { state } = story;
  const lines = [
    `${state.session?.id ?? 'no session'} · ${statusDetail(state).replace('_', ' ')} · ${state.phase}`,
  ];
  const phase = phaseWords(state);
  if (phase !== null) lines.push(`phase: ${oneLine(phase, 300)}`);
  lines.push(`why: ${sessionReason(state, view)}`);
  const without = passedOver(state);
  if (without.length > 0) lines.push(`goes on without: ${some(without)}`);
  for (const entry of openQuestions(state)) lines.push(...questionText(entry, { state, now: view.now }));
  const held = waiting(state);
  if (held.length > 0) lines.push(`${count(held.length, 'task')} not finished`);
  for (const { reason } of held.slice(0, 20)) lines.push(`  ${reason}`);
  if (held.length > 20) lines.push(`  and ${held.length - 20} more: \`${commandFor(state, 'ralph tasks')}\``);
  lines.push(...falseClaimLines(falseClaims(state), (command) => commandFor(state, command)));
  lines.push(...providerLines(story, view.now));
  for (const { level, text } of state.notices.slice(-3)) lines.push(`${level}: ${oneLine(text, 400)}`);
  const last = lastIteration(story);
  if (last) lines.push('', iterationText(story, last, view), '');
  lines.push(`next: ${nextWords(state, view.now, view.live)}`);
  return lines.join('\n');
}

/** What providers refused, and who went on; the newest last. */
function providerLines({ state, outages, iterations }: Story, now: number): string[] {
  if (outages.length === 0) return [];
  const told = outageStories(outages, iterations);
  const more = told.length > MOST_OUTAGES ? [`  and ${told.length - MOST_OUTAGES} before`] : [];
  return ['agents that could not work:', ...more, ...told.slice(-MOST_OUTAGES), ...outageLines(state, now)];
}

const MOST_OUTAGES = 8;

function taskText(story: Story, id: string, view: Viewpoint): string {
  const task = story.state.tasks.get(id)!;
  const { marker, held } = taskJson(story.state, task);
  const lines = [`${marker} ${oneLine(id, 80)} · ${oneLine(task.def.title, 160)} · ${task.status}`];
  if (task.reason !== '') lines.push(`why: ${oneLine(task.reason, 400)}`);
  if (task.reworded) lines.push(`changed by the agent: ${rewordedWords(task.reworded)}`);
  for (const [path, file] of Object.entries(task.kept).slice(-10)) {
    lines.push(
      `not put back: ${oneLine(pathWord(path), 120)}; its earlier text is kept as ${oneLine(file, 200)} in the session's folder`,
    );
  }
  for (const { cycle, commit } of story.state.replaced.filter(({ def }) => def.id === id))
    lines.push(
      `another task ${oneLine(id, 80)} was finished in cycle ${cycle}${commit === null ? '' : `: ${commit.slice(0, 10)}`}`,
    );
  if (held) lines.push(`held by ${held.question} (${held.kind}): ${held.reason}`);
  if (task.def.dependsOn.length > 0) lines.push(`depends on ${some(task.def.dependsOn)}`);
  const told = iterationsOf(story, id);
  if (told.length === 0) lines.push('It was not tried yet.');
  const reviewed = lastReview(told);
  const final = told.at(-1);
  if (reviewed !== null && final !== undefined && reviewJson(final) === null) {
    lines.push(
      ...reviewRows(reviewed).map(
        ([label, text]) => `${label === '' ? '  ' : `${label} in iteration ${reviewed.iteration}: `}${text}`,
      ),
    );
    if (reviewed.report !== null) lines.push(`report: ${reviewed.report}`);
  }
  const time = nextTime(story.state, task);
  if (time) lines.push(`time of the next attempt: ${time.text}`);
  const last = told.at(-1);
  lines.push(...earlierLines(story, told.slice(-21), task.unblocks));
  if (last) lines.push('', iterationText(story, last, view), '');
  const since = task.unblocks.filter(({ after }) => last === undefined || after >= last.iteration);
  lines.push(...since.map(unblockingLine));
  lines.push(`next: ${taskNext(story.state, task, view)}`);
  return lines.join('\n');
}

/**
 * What came before the last of these attempts: attempts, and at its place between them each unblocking and each
 * change of the agent.
 */
function earlierLines(story: Story, attempts: IterationStory[], unblocks: Unblocking[]): string[] {
  const last = attempts.at(-1)?.iteration;
  if (last === undefined) return [];
  const earlier = attempts.slice(0, -1);
  const first = earlier[0]?.iteration ?? 0;
  const several = new Set([...story.iterations.values()].map(({ agent }) => agent)).size > 1;
  const lines = [
    ...earlier.map((told) => ({ at: told.iteration, line: shortLine(told, several) })),
    ...attempts.flatMap((told, n) => {
      const line = takeoverLine(story, attempts[n - 1], told);
      return line === null ? [] : [{ at: told.iteration - 0.25, line }];
    }),
    ...unblocks
      .filter(({ after }) => after >= first && after < last)
      // Between the attempt it came after and the next.
      .map((one) => ({ at: one.after + 0.5, line: unblockingLine(one) })),
  ];
  return lines.sort((a, b) => a.at - b.at).map(({ line }) => line);
}

/** Why the next attempt was another agent's, where the attempt before it does not say so itself. */
function takeoverLine(
  { iterations, outages }: Story,
  before: IterationStory | undefined,
  next: IterationStory,
) {
  if (before === undefined || before.agent === next.agent || before.item.role !== next.item.role) return null;
  const gives = ({ interventions }: IterationStory) =>
    interventions.some(({ agent }) => agent === next.agent);
  if (gives(before)) return null;
  const provider = standInWords(outages, before, next);
  if (provider !== null) return provider;
  const tripped = [...iterations.values()].find(
    (told) =>
      told.iteration > before.iteration &&
      told.iteration < next.iteration &&
      told.agent === before.agent &&
      gives(told),
  );
  const why =
    tripped === undefined
      ? ''
      : `: its circuit breaker tripped in iteration ${tripped.iteration} (${oneLine(tripped.item.subject, 60)})`;
  return `  ${oneLine(next.agent, 60)} took over from ${oneLine(before.agent, 60)}${why}`;
}

function unblockingLine({ by, at, reason, grant, attempts, auto }: Unblocking): string {
  const given = [
    ...(grant === null
      ? []
      : [grant.timeoutS === null ? `time × ${grant.multiplier}` : span(grant.timeoutS * 1000)]),
    ...(attempts === null ? [] : [attempts === 1 ? 'one more try' : `${attempts} more tries`]),
  ];
  const who = auto ? 'the loop' : oneLine(by, 60);
  const gave = given.length === 0 ? '' : ` with ${given.join(' and ')}`;
  return `  unblocked by ${who}${gave} (${iso(at)?.slice(0, 16).replace('T', ' ') ?? 'at an unknown time'} UTC): ${oneLine(reason, 200)}`;
}

/** The time the next attempt would get, as the law reckons it now. */
function nextTime({ policy, durations }: State, task: TaskState): TimeJson | null {
  if (!policy || isTerminal(task.status)) return null;
  const time = reckonTime(policy, task, durations);
  const limits = { wallMs: time.timeoutS * 1000, idleMs: policy.limits.idleTimeoutS * 1000 };
  return explainTime({ time, ...limits, usedMs: null });
}

function shortLine(told: IterationStory, several: boolean): string {
  const commit = commitOf(told);
  const took = told.durationMs === null ? '' : ` in ${duration(told.durationMs)}`;
  const why = oneLine(told.verdict?.reason ?? told.lost ?? '', 200);
  const then = told.interventions.map((chosen) => ` · then ${oneLine(correctionName(chosen), 80)}`).join('');
  const by = several ? ` by ${oneLine(told.agent, 60)}` : '';
  return `  iteration ${told.iteration} · ${told.item.mode}${by}: ${outcomeOf(told)}${took}${commit ? ` · ${commit.slice(0, 7)}` : ''}${why === '' ? '' : ` — ${why}`}${then}`;
}
