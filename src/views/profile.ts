/**
 * How an agent behaves over time, from one note per judged iteration: how often it changed nothing or
 * claimed what was not so, whether a correction helped, and whether it is getting better. Per agent, and per
 * agent and class of task.
 */
import {
  COMPLEXITIES,
  classOf,
  type Durations,
  noDurations,
  type Policy,
  rememberDuration,
  type VerdictValue,
} from '../core/index.ts';
import { type InterventionJson, interventionJson } from './interventions.ts';
import { evidenceCount } from './receipt.ts';
import { follows, type Sequel } from './sequel.ts';
import type { FindingStory, Story } from './story.ts';
import { count, oneLine } from './words.ts';

/** One finding or correction, as the note of its iteration carries it. */
export type NotedEvent = Omit<InterventionJson, 'session_id' | 'iteration' | 'timestamp'>;

/** What one judged iteration leaves in the project journal; it outlives its session. */
export interface IterationNote {
  session: string;
  iteration: number;
  /** Epoch ms of the verdict. */
  at: number;
  agent: string;
  task: string | null;
  /** The task's class by its words; null: work on no task. */
  class: string | null;
  mode: string;
  outcome: VerdictValue;
  /** Files that differ after the attempt. */
  files: number;
  /** Entries of evidence in the claim. */
  evidence: number;
  durationMs: number;
  events: NotedEvent[];
  /** How many of its last five attempts may be so, when this one was judged. */
  thresholds: Thresholds;
}

/** The note on an iteration whose verdict was just told; null where it is not known. */
export function iterationNote(
  story: Story,
  { iteration, at, events }: { iteration: number; at: number; events: FindingStory[] },
): IterationNote | null {
  const told = story.iterations.get(iteration);
  if (told?.verdict == null) return null;
  const task = told.item.task ?? null;
  const state = task === null ? undefined : story.state.tasks.get(task);
  return {
    session: story.state.session?.id ?? '',
    iteration,
    at,
    agent: told.agent,
    task,
    class: state === undefined ? null : classOf(story.state.policy, state.def).level,
    mode: told.item.mode,
    outcome: told.verdict.value,
    files: told.changeCount,
    evidence: evidenceCount(told),
    durationMs: told.durationMs ?? 0,
    events: events.map((event) => {
      const { session_id: _, iteration: __, timestamp: ___, ...noted } = interventionJson(story, event);
      return noted;
    }),
    thresholds: thresholdsOf(story.state.policy),
  };
}

/** The events of these notes, oldest first, one after the other. `sequel` learns what followed each, as they go by. */
export function* notedEvents(
  notes: Iterable<IterationNote>,
  sequel: Sequel | null = null,
): Generator<InterventionJson> {
  for (const { session, iteration, at, events, agent, task, outcome } of notes) {
    if (sequel !== null) follows(sequel, { session, iteration, agent, task }, outcome);
    if (events.length === 0) continue;
    const timestamp = iso(at);
    for (const { event_type, severity, details, remediation_attempted } of events)
      yield {
        session_id: session,
        iteration,
        event_type,
        timestamp,
        severity,
        details,
        remediation_attempted,
      };
  }
}

interface Thresholds {
  /** Attempts without files among an agent's last five that are too many. */
  noFiles: number;
  falseCompletion: number;
}

export interface Behaviour {
  total_iterations: number;
  accepted: number;
  timed_out: number;
  no_files_count: number;
  false_completion_count: number;
  avg_files_per_iteration: number;
  avg_evidence_count: number;
  /** Seconds that nine of ten accepted attempts stayed within; null below five of them. */
  verified_p90_s: number | null;
}

export interface Trend {
  iterations: number;
  accepted_rate: number;
  no_files_rate: number;
  false_completion_rate: number;
  avg_files_per_iteration: number;
}

export interface ProfileJson extends Behaviour {
  agent_id: string;
  /** ISO 8601; null: never. */
  last_reinforcement: string | null;
  intervention_threshold_exceeded: boolean;
  /**
   * Corrected findings whose task this agent tried next, and those that did not come back: whether it heeds.
   * `handed_over`: those whose task another agent tried next, which say nothing of this one.
   */
  remediation: {
    followed: number;
    remedied: number;
    success_rate: number | null;
    handed_over: { followed: number; remedied: number };
  };
  by_class: Record<string, Behaviour>;
  /** The last twenty iterations, and all before them; null where there are none. */
  trend: { last_20: Trend | null; before: Trend | null };
  intervention_history: (NotedEvent & { iteration: number; timestamp: string })[];
}

const RECENT = 20;
/** The circuit breaker looks at as many. */
const WINDOW = 5;
const HISTORY_MOST = 50;
const VERIFIED_LEAST = 5;

/**
 * One profile for each agent that was judged, the busiest first. Notes come in the order of their time, and
 * none is kept: ten thousand cost no more room than one.
 */
export function profilesOf(notes: Iterable<IterationNote>): ProfileJson[] {
  const agents = new Map<string, Course>();
  for (const note of notes) {
    const course = entryOf(agents, note.agent, newCourse);
    follow(course, note);
    for (const other of agents.values()) if (other !== course) handOver(other, note);
  }
  return [...agents]
    .map(([agent, course]) => profileOf(agent, course))
    .sort((a, b) => b.total_iterations - a.total_iterations || (a.agent_id < b.agent_id ? -1 : 1));
}

/** What accepted attempts of each class took, ms, the newest last; null where there is none. */
export function verifiedDurations(notes: Iterable<IterationNote>): Durations | null {
  const durations = noDurations();
  let any = false;
  for (const { outcome, mode, class: named, durationMs } of notes) {
    const level = COMPLEXITIES.find((one) => one === named);
    if (outcome !== 'accepted' || mode === 'TASK_REVIEW' || level === undefined) continue;
    rememberDuration(durations, level, durationMs);
    any = true;
  }
  return any ? durations : null;
}

/** What is counted of some iterations. */
interface Tally {
  total: number;
  accepted: number;
  timedOut: number;
  noFiles: number;
  falseCompletion: number;
  files: number;
  evidence: number;
  /** Seconds of accepted attempts. */
  verifiedS: number[];
}

const newTally = (): Tally => ({
  total: 0,
  accepted: 0,
  timedOut: 0,
  noFiles: 0,
  falseCompletion: 0,
  files: 0,
  evidence: 0,
  verifiedS: [],
});

function countIn(tally: Tally, note: IterationNote): void {
  tally.total += 1;
  tally.files += note.files;
  tally.evidence += note.evidence;
  if (note.outcome === 'accepted') {
    tally.accepted += 1;
    tally.verifiedS.push(note.durationMs / 1000);
  }
  if (has(note, 'timed_out')) tally.timedOut += 1;
  if (has(note, 'no_files_detected')) tally.noFiles += 1;
  if (has(note, 'false_completion_detected')) tally.falseCompletion += 1;
}

function entryOf<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** How one agent has done so far. */
interface Course {
  all: Tally;
  classes: Map<string, Tally>;
  /** The newest twenty, and all before them. */
  recent: IterationNote[];
  before: Tally;
  reinforcedAt: number | null;
  /** Corrected kinds by subject, until its next attempt by whomever. */
  open: Map<string, string[]>;
  followed: number;
  remedied: number;
  /** The same where the next attempt was another agent's. */
  handedOver: { followed: number; remedied: number };
  /** The newest notes that carry events. */
  told: IterationNote[];
}

const newCourse = (): Course => ({
  all: newTally(),
  classes: new Map(),
  recent: [],
  before: newTally(),
  reinforcedAt: null,
  open: new Map(),
  followed: 0,
  remedied: 0,
  handedOver: { followed: 0, remedied: 0 },
  told: [],
});

function follow(course: Course, note: IterationNote): void {
  countIn(course.all, note);
  if (note.class !== null) countIn(entryOf(course.classes, note.class, newTally), note);
  if (course.recent.push(note) > RECENT) countIn(course.before, course.recent.shift()!);
  if (has(note, 'agent_reinforced')) course.reinforcedAt = note.at;
  remedy(course, note);
  // Each carries one event at least.
  if (note.events.length > 0 && course.told.push(note) > HISTORY_MOST) course.told.shift();
}

/** Findings that no files were changed. */
const UNTOUCHED: ReadonlySet<string> = new Set(['no_files_detected', 'bookkeeping_only']);

const subjectOf = ({ session, mode, task }: IterationNote) => `${session} ${mode} ${task ?? ''}`;

/** A correction helped where the task's next attempt does not show the finding again. */
function countRemedied(open: readonly string[], { events, files }: IterationNote): number {
  // What an earlier attempt left may be accepted later; an attempt that changes nothing has mended nothing.
  return open.filter(
    (kind) => !(files === 0 && UNTOUCHED.has(kind)) && !events.some((event) => kindOf(event) === kind),
  ).length;
}

function remedy(course: Course, note: IterationNote): void {
  const subject = subjectOf(note);
  const open = course.open.get(subject) ?? [];
  course.followed += open.length;
  course.remedied += countRemedied(open, note);
  const corrected: string[] = [];
  for (const event of note.events) {
    const kind = kindOf(event);
    if (event.remediation_attempted && kind !== 'agent_reinforced' && !corrected.includes(kind))
      corrected.push(kind);
  }
  course.open.set(subject, corrected);
}

/** Another agent made the next attempt: what comes of it is counted, and not as this agent's. */
function handOver(course: Course, note: IterationNote): void {
  const subject = subjectOf(note);
  const open = course.open.get(subject) ?? [];
  course.handedOver.followed += open.length;
  course.handedOver.remedied += countRemedied(open, note);
  course.open.delete(subject);
}

function profileOf(agent: string, course: Course): ProfileJson {
  const { all, classes, recent, before, reinforcedAt, followed, remedied, handedOver, told } = course;
  const last = newTally();
  for (const note of recent) countIn(last, note);
  const byClass = [...classes].sort().map(([name, own]) => [name, behaviour(own)]);
  return {
    agent_id: agent,
    ...behaviour(all),
    last_reinforcement: reinforcedAt === null ? null : iso(reinforcedAt),
    intervention_threshold_exceeded: exceeds(recent.slice(-WINDOW)),
    remediation: {
      followed,
      remedied,
      success_rate: followed === 0 ? null : rounded(remedied / followed),
      handed_over: handedOver,
    },
    by_class: Object.fromEntries(byClass),
    trend: { last_20: trend(last), before: trend(before) },
    intervention_history: history(told),
  };
}

function behaviour(tally: Tally): Behaviour {
  const { total, verifiedS } = tally;
  return {
    total_iterations: total,
    accepted: tally.accepted,
    timed_out: tally.timedOut,
    no_files_count: tally.noFiles,
    false_completion_count: tally.falseCompletion,
    avg_files_per_iteration: total === 0 ? 0 : rounded(tally.files / total),
    avg_evidence_count: total === 0 ? 0 : rounded(tally.evidence / total),
    verified_p90_s: verifiedS.length < VERIFIED_LEAST ? null : Math.ceil(percentile(verifiedS, 0.9)),
  };
}

function trend(tally: Tally): Trend | null {
  const { total } = tally;
  if (total === 0) return null;
  return {
    iterations: total,
    accepted_rate: rounded(tally.accepted / total),
    no_files_rate: rounded(tally.noFiles / total),
    false_completion_rate: rounded(tally.falseCompletion / total),
    avg_files_per_iteration: rounded(tally.files / total),
  };
}

function exceeds(last: IterationNote[]): boolean {
  const { noFiles, falseCompletion } = last.at(-1)!.thresholds;
  const tally = newTally();
  for (const note of last) countIn(tally, note);
  return tally.noFiles >= noFiles || tally.falseCompletion >= falseCompletion;
}

function history(notes: IterationNote[]): ProfileJson['intervention_history'] {
  return notes
    .flatMap(({ iteration, at, events }) =>
      events.map((event) => ({ iteration, timestamp: iso(at), ...event })),
    )
    .slice(-HISTORY_MOST);
}

/** The finding's own name where it has one, else the type of its event. */
function kindOf({ event_type, details }: NotedEvent): string {
  return typeof details.finding === 'string' ? details.finding : event_type;
}

/** An event of this type, or a finding of this name, was noted. */
function has(note: IterationNote, type: string): boolean {
  return note.events.some((event) => event.event_type === type || event.details.finding === type);
}

function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1]!;
}

/** For a person: one decimal. */
const tenths = (value: number) => Number(value.toFixed(1));

function rounded(value: number): number {
  return Number(value.toFixed(4));
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

/** The thresholds of a policy, or the product's own where none is known. */
function thresholdsOf(policy: Policy | null): Thresholds {
  const { thresholdNoFiles: noFiles = 3, thresholdFalseCompletion: falseCompletion = 2 } =
    policy?.interventions ?? {};
  return { noFiles, falseCompletion };
}

/** `interventions/profile.json`; a lone agent's fields also stand at the top, where other tools look for them. */
export function profileFile(notes: Iterable<IterationNote>): object {
  const profiles = profilesOf(notes);
  const agents = Object.fromEntries(profiles.map((profile) => [profile.agent_id, profile]));
  return { $schema: 'ralph_gold.profile.v1', ...(profiles.length === 1 ? profiles[0] : {}), agents };
}

/** The profiles as a person reads them. */
export function profilesText(profiles: readonly ProfileJson[]): string {
  if (profiles.length === 0) {
    return 'No attempt was judged in this project, or none since `ralph interventions --reset`; `ralph run` makes the next.';
  }
  return profiles.map(profileText).join('\n\n');
}

function profileText(profile: ProfileJson): string {
  const { remediation: helped, trend: now } = profile;
  const lines = [
    `${oneLine(profile.agent_id, 60)}: ${behaviourText(profile)}`,
    ...Object.entries(profile.by_class).map(([name, own]) => `  ${name}: ${behaviourText(own)}`),
  ];
  if (helped.success_rate !== null) {
    lines.push(
      `  corrections: ${helped.remedied} of ${count(helped.followed, 'finding')} did not come back in the task’s next attempt (${percent(helped.success_rate)})`,
    );
  }
  const { followed, remedied } = helped.handed_over;
  if (followed > 0) {
    lines.push(
      `  given to another agent, and not counted above: ${count(followed, 'finding')}, of which ${remedied} did not come back there`,
    );
  }
  if (now.last_20 !== null && now.before !== null) {
    lines.push(
      `  accepted: ${percent(now.last_20.accepted_rate)} of the last ${now.last_20.iterations}, ${percent(now.before.accepted_rate)} of the ${now.before.iterations} before · no files: ${percent(now.last_20.no_files_rate)}, before ${percent(now.before.no_files_rate)} · false completions: ${percent(now.last_20.false_completion_rate)}, before ${percent(now.before.false_completion_rate)}`,
    );
  }
  if (profile.last_reinforcement !== null) lines.push(`  last reinforced at ${profile.last_reinforcement}`);
  if (profile.intervention_threshold_exceeded) {
    lines.push(
      '  over its threshold: too many of its last five attempts changed nothing or claimed what was not so. `ralph interventions` shows them; another agent can take over with `fallback:` in ralph.yml',
    );
  }
  return lines.join('\n');
}

function behaviourText(own: Behaviour): string {
  const verified =
    own.verified_p90_s === null ? '' : ` · nine of ten accepted within ${own.verified_p90_s} s`;
  return `${count(own.total_iterations, 'iteration')}, ${own.accepted} accepted · ${own.no_files_count} without files · ${own.false_completion_count} false completions · ${own.timed_out} timed out · ${tenths(own.avg_files_per_iteration)} files and ${tenths(own.avg_evidence_count)} entries of evidence on average${verified}`;
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
