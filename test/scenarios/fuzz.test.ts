/**
 * Any order of agents and people: whatever they do, the run ends in an exit, the state stays consistent,
 * and a crash anywhere on the way changes neither.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EXITS, emptyState, evolve, isTerminal, type Message, type State } from '../../src/core/index.ts';
import {
  crashedAfter,
  DONE,
  type Doing,
  facts,
  leave,
  makeWorld,
  PAIR,
  type Play,
  policy,
  reviewed,
  run,
  send,
  type World,
} from './world.ts';

const TASKS = ['t1', 't2', 't3', 't4'];
const BEHAVIOURS = [
  'honest',
  'honest',
  'honest',
  'lie',
  'silent',
  'half',
  'commit',
  'block',
  'decide',
  'ask',
  'die',
  'limit',
  'idle',
  'timeout',
  'fail-review',
  'no-verdict',
  'steal-mark',
  'protected',
  'amend',
  'undo',
] as const;
type Behaviour = (typeof BEHAVIOURS)[number];

function doing(behaviour: Behaviour, task: string, iteration: number, now: number): Doing {
  const write = { [`${task}.txt`]: `by ${iteration}` };
  const acts: Record<Behaviour, Doing> = {
    honest: { write, say: DONE },
    lie: { say: DONE },
    silent: { say: 'I looked around.' },
    half: { write, say: 'half way' },
    commit: { write, commit: true, say: 'some progress' },
    block: { say: `<promise>BLOCKED:no key ${iteration}</promise>` },
    decide: { write, say: `<promise>DECIDE:left or right ${iteration}?</promise>` },
    ask: { write, emit: [{ topic: 'human.interact', payload: `Which ${iteration}?` }], say: 'asked' },
    die: { write, die: { kind: 'network', message: 'reset' } },
    limit: { die: { kind: 'limit', message: '5h', resetsAt: now + 3_600_000 } },
    idle: { say: 'Hello!', toolCalls: 0 },
    timeout: { write, timeOut: true },
    'fail-review': { write, say: DONE },
    'no-verdict': { say: 'looks fine' },
    'steal-mark': { list: (tasks) => tasks.map((def) => ({ ...def, status: 'done' as const })), say: DONE },
    protected: { write: { ...write, 'keep.txt': 'broken' }, say: DONE },
    amend: { write, amend: true, say: DONE },
    undo: { remove: [`${task}.txt`], say: DONE },
  };
  return acts[behaviour];
}

function reviewing(behaviour: Behaviour, base: Doing): Doing {
  if (behaviour === 'honest' || behaviour === 'lie')
    return { emit: [{ topic: 'ralph.result', payload: reviewed('Qualified') }] };
  if (behaviour === 'fail-review') return { emit: [{ topic: 'ralph.result', payload: reviewed('Failed') }] };
  return base;
}

const messages = fc.record({
  type: fc.constantFrom<Message['type']>(
    'STEER',
    'INFO',
    'PAUSE',
    'RESUME',
    'HALT',
    'ABORT',
    'ANSWER',
    'APPROVE',
    'TASK',
    'UNBLOCK',
    'FEEDBACK',
  ),
  task: fc.constantFrom(...TASKS, 'nobody'),
  op: fc.constantFrom('cancel', 'reopen'),
  question: fc.constantFrom(undefined, 'q1', 'q2'),
  confirmed: fc.boolean(),
  early: fc.boolean(),
});
type Said = typeof messages extends fc.Arbitrary<infer T> ? T : never;

function say(world: World, said: Said): void {
  const { type, task, op, question, confirmed, early } = said;
  const about = type === 'TASK' || type === 'UNBLOCK' ? { task, op } : type === 'STEER' ? { task } : {};
  const createdAt = world.outside.now - (early ? 90_000 : 0);
  const named = type === 'ANSWER' && question !== undefined ? { question } : {};
  send(world, { type, text: `${type} said`, confirmed, createdAt, ...about, ...named });
}

const story = fc.record({
  reviewed: fc.boolean(),
  chain: fc.boolean(),
  gate: fc.boolean(),
  hold: fc.constantFrom('task' as const, 'session' as const),
  onExhausted: fc.constantFrom('ask' as const, 'fail' as const),
  onTimeout: fc.constantFrom('proceed' as const, 'default' as const, 're_ask' as const, 'stop' as const),
  behaviours: fc.array(fc.constantFrom(...BEHAVIOURS), { minLength: 1, maxLength: 14 }),
  during: fc.array(fc.option(messages, { freq: 3 }), { maxLength: 10 }),
  between: fc.array(messages, { maxLength: 5 }),
  commitFails: fc.boolean(),
  crashAt: fc.nat(200),
  beside: fc.boolean(),
});
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

const GATE = { name: 'test', run: 'npm test', timeoutS: 60, required: true, minTests: 0 };

function over(given: Story) {
  return {
    ...(given.reviewed ? PAIR : {}),
    ...(given.beside ? { parallel: { executors: 3, reviewers: 3, questioners: 3 } } : {}),
    protect: ['keep.txt'],
    gates: given.gate ? [{ ...GATE, baseline: 'no_regression' as const }] : [],
    limits: { onExhausted: given.onExhausted, maxIterations: 25 },
    questions: {
      ...policy().questions,
      hold: given.hold,
      interactTimeoutS: 60,
      interactOnTimeout: given.onTimeout,
    },
  };
}

function worldOf(given: Story): World {
  let run = 0;
  const act: Play = ({ task, mode, iteration }, world) => {
    const behaviour = given.behaviours[run % given.behaviours.length]!;
    const said = given.during[run] ?? null;
    run += 1;
    const base = doing(behaviour, task, iteration, world.outside.now);
    const done = mode === 'TASK_REVIEW' ? reviewing(behaviour, base) : base;
    return said === null ? done : { ...done, during: (now) => say(now, said) };
  };
  return makeWorld({
    tasks: TASKS.map((id, index) => ({
      id,
      ...(given.chain && index > 0 ? { dependsOn: [TASKS[index - 1]!] } : {}),
    })),
    reviewed: given.reviewed,
    files: { 'keep.txt': 'kept' },
    play: act,
    gate: (_def, files) =>
      files['t2.txt']?.endsWith('3') ? { code: 1, output: 'red' } : { code: 0, output: 'ok' },
    commitFails: (task) => (given.commitFails && task === 't1' ? 'hook says no' : null),
  });
}

/** What must hold of every state a journal can fold to. */
function checkState(state: State): void {
  for (const id of state.openQuestions) {
    const { question, state: stands } = state.questions.get(id)!;
    expect(stands).toBe('open');
    const about = state.tasks.get(question.about);
    if (about)
      expect(isTerminal(about.status), `${question.about} is ${about.status} and held by ${id}`).toBe(false);
  }
  for (const [id, { state: stands }] of state.questions)
    if (stands === 'open') expect(state.openQuestions.has(id)).toBe(true);
  for (const attempt of state.attempts.values()) {
    expect(state.open.has(attempt.iteration), `iteration ${attempt.iteration}`).toBe(
      attempt.state !== 'settled',
    );
    if (attempt.lost !== null) expect(attempt.verdict).toBeNull();
  }
  for (const iteration of state.open) {
    expect(state.wave?.started, `open iteration ${iteration} outside a wave`).toContain(iteration);
  }
  for (const entry of state.wave?.waiting ?? []) expect(state.attempts.has(entry.iteration)).toBe(false);
  for (const task of state.tasks.values()) {
    const working = [...state.open].some((iteration) => {
      const { item } = state.attempts.get(iteration)!;
      return item.task === task.def.id && item.mode !== 'TASK_REVIEW';
    });
    if (task.status === 'doing') expect(working, `${task.def.id} is doing and nobody works on it`).toBe(true);
    expect(task.prior).not.toBe('doing');
    if (task.commit !== null) expect(task.landed).not.toBe('no');
    expect(
      Math.min(task.charged, task.reviewRejections, task.fruitless, task.unfinished),
    ).toBeGreaterThanOrEqual(0);
    if (task.status === 'done' && task.landed === 'landed') expect(state.groundOwner).not.toBe(task.def.id);
  }
  if (state.paused && state.run?.stopped?.code === 0) expect.unreachable('complete while paused');
}

function checkJournal(world: World): void {
  const folded = emptyState();
  for (const record of world.records) {
    evolve(folded, record);
    checkState(folded);
  }
  const iterations = facts(world, 'attempt.started').map((fact) => fact.iteration);
  expect(new Set(iterations).size).toBe(iterations.length);
  for (const fact of facts(world, 'run.stopped')) expect(EXITS[fact.code], `exit ${fact.code}`).toBeDefined();
  for (const fact of facts(world, 'task.charged')) {
    const verdict = facts(world, 'verdict.reached').find((reached) => reached.iteration === fact.iteration);
    expect(verdict).toBeDefined();
  }
  // What an attempt that was cut off did to it is left for a person to see, and in no commit.
  for (const { files, message } of world.outside.commits)
    if (message.includes('Ralph-Task')) expect(files['keep.txt']).toBe('kept');
  if (facts(world, 'attempt.lost').length === 0) expect(world.outside.files['keep.txt']).toBe('kept');
}

async function playOut(world: World, given: Story): Promise<void> {
  await run(world, over(given));
  for (const said of given.between) {
    say(world, said);
    world.outside.now += 30_000;
    await run(world, over(given));
  }
}

test('whatever agents and people do, a run ends in an exit and the state holds together', async () => {
  await fc.assert(
    fc.asyncProperty(story, async (given) => {
      const world = worldOf(given);
      try {
        await playOut(world, given);
        checkJournal(world);
        const seq = 1 + (given.crashAt % world.records.length);
        const crashed = crashedAfter(world, seq);
        await run(crashed, over(given));
        checkJournal(crashed);
        leave(crashed);
      } finally {
        leave(world);
      }
    }),
    { numRuns: Number(process.env.RALPH_FUZZ ?? 40), endOnFailure: false },
  );
}, 120_000);
