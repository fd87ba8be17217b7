import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { emptyState, evolve, type Fact, type JournalRecord, type Policy, type State } from '../core/index.ts';
import type { AgentEvent } from '../engine/index.ts';
import { frameOf } from './frame.ts';
import { liveDisplay, liveView, plainDisplay, wantsColor, whyPlain } from './index.ts';
import { emptyNotes, note } from './notes.ts';
import { inCi } from './terminal.ts';
import { eventually, testScreen } from './test-screen.ts';

const START = Date.UTC(2026, 1, 8, 14, 30, 0);
const TERMINAL = { TERM: 'xterm-256color' };

const POLICY: Policy = {
  team: 'solo',
  modes: ['implement'],
  agent: 'script',
  model: null,
  fallback: [],
  completionWord: null,
  gates: [],
  protect: [],
  commit: 'auto',
  limits: {
    maxIterations: 10,
    maxStuck: 3,
    maxTaskAttempts: 3,
    onExhausted: 'ask',
    reviewCap: 5,
    maxCycles: 5,
    maxTimeS: null,
    maxCostUsd: null,
    maxCostUsdPerTask: null,
    maxCostUsdPerDay: null,
    maxTokens: null,
    idleTimeoutS: 600,
    pauseGraceS: 60,
    taskWipMinutes: 120,
    cooldownS: 0,
    retryDelaysS: [0],
    maxSubagentRetries: 4,
    maxCarryIterations: 2,
  },
  timeout: { mode: 'balanced', baseS: 900, minS: 60, maxS: 3600, growth: 1.5, failureScaling: true },
  interventions: {
    enabled: true,
    thresholdNoFiles: 3,
    thresholdFalseCompletion: 2,
    feedbackRotationDays: 30,
    aggressive: false,
  },
  questions: {
    hold: 'session',
    onTimeout: 'proceed',
    approvalTimeoutS: null,
    interactTimeoutS: null,
    interactOnTimeout: 'proceed',
  },
  parallel: { executors: 1, reviewers: 1, questioners: 1 },
  wait: true,
  park: true,
  onlyTask: null,
  requiredTopics: [],
};

/** A session whose first attempt is running. */
function records(): JournalRecord[] {
  const item = { role: 'executor', mode: 'implement' as const, subject: 'task-1', task: 'task-1' };
  const steps: Fact[][] = [
    [
      {
        type: 'session.created',
        id: '260208-143000',
        objective: '',
        timezone: 'UTC',
        product: '0',
        ground: '.',
      },
      {
        type: 'run.started',
        policy: POLICY,
        runner: { pid: 1, startTime: '1', host: 'box', boot: 'b' },
        dirty: [],
        spentTodayUsd: 0,
        reopened: false,
        flags: {},
      },
    ],
    [
      {
        type: 'tasks.read',
        source: { kind: 'file', path: 'ralph/tasks.json', dialect: 'ralph-sh', reviewed: false },
        sha256: 's',
        set: [
          {
            id: 'task-1',
            title: 'Add \u001b[31mlogin',
            description: '',
            acceptance: [],
            priority: 0,
            order: 0,
            dependsOn: [],
            status: 'todo',
            files: [],
            changes: 'expected',
          },
        ],
        gone: [],
        by: 'person',
      },
    ],
    [{ type: 'wave.started', wave: 1, items: [{ iteration: 1, item }] }],
    [
      {
        type: 'attempt.started',
        iteration: 1,
        item,
        attempt: 1,
        agent: 'script',
        model: null,
        allowance: { wallMs: 900_000, idleMs: 600_000 },
        before: { head: 'c', branch: 'main', tree: 't' },
        marker: 'm',
        tokenHash: 'h',
        prompt: { path: 'p', sha256: 's' },
        taskFile: null,
        delivered: [],
        reminded: [],
      },
    ],
  ];
  return steps.map((facts, i) => ({ v: 1, seq: i + 1, epoch: 1, at: START + i * 1_000, facts, prev: '' }));
}

const question: Fact = {
  type: 'question.asked',
  question: {
    id: 'q1',
    kind: 'decision',
    about: 'session',
    text: 'Push or poll?',
    options: [{ key: 'A', text: 'push' }],
    default: null,
    hold: 'session',
    deadline: START + 600_000,
    onTimeout: 'proceed',
    askedBy: 'script',
    iteration: 1,
    askedAt: START,
  },
};

function stateOf(all: JournalRecord[]): State {
  const state = emptyState();
  for (const record of all) evolve(state, record);
  return state;
}

const next = (seq: number, ...facts: Fact[]): JournalRecord => ({
  v: 1,
  seq,
  epoch: 1,
  at: START + seq * 1_000,
  facts,
  prev: '',
});

const runner = { pid: 1, host: 'box', startedAt: START };

describe('the terminal', () => {
  it('gets plain lines where a frame would be noise', () => {
    expect(whyPlain({ isTTY: true, columns: 100 }, TERMINAL)).toBeNull();
    expect(whyPlain({ columns: 100 }, TERMINAL)).toContain('not a terminal');
    expect(whyPlain({ isTTY: true, columns: 100 }, { TERM: 'dumb' })).toContain('dumb');
    expect(whyPlain({ isTTY: true, columns: 100 }, { CI: 'true' })).toContain('CI');
    expect(whyPlain({ isTTY: true, columns: 100 }, { CI: 'false' })).toBeNull();
    expect(whyPlain({ isTTY: true, columns: 39 }, TERMINAL)).toContain('narrower');
  });

  it('takes the flag before NO_COLOR, and NO_COLOR before its own guess', () => {
    const terminal = { isTTY: true };
    expect(wantsColor(terminal, TERMINAL)).toBe(true);
    expect(wantsColor(terminal, { NO_COLOR: '1' })).toBe(false);
    expect(wantsColor(terminal, { NO_COLOR: '1' }, 'always')).toBe(true);
    expect(wantsColor(terminal, TERMINAL, 'never')).toBe(false);
    expect(wantsColor({}, TERMINAL)).toBe(false);
  });
});

describe('the plain display', () => {
  it('prints a line a fact and says nothing of what an agent mutters', () => {
    const lines: string[] = [];
    const display = plainDisplay((line) => lines.push(line));
    const state = stateOf(records());
    for (const record of records()) display.record(record, state);
    display.event(1, { kind: 'text', text: 'hm' });
    display.event(1, { kind: 'retry', reason: 'overloaded', attempt: 2 });
    display.close();
    display.record(next(9, question), state);
    expect(lines).toEqual([
      'session 260208-143000: works off the task list',
      'run started · team solo · agent script · pid 1',
      '1 task read from ralph/tasks.json',
      'iteration 1 · implement task-1 · attempt 1 · script · up to 15m',
      'iteration 1 · the agent tries again (2): overloaded',
    ]);
  });

  it('falls silent when nobody reads any more', () => {
    const display = plainDisplay(() => {
      throw new Error('EPIPE');
    });
    expect(() => display.record(records()[0]!, emptyState())).not.toThrow();
    expect(() => display.event(1, { kind: 'retry', reason: '', attempt: 1 })).not.toThrow();
  });
});

describe('the frame', () => {
  it('shows the task, the time, the spending and the last words', () => {
    const notes = emptyNotes();
    note(notes, { kind: 'text', text: 'Reading the code\n\u001b[2JNow \u001b]0;x\u0007editing' });
    note(notes, { kind: 'tool', name: 'Bash', detail: 'npm test' });
    note(notes, { kind: 'usage', inputTokens: 11_000, outputTokens: 1_300, costUsd: 0.42 });
    const frame = frameOf({
      state: stateOf(records()),
      now: START + 126_000,
      notes: new Map([[1, notes]]),
      columns: 100,
      rows: 30,
      runner,
    });
    expect(frame.map(({ text }) => text)).toEqual([
      '260208-143000 · INITIALIZING · tasks 0/1 · stuck 0/3 · $0.42 · 12.3k tokens',
      'iteration 1 · implement task-1 “Add login” · attempt 1 · 2m 03s of 15m',
      'tool: Bash npm test',
      '│ Reading the code',
      '│ Now editing',
    ]);
  });

  it('shows no price before one was reported', () => {
    const shown = { state: stateOf(records()), now: START, columns: 100, rows: 30, runner };
    const free = emptyNotes();
    note(free, { kind: 'usage', inputTokens: 1, outputTokens: 1, costUsd: 0 });
    expect(frameOf({ ...shown, notes: new Map() })[0]!.text).toContain('no price reported');
    expect(frameOf({ ...shown, notes: new Map([[1, free]]) })[0]!.text).toContain('$0.00');
  });

  it('shows an open question with how to answer it', () => {
    const frame = frameOf({
      state: stateOf([...records(), next(5, question)]),
      now: START,
      notes: new Map(),
      columns: 100,
      rows: 30,
      runner,
    });
    const asked = frame.filter(({ tone }) => tone === 'ask').map(({ text }) => text);
    expect(asked[0]).toBe('q1 about session: Push or poll?');
    expect(asked[1]).toContain('`ralph answer q1 --option A` or `ralph answer q1 "…"` · deadline in 10m 00s');
  });

  it('is lower than the terminal and one line where that is narrow, whatever an agent says', () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant('text' as const), text: fc.string({ unit: 'binary', maxLength: 400 }) }),
      fc.record({
        kind: fc.constant('tool' as const),
        name: fc.string(),
        detail: fc.string({ unit: 'binary' }),
      }),
      fc.record({ kind: fc.constant('retry' as const), reason: fc.string(), attempt: fc.nat() }),
    );
    const size = fc.record({
      columns: fc.integer({ min: 1, max: 200 }),
      rows: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 40 }),
        size,
        fc.boolean(),
        (events, { columns, rows }, asks) => {
          const notes = emptyNotes();
          for (const each of events) note(notes, each as AgentEvent);
          const state = stateOf(asks ? [...records(), next(5, question)] : records());
          const frame = frameOf({ state, now: START, notes: new Map([[1, notes]]), columns, rows, runner });
          expect(frame.length).toBeLessThanOrEqual(Math.max(1, rows - 2));
          if (columns < 40) expect(frame).toHaveLength(1);
          for (const { text } of frame) expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
        },
      ),
    );
  });
});

describe('the live display', () => {
  // ink looks at the process's own environment when it is loaded, and draws no frame where a CI runs.
  beforeAll(() => {
    for (const name of Object.keys(process.env))
      if (inCi({ [name]: process.env[name] })) delete process.env[name];
  });

  it('keeps the facts above and the present below, and leaves the last frame', async () => {
    const screen = testScreen();
    const all = records();
    const state = stateOf(all);
    const display = await liveDisplay({ out: screen.out, env: TERMINAL, now: () => START + 60_000 });
    for (const record of all) display.record(record, state);
    display.event(1, { kind: 'text', text: 'Looking around' });
    await eventually(() => screen.text().includes('│ Looking around'));
    display.close();
    const text = screen.text();
    expect(text).toContain('iteration 1 · implement task-1 · attempt 1 · script · up to 15m');
    expect(text.trimEnd().endsWith('│ Looking around')).toBe(true);
    expect(screen.raw().lastIndexOf('\u001b[?25h')).toBeGreaterThan(screen.raw().lastIndexOf('\u001b[?25l'));
    const length = screen.raw().length;
    display.record(next(9, question), state);
    display.event(1, { kind: 'text', text: 'too late' });
    display.close();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(screen.raw().length).toBe(length);
  });

  it('survives a terminal that shrinks to nothing and grows again', async () => {
    const screen = testScreen();
    const state = stateOf(records());
    const display = await liveDisplay({ out: screen.out, env: TERMINAL, now: () => START + 60_000 });
    display.record(records()[3]!, state);
    await eventually(() => screen.text().includes('tasks 0/1'));
    for (const columns of [20, 1, 0, 200]) {
      screen.resize(columns, 3);
      display.event(1, { kind: 'text', text: 'x'.repeat(500) });
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    screen.resize(100, 30);
    display.event(1, { kind: 'text', text: 'still here' });
    await eventually(() => screen.text().includes('still here'));
    display.close();
  });

  it('never throws, even when the terminal is gone', async () => {
    const screen = testScreen();
    const state = stateOf(records());
    const display = await liveDisplay({ out: screen.out, env: TERMINAL, now: () => START });
    display.record(records()[3]!, state);
    screen.out.destroy(new Error('EIO'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(() => display.record(next(9, question), state)).not.toThrow();
    expect(() => display.event(1, { kind: 'text', text: 'x' })).not.toThrow();
    expect(() => display.close()).not.toThrow();
  });

  it('prints lines without a single escape where the output is no terminal', async () => {
    const screen = testScreen();
    Object.assign(screen.out, { isTTY: false });
    const display = await liveDisplay({ out: screen.out, env: TERMINAL, now: () => START });
    for (const record of records()) display.record(record, stateOf(records()));
    display.close();
    expect(screen.raw()).toContain('iteration 1 · implement task-1');
    expect(screen.raw()).not.toContain('\u001b');
  });

  it('follows a session that another process runs, without repeating the past', async () => {
    const screen = testScreen();
    const later: ((record: JournalRecord) => void)[] = [];
    let stopped = false;
    const end = await liveView({
      out: screen.out,
      env: TERMINAL,
      now: () => START + 60_000,
      past: records(),
      follow: (record) => {
        later.push(record);
        return () => {
          stopped = true;
        };
      },
    });
    await eventually(() => screen.text().includes('tasks 0/1'));
    expect(screen.text()).not.toContain('run started');
    for (const tell of later) tell(next(5, question));
    await eventually(() => screen.text().includes('question q1'));
    end();
    expect(stopped).toBe(true);
  });
});
