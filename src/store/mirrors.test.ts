import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import {
  type AgentReport,
  emptyState,
  evolve,
  type Fact,
  type FindingKind,
  type Item,
  type JournalRecord,
  NO_CLAIM,
  type Policy,
  type State,
  type TaskDef,
} from '../core/index.ts';
import { type OpenedJournal, openJournal } from './journal.ts';
import { drawBehaviour, openMirrors } from './mirrors.ts';
import { INTERVENTIONS_RESET } from './notes.ts';
import { appendProject } from './project.ts';

const T0 = Date.UTC(2026, 0, 1, 12);
const ID = '260101-120000';
let main: string;
let session: string;
let warnings: string[];
beforeEach(() => {
  main = mkdtempSync(join(tmpdir(), 'ralph-mirrors-'));
  session = join(main, '.ralph-sessions', ID);
  mkdirSync(session, { recursive: true });
  warnings = [];
});
afterEach(() => rmSync(main, { recursive: true, force: true }));

const inSession = (path: string) => join(session, path);
const inProject = (path: string) => join(main, '.ralph', path);
const text = (path: string) => readFileSync(path, 'utf8');
const summary = () => text(inSession('logs/summary.csv'));

const policy = {
  team: 'solo',
  modes: ['implement'],
  agent: 'claude',
  model: 'opus',
  gates: [],
  limits: { retryDelaysS: [0], maxTaskAttempts: 3, maxStuck: 3, cooldownS: 0 },
  questions: { hold: 'session', onTimeout: 'proceed' },
} as unknown as Policy;

const task = (id: string, order = 0): TaskDef => ({
  id,
  title: `Do ${id}`,
  description: '',
  acceptance: [],
  priority: 1,
  order,
  dependsOn: [],
  status: 'todo',
  files: [],
  changes: 'expected',
});

const report = (fields: Partial<AgentReport> = {}): AgentReport => ({
  ending: 'ended',
  timeout: null,
  exitCode: 0,
  signal: null,
  error: null,
  finalMessage: '',
  toolCalls: 1,
  toolFiles: [],
  commands: [],
  outputBytes: 10,
  usage: { inputTokens: 100, outputTokens: 20, costUsd: 0.25, model: null },
  sessionId: null,
  leftBehind: [],
  unknownEvents: 0,
  ...fields,
});

/** A session as a runner plays it: facts become records, the state and the mirrors follow. */
class Played {
  state: State = emptyState();
  mirrors: ReturnType<typeof openMirrors>;
  at = T0;
  iteration = 0;
  wave = 0;
  private readonly journal: OpenedJournal['journal'];
  private pending: JournalRecord[] = [];

  constructor(journal: OpenedJournal['journal'], mirrors: ReturnType<typeof openMirrors>) {
    this.journal = journal;
    this.mirrors = mirrors;
  }

  async record(...facts: Fact[]): Promise<void> {
    this.at += 1_000;
    const record = await this.journal.append(this.state.seq, this.at, facts);
    if (record === 'fenced') throw new Error('fenced');
    evolve(this.state, record);
    this.pending.push(record);
  }

  async redraw(): Promise<void> {
    const records = this.pending;
    this.pending = [];
    await this.mirrors.redraw(this.state, records);
  }

  async begin(tasks: string[]): Promise<void> {
    await this.record({
      type: 'session.created',
      id: ID,
      objective: '',
      timezone: 'UTC',
      product: 'ralph',
      ground: '.',
    });
    await this.record({
      type: 'run.started',
      policy,
      runner: { pid: 1, startTime: '', host: '', boot: '' },
      dirty: [],
      spentTodayUsd: 0,
      reopened: false,
      flags: {},
    });
    await this.record({
      type: 'tasks.read',
      source: { kind: 'file', path: 'prd.json', dialect: 'tasks-json', reviewed: false },
      sha256: '',
      set: tasks.map(task),
      gone: [],
      by: 'person',
    });
    await this.record({ type: 'phase.entered', phase: 'BATCHING' });
  }

  /** One iteration from its wave's opening to its closing, with a redraw after each step. */
  async iterate(
    id: string,
    how: { done?: boolean; findings?: FindingKind[]; commit?: string } = {},
  ): Promise<void> {
    const iteration = ++this.iteration;
    const wave = ++this.wave;
    const item: Item = { role: 'executor', mode: 'implement', subject: id, task: id };
    const mark = { head: 'a'.repeat(40), branch: 'main', tree: `tree${iteration}` };
    const { done = true, findings = [] } = how;
    const work = { path: 'x', sha256: 'x' };
    await this.record({ type: 'wave.started', wave, items: [{ iteration, item }] });
    await this.redraw();
    await this.record({
      type: 'attempt.started',
      iteration,
      item,
      attempt: 1,
      agent: 'claude',
      model: 'opus',
      allowance: { wallMs: 900_000, idleMs: 600_000 },
      before: mark,
      marker: 'm',
      tokenHash: 't',
      prompt: work,
      taskFile: null,
      delivered: [],
      reminded: [],
    });
    await this.record({
      type: 'attempt.ended',
      iteration,
      report: report(),
      claim: { ...NO_CLAIM, kind: done ? 'complete' : 'none' },
      after: mark,
      changes: [],
      changeCount: done ? 2 : 0,
      more: null,
      commits: [],
      rewrote: false,
      trespass: [],
      marked: [],
      durationMs: 42_000,
      stoppedFor: null,
      review: null,
      bookkeeping: false,
    });
    await this.redraw();
    const verdict: Fact[] = [
      {
        type: 'verdict.reached',
        iteration,
        item,
        value: done ? 'accepted' : 'rejected',
        findings: findings.map((kind) => ({ kind, detail: `${kind} was seen` })),
        charged: !done,
        tree: mark.tree,
        newTree: true,
        reason: 'so',
        parks: false,
        down: null,
      },
    ];
    if (done) verdict.push({ type: 'task.moved', task: id, to: 'done', reason: 'accepted', by: 'engine' });
    if (findings.length > 0) {
      const intervention = { kind: 'remind' as const, findings, sentence: `Mind iteration ${iteration}.` };
      verdict.push({ type: 'intervention.chosen', iteration, agent: 'claude', task: id, intervention });
    }
    await this.record(...verdict);
    await this.redraw();
    if (done) {
      const commit = how.commit ?? 'c'.repeat(40);
      await this.record({ type: 'commit.landed', task: id, commit, paths: ['a'], by: 'engine' });
    }
    await this.record({
      type: 'wave.ended',
      wave,
      progress: done,
      neutral: false,
      dead: false,
      started: 1,
      returned: [],
    });
    await this.redraw();
  }
}

async function play(tasks = ['task-1', 'task-2']): Promise<Played> {
  const played = await restart();
  await played.begin(tasks);
  await played.redraw();
  return played;
}

/** A new process on the same journal: its records are told while the journal is read. */
async function restart(options: Partial<Parameters<typeof openMirrors>[0]> = {}): Promise<Played> {
  const records: JournalRecord[] = [];
  const { journal } = await openJournal({
    file: inSession('journal.jsonl'),
    epoch: 1,
    stillOurs: () => true,
    record: (record) => records.push(record),
  });
  const mirrors = openMirrors({
    sessionDir: session,
    mainDir: main,
    warn: (line) => warnings.push(line),
    restMs: 0,
    ...options,
  });
  const played = new Played(journal, mirrors);
  for (const record of records) {
    evolve(played.state, record);
    mirrors.tell(record);
  }
  played.iteration = played.state.lastIteration;
  played.wave = played.state.lastWave;
  played.at = Math.max(T0, played.state.lastAt);
  if (records.length > 0) await mirrors.redraw(played.state, []);
  return played;
}

describe('drawing', () => {
  it('comes when the rest is over where records follow each other quickly, and at once at the end', async () => {
    const played = await restart({ restMs: 300 });
    await played.begin(['a', 'b', 'c']);
    await played.redraw();
    await played.iterate('a');
    await played.iterate('b');
    expect(existsSync(inSession('logs/summary.csv'))).toBe(false);
    await vi.waitFor(() => expect(summary().split('\n')).toHaveLength(4), { timeout: 5_000 });
    await played.iterate('c');
    await played.record({ type: 'run.stopped', code: 0, word: 'success', reason: 'all done' });
    await played.redraw();
    expect(summary().split('\n')).toHaveLength(5);
    expect(readFileSync(inSession('metadata.yaml'), 'utf8')).toContain('completed');
  });

  it('shows the last word when the mirrors are closed, and has stopped then', async () => {
    const played = await restart({ restMs: 100 });
    await played.begin(['a', 'b']);
    await played.redraw();
    await played.iterate('a');
    await played.mirrors.close();
    expect(summary().split('\n')).toHaveLength(3);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(summary().split('\n')).toHaveLength(3);
  });
});

describe('the summary of a session', () => {
  it('has one row an iteration, written when its wave is closed', async () => {
    const played = await play();
    expect(existsSync(inSession('logs/summary.csv'))).toBe(false);
    await played.iterate('task-1', { commit: `1234567${'8'.repeat(33)}` });
    await played.iterate('task-2', { done: false, findings: ['no_files_detected'] });
    const [header, first, second, ...rest] = summary().split('\n');
    expect(header).toMatch(/^iteration,mode,duration_seconds,commit_hash,.*output_tokens$/);
    expect(first).toMatch(
      /^1,implement,42,1234567,1,2,0,2026-01-01T12:00:0\dZ,task-1,executor,claude,opus,accepted,0.25,100,20$/,
    );
    expect(second).toMatch(/^2,implement,42,,1,2,1,.*,task-2,executor,claude,opus,rejected,/);
    expect(rest).toEqual(['']);
  });

  it('grows by appending', async () => {
    const played = await play(['a', 'b', 'c']);
    await played.iterate('a');
    const { ino } = statSync(inSession('logs/summary.csv'));
    await played.iterate('b');
    await played.iterate('c');
    expect(statSync(inSession('logs/summary.csv')).ino).toBe(ino);
  });

  it('comes back whole when it is deleted, cut, or written in by somebody', async () => {
    const played = await play(['a', 'b', 'c', 'd', 'e']);
    await played.iterate('a');
    await played.iterate('b', { done: false, findings: ['no_files_detected'] });
    const whole = summary();
    for (const harm of [
      () => rmSync(inSession('logs'), { recursive: true }),
      () => truncateSync(inSession('logs/summary.csv'), whole.length - 9),
      () => appendFileSync(inSession('logs/summary.csv'), 'foreign\n'),
      () => writeFileSync(inSession('logs/summary.csv'), ''),
    ]) {
      harm();
      await played.redraw();
      expect(summary()).toBe(whole);
    }
    rmSync(inSession('logs/summary.csv'));
    await played.iterate('c');
    expect(summary().startsWith(whole)).toBe(true);
    expect(summary().split('\n')).toHaveLength(5);
  });

  it('is the same after a restart, and goes on there', async () => {
    await (await play(['a', 'b'])).iterate('a');
    const whole = summary();
    const { ino } = statSync(inSession('logs/summary.csv'));
    const again = await restart();
    expect(summary()).toBe(whole);
    expect(statSync(inSession('logs/summary.csv')).ino).toBe(ino);
    await again.iterate('b');
    expect(summary().split('\n')).toHaveLength(4);
    rmSync(inSession('logs/summary.csv'));
    await restart();
    expect(summary().startsWith(whole)).toBe(true);
  });

  it('is told whole where a process joins in the middle of a session', async () => {
    const played = await play(['a', 'b', 'c']);
    await played.iterate('a');
    played.mirrors = openMirrors({ sessionDir: session, mainDir: main, warn: () => {}, restMs: 0 });
    await played.iterate('b');
    expect(summary().split('\n')).toHaveLength(4);
  });
});

describe('metadata and progress', () => {
  it('say where the session and its cycle stand', async () => {
    const played = await play();
    await played.iterate('task-1');
    const metadata = parse(text(inSession('metadata.yaml')));
    expect(metadata).toMatchObject({
      session_id: ID,
      iteration: 1,
      orchestrator: { state: 'BATCHING', current_wave: 1 },
      tasks: { total: 2, completed: 1, failed: 0, pending: 1, cancelled: 0 },
      status: 'in_progress',
      timezone: 'UTC',
    });
    const cycle = parse(text(inSession('iterations/1/metadata.yaml')));
    expect(cycle).toMatchObject({
      iteration: 1,
      planning_complete: true,
      completed_at: null,
      tasks_defined: 2,
    });
    expect(text(inSession('iterations/1/progress.md'))).toMatch(
      /- \[x\] task-1 \(Attempt 1, Iteration 1, qualified: /,
    );
    expect(text(inSession('iterations/1/progress.md'))).toContain('- [ ] task-2');
  });

  it('are not written where nothing in them changed', async () => {
    const played = await play();
    await played.iterate('task-1');
    const before = statSync(inSession('metadata.yaml'));
    await played.record({ type: 'notice.given', level: 'info', text: 'nothing' });
    await played.redraw();
    expect(statSync(inSession('metadata.yaml'))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
  });

  it('come back when they are deleted', async () => {
    const played = await play();
    await played.iterate('task-1');
    const files = ['metadata.yaml', 'iterations/1/metadata.yaml', 'iterations/1/progress.md'];
    const before = files.map((file) => text(inSession(file)));
    for (const file of files) rmSync(inSession(file));
    await played.redraw();
    expect(files.map((file) => text(inSession(file)))).toEqual(before);
  });

  it('that a person edited are drawn again with a word on what to use instead, once', async () => {
    const played = await play();
    for (let n = 0; n < 2; n++) {
      writeFileSync(inSession('metadata.yaml'), 'status: paused\n');
      await played.redraw();
      expect(parse(text(inSession('metadata.yaml'))).status).toBe('in_progress');
    }
    expect(warnings).toEqual([expect.stringContaining('ralph pause')]);
  });

  it('keep the words people write into progress.md', async () => {
    const played = await play();
    const file = inSession('iterations/1/progress.md');
    writeFileSync(file, text(file).replace('## Iterations', 'Ana looks at task-2.\n\n## Iterations'));
    await played.redraw();
    await played.iterate('task-1');
    expect(text(file)).toContain('Ana looks at task-2.');
    expect(text(file)).toContain('- [x] task-1');
  });

  it('tell what somebody did to markers, also to the next process, and draw over it once it was taken in', async () => {
    let played = await play();
    const file = inSession('iterations/1/progress.md');
    const drawn = text(file);
    expect(await played.mirrors.edited(played.state)).toBeNull();
    writeFileSync(
      file,
      `${drawn.replace('[ ] task-1', '[x] task-1').replace('- [ ] task-2\n', '')}\nA note.\n`,
    );
    await played.redraw();
    expect(text(file)).toContain('- [x] task-1');
    played = await restart();
    const edit = await played.mirrors.edited(played.state);
    expect(edit).toMatchObject({
      path: 'iterations/1/progress.md',
      edits: [
        { id: 'task-1', to: 'done', sign: '[x]', isStep: false },
        { id: 'task-2', to: null, sign: null, isStep: false },
      ],
      words: true,
    });
    played.mirrors.settle(edit!, true);
    expect(await played.mirrors.edited(played.state)).toBeNull();
    await played.redraw();
    expect(text(file)).toContain('A note.');
    expect(text(file).replace('\nA note.\n', '')).toBe(drawn);
  });

  it('let go of what was written beside markers while an agent worked', async () => {
    const played = await play();
    const file = inSession('iterations/1/progress.md');
    const drawn = text(file);
    await played.record({
      type: 'wave.started',
      wave: 1,
      items: [
        { iteration: 1, item: { role: 'executor', mode: 'implement', subject: 'task-1', task: 'task-1' } },
      ],
    });
    appendFileSync(file, '\nAll done, trust me.\n');
    await played.redraw();
    const edit = await played.mirrors.edited(played.state);
    expect(edit).toMatchObject({ edits: [], words: true });
    played.mirrors.settle(edit!, false);
    await played.redraw();
    expect(text(file)).toBe(drawn);
  });

  it('of a cycle that is over stay, and the next cycle gets its own', async () => {
    const played = await play();
    await played.iterate('task-1');
    await played.record(
      { type: 'feedback.received', id: `feedback-${'f'.repeat(64)}`, text: 'Broken.' },
      { type: 'cycle.started', cycle: 2 },
    );
    await played.redraw();
    const progress = text(inSession('iterations/2/progress.md'));
    expect(progress).toContain('| 1 | Incomplete | 1/2 | N/A |');
    expect(progress).toContain('| 2 | In progress | 0/1 | feedback-ffffffff |');
    expect(progress).not.toContain('task-1');
    expect(parse(text(inSession('metadata.yaml'))).tasks).toMatchObject({
      total: 1,
      completed: 0,
      pending: 1,
    });
    expect(parse(text(inSession('iterations/1/metadata.yaml'))).completed_at).toBe('2026-01-01T12:00:11Z');
  });
});

describe('published topics', () => {
  it('are lines of events.jsonl, which comes back when it is torn', async () => {
    const played = await play();
    expect(existsSync(inSession('events.jsonl'))).toBe(false);
    for (const topic of ['build.done', 'review.ready']) {
      await played.record({ type: 'topic.published', iteration: 1, role: 'builder', topic, payload: 'ok' });
      await played.redraw();
    }
    const whole = text(inSession('events.jsonl'));
    expect(
      whole
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).topic),
    ).toEqual(['build.done', 'review.ready']);
    truncateSync(inSession('events.jsonl'), 20);
    await played.redraw();
    expect(text(inSession('events.jsonl'))).toBe(whole);
  });
});

describe('the project’s mirrors', () => {
  const events = () => JSON.parse(text(inProject('interventions/events.json'))).events;

  it('tell interventions, what the next prompts will say, and how often it helped', async () => {
    const played = await play();
    expect(existsSync(inProject('interventions'))).toBe(false);
    await played.iterate('task-1', {
      done: false,
      findings: ['no_files_detected', 'false_completion_detected'],
    });
    expect(events()).toMatchObject([
      { iteration: 1, event_type: 'no_files_detected', severity: 'critical', remediation_attempted: true },
      {
        iteration: 1,
        event_type: 'false_completion_detected',
        details: { task_id: 'task-1', agent: 'claude' },
      },
    ]);
    expect(text(inProject('interventions/feedback.txt'))).toContain(
      'Iteration 1, task-1:\nMind iteration 1.',
    );
    await played.iterate('task-1', { done: true, findings: ['evidence_missing'] });
    await played.record({ type: 'run.stopped', code: 1, word: 'limit', reason: 'enough' });
    await played.redraw();
    expect(JSON.parse(text(inProject('metrics.json')))).toMatchObject({
      total_interventions: 3,
      interventions_by_type: {
        no_files_detected: 1,
        false_completion_detected: 1,
        evidence_validation_failed: 1,
      },
      interventions_by_severity: { critical: 2, warning: 0, info: 1 },
      intervention_rate_per_100_iterations: 150,
      avg_remediation_success_rate: 1,
      stage_seconds: { implement: 84 },
    });
    // What was held against accepted work is for the agent's next prompt; the task needs none any more.
    expect(text(inProject('interventions/feedback.txt'))).toBe(
      '## Previous Iteration Feedback (DO NOT IGNORE)\n\nIteration 2, task-1:\nMind iteration 2.\n',
    );
  });

  /** What another session noted of an iteration. */
  const ELSEWHERE = {
    type: 'iteration.noted',
    session: 'another',
    agent: 'claude',
    task: 't1',
    class: 'medium',
    mode: 'implement',
    outcome: 'rejected',
    files: 1,
    evidence: 0,
    durationMs: 1,
    events: [{ event_type: 'oscillation', severity: 'warning' }],
    thresholds: { noFiles: 3, falseCompletion: 2 },
  };

  it('show events of the last days only; older ones are in the project journal', async () => {
    const old = ELSEWHERE;
    const DAY = 86_400_000;
    await appendProject(main, { ...old, at: T0 - 31 * DAY, n: 0, iteration: 8 });
    const played = await play();
    await played.redraw();
    expect(events()).toEqual([]);
    await appendProject(main, { ...old, at: T0 - 29 * DAY, n: 1, iteration: 9 });
    await played.iterate('task-1', { done: false, findings: ['no_files_detected'] });
    expect(events().map((each: { iteration: number }) => each.iteration)).toEqual([9, 1]);
    // Told twice by a loop that found the journal closed: it is one event.
    await appendProject(main, { ...old, session: ID, at: T0, n: 0, iteration: 1 });
    await played.iterate('task-1', { done: false, findings: ['gate_failed'] });
    expect(events().map((each: { iteration: number }) => each.iteration)).toEqual([9, 1, 2]);
  });

  it('tell each event once over restarts, and keep those of other sessions', async () => {
    await appendProject(main, { ...ELSEWHERE, at: T0, n: 0, iteration: 9 });
    const played = await play();
    await played.iterate('task-1', { done: false, findings: ['no_files_detected'] });
    const again = await restart();
    await again.iterate('task-1', { done: false, findings: ['gate_failed'] });
    rmSync(inProject('interventions/events.json'));
    await restart();
    expect(events().map((each: { event_type: string }) => each.event_type)).toEqual([
      'oscillation',
      'no_files_detected',
      'gate_failed',
    ]);
  });

  it('forget events at a reset, and show those that come after', async () => {
    const played = await play();
    await played.iterate('task-1', { done: false, findings: ['no_files_detected'] });
    await appendProject(main, { at: T0, type: INTERVENTIONS_RESET });
    await played.redraw();
    expect(events()).toEqual([]);
    await played.iterate('task-1', { done: false, findings: ['gate_failed'] });
    expect(events()).toHaveLength(1);
  });

  describe('that are damaged', () => {
    const FILE = 'interventions/events.json';
    const broken = async (damage: (whole: string) => string) => {
      const played = await play();
      await played.iterate('task-1', { done: false, findings: ['no_files_detected'] });
      const whole = text(inProject(FILE));
      writeFileSync(inProject(FILE), damage(whole));
      return { played, whole };
    };

    it.each<[string, (whole: string) => string, string]>([
      ['cut short', (whole) => whole.slice(0, 60), 'it was no whole JSON'],
      ['another file', () => '{"a":1}', 'it held no "events"'],
      [
        'bad events among good ones',
        (whole) => whole.replace('"events": [', '"events": [7, {"event_type": null},'),
        '2 of its 3 events could not be read, 1 could',
      ],
    ])('are set aside and named, then drawn again: %s', async (_, damage, words) => {
      const { whole } = await broken(damage);
      await restart();
      expect(text(inProject(FILE))).toBe(whole);
      expect(text(inProject(`${FILE}.damaged-1`))).toBe(damage(whole));
      expect(warnings).toEqual([
        `.ralph/${FILE} was damaged: ${words}; what it said is kept as events.json.damaged-1 beside it. It is drawn again from .ralph/journal.jsonl, which holds every event.`,
      ]);
    });

    it('while a run is on, too, and once for each damage', async () => {
      const { played, whole } = await broken(() => 'x');
      await played.redraw();
      await played.redraw();
      expect([text(inProject(FILE)), warnings.length]).toEqual([whole, 1]);
      writeFileSync(inProject(FILE), 'y');
      await played.redraw();
      expect([text(inProject(`${FILE}.damaged-2`)), warnings.length]).toEqual(['y', 2]);
    });

    it('by several that see the same damage make one copy; an older whole file is no damage', async () => {
      const { whole } = await broken(() => 'x');
      await Promise.all([restart(), restart()]);
      expect(text(inProject(FILE))).toBe(whole);
      expect(existsSync(inProject(`${FILE}.damaged-2`))).toBe(false);
      writeFileSync(inProject(FILE), '{"$schema":"ralph_gold.interventions.v1","events":[]}');
      warnings.length = 0;
      await restart();
      expect([text(inProject(FILE)), warnings]).toEqual([whole, []]);
    });

    it('are set aside by a reset as well, which draws both files at once', async () => {
      await broken(() => '');
      await appendProject(main, { at: T0, type: INTERVENTIONS_RESET });
      expect(drawBehaviour(main)).toEqual([
        expect.stringContaining('was damaged: it was empty. It is drawn'),
      ]);
      expect(events()).toEqual([]);
      expect(JSON.parse(text(inProject('interventions/profile.json')))).toMatchObject({ agents: {} });
    });
  });

  it('name the loops of the project and how they stand, where one begins, rests or ends', async () => {
    const row = {
      loop_id: 'fix',
      session_id: ID,
      primary: true,
      branch: 'ralph/fix',
      onto: 'main',
      worktree: '/tree',
    };
    const states: string[] = [];
    const loops = async ({ run, wave }: State) => {
      states.push(run?.stopped?.word ?? (wave === null ? 'between' : 'at work'));
      return [{ ...row, state: states.at(-1)!, landed: run?.stopped?.code === 0, runner: 7 }];
    };
    const played = await restart({ loops });
    await played.begin(['task-1']);
    await played.iterate('task-1');
    await played.redraw();
    const rested = states.length;
    await played.record({ type: 'spend.seen', usd: 1 });
    await played.redraw();
    expect(states.length).toBe(rested);
    await played.record({ type: 'run.stopped', code: 0, word: 'complete', reason: 'all done' });
    await played.redraw();
    expect(JSON.parse(text(inProject('loops.json')))).toEqual([{ ...row, state: 'complete', landed: true }]);
    expect(text(inProject('.gitignore'))).toContain('*');
    rmSync(inProject('loops.json'));
    await played.record({ type: 'spend.seen', usd: 2 });
    await played.redraw();
    expect(text(inProject('loops.json'))).toContain('"fix"');
  });

  it('are drawn by the primary loop only; another one adds to the journal', async () => {
    const played = await restart({ primary: false });
    await played.begin(['a']);
    await played.iterate('a', { done: false, findings: ['no_files_detected'] });
    expect(existsSync(inProject('loops.json'))).toBe(false);
    expect(existsSync(inProject('interventions/events.json'))).toBe(false);
    expect(text(inProject('journal.jsonl'))).toContain('no_files_detected');
  });
});

describe('a disk that takes no more', () => {
  it('leaves no half row behind once there is room again', async (context) => {
    mkdirSync(inSession('logs'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', inSession('logs')], {
        stdio: 'ignore',
      });
    } catch {
      context.skip('mounting a small file system is not permitted here');
    }
    try {
      const tasks = ['a', 'b', 'c', 'd'];
      const played = await play(tasks);
      await played.iterate('a');
      const filler = openSync(inSession('logs/filler'), 'w');
      expect(() => {
        for (;;) writeSync(filler, Buffer.alloc(1024));
      }).toThrow('ENOSPC');
      closeSync(filler);
      // The page that holds the first row has room for some more rows; then the disk is full.
      for (let n = 0; n < 60; n++) await played.iterate('b', { done: false });
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain('ENOSPC');
      rmSync(inSession('logs/filler'));
      await restart();
      expect(summary().trimEnd().split('\n')).toHaveLength(62);
    } finally {
      execFileSync('umount', [inSession('logs')]);
    }
  });

  it.skipIf(process.platform === 'win32')(
    'sets aside what lies in the way of its files, a link and a pipe too',
    async () => {
      const played = await play();
      rmSync(inSession('iterations'), { recursive: true });
      writeFileSync(inSession('iterations'), 'in the way');
      mkdirSync(inSession('logs/summary.csv'), { recursive: true });
      rmSync(inSession('events.jsonl'), { force: true });
      writeFileSync(inSession('elsewhere'), 'of somebody');
      symlinkSync(inSession('elsewhere'), inSession('events.jsonl'));
      await played.iterate('task-1');
      rmSync(inSession('iterations/1/progress.md'));
      execFileSync('mkfifo', [inSession('iterations/1/progress.md')]);
      await played.iterate('task-2');
      const aside = readdirSync(inSession('')).find((name) => name.startsWith('.iterations.aside-'));
      expect(text(inSession(aside ?? 'none'))).toBe('in the way');
      expect(text(inSession('elsewhere'))).toBe('of somebody');
      await restart();
      expect(summary().split('\n')).toHaveLength(4);
      expect(text(inSession('iterations/1/progress.md'))).toContain('- [x] task-2');
    },
  );
});

it('redrawing leaves the deadlines of the engine’s questions alone', async () => {
  const played = await play();
  const deadline = T0 + 3_600_000;
  await played.record({
    type: 'question.asked',
    question: {
      id: 'q1',
      kind: 'decision',
      about: 'session',
      text: 'Which?',
      options: [],
      default: null,
      hold: 'session',
      deadline,
      onTimeout: 'proceed',
      askedBy: 'claude',
      iteration: null,
      askedAt: T0,
    },
  });
  await played.redraw();
  await played.record({ type: 'session.paused', at: played.at, text: '', by: 'person' });
  await played.record({ type: 'session.resumed', at: played.at, text: '', by: 'person' });
  await played.redraw();
  expect(played.state.questions.get('q1')?.question.deadline).toBe(deadline + 1_000);
});
