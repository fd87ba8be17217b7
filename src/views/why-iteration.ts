/**
 * One iteration explained from the journal: what the agent said, what happened, what the gates found,
 * what follows from it.
 */
import {
  type Change,
  type CostSource,
  commandFor,
  correctionName,
  costSource,
  FINDINGS,
  type Intervention,
  MODES,
  pathWord,
  type Severity,
  spentIn,
  spentWords,
  type Trespass,
} from '../core/index.ts';
import { explainTime, type TimeJson } from './explain-time.ts';
import { type MovedJson, movedJson, movedLines } from './moved.ts';
import { type LiveInfo, nextWords, taskNext } from './next.ts';
import { callName } from './phase-words.ts';
import { type ReceiptJson, receiptJson, receiptLines } from './receipt.ts';
import { TOLD_WORDS, toldIn } from './sequel.ts';
import { commitOf, type IterationStory, type Outcome, outcomeOf, type Story } from './story.ts';
import {
  afterCall,
  type ReviewJson,
  reviewJson,
  reviewRows,
  type WorksJson,
  worksJson,
  worksRows,
} from './why-works.ts';
import { count, duration, iso, oneLine, plain, STOPPED_FOR, some, tally } from './words.ts';

export interface IterationJson {
  iteration: number;
  cycle: number;
  wave: number;
  role: string;
  mode: string;
  task_id: string | null;
  attempt: number;
  agent: string;
  model: string | null;
  outcome: Outcome;
  started_at: string | null;
  ended_at: string | null;
  duration_s: number | null;
  claim: {
    kind: string;
    via: string;
    text: string;
    summary: string;
    files: string[];
    evidence: { criterion: string; kind: string; value: string }[];
    last_words: string;
  } | null;
  evidence: {
    change_count: number;
    files: { path: string; change: 'added' | 'changed' | 'removed' }[];
    commits: string[];
    /** How the agent's process ended; null while it runs and where it was lost. */
    ending: string | null;
    exit_code: number | null;
    signal: string | null;
    error: string | null;
    stopped_for: string | null;
    lost: string | null;
    /** What the gates changed: paths of the task, which land as they are now, and others, which do not. */
    rewritten: { count: number; paths: string[]; other_count: number; others: string[] };
    trespass: Trespass[];
    /** Commands that bring back branches, tags and stashes that were removed meanwhile. */
    removed_refs: string[];
    moved_branches: MovedJson[];
  };
  /** What it owed and left in the session's folder; null in a team that keeps no works. */
  works: WorksJson | null;
  /** What it said of a task as its reviewer; null for every other call. */
  review: ReviewJson | null;
  /** The report it wrote or reviewed, relative to the session's folder. */
  report: string | null;
  /** Each claim and what became of it; null where nothing was claimed. */
  receipt: ReceiptJson | null;
  gates: {
    gate: string;
    run: string;
    when: 'baseline' | 'after';
    outcome: string;
    exit_code: number | null;
    tests: number | null;
    duration_ms: number;
    failures: string[];
    excerpt: string;
  }[];
  verdict: { value: string; charged: boolean; reason: string; moved_to: string | null } | null;
  findings: { kind: string; event_type: string; severity: Severity; detail: string }[];
  corrections: {
    kind: string;
    findings: string[];
    sentence: string;
    /** Who takes over; null where nobody does. */
    to: string | null;
    /** The agent's circuit breaker had tripped. */
    aggressive: boolean;
    /** The iteration whose prompt said so; null: none did yet. */
    told_in: number | null;
  }[];
  questions: string[];
  commit: string | null;
  time: TimeJson;
  usage: {
    input_tokens: number;
    output_tokens: number;
    cost_usd: number | null;
    /** `estimated`: part of it is tokens by the price table; `subscription`: all of it is paid by one; null: no price is known. */
    cost_source: CostSource;
    /** It was cut off: at least so much. */
    partial: boolean;
  };
  next: string;
}

export interface Viewpoint {
  /** Epoch ms. */
  now: number;
  live: LiveInfo;
}

export function iterationJson(story: Story, told: IterationStory, view: Viewpoint): IterationJson {
  const { usage } = told;
  return {
    iteration: told.iteration,
    cycle: told.cycle,
    wave: told.wave,
    role: told.item.role,
    mode: told.item.mode,
    task_id: told.item.task ?? null,
    attempt: told.attempt,
    agent: told.agent,
    model: told.model,
    outcome: outcomeOf(told, view.live),
    started_at: iso(told.startedAt),
    ended_at: told.endedAt === null ? null : iso(told.endedAt),
    duration_s: told.durationMs === null ? null : told.durationMs / 1000,
    claim: claimJson(told),
    evidence: evidenceJson(told),
    works: worksJson(told),
    review: reviewJson(told),
    report: told.reportFile,
    receipt: told.receipt && receiptJson(told.receipt, acceptanceOf(story, told)),
    gates: told.gates.map(({ when, result }) => ({
      gate: result.gate,
      run: result.run,
      when,
      outcome: result.outcome,
      exit_code: result.exitCode,
      tests: result.tests,
      duration_ms: result.durationMs,
      failures: result.failures,
      excerpt: result.excerpt,
    })),
    verdict: told.verdict && {
      value: told.verdict.value,
      charged: told.verdict.charged,
      reason: told.verdict.reason,
      moved_to: told.moved?.to ?? null,
    },
    findings: (told.verdict?.findings ?? []).map(({ kind, detail }) => ({
      kind,
      event_type: FINDINGS[kind].eventType,
      severity: FINDINGS[kind].severity,
      detail,
    })),
    corrections: told.interventions.map(({ kind, findings, sentence, agent, aggressive }) => ({
      kind,
      findings,
      sentence,
      to: agent ?? null,
      aggressive: aggressive ?? false,
      told_in: toldIn(story, told, sentence),
    })),
    questions: told.questions,
    commit: commitOf(told),
    time: timeOf(told, view.now),
    usage: {
      input_tokens: usage?.inputTokens ?? 0,
      output_tokens: usage?.outputTokens ?? 0,
      cost_usd: usage?.costUsd ?? null,
      cost_source: usage ? costSource(spentIn(usage)) : null,
      partial: usage?.partial === true,
    },
    next: afterIteration(story, told, view),
  };
}

function claimJson({ claim, report }: IterationStory): IterationJson['claim'] {
  if (!claim) return null;
  return {
    kind: claim.kind,
    via: claim.via,
    text: claim.text,
    summary: claim.result?.summary ?? '',
    files: claim.files,
    evidence: claim.result?.evidence ?? [],
    last_words: (report?.finalMessage ?? '').slice(-500),
  };
}

function evidenceJson(told: IterationStory): IterationJson['evidence'] {
  return {
    change_count: told.changeCount,
    files: told.changes.map((change) => ({ path: change.path, change: changeWord(change) })),
    commits: told.commits,
    ending: told.report?.ending ?? null,
    exit_code: told.report?.exitCode ?? null,
    signal: told.report?.signal ?? null,
    error: told.report?.error ? `${told.report.error.kind}: ${told.report.error.message}` : null,
    stopped_for: told.stoppedFor,
    lost: told.lost,
    rewritten: {
      count: told.rewritten.count,
      paths: told.rewritten.paths,
      other_count: told.rewritten.otherCount,
      others: told.rewritten.others,
    },
    trespass: told.trespass,
    removed_refs: told.removedRefs,
    moved_branches: told.movedRefs.map((moved) => movedJson(told.iteration, moved)),
  };
}

function changeWord({ before, after }: Change): 'added' | 'changed' | 'removed' {
  if (before === null) return 'added';
  return after === null ? 'removed' : 'changed';
}

function timeOf(told: IterationStory, now: number): TimeJson {
  const running = told.endedAt === null ? now - told.startedAt : null;
  const { time, wallMs, idleMs } = told;
  return explainTime({ time, wallMs, idleMs, usedMs: told.durationMs ?? running });
}

/** What came after it, or what comes: the next iteration of its task, else what the law says now. */
export function afterIteration(story: Story, told: IterationStory, view: Viewpoint): string {
  const task = told.item.task;
  if (task === undefined) return afterCall(story, told) ?? nextWords(story.state, view.now, view.live);
  for (let later = told.iteration + 1; later <= (story.last.get(task) ?? 0); later++) {
    const other = story.iterations.get(later);
    if (other?.item.task !== task) continue;
    return `iteration ${later} (${other.item.mode}) took ${task} further: ${outcomeOf(other)}`;
  }
  const state = story.state.tasks.get(task);
  return state ? taskNext(story.state, state, view) : `${task} is no longer in the list`;
}

/** The same story as text: one labelled line for each part, more where there is more to say. */
export function iterationText(story: Story, told: IterationStory, view: Viewpoint): string {
  const { iteration, item, attempt, agent } = told;
  const head = `iteration ${iteration} · ${callName(item)} · attempt ${attempt} · ${agent} — ${outcomeOf(told, view.live).replace('_', ' ')}`;
  const lines = [
    row('claim', claimWords(told, view.live)),
    row('evidence', evidenceWords(told)),
    ...files(story, told),
    ...worksRows(told).map(([label, text]) => row(label, text)),
    ...reviewRows(reviewJson(told)).map(([label, text]) => row(label, text)),
    ...(told.reportFile === null ? [] : [row('report', told.reportFile)]),
    ...(told.receipt === null
      ? []
      : receiptLines(told.receipt, acceptanceOf(story, told)).map((line, at) =>
          row(at === 0 ? 'receipt' : '', line),
        )),
    ...gateRows(told),
    ...rewrittenRows(told),
    row('verdict', verdictWords(story, told)),
    ...findingRows(told),
    ...told.interventions.map((chosen) => row('correction', correctionWords(story, told, chosen))),
    ...told.questions.map((id) => row('question', questionWords(story, id))),
    row('time', timeOf(told, view.now).text),
    row('cost', costWords(told)),
    row('next', afterIteration(story, told, view)),
  ];
  return [head, ...lines].join('\n');
}

function correctionWords(story: Story, told: IterationStory, chosen: Intervention): string {
  const words = oneLine(chosen.sentence, 600) || 'no words';
  const name = correctionName(chosen);
  if (chosen.kind === 'question' || chosen.sentence === '') return `${name}: ${words}`;
  const later = toldIn(story, told, chosen.sentence);
  const nobody = told.verdict?.value === 'accepted' ? TOLD_WORDS.nobody : TOLD_WORDS.to_come;
  return `${name} (${later === null ? nobody : `told in iteration ${later}`}): ${words}`;
}

function acceptanceOf({ state }: Story, { item }: IterationStory): readonly string[] {
  return (item.task === undefined ? undefined : state.tasks.get(item.task))?.def.acceptance ?? [];
}

function row(label: string, text: string): string {
  return `  ${label.padEnd(10)} ${text}`;
}

function claimWords({ claim, report, lost }: IterationStory, live: LiveInfo): string {
  if (!claim) return lost === null ? `none yet: ${atWork(live)}` : 'none: the attempt was lost';
  const words = claim.text || claim.result?.summary || '';
  const said = words === '' ? '' : `: “${oneLine(words, 300)}”`;
  if (claim.kind !== 'none') return `${claim.kind} (${VIA[claim.via]})${said}`;
  const last = oneLine(report?.finalMessage ?? '', 200);
  return `none${last === '' ? '; the last message was empty' : `; last words: “${last}”`}`;
}

/** Who is to bring the claim. */
function atWork({ runner, silent }: LiveInfo): string {
  if (runner !== null) return 'the agent is still at work';
  if (silent) return `its run on ${oneLine(silent.host, 60)} is silent`;
  return 'its run is gone; the next one ends what is left of it and takes what it reported';
}

const VIA = {
  outbox: 'said with ralph emit',
  result: 'a result object',
  tag: 'a promise tag',
  status: 'a status block',
  task_file: 'a mark in the task file',
  none: 'not said',
} as const;

function evidenceWords(told: IterationStory): string {
  if (told.lost !== null) return `lost: ${oneLine(told.lost)}; ${count(told.changeCount, 'file')} changed`;
  if (!told.report) return 'none yet';
  const { ending, error, signal, exitCode, timeout } = told.report;
  const ends = {
    ended: `ended by itself (exit ${exitCode ?? 'unknown'})`,
    died: `died: ${error ? `${error.kind}: ${oneLine(error.message)}` : (signal ?? `exit ${exitCode}`)}`,
    timed_out: `ran out of ${timeout === 'idle' ? 'silence' : 'time'}`,
    interrupted: `was ended for ${told.stoppedFor === null ? 'an interruption' : STOPPED_FOR[told.stoppedFor]}`,
  }[ending];
  const commits = told.commits.length > 0 ? `, ${count(told.commits.length, 'commit')} by the agent` : '';
  return `the agent ${ends}; ${count(told.changeCount, 'file')} changed${commits}`;
}

function files({ state }: Story, told: IterationStory): string[] {
  const changed = told.changes.map((change) => `${pathWord(change.path)} (${changeWord(change)})`);
  const listed = changed.length > 0 ? [row('', some(changed, 8))] : [];
  const removed = told.removedRefs.map((command) =>
    row('', `removed meanwhile; \`${oneLine(command, 300)}\` brings it back`),
  );
  // What is held against it stands among its trespasses.
  const held = new Set(told.trespass.map(({ path }) => path));
  const free = told.movedRefs.filter(({ ref }) => !held.has(ref));
  const moved = movedLines(
    free.map((one) => movedJson(told.iteration, one)),
    (command) => commandFor(state, command),
  ).map((line) => row('', line));
  return [
    ...listed,
    ...moved,
    ...told.trespass.slice(0, 5).map(({ detail }) => row('', oneLine(detail))),
    ...removed,
  ];
}

function gateRows(told: IterationStory): string[] {
  const after = told.gates.filter(({ when }) => when === 'after');
  if (after.length === 0) {
    // A call that no gate judges owes none.
    if (told.works !== null && !MODES[told.item.mode].runsGates) return [];
    const why = told.verdict ? 'none ran for this attempt' : 'not run yet';
    return [row('gates', why)];
  }
  return after.flatMap(({ result }) => {
    const tests = result.tests === null ? '' : `, ${count(result.tests, 'test')}`;
    const failing = result.failures.length > 0 ? ` · failing: ${some(result.failures, 5)}` : '';
    const line = `${oneLine(result.gate, 40)} (${oneLine(result.run, 80)}): ${result.outcome}, exit ${result.exitCode ?? 'none'}${tests}, ${duration(result.durationMs)}${failing}`;
    if (result.outcome === 'passed' || result.failures.length > 0) return [row('gates', line)];
    const output = plain(result.excerpt, 1_200)
      .split('\n')
      .slice(-6)
      .filter((text) => text.trim() !== '');
    return [row('gates', line), ...output.map((text) => row('', `│ ${oneLine(text, 160)}`))];
  });
}

function rewrittenRows({ rewritten }: IterationStory): string[] {
  const { paths, count: many, others, otherCount } = rewritten;
  const own = `the gates rewrote ${count(many, 'file')} of the task, and ran again on that: ${some(paths.map(pathWord), 5)}`;
  const rest = `${count(otherCount, 'other file')} changed while they ran, left uncommitted: ${some(others.map(pathWord), 5)}`;
  return [...(many === 0 ? [] : [row('', own)]), ...(otherCount === 0 ? [] : [row('', rest)])];
}

function verdictWords(story: Story, told: IterationStory): string {
  const { verdict } = told;
  if (!verdict)
    return told.lost !== null || told.report?.ending === 'interrupted'
      ? 'none: it is not judged, and not counted as a try'
      : 'not reached yet';
  const task = story.state.tasks.get(told.item.task ?? '');
  const max = story.state.policy?.limits.maxTaskAttempts;
  const budget = task && max !== undefined ? ` of at most ${max}` : '';
  const returned = told.works !== null && told.item.task === undefined;
  const charge = returned ? ' (returned with these errors)' : ` (counts as a try${budget})`;
  const cost = verdict.charged ? charge : '';
  const moved = told.moved === null ? '' : `; the task is now ${told.moved.to}`;
  return `${verdict.value}${cost}: ${oneLine(verdict.reason, 400)}${moved}`;
}

function findingRows(told: IterationStory): string[] {
  return (told.verdict?.findings ?? []).map(({ kind, detail }) =>
    row('finding', `${kind} (${FINDINGS[kind].severity}): ${oneLine(detail, 400)}`),
  );
}

function questionWords(story: Story, id: string): string {
  const asked = story.state.questions.get(id);
  if (!asked) return id;
  const answer =
    asked.answer === null
      ? ''
      : `: ${oneLine(asked.answer)}${asked.by === null ? '' : ` (${oneLine(asked.by, 60)})`}`;
  return `${id} ${oneLine(asked.question.text)} — ${asked.state}${answer}`;
}

function costWords({ usage, lost }: IterationStory): string {
  if (usage === null) return lost === null ? 'not known yet' : 'not known: its output told none';
  const { inputTokens, outputTokens, partial } = usage;
  const least = partial ? 'at least ' : '';
  return `${least}${spentWords(spentIn(usage))} · ${tally(inputTokens)} tokens in, ${tally(outputTokens)} out`;
}
