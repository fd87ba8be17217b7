/** What `ralph status`, the live view and the end summary say of a five-role session at each of its stages. */
import { afterEach, describe, expect, test } from 'vitest';
import { emptyState, evolve, type Fact, type State, tasksOfCycle } from '../../src/core/index.ts';
import { frameOf } from '../../src/tui/frame.ts';
import * as views from '../../src/views/index.ts';
import { crewOf, FULL } from './full-crew.ts';
import { DONE, leave, makeWorld, type Play, run, send, type World } from './world.ts';

type Given = NonNullable<Parameters<typeof run>[1]>;
/** Without rounds of questions. */
const QUICK: Given = { ...FULL, limits: { maxCycles: 0, onExhausted: 'fail' } };

const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(leave));

async function played(policy: Given, over: Partial<Record<string, Play>> = {}): Promise<World> {
  const world = makeWorld({ play: crewOf(over) });
  worlds.push(world);
  await run(world, policy);
  return world;
}

/** The state after the first record with such a fact; without one, at the end. */
function stateAt({ records }: World, wanted?: (fact: Fact) => boolean): State {
  const state = emptyState();
  for (const record of structuredClone(records)) {
    evolve(state, record);
    if (wanted && record.facts.some(wanted)) break;
  }
  return state;
}

const startOf =
  (mode: string, subject = 'session') =>
  (fact: Fact) =>
    fact.type === 'attempt.started' && fact.item.mode === mode && fact.item.subject === subject;

const RUNNER = { pid: 4711, host: 'box', startedAt: 0 };

const statusOf = (state: State, runner: typeof RUNNER | null = RUNNER) =>
  views.statusText(state, state.lastAt + 61_000, { runner });
const jsonOf = (state: State, runner: typeof RUNNER | null = RUNNER) =>
  views.statusJson(state, state.lastAt + 61_000, { runner });
const frame = (state: State, runner: typeof RUNNER | null = RUNNER) =>
  frameOf({ state, now: state.lastAt + 61_000, notes: new Map(), columns: 160, rows: 40, runner })
    .map(({ text }) => text)
    .join('\n');

const asks: Partial<Record<string, Play>> = {
  brainstorm: ({ category }, { outside }) => ({
    session: {
      [`questions/${category}.md`]: outside.session[`iterations/1/questions/${category}.md`] ?? 'why?',
    },
    say: DONE,
  }),
  research: ({ iteration }) => ({
    session: { 'questions/risks.md': iteration < 8 ? 'why?\n!so\nand?' : 'why?\n!so\nand?\n!thus' },
    say: DONE,
  }),
};

describe('status and the live view', () => {
  test('before any task: the phase, the call that runs with its role and category, since when, and the round', async () => {
    const world = await played(FULL, asks);
    const first = stateAt(world, startOf('INITIALIZE'));
    expect(statusOf(first)).toMatch(
      /INITIALIZING · cycle 1 · runner[\s\S]*phase: the plan is written\nno tasks yet: planning\n/,
    );
    expect(statusOf(first)).toMatch(
      /iteration 1 · planner INITIALIZE · attempt 1 · played · since \d\d:\d\d UTC · 1m 01s of 15m/,
    );
    const asked = stateAt(world, startOf('brainstorm', 'risks-2'));
    for (const text of [statusOf(asked), frame(asked)]) {
      expect(text).toContain('no tasks yet: planning');
      expect(text).toContain('questions are asked, by category (round 2 of at most 5), 5 questions open');
      expect(text).toMatch(
        /iteration 12 · questioner brainstorm risks round 2 · attempt 1 .*since \d\d:\d\d UTC/,
      );
      expect(text).toContain('$0.11');
    }
    expect(views.tasksText(asked)).toBe('no tasks yet: planning');
    expect(views.tasksJson(asked)).toEqual([]);
    expect(statusOf(stateAt(world, startOf('research', 'session-2')))).toContain(
      'questions are researched (round 2',
    );
    expect(frame(stateAt(world, startOf('TASK_BREAKDOWN')))).toContain('the plan is broken down into tasks');
  });

  test('tasks stand there with their markers, and the call with its task', async () => {
    const world = await played(QUICK);
    const worked = stateAt(world, startOf('implement', 'task-2'));
    expect(statusOf(worked)).toMatch(
      /phase: wave \d+: tasks are worked on\ntasks 1\/2 done\n {2}\[x\] task-1 {2}Make task-1\n {2}\[\/\] task-2/,
    );
    expect(frame(worked)).toMatch(
      /· cycle 1 · tasks 1\/2 ·[\s\S]*\n\[x\] task-1 · \[\/\] task-2\niteration \d+ · executor implement task-2/,
    );
    const reviewed = stateAt(world, startOf('TASK_REVIEW', 'task-1'));
    expect(frame(reviewed)).toMatch(
      /finished tasks are reviewed\n\[P\] task-1 · \[ \] task-2\niteration \d+ · reviewer TASK_REVIEW task-1/,
    );
  });

  test('of many tasks those that are not over are shown, and the rest is counted', async () => {
    const ids = Array.from({ length: 15 }, (_, n) => `task-${n + 1}`);
    const world = await played(QUICK, {
      TASK_BREAKDOWN: () => ({
        session: Object.fromEntries(
          ids.map((id) => [`tasks/${id}.md`, JSON.stringify({ id, dependsOn: [] })]),
        ),
        say: DONE,
      }),
    });
    const state = stateAt(world, startOf('implement', 'task-9'));
    expect(statusOf(state)).toMatch(
      /\n {2}\[\/\] task-9 [\s\S]*\n {2}\[ \] task-15 .*\n {2}and 3 more: `ralph tasks`/,
    );
    expect(statusOf(state)).not.toContain('] task-3 ');
    expect(frame(state)).toContain('and 7 more');
  });

  test('in approval the notes stand there with both ways to answer', async () => {
    const state = stateAt(await played(QUICK));
    for (const text of [statusOf(state, null), frame(state, null)]) {
      expect(text).toContain('one note waits for your word');
      expect(text).toContain('iterations/1/knowledge/how-to/build.md');
      expect(text).toContain('`ralph approve`');
      expect(text).toContain('`ralph skip`');
    }
    expect(statusOf(state, null)).toContain('· awaiting approval · KNOWLEDGE_APPROVAL ·');
  });

  test('approved notes wait for nobody any more', async () => {
    const world = await played(QUICK);
    const state = stateAt(world);
    evolve(state, {
      ...structuredClone(world.records.at(-1)!),
      seq: state.seq + 1,
      facts: [
        { type: 'question.answered', id: 'q1', text: '', option: 'APPROVE', by: 'ana', via: 'approve' },
      ],
    });
    expect(jsonOf(state, null)).toMatchObject({ status: 'in_progress', status_detail: 'in_progress' });
    expect(statusOf(state, null)).toContain('phase: what was approved goes into .docs/');
    expect(jsonOf(state, null).next_action).toContain('PROMOTE');
  });

  test('in replanning the feedback is read again, and the finished tasks stay in sight', async () => {
    const world = await played(QUICK);
    world.outside.feedback.push({ id: 'feedback-1', text: 'a third is missing' });
    await run(world, QUICK);
    const state = stateAt(world, startOf('feedback-analysis'));
    expect(statusOf(state)).toMatch(
      /REPLANNING · cycle 2 ·[\s\S]*phase: replanning from feedback: the feedback is turned into questions/,
    );
    expect(frame(state)).toMatch(/\[x\] task-1 · \[x\] task-2\niteration \d+ · questioner feedback-analysis/);
    expect(statusOf(stateAt(world, startOf('UPDATE')))).toContain('the plan is brought up to date');
    expect(statusOf(stateAt(world, startOf('REBREAKDOWN')))).toContain('broken down into tasks');
  });

  test('a team that only works off tasks has no phase in words', async () => {
    const world = makeWorld({ tasks: [{ id: 'task-1' }], play: crewOf() });
    worlds.push(world);
    await run(world);
    const state = stateAt(world);
    expect(jsonOf(state, null)).toMatchObject({
      phase_detail: null,
      round: null,
      staged: [],
      session_review: null,
    });
    expect(statusOf(state, null)).not.toContain('phase:');
  });
});

describe('status --json', () => {
  const WORDS = ['completed', 'in_progress', 'awaiting_feedback', 'blocked'];
  const STATES =
    'INITIALIZING PLANNING REPLANNING BATCHING EXECUTING_BATCH REVIEWING_BATCH SESSION_REVIEW KNOWLEDGE_EXTRACTION KNOWLEDGE_APPROVAL COMPLETE'.split(
      ' ',
    );

  test('holds every field of the orchestrator’s contract and of the surface, after every record', async () => {
    const world = await played(FULL, asks);
    send(world, { type: 'APPROVE' });
    await run(world, FULL);
    world.outside.feedback.push({ id: 'feedback-1', text: 'a third is missing' });
    await run(world, FULL);
    const state = emptyState();
    const seen = new Set<string>();
    for (const record of structuredClone(world.records)) {
      evolve(state, record);
      const json = jsonOf(state);
      seen.add(json.current_state);
      expect(WORDS).toContain(json.status);
      expect(STATES).toContain(json.current_state);
      const { total, completed, failed, pending, cancelled } = json.tasks_summary;
      expect(completed + failed + pending + cancelled).toBe(total);
      expect(total).toBe(tasksOfCycle(state).length);
      expect(json).toMatchObject({
        session_id: state.session!.id,
        iteration: state.cycle,
        current_wave: expect.any(Number),
        next_action: expect.stringMatching(/./),
        status_detail: expect.any(String),
        paused: false,
        phase: json.current_state,
        open_questions: expect.any(Array),
        iterations: state.attempts.size,
        stuck_count: state.stuck,
        live: expect.any(Array),
      });
      expect(json.cost_usd === null || json.cost_usd >= 0).toBe(true);
      expect(json.live).toHaveLength(state.open.size);
    }
    expect([...seen].sort()).toEqual([...STATES].sort());
  });

  test('names the live call with its role, mode, category, task and start', async () => {
    const world = await played(FULL, asks);
    const asked = jsonOf(stateAt(world, startOf('brainstorm', 'risks-2')));
    expect(asked).toMatchObject({ status: 'in_progress', current_state: 'PLANNING', round: 2 });
    expect(asked.live).toEqual([
      expect.objectContaining({
        role: 'questioner',
        mode: 'brainstorm',
        category: 'risks',
        task_id: null,
        started_at: expect.stringMatching(/Z$/),
        elapsed_s: 61,
      }),
    ]);
    const [worked] = jsonOf(stateAt(world, startOf('implement', 'task-2'))).live;
    expect(worked).toMatchObject({ role: 'executor', category: null, task_id: 'task-2' });
  });

  test('while notes wait: awaiting_feedback, the exit, the notes, the review and the open question', async () => {
    const json = jsonOf(stateAt(await played(QUICK)), null);
    expect(json).toMatchObject({
      status: 'awaiting_feedback',
      status_detail: 'awaiting_approval',
      exit: { code: 8, word: 'AWAITING', reason: expect.stringContaining('knowledge/how-to/build.md') },
      staged: ['iterations/1/knowledge/how-to/build.md'],
      session_review: { assessment: 'Complete', gaps: [] },
      open_questions: [{ id: 'q1', kind: 'approval', about: 'session', hold: 'session' }],
      tasks_summary: { total: 2, completed: 2, failed: 0, pending: 0, cancelled: 0 },
      live: [],
    });
    expect(json.cost_usd).toBeGreaterThan(0);
  });

  test('complete is completed, and carries exit 0', async () => {
    const world = await played(QUICK, { STAGE: () => ({ say: DONE }) });
    expect(jsonOf(stateAt(world), null)).toMatchObject({
      status: 'completed',
      current_state: 'COMPLETE',
      exit: { code: 0, word: 'COMPLETE' },
    });
  });
});

describe('the end says what to do next', () => {
  const nextOf = (world: World) => views.endSummary(stateAt(world)).next;

  test('for notes that wait: read them, approve or skip', async () => {
    expect(nextOf(await played(QUICK))).toBe(
      "read iterations/1/knowledge/how-to/build.md in the session's folder; q1: `ralph approve` puts them into .docs/ (`ralph approve FILE…` only some), `ralph skip` leaves them in the session; then `ralph run` goes on",
    );
  });

  test('for gaps: the review, and feedback that opens the next cycle', async () => {
    const world = await played(QUICK, {
      SESSION_REVIEW: () => ({ session: { 'review.md': 'Gaps Identified: no tests' }, say: DONE }),
      STAGE: () => ({ say: DONE }),
    });
    expect(nextOf(world)).toMatch(
      /^read iterations\/1\/review.md; `ralph feedback` .* opens cycle 2; then `ralph run` goes on$/,
    );
    expect(jsonOf(stateAt(world), null)).toMatchObject({
      status: 'awaiting_feedback',
      session_review: { assessment: 'Gaps Identified', gaps: ['no tests'] },
    });
    expect(statusOf(stateAt(world), null)).toContain('phase: the session review found 1 gap: no tests');
  });

  test('for failed tasks: open them again, or feedback', async () => {
    const world = await played(
      { ...FULL, limits: { maxCycles: 0, onExhausted: 'fail', maxStuck: 0 } },
      { implement: () => ({ say: DONE }), STAGE: () => ({ say: DONE }) },
    );
    expect(nextOf(world)).toMatch(
      /`ralph tasks reopen ID` goes on with what failed as it is; `ralph feedback` /,
    );
  });

  test('for a call that was returned too often: what it owed, what it printed, and a smaller objective', async () => {
    const world = await played(QUICK, { INITIALIZE: () => ({ say: DONE }) });
    expect(nextOf(world)).toMatch(
      /^`ralph why 3` shows what INITIALIZE owed .*`ralph logs 3`.*; `ralph run` tries again with fresh tries, `ralph run --new "…"`/,
    );
  });
});
