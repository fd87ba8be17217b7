/** Plausible journals for the tests of the windows: a session written move by move. */
import fc from 'fast-check';
import {
  type AgentReport,
  type Claim,
  type Fact,
  type Finding,
  type GateResult,
  type Item,
  JOURNAL_VERSION,
  type JournalRecord,
  NO_CLAIM,
  type Policy,
  type Question,
  reckonTime,
  type TaskDef,
  type VerdictValue,
} from '../core/index.ts';
import { policyOf } from '../core/test-facts.ts';

export const START = Date.UTC(2026, 1, 8, 14, 30, 0);
const MINUTE = 60_000;

export const POLICY: Policy = policyOf({
  agent: 'script',
  gates: [
    { name: 'test', run: 'npm test', timeoutS: 600, required: true, minTests: 1, baseline: 'no_regression' },
  ],
});

export function taskDef(n: number, over: Partial<TaskDef> = {}): TaskDef {
  return {
    id: `task-${n}`,
    title: `Build part ${n}`,
    description: '',
    acceptance: [`part ${n} works`],
    priority: 0,
    order: n - 1,
    dependsOn: [],
    status: 'todo',
    files: [],
    changes: 'expected',
    ...over,
  };
}

/** What one move of a session may be; `n` picks the task. */
export type Move =
  | { move: 'attempt'; n: number; value: VerdictValue | 'lost' | 'interrupted' | 'open'; text: string }
  | { move: 'review'; n: number; verdict: 'Qualified' | 'Failed' }
  | { move: 'ask'; about: string; text: string; deadlineMs: number | null }
  | { move: 'answer' }
  | { move: 'pause' | 'resume' | 'stop' | 'abort' | 'start' | 'note' | 'topic' | 'park' | 'cycle' }
  | { move: 'exit'; code: number };

/** Writes moves into records, one record a step, with a steady clock. */
export function journal(
  moves: readonly Move[],
  tasks: TaskDef[] = [1, 2, 3].map((n) => taskDef(n)),
): JournalRecord[] {
  const desk: Desk = { records: [], at: START, iteration: 0, wave: 0, asked: 0, open: [] };
  write(desk, {
    type: 'session.created',
    id: '260208-143000',
    objective: '',
    timezone: 'UTC',
    product: '0.1.0',
    ground: '.',
  });
  write(desk, started());
  const source = { kind: 'file' as const, path: 'ralph/tasks.json', dialect: 'ralph-sh', reviewed: false };
  write(desk, { type: 'tasks.read', source, sha256: 'a1', set: tasks, gone: [], by: 'person' });
  write(desk, { type: 'phase.entered', phase: 'BATCHING' });
  for (const move of moves) make(desk, move);
  return desk.records;
}

interface Desk {
  records: JournalRecord[];
  at: number;
  iteration: number;
  wave: number;
  asked: number;
  open: string[];
}

function write(desk: Desk, ...facts: Fact[]): void {
  desk.at += 1_000;
  desk.records.push({
    v: JOURNAL_VERSION,
    seq: desk.records.length + 1,
    epoch: 1,
    at: desk.at,
    facts,
    prev: '',
  });
}

function started(): Fact {
  const runner = { pid: 4711, startTime: '1', host: 'box', boot: 'b' };
  return {
    type: 'run.started',
    policy: POLICY,
    runner,
    dirty: [],
    spentTodayUsd: 0,
    reopened: false,
    flags: {},
  };
}

function make(desk: Desk, move: Move): void {
  switch (move.move) {
    case 'attempt':
      return attempt(desk, move);
    case 'review':
      return review(desk, move);
    case 'ask':
      return ask(desk, move);
    case 'answer': {
      const id = desk.open.shift();
      if (id)
        write(desk, { type: 'question.answered', id, text: 'polling', option: null, by: 'ada', via: 'cli' });
      return;
    }
    case 'pause':
      return write(desk, { type: 'session.paused', at: desk.at, text: 'lunch', by: 'ada' });
    case 'resume':
      return write(desk, { type: 'session.resumed', at: desk.at, text: '', by: 'ada' });
    case 'stop':
      return write(desk, { type: 'stop.asked', by: 'ada' });
    case 'abort':
      write(desk, { type: 'abort.asked', by: 'ada', text: 'wrong branch' });
      return write(desk, { type: 'abort.done', tasks: [] });
    case 'start':
      return write(desk, started());
    case 'exit':
      return write(desk, {
        type: 'run.stopped',
        code: move.code,
        word: 'WORD',
        reason: `because of ${move.code}`,
      });
    default:
      return say(desk, move.move);
  }
}

function say(desk: Desk, what: 'note' | 'topic' | 'park' | 'cycle'): void {
  if (what === 'cycle') return write(desk, { type: 'cycle.started', cycle: 2 });
  if (what === 'park')
    return write(desk, {
      type: 'provider.parked',
      agent: 'script',
      until: desk.at + MINUTE,
      reason: 'limit',
    });
  if (what === 'topic')
    return write(desk, {
      type: 'topic.published',
      iteration: desk.iteration,
      role: 'executor',
      topic: 'build.done',
      payload: '{}',
    });
  const message = {
    id: `signal.${desk.at}.yaml`,
    type: 'STEER' as const,
    target: 'ALL',
    text: 'use JWT',
    from: 'ada',
    createdAt: desk.at,
    confirmed: true,
  };
  write(
    desk,
    { type: 'message.received', message, action: 'queued' },
    { type: 'notice.given', level: 'info', text: 'heard' },
  );
}

export function report(over: Partial<AgentReport> = {}): AgentReport {
  return {
    ending: 'ended',
    timeout: null,
    exitCode: 0,
    signal: null,
    error: null,
    finalMessage: 'I did it.',
    toolCalls: 2,
    toolFiles: [],
    commands: [],
    outputBytes: 100,
    usage: { inputTokens: 1_000, outputTokens: 200, costUsd: 0.02, model: 'm1' },
    sessionId: null,
    leftBehind: [],
    unknownEvents: 0,
    ...over,
  };
}

export function gateResult(outcome: GateResult['outcome'], tree: string): GateResult {
  const failed = outcome !== 'passed';
  return {
    gate: 'test',
    run: 'npm test',
    tree,
    outcome,
    exitCode: failed ? 1 : 0,
    durationMs: 3_200,
    tests: 12,
    failures: failed ? ['adds two numbers'] : [],
    excerpt: failed ? 'not ok 1 - adds two numbers' : 'ok',
    output: null,
  };
}

function begin(
  desk: Desk,
  item: Item,
): { iteration: number; before: { head: string; branch: string; tree: string } } {
  desk.iteration += 1;
  desk.wave += 1;
  const { iteration } = desk;
  const before = { head: `c${iteration}`, branch: 'main', tree: `t${iteration}` };
  write(desk, { type: 'wave.started', wave: desk.wave, items: [{ iteration, item }] });
  if (iteration % 3 === 0) {
    write(desk, { type: 'baseline.started', iteration, gate: 'test' });
    write(desk, { type: 'gate.ran', iteration, when: 'baseline', result: gateResult('failed', before.tree) });
  }
  write(desk, {
    type: 'attempt.started',
    iteration,
    item,
    attempt: 1,
    agent: 'script',
    model: null,
    allowance: { wallMs: 15 * MINUTE, idleMs: 10 * MINUTE },
    time: reckonTime(POLICY, null),
    before,
    marker: 'm',
    tokenHash: 'h',
    prompt: { path: 'p', sha256: 's' },
    taskFile: null,
    delivered: [],
    reminded: [],
  });
  write(desk, { type: 'attempt.spawned', iteration, pid: 99, startTime: '2' });
  return { iteration, before };
}

function end(
  desk: Desk,
  iteration: number,
  said: { claim: Claim; report: AgentReport; files: string[] },
): void {
  const changes = said.files.map((path) => ({ path, before: null, after: `b${iteration}` }));
  write(desk, {
    type: 'attempt.ended',
    iteration,
    report: said.report,
    claim: said.claim,
    after: { head: `c${iteration}`, branch: 'main', tree: `u${iteration}` },
    changes,
    changeCount: changes.length,
    more: null,
    commits: [],
    rewrote: false,
    trespass: [],
    marked: [],
    durationMs: 2 * MINUTE + 3_000,
    stoppedFor: said.report.ending === 'interrupted' ? 'pause' : null,
    review: null,
    bookkeeping: false,
  });
}

function claimed(kind: Claim['kind'], text: string): Claim {
  return { ...NO_CLAIM, kind, via: kind === 'none' ? 'none' : 'tag', text };
}

function attempt(desk: Desk, { n, value, text }: Extract<Move, { move: 'attempt' }>): void {
  const task = `task-${n}`;
  const item: Item = { role: 'executor', mode: 'implement', subject: task, task };
  const { iteration } = begin(desk, item);
  if (value === 'open') return;
  if (value === 'lost') {
    write(desk, {
      type: 'attempt.lost',
      iteration,
      reason: 'the runner died',
      ended: [],
      after: null,
      changes: [],
    });
    return closeWave(desk, false);
  }
  const ending = value === 'died' ? 'died' : value === 'interrupted' ? 'interrupted' : 'ended';
  const kind = value === 'blocked' ? 'blocked' : value === 'unfinished' ? 'none' : 'complete';
  const files = value === 'accepted' || value === 'unfinished' ? [`src/part-${n}.ts`] : [];
  end(desk, iteration, { claim: claimed(kind, text), report: report({ ending, finalMessage: text }), files });
  if (value === 'interrupted') return closeWave(desk, false);
  judged(desk, { iteration, item, task, value, text });
}

interface Judged {
  iteration: number;
  item: Item;
  task: string;
  value: VerdictValue;
  text: string;
}

function judged(desk: Desk, { iteration, item, task, value, text }: Judged): void {
  const rejected = value === 'rejected';
  if (value !== 'died')
    write(desk, {
      type: 'gate.ran',
      iteration,
      when: 'after',
      result: gateResult(rejected ? 'failed' : 'passed', `u${iteration}`),
    });
  const findings: Finding[] = rejected
    ? [
        { kind: 'no_files_detected', detail: 'No file in the repository changed.' },
        {
          kind: 'false_completion_detected',
          detail: `Task ${task} was claimed complete, but no file changed.`,
        },
      ]
    : [];
  const facts: Fact[] = [
    {
      type: 'verdict.reached',
      iteration,
      item,
      value,
      findings,
      charged: rejected,
      tree: `u${iteration}`,
      newTree: true,
      reason: rejected ? 'No file in the repository changed.' : `it was ${value}`,
      parks: false,
      down: null,
    },
  ];
  if (rejected) {
    facts.push({ type: 'task.charged', task, budget: 'evidence', iteration });
    const intervention = {
      kind: 'remind' as const,
      findings: findings.map(({ kind }) => kind),
      sentence: 'Use your tools.',
    };
    facts.push({ type: 'intervention.chosen', iteration, agent: 'script', task, intervention });
  }
  if (value === 'accepted')
    facts.push({ type: 'task.moved', task, to: 'done', reason: 'accepted', by: 'engine' });
  if (value === 'blocked') facts.push(questionFact(desk, { about: task, text, deadline: null, iteration }));
  write(desk, ...facts);
  if (value === 'accepted')
    write(desk, {
      type: 'commit.landed',
      task,
      commit: `abcdef1${iteration}`,
      paths: ['src/a.ts'],
      by: 'engine',
    });
  closeWave(desk, value === 'accepted' || value === 'unfinished');
}

function closeWave(desk: Desk, progress: boolean): void {
  write(desk, {
    type: 'wave.ended',
    wave: desk.wave,
    progress,
    neutral: false,
    dead: false,
    started: 1,
    returned: [],
  });
}

function review(desk: Desk, { n, verdict }: Extract<Move, { move: 'review' }>): void {
  const task = `task-${n}`;
  const item: Item = { role: 'reviewer', mode: 'TASK_REVIEW', subject: task, task };
  const { iteration } = begin(desk, item);
  end(desk, iteration, { claim: claimed('complete', ''), report: report(), files: [] });
  write(
    desk,
    { type: 'review.recorded', task, iteration, verdict, feedback: 'see the test', count: 1 },
    {
      type: 'task.moved',
      task,
      to: verdict === 'Qualified' ? 'done' : 'todo',
      reason: 'review',
      by: 'engine',
    },
  );
  closeWave(desk, true);
}

function ask(desk: Desk, { about, text, deadlineMs }: Extract<Move, { move: 'ask' }>): void {
  const deadline = deadlineMs === null ? null : desk.at + deadlineMs;
  write(desk, questionFact(desk, { about, text, deadline, iteration: desk.iteration || null }));
}

function questionFact(
  desk: Desk,
  asked: Pick<Question, 'about' | 'text' | 'deadline' | 'iteration'>,
): Extract<Fact, { type: 'question.asked' }> {
  desk.asked += 1;
  const id = `q${desk.asked}`;
  desk.open.push(id);
  const question: Question = {
    ...asked,
    id,
    kind: asked.deadline === null ? 'blocker' : 'decision',
    options:
      asked.deadline === null
        ? []
        : [
            { key: 'A', text: 'WebSockets' },
            { key: 'B', text: 'polling' },
          ],
    default: null,
    hold: asked.about === 'session' || asked.deadline === null ? 'session' : 'task',
    onTimeout: 'proceed',
    askedBy: 'script',
    askedAt: desk.at,
  };
  return { type: 'question.asked', question };
}

const anyText = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.constant('\u001b[31mred\u001b[0m \u001b]0;title\u0007 \u202eevil\r\nnext'),
);
const n = fc.integer({ min: 1, max: 4 });

export const anyMoves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        move: fc.constant('attempt' as const),
        n,
        value: fc.constantFrom(
          'accepted',
          'unfinished',
          'rejected',
          'blocked',
          'died',
          'lost',
          'interrupted',
          'open',
        ),
        text: anyText,
      }),
    },
    fc.record({ move: fc.constant('review' as const), n, verdict: fc.constantFrom('Qualified', 'Failed') }),
    fc.record({
      move: fc.constant('ask' as const),
      about: fc.constantFrom('session', 'task-1', 'task-2', 'gone'),
      text: anyText,
      deadlineMs: fc.option(fc.integer({ min: -MINUTE, max: 10 * MINUTE })),
    }),
    fc.record({
      move: fc.constantFrom(
        'answer',
        'pause',
        'resume',
        'stop',
        'abort',
        'start',
        'note',
        'topic',
        'park',
        'cycle',
      ),
    }),
    fc.record({
      move: fc.constant('exit' as const),
      code: fc.constantFrom(0, 1, 2, 3, 4, 6, 7, 8, 9, 70, 130),
    }),
  ),
  { maxLength: 12 },
) as fc.Arbitrary<Move[]>;
