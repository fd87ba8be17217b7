/**
 * How an agent behaves over time, from one note per judged iteration: how often it changed nothing or
 * claimed what was not so, whether a correction helped, and whether it is getting better. Per agent, and per
 * agent and class of task.
 */
import { classOf, type Policy, type VerdictValue } from '../core/index.ts';
import { type InterventionJson, interventionJson } from './interventions.ts';
import { evidenceCount } from './receipt.ts';
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

/** The events of these notes, oldest first. */
export function notedEvents(notes: readonly IterationNote[]): InterventionJson[] {
  return notes.flatMap(({ session, iteration, at, events }) =>
    events.map((event) => ({ session_id: session, iteration, timestamp: iso(at), ...event })),
  );
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
  /** Corrected findings whose task was tried again, and those that did not come back. */
  remediation: { followed: number; remedied: number; success_rate: number | null };
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

/** One profile for each agent that was judged, the busiest first. Notes come in the order of their time. */
export function profilesOf(notes: readonly IterationNote[]): ProfileJson[] {
  return [...grouped(notes, (note) => note.agent)]
    .map(([agent, own]) => profileOf(agent, own))
    .sort((a, b) => b.total_iterations - a.total_iterations || (a.agent_id < b.agent_id ? -1 : 1));
}

function profileOf(agent: string, notes: IterationNote[]): ProfileJson {
  const classes = grouped(notes, (note) => note.class);
  const recent = notes.slice(-RECENT);
  const before = notes.slice(0, -RECENT);
  const reinforced = notes.findLast((note) => has(note, 'agent_reinforced'));
  return {
    agent_id: agent,
    ...behaviour(notes),
    last_reinforcement: reinforced === undefined ? null : iso(reinforced.at),
    intervention_threshold_exceeded: exceeds(notes.slice(-WINDOW)),
    remediation: remediation(notes),
    by_class: Object.fromEntries([...classes].sort().map(([name, own]) => [name, behaviour(own)])),
    trend: { last_20: trend(recent), before: trend(before) },
    intervention_history: history(notes),
  };
}

/** By the key's value, in the order of first sight; null belongs nowhere. */
function grouped(
  notes: readonly IterationNote[],
  keyOf: (note: IterationNote) => string | null,
): Map<string, IterationNote[]> {
  const groups = new Map<string, IterationNote[]>();
  for (const note of notes) {
    const key = keyOf(note);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [note]);
    else group.push(note);
  }
  return groups;
}

function behaviour(notes: IterationNote[]): Behaviour {
  const verified = notes.filter((note) => note.outcome === 'accepted').map((note) => note.durationMs / 1000);
  return {
    total_iterations: notes.length,
    accepted: verified.length,
    timed_out: counted(notes, 'timed_out'),
    no_files_count: counted(notes, 'no_files_detected'),
    false_completion_count: counted(notes, 'false_completion_detected'),
    avg_files_per_iteration: mean(notes.map((note) => note.files)),
    avg_evidence_count: mean(notes.map((note) => note.evidence)),
    verified_p90_s: verified.length < VERIFIED_LEAST ? null : Math.ceil(percentile(verified, 0.9)),
  };
}

function trend(notes: IterationNote[]): Trend | null {
  if (notes.length === 0) return null;
  const share = (part: number) => rounded(part / notes.length);
  const { accepted, no_files_count, false_completion_count, avg_files_per_iteration } = behaviour(notes);
  return {
    iterations: notes.length,
    accepted_rate: share(accepted),
    no_files_rate: share(no_files_count),
    false_completion_rate: share(false_completion_count),
    avg_files_per_iteration,
  };
}

function exceeds(last: IterationNote[]): boolean {
  const { noFiles, falseCompletion } = last.at(-1)!.thresholds;
  return (
    counted(last, 'no_files_detected') >= noFiles ||
    counted(last, 'false_completion_detected') >= falseCompletion
  );
}

/** A correction helped where the task's next attempt by the same agent does not show the finding again. */
function remediation(notes: IterationNote[]): ProfileJson['remediation'] {
  const open = new Map<string, Set<string>>();
  let [followed, remedied] = [0, 0];
  for (const note of notes) {
    const subject = `${note.session}\0${note.mode}\0${note.task ?? ''}`;
    const now = new Set(note.events.map(kindOf));
    for (const kind of open.get(subject) ?? []) {
      followed += 1;
      if (!now.has(kind)) remedied += 1;
    }
    const corrected = note.events.filter((event) => event.remediation_attempted);
    open.set(subject, new Set(corrected.map(kindOf).filter((kind) => kind !== 'agent_reinforced')));
  }
  return { followed, remedied, success_rate: followed === 0 ? null : rounded(remedied / followed) };
}

function history(notes: IterationNote[]): ProfileJson['intervention_history'] {
  const events: ProfileJson['intervention_history'] = [];
  for (let i = notes.length - 1; i >= 0 && events.length < HISTORY_MOST; i--) {
    const { iteration, at, events: own } = notes[i]!;
    events.unshift(...own.map((event) => ({ iteration, timestamp: iso(at), ...event })));
  }
  return events.slice(-HISTORY_MOST);
}

/** The finding's own name where it has one, else the type of its event. */
function kindOf({ event_type, details }: NotedEvent): string {
  return typeof details.finding === 'string' ? details.finding : event_type;
}

/** Iterations in which an event of this type, or a finding of this name, was noted. */
function counted(notes: IterationNote[], type: string): number {
  return notes.filter((note) => has(note, type)).length;
}

function has(note: IterationNote, type: string): boolean {
  return note.events.some((event) => event.event_type === type || event.details.finding === type);
}

function mean(values: number[]): number {
  return values.length === 0 ? 0 : rounded(values.reduce((sum, value) => sum + value, 0) / values.length);
}

function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1]!;
}

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
export function profileFile(notes: readonly IterationNote[]): object {
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
  return `${count(own.total_iterations, 'iteration')}, ${own.accepted} accepted · ${own.no_files_count} without files · ${own.false_completion_count} false completions · ${own.timed_out} timed out · ${own.avg_files_per_iteration} files and ${own.avg_evidence_count} entries of evidence on average${verified}`;
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
