/** What the law costs by itself: folding, resuming, deciding, and a long task file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  decide,
  emptyState,
  evolve,
  type Fact,
  type JournalRecord,
  layers,
  type State,
} from '../src/core/index.ts';
import { readTaskList, writeMarks } from '../src/dialects/index.ts';
import { openJournal, readJournal, takeLock } from '../src/store/index.ts';
import { beginning, benchPolicy, manyTasks, writeJournal } from './journal.ts';
import { costMs, medianCostMs, type Row, type Scale } from './measure.ts';

function folded(records: JournalRecord[]): State {
  const state = emptyState();
  for (const record of records) evolve(state, record);
  return state;
}

/** A state that has only read its tasks and entered the phase in which they are worked on. */
function fresh(tasks: ReturnType<typeof manyTasks>): State {
  const state = folded([recordOf(1, beginning(tasks, benchPolicy()))]);
  for (let step = decide(state, moment()); step.do === 'record'; step = decide(state, moment())) {
    evolve(state, recordOf(state.seq + 1, step.facts));
  }
  return state;
}

const recordOf = (seq: number, facts: Fact[]): JournalRecord => {
  return { v: 1, seq, epoch: 1, at: Date.now(), facts, prev: '' };
};

const moment = () => ({ now: Date.now(), live: new Set<number>() });

/** Facts per second, and what a start after 10,000 iterations costs. */
export async function journalRows({ quick }: Scale): Promise<Row[]> {
  const iterations = quick ? 200 : 10_000;
  const dir = mkdtempSync(join(tmpdir(), 'ralph-bench-journal-'));
  const file = join(dir, 'journal.jsonl');
  try {
    const facts = await writeJournal({ iterations, tasks: quick ? 20 : 1_000, file });
    const { records } = await readJournal(file);
    const foldMs = await medianCostMs(5, () => folded(records));
    const resumeMs = await costMs(() => resumed(dir, file));
    const count = facts.toLocaleString('en-US');
    return [
      {
        name: 'facts folded into the state',
        value: facts / (foldMs / 1000),
        unit: 'facts/s',
        least: 200_000,
        note: `${count} facts`,
      },
      {
        name: `resume after ${iterations.toLocaleString('en-US')} iterations`,
        value: resumeMs,
        unit: 'ms',
        most: 1_000,
        note: 'lock, read and check the chain, fold, decide',
      },
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Lock, read and check the chain, fold, decide. */
export async function resumed(dir: string, file: string): Promise<void> {
  const identity = { pid: process.pid, startTime: '1', host: 'bench', boot: '1' };
  const lock = await takeLock({ file: join(dir, 'lock'), identity, sessionId: 'bench', now: Date.now() });
  if (lock.kind !== 'taken') throw new Error('the bench does not get its own lock');
  const state = emptyState();
  const opened = await openJournal({
    file,
    epoch: lock.epoch,
    stillOurs: lock.stillOurs,
    record: (record) => evolve(state, record),
  });
  decide(state, moment());
  await opened.journal.close();
  await lock.release();
}

/** One decision on many tasks, and one round of their file. */
export async function taskRows({ quick }: Scale): Promise<Row[]> {
  const count = quick ? 100 : 5_000;
  const tasks = manyTasks(count);
  const state = fresh(tasks);
  const many = count.toLocaleString('en-US');
  const path = 'ralph/tasks.json';
  const text = tasksJson(tasks);
  return [
    {
      name: `decide on ${many} tasks`,
      value: await medianCostMs(20, () => decide(state, moment())),
      unit: 'ms',
      most: 15,
    },
    await layeringRow(quick),
    {
      name: `${many} tasks in tasks.json: read, pick, rewrite`,
      value: await medianCostMs(9, () => round(path, text)),
      unit: 'ms',
      most: 50,
      note: `${Math.round(text.length / 1024)} KB`,
    },
  ];
}

/** Every task waits for up to four of the hundred before it, so there are layers and they are uneven. */
async function layeringRow(quick: boolean): Promise<Row> {
  const count = quick ? 100 : 5_000;
  const ids = Array.from({ length: count }, (_, i) => `task-${(i * 7919) % count}`);
  const tasks = ids.map((id, i) => {
    const back = [1, 7, 31, 100].map((far, n) => i - ((far * (i % (n + 3))) % 101) - 1);
    return { id, dependsOn: back.filter((at) => at >= 0).map((at) => ids[at]!) };
  });
  const edges = tasks.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0);
  return {
    name: `layering ${count.toLocaleString('en-US')} tasks with ${(4 * count).toLocaleString('en-US')} edges`,
    value: await medianCostMs(9, () => layers(tasks)),
    unit: 'ms',
    most: 100,
    note: `${edges.toLocaleString('en-US')} edges, ${layers(tasks).length} layers`,
  };
}

function tasksJson(tasks: ReturnType<typeof manyTasks>): string {
  const userStories = tasks.map((task) => ({
    id: task.id,
    title: task.title,
    description: task.description,
    acceptanceCriteria: task.acceptance,
    priority: task.priority,
    dependsOn: task.dependsOn,
    passes: false,
    notes: '',
  }));
  return `${JSON.stringify({ project: 'Bench', branchName: 'ralph/bench', userStories }, null, 2)}\n`;
}

function round(path: string, text: string): string {
  const reading = readTaskList(path, text);
  if (reading.kind !== 'list') throw new Error(`the bench's list is ${reading.kind}`);
  const step = decide(fresh(reading.tasks), moment());
  if (step.do !== 'open') throw new Error(`a step to open a wave was expected, not ${step.do}`);
  const task = step.items[0]!.item.task!;
  const next = writeMarks(text, [{ task, status: 'done' }], path);
  if (next === text) throw new Error('the mark was not written');
  return next;
}
