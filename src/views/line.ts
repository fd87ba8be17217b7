/**
 * One plain line for each fact a person would want to see go by. Facts that only serve the machine
 * have no line.
 */
import {
  commandFor,
  correctionName,
  type Fact,
  FINDINGS,
  isLandingFact,
  landingText,
  MARKERS,
  money,
  PHASES,
  type Phase,
  pathWord,
  type Question,
  type State,
  shortageWords,
  type TimeGrant,
} from '../core/index.ts';
import { callName } from './phase-words.ts';
import { count, duration, oneLine, STOPPED_FOR, some, span, until } from './words.ts';

/**
 * The line for this fact, or null where there is nothing to say. `at`: epoch ms of its record. With the
 * state that the record led to, counts are named too.
 */
export function describeFact(fact: Fact, at: number, state?: State): string | null {
  if (isLandingFact(fact)) return oneLine(landingText(fact), 500);
  switch (fact.type) {
    case 'session.created':
      return `session ${fact.id}: ${oneLine(fact.objective) || 'works off the task list'}`;
    case 'run.started':
      return `run started · team ${fact.policy.team} · agent ${fact.policy.agent} · pid ${fact.runner.pid}`;
    case 'run.stopped':
      // What came of its landing stands right before it.
      if (state?.landing && fact.reason === landingText(state.landing))
        return `stopped: ${fact.word} (exit ${fact.code})`;
      return `stopped: ${fact.word} (exit ${fact.code}) — ${oneLine(fact.reason, 300)}`;
    case 'lock.taken_over':
      return `taken over from pid ${fact.from.pid} on ${oneLine(fact.from.host, 60)}, which is gone`;
    case 'session.imported':
      return `the session of another tool was imported, in cycle ${fact.cycle}`;
    case 'journal.repaired':
      return `the journal ended in a torn line: ${count(fact.bytes, 'byte')} set aside as ${oneLine(fact.keptAs)}`;
    case 'phase.entered':
      return phaseLine(fact.phase, state);
    case 'call.passed_over':
      return `passed over: ${fact.item.role} ${callName(fact.item)} — ${oneLine(fact.reason)}`;
    case 'cycle.started':
      return `cycle ${fact.cycle} begins`;
    case 'tasks.read':
      return tasksLine(fact);
    case 'task.moved':
      return taskLine(fact);
    case 'task.unblocked':
      return `${oneLine(fact.task, 60)} unblocked by ${oneLine(fact.by, 40)}${grantWords(fact.grant)}: ${oneLine(fact.reason, 200)}`;
    case 'task.replaced':
    case 'task.charged':
    case 'wave.started':
    case 'attempt.spawned':
    case 'spend.seen':
    case 'leftovers.cleared':
      return null;
    case 'ground.changed':
      return rewrittenLine(fact);
    case 'desk.written':
      return fact.sha256 === null ? null : `written: ralph/${fact.file}`;
    case 'review.recorded':
      return `review ${fact.count} of ${fact.task}: ${fact.verdict}${tail(fact.feedback)}`;
    case 'wave.ended':
      return waveLine(fact, state);
    case 'attempt.started':
    case 'attempt.ended':
    case 'attempt.lost':
    case 'baseline.started':
    case 'gate.ran':
    case 'verdict.reached':
      return attemptLine(fact);
    case 'intervention.chosen':
      return correctionLine(fact, state);
    case 'commit.landed':
      return landedLine(fact);
    case 'landing.failed':
      return `not landed: ${fact.task} — ${oneLine(fact.reason)}; the verdict stands, the next run tries again`;
    case 'leftovers.set_aside':
      if (fact.changes.length === 0) return null;
      return setAsideLine(fact, state);
    case 'dirt.found':
      return `left to you: ${some(fact.paths.map(pathWord), 5)} — ${oneLine(fact.reason)}`;
    case 'leftovers.taken_up':
      return takenUpLine(fact);
    default:
      return peopleLine(fact, at, state);
  }
}

function rewrittenLine({ rewritten }: Of<'ground.changed'>): string | null {
  if (!rewritten) return null;
  const paths = rewritten.changes.map(({ path }) => path);
  return `the gates rewrote ${count(rewritten.changeCount, 'file')} of the task: ${some(paths.map(pathWord), 5)}`;
}

function setAsideLine({ task, changes }: Of<'leftovers.set_aside'>, state: State | undefined): string {
  const files = `${count(changes.length, 'file')} of ${task}`;
  const last = state?.attempts.get(state.tasks.get(task)?.attempts.at(-1) ?? 0);
  // It ran beside others, and its work waits to be brought into the user's own work tree.
  if (last?.ground && last.state === 'ended')
    return `waiting: ${files}, to be judged on top of what lands before`;
  return `set aside: ${files}, taken up again at its next attempt`;
}

function takenUpLine(fact: Of<'leftovers.taken_up'>): string | null {
  if (fact.count === 0) return null;
  const merged = (fact.merged ?? []).map(({ path }) => path);
  const both = merged.length > 0 ? `, merged with what others changed: ${some(merged.map(pathWord), 5)}` : '';
  const kept = Object.values(fact.kept ?? {});
  const where = kept.length > 0 ? ` (kept as ${some(kept, 5)} in the session's folder)` : '';
  const left = fact.conflicts.length > 0 ? `, except ${some(fact.conflicts.map(pathWord), 5)}${where}` : '';
  return `taken up: the earlier work of ${fact.task}${both}${left}`;
}

/** Phases that nobody is hired for are walked through, and nobody needs to watch that. */
function phaseLine(phase: Phase, state: State | undefined): string | null {
  const hired = state?.policy?.modes ?? [];
  return PHASES[phase].inner || !PHASES[phase].modes.some((mode) => hired.includes(mode))
    ? null
    : `phase ${phase}`;
}

type Of<T extends Fact['type']> = Extract<Fact, { type: T }>;
type PeopleFact = Of<
  | 'message.received'
  | 'message.rejected'
  | 'session.paused'
  | 'session.resumed'
  | 'stop.asked'
  | 'abort.asked'
  | 'abort.done'
  | 'question.asked'
  | 'question.answered'
  | 'question.expired'
  | 'question.closed'
  | 'question.shown'
  | 'guidance.reached'
  | 'feedback.received'
  | 'topic.published'
  | 'provider.parked'
  | 'host.seen'
  | 'notice.given'
>;

function reachedLine({ messages, questions, how, iteration }: Of<'guidance.reached'>): string {
  const what = [
    ...(messages.length > 0 ? [count(messages.length, 'message')] : []),
    ...(questions.length > 0 ? [`the answer to ${some(questions, 5)}`] : []),
  ].join(' and ');
  const way = how === 'live' ? 'was taken in by the agent while it works' : 'was asked for by the agent';
  return `${what} ${way} (iteration ${iteration})`;
}

function peopleLine(fact: PeopleFact, at: number, state: State | undefined): string {
  switch (fact.type) {
    case 'message.received': {
      const { type, from, text, option } = fact.message;
      const action = oneLine(fact.action, 120);
      if (type === 'STEER')
        return `Steering signal received: ${oneLine(text) || '(no text)'} (from ${oneLine(from, 60)}) — ${action}`;
      const wordless = option === undefined ? '(no text)' : `option ${oneLine(option, 20)}`;
      return `${type} from ${oneLine(from, 60)}: ${oneLine(text) || wordless} — ${action}`;
    }
    case 'message.rejected':
      return `message ${oneLine(fact.id, 80)} rejected: ${oneLine(fact.reason)}`;
    case 'session.paused':
      return `paused by ${oneLine(fact.by, 60)}${tail(fact.text)}; \`${commandFor(state ?? { policy: null }, 'ralph resume')}\` goes on`;
    case 'session.resumed':
      return `resumed by ${oneLine(fact.by, 60)}${tail(fact.text)}`;
    case 'stop.asked':
      return `stop asked by ${oneLine(fact.by, 60)}${tail(fact.text ?? '')}; running agents finish, nothing new starts`;
    case 'abort.asked':
      return `abort asked by ${oneLine(fact.by, 60)}${tail(fact.text)}`;
    case 'abort.done':
      return `aborted${fact.tasks.length > 0 ? `; failed: ${some(fact.tasks)}` : ''}; nothing was undone`;
    case 'question.asked':
      return questionLine(fact.question, at, state);
    case 'question.answered':
      return `${fact.id} answered by ${oneLine(fact.by, 60)}: ${oneLine(fact.text)}`;
    case 'question.expired':
      return `${fact.id} got no answer: ${SILENCE[fact.outcome]}${tail(fact.text)}`;
    case 'question.closed':
      return `${fact.id} closed: ${oneLine(fact.why)}`;
    case 'question.shown':
      return fact.reached
        ? `${fact.id} shown through ${oneLine(fact.channel, 40)}`
        : `${fact.id} reached nobody through ${oneLine(fact.channel, 40)}; \`${commandFor(state ?? { policy: null }, `ralph answer ${fact.id} "…"`)}\` answers it`;
    case 'guidance.reached':
      return reachedLine(fact);
    case 'feedback.received':
      return `feedback received${tail(fact.text)}`;
    case 'topic.published':
      return `topic ${oneLine(fact.topic, 80)} from ${oneLine(fact.role, 40)}${tail(fact.payload)}`;
    case 'provider.parked':
      return parkedLine(fact, at);
    case 'host.seen':
      return fact.short.length === 0
        ? fact.room === undefined
          ? 'the machine has enough disk and memory again; the work goes on'
          : `the machine has room for ${count(fact.room, 'agent')} at once, by host.min_free_memory_mb for each: no more than that work side by side`
        : `no agent is started for now: ${oneLine(shortageWords(fact.short), 400)}; free some or lower that key, and the work goes on by itself`;
    case 'notice.given':
      return `${fact.level}: ${oneLine(fact.text, 400)}`;
    default:
      return unknownFact(fact);
  }
}

function parkedLine(
  { agent, until: end, reason, kind = 'limit', told = true }: Of<'provider.parked'>,
  at: number,
) {
  const who = oneLine(agent, 40);
  if (kind === 'limit' && told)
    return `${who} is at its provider's limit, which ${end > at ? `ends ${until(end, at)}` : 'is over by now'}${tail(reason)}`;
  const again = `it is tried again ${end > at ? until(end, at) : 'at once'}${tail(reason)}`;
  if (kind === 'crash') return `${who} died again and again; ${again}`;
  const what = kind === 'limit' ? 'a limit without a known end' : kind;
  return `${who} was refused by its provider (${what}); ${again}`;
}

function unknownFact(fact: never): never {
  throw new Error(`unknown fact ${JSON.stringify(fact)}`);
}

/** What each outcome of silence means to the reader. */
export const SILENCE: Record<Of<'question.expired'>['outcome'], string> = {
  proceed: 'the work goes on without one',
  default: 'its default is taken',
  re_ask: 'it is asked again',
  stop: 'the run stops',
  carry: 'it is carried into the next cycle',
};

function tail(text: string): string {
  const line = oneLine(text);
  return line === '' ? '' : `: ${line}`;
}

function tasksLine(fact: Of<'tasks.read'>): string | null {
  // Our own marks coming back from the file are no news.
  if (fact.by === 'engine' || (fact.set.length === 0 && fact.gone.length === 0)) return null;
  const place = fact.source.path === null ? 'the objective' : oneLine(fact.source.path, 80);
  const gone = fact.gone.length > 0 ? `; gone: ${some(fact.gone, 5)}` : '';
  return `${count(fact.set.length, 'task')} read from ${place}${gone}`;
}

function grantWords(grant: TimeGrant | null): string {
  if (grant === null) return '';
  if (grant.timeoutS !== null) return `, with ${grant.timeoutS} s`;
  return grant.multiplier === 1 ? '' : `, with ${grant.multiplier} × the time`;
}

function taskLine(fact: Of<'task.moved'>): string {
  const why = oneLine(fact.reason);
  return `${oneLine(fact.task, 80)} ${MARKERS[fact.to]} ${fact.to}${why === '' ? '' : ` — ${why}`}`;
}

function waveLine(fact: Of<'wave.ended'>, state?: State): string | null {
  const returned =
    fact.returned.length > 0 ? `not started: iteration ${some(fact.returned.map(String))}` : null;
  if (fact.dead) {
    const wait =
      state && state.deadUntil > state.lastAt
        ? `; the next starts at the earliest ${until(state.deadUntil, state.lastAt)}`
        : '';
    return `the agent died; this is not counted as a try${wait}`;
  }
  if (fact.progress || fact.neutral || fact.started === 0) return returned;
  if (!state) return 'no progress';
  const max = state.policy?.limits.maxStuck ?? 0;
  return `no progress · stuck ${state.stuck}${max > 0 ? ` of ${max}` : ''}`;
}

type AttemptFact = Of<
  'attempt.started' | 'attempt.ended' | 'attempt.lost' | 'baseline.started' | 'gate.ran' | 'verdict.reached'
>;

function attemptLine(fact: AttemptFact): string | null {
  switch (fact.type) {
    case 'attempt.started': {
      const { item, attempt, agent, allowance, resumes } = fact;
      const session = resumes === undefined ? '' : ` · in the session of iteration ${resumes}`;
      return `iteration ${fact.iteration} · ${callName(item)} · attempt ${attempt} · ${agent}${session} · up to ${span(allowance.wallMs)}`;
    }
    case 'attempt.ended':
      return endedLine(fact);
    case 'attempt.lost': {
      const changed = fact.changeCount ?? fact.changes.length;
      const kept = changed > 0 ? `, ${count(changed, 'changed file')} kept` : '';
      const cost = fact.usage?.costUsd ? `; at least ${money(fact.usage.costUsd)} had been spent` : '';
      return `iteration ${fact.iteration} was lost: ${oneLine(fact.reason)}${kept}; not counted as a try${cost}`;
    }
    case 'baseline.started':
      return `gate ${oneLine(fact.gate, 60)} runs before iteration ${fact.iteration} starts: its baseline tells old failures from new ones`;
    case 'gate.ran':
      return gateLine(fact);
    case 'verdict.reached': {
      const grave = fact.findings.filter((finding) => FINDINGS[finding.kind].severity !== 'info');
      const names = grave.length > 0 ? ` (${some([...new Set(grave.map(({ kind }) => kind))], 5)})` : '';
      return `verdict: ${fact.value} — ${oneLine(fact.reason, 300)}${names}`;
    }
  }
}

/** What is done about findings. An accepted task stays accepted: its agent only hears of them. */
function correctionLine({ iteration, intervention }: Of<'intervention.chosen'>, state?: State): string {
  const { kind, findings } = intervention;
  const why = some(findings, 5);
  if (state?.attempts.get(iteration)?.verdict?.value === 'accepted') {
    return findings.every((one) => one === 'evidence_missing')
      ? 'accepted on the snapshot’s evidence; the agent named none and is reminded to name it next time'
      : `accepted all the same; next time the agent is reminded (${why})`;
  }
  if (kind === 'question') return `corrections used up: a person has to be asked (${why})`;
  return `correction for the next prompt: ${correctionName(intervention)} (${why})`;
}

function endedLine(fact: Of<'attempt.ended'>): string {
  const { report, claim } = fact;
  const how = {
    ended: 'ended',
    died: `died (${oneLine(report.error?.message ?? report.signal ?? `exit ${report.exitCode}`, 120)})`,
    timed_out: report.timeout === 'idle' ? 'was silent for too long' : 'ran out of time',
    interrupted: `was ended for ${fact.stoppedFor === null ? 'another reason' : STOPPED_FOR[fact.stoppedFor]}`,
  }[report.ending];
  const says = claim.kind === 'none' ? 'claims nothing' : `claims ${claim.kind}`;
  return `iteration ${fact.iteration} ${how} after ${duration(fact.durationMs)} · ${says} · ${count(fact.changeCount, 'file')} changed`;
}

function gateLine({ result, when }: Of<'gate.ran'>): string {
  const named = `${when === 'baseline' ? 'baseline of gate' : 'gate'} ${oneLine(result.gate, 60)}`;
  const tests = result.tests === null ? '' : ` · ${count(result.tests, 'test')}`;
  const failing = result.failures.length > 0 ? ` · ${some(result.failures, 3)}` : '';
  const exit = result.outcome === 'passed' ? '' : ` (exit ${result.exitCode ?? 'none'})`;
  return `${named}: ${result.outcome}${exit} in ${duration(result.durationMs)}${tests}${failing}`;
}

function landedLine(fact: Of<'commit.landed'>): string {
  if (fact.by === 'nobody' || fact.commit === '') return `${fact.task} needs no commit`;
  const whose = fact.by === 'agent' ? ' (the agent’s own commit)' : '';
  return `landed: ${fact.task} as ${fact.commit.slice(0, 7)}${whose}`;
}

function questionLine(question: Question, at: number, state: State | undefined): string {
  const { id, kind, about, text, options, deadline } = question;
  const choices = options
    .map((option) => `${oneLine(option.key, 12)}) ${oneLine(option.text, 80)}`)
    .join('  ');
  const wait = deadline === null ? '' : `; deadline ${until(deadline, at)}`;
  const shown = choices === '' ? '' : ` [${oneLine(choices, 300)}]`;
  const answer = `answer with \`${commandFor(state ?? { policy: null }, `ralph answer ${id} "…"`)}\``;
  return `question ${id} (${kind}, ${oneLine(about, 60)}): ${oneLine(text, 300)}${shown} — ${answer}${wait}`;
}
