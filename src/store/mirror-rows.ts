/**
 * What the mirrors remember of the journal beside the state: the story, and from it the rows of
 * `summary.csv` and the lines of `events.jsonl` as they come. An iteration's row is written when its
 * wave is closed; from then on only the light part of its story is kept.
 */
import { type Fact, FINDINGS, type JournalRecord, MODES, type Severity } from '../core/index.ts';
import { summaryCsvHeader, summaryCsvRow, writeEventsLine } from '../dialects/index.ts';
import {
  csvRow,
  emptyStory,
  type IterationNote,
  type IterationStory,
  iterationNote,
  reinforcedRow,
  type Story,
  tell,
} from '../views/index.ts';
import { type CycleTimes, newCycleTimes, tellCycle } from './mirror-cycles.ts';

/** Numbers for `metrics.json`. */
export interface Tallies {
  byType: Record<string, number>;
  bySeverity: Record<Severity, number>;
  /** Findings that had a next attempt, and those the next attempt did not repeat. */
  followed: number;
  remedied: number;
  /** Findings of the last verdict, by what it was about. */
  lastKinds: Map<string, Set<string>>;
  /** Milliseconds by mode, and of gates. */
  stageMs: Record<string, number>;
}

export interface Telling {
  story: Story;
  /** The last record told. */
  seq: number;
  cycles: CycleTimes;
  tallies: Tallies;
  /** Iterations without a row. */
  open: number[];
  /** Text for `summary.csv` and `events.jsonl` since it was last taken. */
  rows: string[];
  topics: string[];
  /** Topics and findings of the story that were told already. */
  toldTopics: number;
  toldFindings: number;
  /** Notes on judged iterations that the project journal may not have yet, numbered from 0. */
  notes: { n: number; note: IterationNote }[];
  judged: number;
}

export function newTelling(): Telling {
  const bySeverity = { info: 0, warning: 0, critical: 0 };
  return {
    story: emptyStory(),
    seq: 0,
    cycles: newCycleTimes(),
    tallies: { byType: {}, bySeverity, followed: 0, remedied: 0, lastKinds: new Map(), stageMs: {} },
    open: [],
    rows: [],
    topics: [],
    toldTopics: 0,
    toldFindings: 0,
    notes: [],
    judged: 0,
  };
}

/** Adds one record. */
export function tellRecord(telling: Telling, record: JournalRecord): void {
  const { story } = telling;
  tell(story, { ...record, facts: record.facts.map(ownFact) });
  telling.seq = record.seq;
  for (const fact of record.facts) {
    if (fact.type === 'attempt.started') telling.open.push(fact.iteration);
    else if (fact.type === 'wave.ended' || fact.type === 'abort.done') closeRows(telling);
    tally(telling, fact);
  }
  tellCycle(telling.cycles, record, story);
  for (const { topic, payload, at, iteration, role } of story.topics.slice(telling.toldTopics)) {
    telling.topics.push(writeEventsLine({ topic, payload, at, iteration, role }));
  }
  telling.toldTopics = story.topics.length;
  takeNotes(telling, record);
  countFindings(telling);
}

/** While the iteration's claim is at hand; its corrections stand in the same record. */
function takeNotes(telling: Telling, { facts, at }: JournalRecord): void {
  const { story } = telling;
  for (const fact of facts) {
    if (fact.type !== 'verdict.reached') continue;
    const events = story.findings
      .slice(telling.toldFindings)
      .filter(({ iteration }) => iteration === fact.iteration);
    const note = iterationNote(story, { iteration: fact.iteration, at, events });
    if (note === null) continue;
    telling.notes.push({ n: telling.judged, note });
    telling.judged += 1;
  }
}

/** The engine's state holds the same facts and moves deadlines in its questions; ours are our own. */
function ownFact(fact: Fact): Fact {
  return fact.type === 'question.asked' ? { ...fact, question: { ...fact.question } } : fact;
}

function closeRows({ story, open, rows }: Telling): void {
  for (const iteration of open.splice(0)) {
    const told = story.iterations.get(iteration);
    if (told === undefined) continue;
    rows.push(rowOf(story, told));
    letGo(told);
  }
}

function rowOf(story: Story, told: IterationStory): string {
  const row = csvRow(story, told);
  return summaryCsvRow({
    iteration: row.iteration,
    mode: row.mode,
    durationMs: (row.duration_seconds ?? 0) * 1000,
    commit: row.commit_hash === '' ? null : row.commit_hash,
    storiesComplete: row.stories_complete,
    storiesTotal: row.stories_total,
    stuckCount: row.stuck_count,
    at: told.startedAt,
    task: row.task_id === '' ? null : row.task_id,
    role: row.role,
    agent: row.agent,
    model: row.model === '' ? null : row.model,
    outcome: row.outcome,
    costUsd: row.cost_usd,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
  });
}

/** Reports, gate output and path lists are in the journal; ten thousand of them would fill the memory. */
function letGo(told: IterationStory): void {
  Object.assign(told, {
    report: null,
    claim: null,
    changes: [],
    gates: [],
    trespass: [],
    works: null,
    policy: null,
  });
  Object.assign(told, { commits: told.commits.slice(-1), delivered: [], reminded: [], interventions: [] });
}

function tally({ tallies, story }: Telling, fact: Fact): void {
  const { stageMs, lastKinds } = tallies;
  const spend = (stage: string, ms: number) => {
    stageMs[stage] = (stageMs[stage] ?? 0) + ms;
  };
  if (fact.type === 'gate.ran') spend('gates', fact.result.durationMs);
  if (fact.type === 'attempt.ended') {
    const item = story.iterations.get(fact.iteration)?.item;
    if (item) spend(MODES[item.mode].csvMode, fact.durationMs);
  }
  if (fact.type !== 'verdict.reached') return;
  const subject = fact.item.task ?? `${fact.item.mode} ${fact.item.subject}`;
  const kinds = new Set<string>(fact.findings.map(({ kind }) => kind));
  for (const kind of lastKinds.get(subject) ?? []) {
    tallies.followed += 1;
    if (!kinds.has(kind)) tallies.remedied += 1;
  }
  lastKinds.set(subject, kinds);
}

function countFindings(telling: Telling): void {
  const { story, tallies } = telling;
  for (const { finding, applied } of story.findings.slice(telling.toldFindings)) {
    const row = finding ? FINDINGS[finding.kind] : reinforcedRow(applied);
    tallies.byType[row.eventType] = (tallies.byType[row.eventType] ?? 0) + 1;
    tallies.bySeverity[row.severity] += 1;
  }
  telling.toldFindings = story.findings.length;
}

/** The new rows and lines, given once. */
export function takeLines(telling: Telling): { rows: string; topics: string } {
  const taken = { rows: telling.rows.join(''), topics: telling.topics.join('') };
  telling.rows = [];
  telling.topics = [];
  return taken;
}

/** The whole of `summary.csv` from its rows; empty without any. */
export function summaryCsv(rows: string): string {
  return rows === '' ? '' : summaryCsvHeader + rows;
}
