/**
 * What happens next, and what a person can do about it, in words. The step itself is named by the law;
 * here it is only put into a sentence.
 */
import {
  type AttemptState,
  commandFor,
  decide,
  heldBy,
  holdReason,
  isDaySpent,
  keepsWorks,
  type LandingFact,
  narrowWords,
  openCorrection,
  openQuestions,
  type Question,
  type State,
  type Step,
  shortageWords,
  type TaskState,
  TO_DO,
} from '../core/index.ts';
import { falseClaims } from './false-claims.ts';
import { describeFact } from './line.ts';
import { callName, isApproval, stagedNotes } from './phase-words.ts';
import { duration, oneLine, some, span, until } from './words.ts';

/** Who holds the session now; null: no runner is alive. */
export interface LiveInfo {
  runner: { pid: number; host: string; startedAt: number } | null;
  /** Set where the last one ran on another host, did not say that it ended, and is silent. Epoch ms. */
  silent?: { host: string; seenAt: number };
}

/** Exits after which a start begins with fresh counters, so that the old state says nothing about it. */
const FRESH_START = new Set([1, 4, 6]);

/** The step the law names now; null before the first run, and where only a fresh start can tell. */
export function nextStep(state: State, now: number, live: LiveInfo): Step | null {
  if (!state.policy || !state.run) return null;
  const stopped = live.runner === null ? state.run.stopped : null;
  if (stopped && FRESH_START.has(stopped.code)) return null;
  return decide(state, { now, live: live.runner === null ? new Set() : state.open });
}

/** One sentence: what the session does next, or what it needs. */
export function nextWords(state: State, now: number, live: LiveInfo): string {
  if (!state.session || !state.run)
    return `no run has started yet; \`${commandFor(state, 'ralph run')}\` starts one`;
  const { stopped } = state.run;
  if (live.runner === null && isOver(state)) return advice(9, state);
  if (live.runner === null && stopped) return afterStop(state, now, live);
  if (live.silent)
    return `the last run was on ${oneLine(live.silent.host, 60)} and is silent; if that machine is gone, \`${commandFor(state, 'ralph resume --force')}\` takes over and goes on`;
  if (live.runner === null) {
    const open = some([...state.open].filter((n) => state.attempts.get(n)?.state !== 'ended').map(String));
    const left = open === '' ? '' : `, cleans up what iteration ${open} left behind`;
    return `the last run ended without a word (a crash or a lost machine); \`${commandFor(state, 'ralph run')}\` takes over${left} and goes on`;
  }
  if (state.open.size > 0 && !state.aborted) return runningWords(state);
  const step = nextStep(state, now, live);
  return step ? stepWords(step, state, now) : 'the run starts';
}

/** Aborted, also where that was said when no run was alive: only a person's word takes it up again. */
function isOver(state: State): boolean {
  if (state.landing?.type === 'loop.discarded') return true;
  return state.aborted?.done === true && state.feedback.length === 0;
}

function afterStop(state: State, now: number, live: LiveInfo): string {
  const { code } = state.run!.stopped!;
  // What was said since, and what holds every start, outlives the exit.
  if (state.paused) return advice(7, state);
  if (openQuestions(state).some(({ question }) => question.hold === 'session')) return advice(3, state);
  const step = nextStep(state, now, live);
  if (step === null) return advice(code, state);
  if (step.do === 'stop') return advice(step.code, state);
  if (step.do === 'wait' && (step.for === 'answer' || step.for === 'resume')) {
    return `${advice(step.for === 'answer' ? 3 : 7, state)}`;
  }
  return `\`${commandFor(state, 'ralph run')}\` goes on: ${stepWords(step, state, now)}`;
}

function runningWords(state: State): string {
  const numbers = [...state.open].sort((a, b) => a - b);
  const open = numbers.map((iteration) => {
    const attempt = state.attempts.get(iteration);
    if (!attempt) return `iteration ${iteration}`;
    const verb = attempt.state === 'ended' ? 'is judged' : 'runs';
    return `iteration ${iteration} (${callName(attempt.item)}) ${verb}`;
  });
  return `${some(open, 4)}; then ${numbers.length > 1 ? 'their verdicts are' : 'its verdict is'} reached${narrowed(state)}`;
}

/** Why fewer than there may be work side by side. */
function narrowed(state: State): string {
  const words = narrowWords(state);
  return words === '' ? '' : ` (${words})`;
}

/** One step of the law as a sentence. */
export function stepWords(step: Step, state: State, now: number): string {
  switch (step.do) {
    case 'recover':
      return `iteration ${some(step.iterations.map(String))} was left open by a run that is gone: its processes are ended, its work is kept`;
    case 'abort':
      return 'the session is aborted: running tasks are marked failed, nothing is undone';
    case 'judge':
      return `iteration ${step.iteration} is judged: gates, then a verdict`;
    case 'land':
      return `the work of ${step.task} is committed`;
    case 'bring_in':
      return bringInWords(state);
    case 'set_aside':
      return `the unfinished work of ${step.task} is set aside, so that another task can be worked on`;
    case 'take_up':
      return `the earlier work of ${step.task} is put back into the work tree`;
    case 'open':
      return `iteration ${step.items.map(({ iteration, item }) => `${iteration} (${callName(item)})`).join(', ')} starts${narrowed(state)}`;
    case 'run':
      return `${baselineWords(state, now)}iteration ${some(step.iterations.map(String))} starts`;
    case 'close':
      return 'the wave is closed and counted';
    case 'expire':
      return `the time to answer ${step.question} is over: what its silence means happens now`;
    case 'record':
      return step.facts.flatMap((fact) => describeFact(fact, now) ?? []).join('; ') || 'the session goes on';
    case 'wait':
      return waitWords(step, state, now);
    case 'stop':
      return `it stops with exit ${step.code} (${step.word}): ${oneLine(step.reason, 300)}`;
    default:
      return unknownStep(step);
  }
}

function bringInWords({ policy }: State): string {
  const { loop, onto } = policy?.loop ?? { loop: '', onto: '' };
  return `everything is done, and loop ${loop} lands on ${onto}: its turn among the loops, then the gates on what ${onto} will be`;
}

/** Before a task's first attempt its gates may run for as long as they need, and nothing else happens. */
function baselineWords({ wave, policy }: State, now: number): string {
  const running = wave?.baseline;
  if (!running) return '';
  const most = policy?.gates.find(({ name }) => name === running.gate)?.timeoutS;
  const limit = most === undefined ? '' : ` of at most ${span(most * 1000)}`;
  return `the baseline of gate ${oneLine(running.gate, 60)} is being run (${duration(now - running.at)}${limit}), which tells old failures from new ones; then `;
}

function unknownStep(step: never): never {
  throw new Error(`unknown step ${JSON.stringify(step)}`);
}

function waitWords(step: Extract<Step, { do: 'wait' }>, state: State, now: number): string {
  const when = step.until === null ? '' : `, ${until(step.until, now)}`;
  switch (step.for) {
    case 'answer': {
      const first = openQuestions(state)[0]?.question;
      const silence = step.until === null ? '' : `; deadline ${until(step.until, now)}`;
      return first
        ? `waits for an answer to ${first.id}: ${answerHint(first, state)}${silence}`
        : `waits for an answer${silence}`;
    }
    case 'resume':
      return `paused; \`${commandFor(state, 'ralph resume')}\` goes on`;
    case 'backoff':
      return `waits after a failed run before it tries again${when}`;
    case 'host':
      return `waits for room on the machine: ${oneLine(shortageWords(state.run?.short ?? []), 300)}; free some or lower that key, and it goes on by itself`;
    case 'provider':
      return `waits for the provider's limit to end${when}: ${oneLine(parkedFor(state, now), 120)}`;
  }
}

/** What the provider said whose wait ends first. */
function parkedFor(state: State, now: number): string {
  const waits = [...state.parked.values()].filter(({ until }) => until > now);
  return waits.sort((a, b) => a.until - b.until)[0]?.reason ?? '';
}

/** What the commands for a session depend on. */
type Asked = Pick<State, 'policy'>;

/** How this question is answered, as commands. */
export function answerHint(question: Question, state: Asked): string {
  const { id, kind, options, about } = question;
  if (isApproval(question))
    return `\`${commandFor(state, 'ralph approve')}\` puts them into .docs/ (\`${commandFor(state, 'ralph approve FILE…')}\` only some), \`${commandFor(state, 'ralph skip')}\` leaves them in the session`;
  const first = options[0]?.key;
  const choose =
    first === undefined
      ? ''
      : `\`${commandFor(state, `ralph answer ${id} --option ${oneLine(first, 20)}`)}\` or `;
  const clear =
    kind === 'blocker' && about !== 'session'
      ? `, or \`${commandFor(state, `ralph unblock ${about}`)}\``
      : '';
  return `answer with ${choose}\`${commandFor(state, `ralph answer ${id} "…"`)}\`${clear}`;
}

/** After an exit with 70. Only where nothing else is known is it a defect, or a disk that is full. */
export function afterDefect(reason: string, state: Asked): string {
  if (reason.includes(TO_DO)) return 'do what the reason says';
  return `free the disk, or report the defect; then \`${commandFor(state, 'ralph run')}\` goes on`;
}

/** What a person may still want to look at is said here, too. */
function finished(state: State): string {
  const doubted = falseClaims(state).map(({ task_id }) => task_id);
  if (doubted.length === 0) return 'nothing is left to do';
  const which = doubted.length === 1 ? doubted[0]! : 'ID';
  return `nothing is left to do; not all that was claimed of ${some(doubted, 5)} is so: \`${commandFor(state, `ralph why ${which}`)}\` tells it`;
}

/** What a person does after an exit with this code. */
export function advice(code: number, state: State): string {
  const asked = openQuestions(state).map(({ question }) => askedWords(state, question));
  switch (code) {
    case 0:
      return finished(state);
    case 1:
      if (isDaySpent(state)) return afterDay(state, `\`${commandFor(state, 'ralph run')}\``);
      return `\`${commandFor(state, 'ralph run')}\` goes on with a fresh limit; raise it with -n, --max-time, --max-cost or --max-tokens`;
    case 2:
    case 3:
      return `${asked.length > 0 ? asked.join('; ') : 'answer the open question'}; then \`${commandFor(state, 'ralph run')}\` goes on`;
    case 4: {
      const task = openCorrection(state)?.task;
      const which = task
        ? commandFor(state, `ralph unblock ${task}`)
        : commandFor(state, 'ralph retry-blocked');
      return `\`${commandFor(state, 'ralph why')}\` tells what was tried; say more in the task itself or give it its attempts back with \`${which}\`, then \`${commandFor(state, 'ralph run')}\` tries again with fresh counters`;
    }
    case 5:
      return `mend what the reason names, then \`${commandFor(state, 'ralph run')}\``;
    case 6:
      return afterFailure(state);
    case 7:
      return state.paused
        ? `\`${commandFor(state, 'ralph resume')}\` goes on`
        : `\`${commandFor(state, 'ralph run')}\` goes on`;
    case 8:
      return asked.length > 0
        ? `${asked.join('; ')}; then \`${commandFor(state, 'ralph run')}\` goes on`
        : afterCycle(state);
    case 9:
      if (state.landing?.type === 'loop.discarded') return afterDiscard(state.landing);
      return `\`${commandFor(state, 'ralph run --reopen')}\` takes it up again; nothing was undone`;
    case 70:
      return afterDefect(state.run?.stopped?.reason ?? '', state);
    default:
      return `\`${commandFor(state, 'ralph run')}\` goes on`;
  }
}

/** No start helps today; `goOn`: how it goes on. A work tree beside the main checkout reads a `ralph.yml` of its own. */
export function afterDay(state: State, goOn: string): string {
  const ground = state.session?.ground ?? '.';
  const file = ground === '.' ? 'ralph.yml' : `the ralph.yml in ${ground}`;
  return `${goOn} goes on from the next day on, or once limits.max_cost_usd_per_day is raised in ${file}`;
}

function afterDiscard({ keptAs, onto }: Extract<LandingFact, { type: 'loop.discarded' }>): string {
  return keptAs === null
    ? 'nothing is left to do'
    : `\`git merge ${keptAs}\` on ${onto} brings its work back; otherwise nothing is left to do`;
}

function askedWords(state: State, question: Question): string {
  const hint = `${question.id}: ${answerHint(question, state)}`;
  if (!isApproval(question)) return hint;
  return `read ${some(stagedNotes(state), 5)} in the session's folder; ${hint}`;
}

function afterFailure(state: State): string {
  if (state.policy?.park === false && [...state.parked.values()].some(({ kind }) => kind === 'limit'))
    return `\`${commandFor(state, 'ralph run')}\` without --no-wait waits for that time and goes on by itself`;
  const call = returnedCall(state);
  if (call === null)
    return `put right what the reason names (\`${commandFor(state, 'ralph logs')}\` shows what the agent printed), then \`${commandFor(state, 'ralph run')}\` tries again`;
  const { iteration, item } = call;
  return `\`${commandFor(state, `ralph why ${iteration}`)}\` shows what ${callName(item)} owed and what was wrong with it, \`${commandFor(state, `ralph logs ${iteration}`)}\` what the agent printed; \`${commandFor(state, 'ralph run')}\` tries again with fresh tries, \`${commandFor(state, 'ralph run --new "…"')}\` begins with a smaller objective`;
}

/** The call of the session itself that the run ended with, as its works could not stand. */
function returnedCall(state: State): AttemptState | null {
  const last = state.attempts.get(state.lastIteration);
  return last?.item.task === undefined && last?.verdict?.value === 'rejected' ? last : null;
}

/** Nobody is asked, and yet the session is not complete: gaps, failed tasks, or work that did not land. */
function afterCycle(state: State): string {
  const { landing } = state;
  if (landing?.type === 'loop.parked' || landing?.type === 'loop.queued') return oneLine(landing.next, 400);
  const call = returnedCall(state);
  if (call?.item.mode === 'PROMOTE')
    return `\`${commandFor(state, `ralph why ${call.iteration}`)}\` shows what was wrong; the notes stay in the session, and \`${commandFor(state, 'ralph run')}\` tries again`;
  const tasks = [...state.tasks.values()];
  if (tasks.some((task) => task.status === 'done' && task.landed === 'failed'))
    return `\`${commandFor(state, 'ralph run')}\` tries a landing again`;
  const feedback = `\`${commandFor(state, 'ralph feedback')}\` says what is still missing and opens cycle ${state.cycle + 1}; then \`${commandFor(state, 'ralph run')}\` goes on`;
  if (tasks.some(({ status }) => status === 'failed'))
    return keepsWorks(state)
      ? `\`${commandFor(state, 'ralph tasks reopen ID')}\` goes on with what failed as it is; ${feedback}`
      : `\`${commandFor(state, 'ralph tasks reopen ID')}\` goes on with what failed; \`${commandFor(state, 'ralph run')}\` tries a landing again`;
  if (state.cycleWork.review?.value === 'Gaps Identified')
    return `read iterations/${state.cycle}/review.md; ${feedback}`;
  return `\`${commandFor(state, 'ralph tasks reopen ID')}\` goes on with what failed; \`${commandFor(state, 'ralph run')}\` tries a landing again`;
}

/** One sentence: what happens next with this task. */
export function taskNext(state: State, task: TaskState, at: { now: number; live: LiveInfo }): string {
  const id = task.def.id;
  const reopen = `\`${commandFor(state, `ralph tasks reopen ${id}`)}\` opens it again`;
  if (task.status === 'done') {
    if (task.landed === 'landed')
      return `nothing: it is done${task.commit ? ` (${task.commit.slice(0, 7)})` : ''}`;
    if (task.landed === 'no') return 'its work is committed next';
    return `its commit failed (${oneLine(task.landingReason)}); \`${commandFor(state, 'ralph run')}\` tries again`;
  }
  if (task.status === 'failed')
    return `nothing in this cycle: ${oneLine(task.reason) || 'it failed'}; ${reopen}`;
  if (task.status === 'cancelled') return `nothing: ${oneLine(task.reason) || 'it was cancelled'}; ${reopen}`;
  const question = heldBy(state, id)?.question;
  if (question) return `it waits for an answer to ${question.id}: ${answerHint(question, state)}`;
  const session = nextWords(state, at.now, at.live);
  if (task.status === 'doing') return session;
  const waits = holdReason(state, task);
  if (waits.startsWith(`${id} waits`)) return `${waits}; the session: ${session}`;
  return `${againWords(state, task)}; the session: ${session}`;
}

function againWords(state: State, task: TaskState): string {
  const max = task.tries ?? state.policy?.limits.maxTaskAttempts ?? 3;
  if (task.status === 'review') return 'it is reviewed next';
  if (task.runs === 0) return 'it was not tried yet';
  const left = Math.max(0, max - task.charged);
  const tries = `${task.charged} of ${max} rejections are used`;
  return left > 0
    ? `it goes again as attempt ${task.runs + 1}; ${tries}`
    : `${tries}: a person is asked, or it fails for this cycle`;
}
