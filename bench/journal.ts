/**
 * A long journal as a real session leaves it: tasks that are done one after the other, ten facts an
 * iteration, chained and written by the store itself.
 */
import { createHash } from 'node:crypto';
import type { AgentReport, Claim, Fact, Item, Mark, Policy, TaskDef } from '../src/core/index.ts';
import { policyOf } from '../src/core/test-facts.ts';
import type { Capabilities } from '../src/engine/index.ts';
import { openJournal } from '../src/store/index.ts';

const START = Date.UTC(2026, 0, 1);
const EVERY_MS = 60_000;
const hex = (text: string, length = 64) => createHash('sha256').update(text).digest('hex').slice(0, length);

/** The tasks of a list of this length; each depends on the one ten before it. */
export function manyTasks(count: number): TaskDef[] {
  return Array.from({ length: count }, (_, order) => ({
    id: `US-${String(order + 1).padStart(4, '0')}`,
    title: `Story ${order + 1}`,
    description: `As a user I want story ${order + 1} so that the product has it.`,
    acceptance: ['It works', 'It has a test'],
    priority: order % 5,
    order,
    dependsOn: order < 10 ? [] : [`US-${String(order - 9).padStart(4, '0')}`],
    status: 'todo' as const,
    files: [],
    changes: 'expected' as const,
  }));
}

/** The defaults of a run without budgets. */
export function benchPolicy(over: Partial<Policy> = {}): Policy {
  const base = policyOf({
    agent: 'instant',
    commit: 'none',
    limits: { maxIterations: 1_000_000, maxStuck: 0 },
  });
  return { ...base, questions: { ...base.questions, hold: 'task' }, ...over };
}

/** An agent of a bench declares nothing. */
export const NO_CAPABILITIES: Capabilities = {
  stream: false,
  toolEvents: false,
  sessionResume: false,
  choosesSessionId: false,
  liveInput: false,
  interrupt: false,
  tokens: false,
  cost: false,
  limits: false,
  readOnly: false,
};

/** What an agent that works and says so leaves. */
export function goodReport(finalMessage: string): AgentReport {
  return {
    ending: 'ended',
    timeout: null,
    exitCode: 0,
    signal: null,
    error: null,
    finalMessage,
    toolCalls: 3,
    toolFiles: [],
    commands: [],
    outputBytes: 20_000,
    usage: { inputTokens: 20_000, outputTokens: 900, costUsd: 0.02, model: 'bench' },
    sessionId: null,
    leftBehind: [],
    unknownEvents: 0,
  };
}

const CLAIM: Claim = {
  kind: 'complete',
  via: 'tag',
  text: '',
  result: null,
  topics: [],
  notes: [],
  files: [],
  marks: [],
};

/** The first facts of a session with these tasks. */
export function beginning(tasks: TaskDef[], policy: Policy): Fact[] {
  return [
    {
      type: 'session.created',
      id: '260101-000000',
      objective: 'Build all of it',
      timezone: 'UTC',
      product: 'bench',
      ground: '.',
    },
    {
      type: 'run.started',
      policy,
      runner: { pid: 1, startTime: '1', host: 'bench', boot: '1' },
      dirty: [],
      spentTodayUsd: 0,
      reopened: false,
      flags: {},
    },
    {
      type: 'tasks.read',
      source: { kind: 'objective', path: null, dialect: 'objective', reviewed: false },
      sha256: hex('list'),
      set: tasks,
      gone: [],
      by: 'engine',
    },
  ];
}

/** Records of one iteration; the task is done where `done` says so. Ten facts. */
export function iterationFacts(iteration: number, task: string, done: boolean): Fact[][] {
  const item: Item = { role: 'executor', mode: 'implement', subject: task, task };
  const mark = (n: number): Mark => ({ head: hex('head', 40), branch: 'main', tree: hex(`tree ${n}`, 40) });
  const path = `src/f${iteration}.txt`;
  return [
    [{ type: 'wave.started', wave: iteration, items: [{ iteration, item }] }],
    [attemptStarted(iteration, item, mark(iteration - 1))],
    [{ type: 'attempt.spawned', iteration, pid: 4242, startTime: '1' }],
    [
      {
        type: 'attempt.ended',
        iteration,
        report: goodReport(`Wrote ${path} and ran its test.\n\n<promise>COMPLETE</promise>`),
        claim: done ? CLAIM : { ...CLAIM, kind: 'none', via: 'none' },
        after: mark(iteration),
        changes: [{ path, before: null, after: hex(path, 40) }],
        changeCount: 1,
        more: null,
        commits: [],
        rewrote: false,
        trespass: [],
        marked: [],
        durationMs: 45_000,
        stoppedFor: null,
        review: null,
        bookkeeping: false,
      },
    ],
    [gateRan(iteration, mark(iteration).tree)],
    verdict({ iteration, item, task, done, tree: mark(iteration).tree }),
    [
      { type: 'notice.given', level: 'info', text: `Iteration ${iteration} is over.` },
      {
        type: 'wave.ended',
        wave: iteration,
        progress: true,
        neutral: false,
        dead: false,
        started: 1,
        returned: [],
      },
    ],
  ];
}

function attemptStarted(iteration: number, item: Item, before: Mark): Fact {
  return {
    type: 'attempt.started',
    iteration,
    item,
    attempt: 1,
    agent: 'instant',
    model: null,
    allowance: { wallMs: 900_000, idleMs: 600_000 },
    before,
    marker: `260101-000000-${iteration}-${hex(String(iteration), 16)}`,
    tokenHash: hex(`token ${iteration}`),
    prompt: { path: `logs/iteration-${iteration}.prompt.md`, sha256: hex(`prompt ${iteration}`) },
    taskFile: null,
    delivered: [],
    reminded: [],
  };
}

function gateRan(iteration: number, tree: string): Fact {
  return {
    type: 'gate.ran',
    iteration,
    when: 'after',
    result: {
      gate: 'test',
      run: 'npm test',
      tree,
      outcome: 'passed',
      exitCode: 0,
      durationMs: 3_000,
      tests: 42,
      failures: [],
      excerpt: '42 passed, 0 failed',
      output: null,
    },
  };
}

interface Judged {
  iteration: number;
  item: Item;
  task: string;
  done: boolean;
  tree: string;
}

function verdict({ iteration, item, task, done, tree }: Judged): Fact[] {
  const reached: Fact = {
    type: 'verdict.reached',
    iteration,
    item,
    value: done ? 'accepted' : 'unfinished',
    findings: [],
    charged: false,
    tree,
    newTree: true,
    reason: done ? 'claimed, changed and green' : 'it made no claim',
    parks: false,
    down: null,
  };
  if (!done) {
    const note = (text: string): Fact => ({ type: 'notice.given', level: 'info', text });
    return [reached, note(`Iteration ${iteration} went on with ${task}.`), note(`${task} is not done yet.`)];
  }
  return [
    reached,
    { type: 'task.moved', task, to: 'done', reason: 'accepted', by: 'judge' },
    { type: 'commit.landed', task, commit: '', paths: [], by: 'nobody' },
  ];
}

export interface LongJournal {
  iterations: number;
  tasks: number;
  /** The last task stays open, so that there is something to decide. */
  file: string;
}

/** Writes the journal; answers how many facts it holds. */
export async function writeJournal({ iterations, tasks, file }: LongJournal): Promise<number> {
  const defs = manyTasks(tasks);
  const { journal } = await openJournal({ file, epoch: 1, stillOurs: () => true });
  const written: Promise<unknown>[] = [];
  let facts = 0;
  const put = (at: number, record: Fact[]) => {
    facts += record.length;
    written.push(journal.append(journal.seq, at, record));
  };
  put(START, beginning(defs, benchPolicy()));
  const perTask = Math.ceil(iterations / Math.max(1, tasks - 1));
  for (let iteration = 1; iteration <= iterations; iteration++) {
    const def = defs[Math.min(Math.floor((iteration - 1) / perTask), tasks - 2)]!;
    const records = iterationFacts(iteration, def.id, iteration % perTask === 0 || iteration === iterations);
    for (const record of records) put(START + iteration * EVERY_MS, record);
  }
  await Promise.all(written);
  await journal.close();
  return facts;
}
