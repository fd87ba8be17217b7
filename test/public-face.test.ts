/**
 * What others rely on: the shape of every fact in the journal, the exit codes, the phases. A change here
 * is a change of the product's face; the journal's version has to move with an incompatible one.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  EXITS,
  type Fact,
  JOURNAL_VERSION,
  type Message,
  NO_CLAIM,
  PHASES,
  type Question,
  type Receipt,
  reckonTime,
  type Told,
} from '../src/core/index.ts';
import { policy } from './scenarios/world.ts';

const item = { role: 'executor', mode: 'implement' as const, subject: 't1', task: 't1' };
const mark = { head: 'c0ffee', branch: 'main', tree: 'bada55' };
const work = { path: 'logs/iteration-001.prompt.md', sha256: '00' };
const loop = { loop: 'fix', branch: 'ralph/fix', onto: 'main' };
const change = { path: 'a.txt', before: null, after: 'b10b' };
const receipt: Receipt = {
  files: [
    {
      path: 'a.txt',
      said: './a.txt',
      from: ['prose'],
      lines: '10-40',
      status: 'changed',
      held: true,
      wrong: false,
      why: '',
    },
  ],
  commands: [
    {
      command: 'npm test',
      from: ['tool'],
      said: 0,
      exitCode: 0,
      seen: 'gate',
      held: true,
      wrong: false,
      why: '',
    },
  ],
  criteria: [
    {
      number: 1,
      text: 'it works',
      met: true,
      by: [{ kind: 'command', value: 'npm test', held: true, seen: 'exit 0' }],
      held: true,
    },
  ],
  more: 0,
};
const told: Told = {
  files: [{ path: 'a.txt', lines: '10-40', deed: 'changed', via: 'prose', unsure: false }],
  commands: [{ command: 'npm test', exitCode: 0, via: 'prose' }],
};
const runner = { pid: 7, startTime: '12345', host: 'desk', boot: 'b007' };
const source = { kind: 'file' as const, path: 'ralph/tasks.json', dialect: 'tasks.json', reviewed: false };
const message: Message = {
  id: 'signal.260208-143000-000-7f3a.yaml',
  type: 'STEER',
  target: 'ALL',
  text: 'use bar',
  from: 'anna@desk',
  createdAt: 0,
  confirmed: true,
};
const question: Question = {
  id: 'q1',
  kind: 'decision',
  about: 't1',
  text: 'a or b?',
  options: [{ key: 'A', text: 'a' }],
  default: 'A',
  hold: 'session',
  deadline: null,
  onTimeout: 'proceed',
  askedBy: 'claude',
  iteration: 1,
  askedAt: 0,
};
const report = {
  ending: 'ended' as const,
  timeout: null,
  exitCode: 0,
  signal: null,
  error: null,
  finalMessage: 'done',
  toolCalls: 3,
  toolFiles: ['a.txt'],
  commands: [{ command: 'npm test', exitCode: 0, denied: false }],
  outputBytes: 100,
  usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.01, model: 'm' },
  sessionId: null,
  leftBehind: [],
  unknownEvents: 0,
};
const gate = {
  gate: 'test',
  run: 'npm test',
  tree: 'bada55',
  outcome: 'passed' as const,
  exitCode: 0,
  durationMs: 5,
  tests: 1,
  failures: [],
  excerpt: 'ok',
  output: work,
};

/** One example of each fact; the compiler says when one is missing. */
const EXAMPLES: { [T in Fact['type']]: Extract<Fact, { type: T }> } = {
  'session.created': {
    type: 'session.created',
    id: '260208-143000',
    objective: 'o',
    timezone: 'UTC',
    product: 'ralph 0',
    ground: '.',
  },
  'run.started': {
    type: 'run.started',
    policy: policy(),
    runner,
    dirty: [],
    spentTodayUsd: 0,
    reopened: false,
    flags: {},
  },
  'run.stopped': { type: 'run.stopped', code: 0, word: 'COMPLETE', reason: 'r' },
  'spend.seen': { type: 'spend.seen', usd: 1.5 },
  'host.seen': {
    type: 'host.seen',
    short: [{ of: 'disk', path: '/p', freeMb: 1, leastMb: 500 }],
    room: 2,
  },
  'lock.taken_over': { type: 'lock.taken_over', from: runner },
  'journal.repaired': { type: 'journal.repaired', bytes: 1, keptAs: 'journal.torn-1' },
  'phase.entered': { type: 'phase.entered', phase: 'BATCHING' },
  'cycle.started': { type: 'cycle.started', cycle: 2 },
  'call.passed_over': {
    type: 'call.passed_over',
    item: { role: 'librarian', mode: 'STAGE', subject: 'session' },
    reason: 'r',
  },
  'tasks.read': { type: 'tasks.read', source, sha256: '00', set: [], gone: [], by: 'person' },
  'task.moved': { type: 'task.moved', task: 't1', to: 'done', reason: 'r', by: 'engine' },
  'task.unblocked': { type: 'task.unblocked', task: 't1', by: 'me', reason: 'r', grant: null, auto: false },
  'task.replaced': { type: 'task.replaced', task: 't1', by: ['t1a', 't1b'] },
  'task.charged': { type: 'task.charged', task: 't1', budget: 'evidence', iteration: 1 },
  'review.recorded': {
    type: 'review.recorded',
    task: 't1',
    iteration: 1,
    verdict: 'Failed',
    feedback: 'f',
    count: 1,
  },
  'wave.started': { type: 'wave.started', wave: 1, items: [{ iteration: 1, item }] },
  'wave.ended': {
    type: 'wave.ended',
    wave: 1,
    progress: true,
    neutral: false,
    dead: false,
    started: 1,
    returned: [],
  },
  'attempt.started': {
    type: 'attempt.started',
    iteration: 1,
    item,
    attempt: 1,
    agent: 'claude',
    model: null,
    allowance: { wallMs: 900_000, idleMs: 600_000 },
    time: reckonTime(policy(), null),
    before: mark,
    marker: 'm',
    tokenHash: '00',
    prompt: work,
    taskFile: work,
    delivered: [],
    reminded: [],
  },
  'attempt.spawned': { type: 'attempt.spawned', iteration: 1, pid: 7, startTime: '1' },
  'attempt.ended': {
    type: 'attempt.ended',
    iteration: 1,
    report,
    claim: { ...NO_CLAIM, told },
    after: mark,
    changes: [change],
    changeCount: 1,
    more: null,
    commits: [],
    rewrote: false,
    trespass: [{ path: 'p', what: 'protected_changed', detail: 'd', keptAs: null }],
    marked: [],
    durationMs: 1,
    stoppedFor: null,
    review: null,
    bookkeeping: false,
    noted: [change],
  },
  'attempt.lost': {
    type: 'attempt.lost',
    iteration: 1,
    reason: 'r',
    ended: [],
    after: mark,
    changes: [change],
    changeCount: 1,
    more: null,
    noted: [change],
    usage: { inputTokens: 1, outputTokens: 1, costUsd: 1, model: 'm', partial: true },
  },
  'baseline.started': { type: 'baseline.started', iteration: 1, gate: 'test' },
  'gate.ran': { type: 'gate.ran', iteration: 1, when: 'after', result: gate },
  'verdict.reached': {
    type: 'verdict.reached',
    iteration: 1,
    item,
    value: 'rejected',
    findings: [{ kind: 'no_files_detected', detail: 'd' }],
    charged: true,
    tree: 'bada55',
    newTree: false,
    reason: 'r',
    parks: false,
    down: null,
    receipt,
  },
  'intervention.chosen': {
    type: 'intervention.chosen',
    iteration: 1,
    agent: 'claude',
    task: 't1',
    intervention: { kind: 'remind', findings: ['no_files_detected'], sentence: 's' },
  },
  'commit.landed': { type: 'commit.landed', task: 't1', commit: 'c0ffee', paths: ['a.txt'], by: 'engine' },
  'landing.failed': { type: 'landing.failed', task: 't1', reason: 'hook' },
  'loop.landed': {
    type: 'loop.landed',
    ...loop,
    commit: 'c0ffee',
    merged: true,
    hired: {
      agent: 'claude',
      session: '261129-160307',
      settled: true,
      spent: { costUsd: 0.5, estimated: null },
    },
  },
  'loop.parked': { type: 'loop.parked', ...loop, why: 'conflict', files: ['a.txt'], next: 'git merge' },
  'loop.queued': { type: 'loop.queued', ...loop, why: 'another loop lands', next: 'ralph loops merge' },
  'loop.stayed': { type: 'loop.stayed', ...loop },
  'loop.handed_over': { type: 'loop.handed_over', ...loop },
  'loop.discarded': { type: 'loop.discarded', ...loop, keptAs: 'refs/ralph/discarded/fix' },
  'leftovers.set_aside': { type: 'leftovers.set_aside', task: 't1', tree: 'bada55', changes: [change] },
  'leftovers.cleared': { type: 'leftovers.cleared', task: 't1' },
  'dirt.found': { type: 'dirt.found', paths: ['a.txt'], reason: 'r' },
  'leftovers.taken_up': { type: 'leftovers.taken_up', task: 't1', conflicts: [] },
  'ground.changed': { type: 'ground.changed', mark, by: 'gates' },
  'message.received': { type: 'message.received', message, action: 'queued' },
  'message.rejected': { type: 'message.rejected', id: 'x.yaml', reason: 'r' },
  'session.paused': { type: 'session.paused', at: 0, text: 't', by: 'anna@desk' },
  'session.resumed': { type: 'session.resumed', at: 0, text: 't', by: 'anna@desk' },
  'stop.asked': { type: 'stop.asked', by: 'anna@desk', text: 't' },
  'abort.asked': { type: 'abort.asked', by: 'anna@desk', text: 't' },
  'abort.done': { type: 'abort.done', tasks: ['t1'] },
  'question.asked': { type: 'question.asked', question },
  'question.answered': {
    type: 'question.answered',
    id: 'q1',
    text: 'a',
    option: 'A',
    by: 'anna@desk',
    via: 'message',
  },
  'question.expired': { type: 'question.expired', id: 'q1', outcome: 'proceed', text: '' },
  'question.closed': { type: 'question.closed', id: 'q1', why: 'w' },
  'question.shown': { type: 'question.shown', id: 'q1', channel: 'telegram', reached: true },
  'guidance.reached': { type: 'guidance.reached', iteration: 1, messages: ['m'], questions: [], how: 'live' },
  'desk.written': { type: 'desk.written', file: 'decide.txt', sha256: '00', at: 0 },
  'session.imported': {
    type: 'session.imported',
    done: ['planner|INITIALIZE|session'],
    review: { value: 'Gaps Identified', gaps: ['g'] },
    runs: { 'task-1': 2 },
    cycle: 2,
    createdAt: 1,
    startedAt: null,
    notes: ['n'],
  },
  'feedback.received': { type: 'feedback.received', id: 'f', text: 't', folder: 'iterations/2/feedbacks/1' },
  'topic.published': {
    type: 'topic.published',
    iteration: 1,
    role: 'executor',
    topic: 'build.done',
    payload: 'p',
  },
  'provider.parked': { type: 'provider.parked', agent: 'claude', until: 0, reason: 'r' },
  'notice.given': { type: 'notice.given', level: 'info', text: 't' },
};

/** Keys and types of values, without the values. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shape(value[0])];
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shape(inner)]));
}

test('every fact of the journal has the shape that is on record for this journal version', async () => {
  const shapes = {
    version: JOURNAL_VERSION,
    facts: Object.fromEntries(Object.entries(EXAMPLES).map(([type, fact]) => [type, shape(fact)])),
  };
  await expect(`${JSON.stringify(shapes, null, 2)}\n`).toMatchFileSnapshot('fixtures/journal-facts.json');
});

test('the README explains every exit code', () => {
  const readme = readFileSync('README.md', 'utf8');
  for (const [code, { word }] of Object.entries(EXITS)) {
    expect(readme).toMatch(new RegExp(`\\b${code}\\b.*`));
    if (code !== '143') expect(readme).toContain(word);
  }
});

test('every phase leads on, and COMPLETE stays', () => {
  expect(Object.fromEntries(Object.entries(PHASES).map(([phase, row]) => [phase, row.next]))).toEqual({
    INITIALIZING: 'PLANNING',
    PLANNING: 'BATCHING',
    BATCHING: 'EXECUTING_BATCH',
    EXECUTING_BATCH: 'REVIEWING_BATCH',
    REVIEWING_BATCH: 'BATCHING',
    SESSION_REVIEW: 'KNOWLEDGE_EXTRACTION',
    KNOWLEDGE_EXTRACTION: 'KNOWLEDGE_APPROVAL',
    KNOWLEDGE_APPROVAL: 'COMPLETE',
    COMPLETE: 'COMPLETE',
    REPLANNING: 'BATCHING',
  });
});
