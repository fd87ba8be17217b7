/** What progress.md and metadata.yaml of each cycle say while the five roles work. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Fact, JournalRecord } from '../../src/core/index.ts';
import {
  type CycleTimes,
  cycleMetadata,
  drawClosed,
  drawProgress,
  newCycleTimes,
  tellCycle,
} from '../../src/store/mirror-cycles.ts';
import { emptyStory, type Story, tell } from '../../src/views/index.ts';
import { crewOf, FULL } from './full-crew.ts';
import { DONE, leave, makeWorld, type Play, run, send, type World } from './world.ts';

type Given = NonNullable<Parameters<typeof run>[1]>;
/** Without rounds of questions. */
const QUICK: Given = { ...FULL, limits: { maxCycles: 0, onExhausted: 'fail' } };

const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(leave));

interface Told {
  times: CycleTimes;
  story: Story;
  /** What is seen in the file after each record. */
  seen: { record: JournalRecord; markers: Record<string, string>; text: string }[];
}

function told({ records }: World): Told {
  const times = newCycleTimes();
  const story = emptyStory();
  const seen = structuredClone(records).map((record) => {
    tell(story, record);
    tellCycle(times, record, story);
    const { text } = drawProgress(times, story.state, null);
    return { record, markers: markersIn(text), text };
  });
  return { times, story, seen };
}

function markersIn(text: string): Record<string, string> {
  const found = text.matchAll(/^- (\[.\]) ([\w-]+)/gm);
  return Object.fromEntries([...found].map(([, box, id]) => [id!, box!]));
}

/** The markers after the first record that holds such a fact. */
function markersAt({ seen }: Told, wanted: (fact: Fact) => boolean): Record<string, string> {
  return seen.find(({ record }) => record.facts.some(wanted))!.markers;
}

const startOf =
  (mode: string, subject = 'session') =>
  (fact: Fact) =>
    fact.type === 'attempt.started' && fact.item.mode === mode && fact.item.subject === subject;
const verdictOf =
  (mode: string, subject = 'session') =>
  (fact: Fact) =>
    fact.type === 'verdict.reached' && fact.item.mode === mode && fact.item.subject === subject;

async function played(policy: Given, over: Partial<Record<string, Play>> = {}): Promise<World> {
  const world = makeWorld({ play: crewOf(over) });
  worlds.push(world);
  await run(world, policy);
  return world;
}

describe('the markers of planning', () => {
  test('a step is in progress while its call is live, and done by its verdict', async () => {
    const all = told(await played(FULL));
    expect(markersAt(all, startOf('INITIALIZE'))).toMatchObject({
      'plan-init': '[/]',
      'plan-brainstorm': '[ ]',
    });
    expect(markersAt(all, verdictOf('INITIALIZE'))).toMatchObject({ 'plan-init': '[x]' });
    expect(all.seen.at(-1)!.text).toMatch(/- \[x\] plan-init \(completed: 2026-\d\d-\d\dT[\d:]+Z\)/);
  });

  test('the calls of all categories share one marker, which is done when the research of their round begins', async () => {
    const all = told(await played(FULL));
    expect(markersAt(all, verdictOf('brainstorm', 'technical'))['plan-brainstorm']).toBe('[/]');
    expect(markersAt(all, startOf('research'))).toMatchObject({
      'plan-brainstorm': '[x]',
      'plan-research': '[/]',
    });
    expect(markersAt(all, startOf('TASK_BREAKDOWN'))).toMatchObject({
      'plan-research': '[x]',
      'plan-breakdown': '[/]',
    });
  });

  test('a second round takes both markers up again', async () => {
    const all = told(
      await played(FULL, {
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
      }),
    );
    expect(markersAt(all, startOf('brainstorm', 'technical-2'))).toMatchObject({
      'plan-brainstorm': '[/]',
      'plan-research': '[/]',
    });
    expect(markersAt(all, startOf('research', 'session-2'))['plan-brainstorm']).toBe('[x]');
    expect(all.seen.at(-1)!.markers).toMatchObject({ 'plan-brainstorm': '[x]', 'plan-research': '[x]' });
  });

  test('what is passed over is cancelled; one category of several is not the whole step', async () => {
    const nothing: Play = () => ({ say: 'well' });
    const world = await played(
      { ...FULL, limits: { maxStuck: 0, onExhausted: 'fail' } },
      {
        research: nothing,
        STAGE: nothing,
        brainstorm: ({ category }) =>
          category === 'risks'
            ? { say: 'well' }
            : { session: { [`questions/${category}.md`]: '' }, say: DONE },
      },
    );
    const all = told(world);
    expect(all.seen.at(-1)!.markers).toMatchObject({
      'plan-brainstorm': '[x]',
      'plan-research': '[C]',
      'plan-knowledge-extraction': '[C]',
      'plan-knowledge-approval': '[C]',
    });
    const { planningTasks } = cycleMetadata(all.times, all.story.state, 1)!;
    expect(planningTasks).toEqual({
      'plan-init': true,
      'plan-brainstorm': true,
      'plan-research': false,
      'plan-breakdown': true,
    });
  });

  test('questions that nobody asked are cancelled once the breakdown begins', async () => {
    const all = told(await played(QUICK));
    expect(markersAt(all, startOf('TASK_BREAKDOWN'))).toMatchObject({
      'plan-brainstorm': '[C]',
      'plan-research': '[C]',
    });
  });
});

describe('the markers of knowledge', () => {
  const approval = (world: World) => told(world).seen.at(-1)!.markers['plan-knowledge-approval'];

  test('notes that wait are open, promoted ones done', async () => {
    const world = await played(QUICK);
    expect(approval(world)).toBe('[ ]');
    send(world, { type: 'APPROVE' });
    await run(world, QUICK);
    const all = told(world);
    expect(markersAt(all, startOf('PROMOTE'))['plan-knowledge-approval']).toBe('[/]');
    expect(approval(world)).toBe('[x]');
  });

  test('skipped notes, and none at all, are cancelled', async () => {
    const skipped = await played(QUICK);
    send(skipped, { type: 'SKIP' });
    await run(skipped, QUICK);
    expect(approval(skipped)).toBe('[C]');
    const none = await played(QUICK, { STAGE: () => ({ say: DONE }) });
    expect(told(none).seen.at(-1)!.markers).toMatchObject({
      'plan-knowledge-extraction': '[x]',
      'plan-knowledge-approval': '[C]',
    });
  });

  test('a cycle that feedback ends is drawn as it ended, its approval carried and its tasks as they were', async () => {
    const world = await played(QUICK);
    world.outside.feedback.push({ id: 'feedback-1', text: 'a third is missing' });
    await run(world, QUICK);
    const all = told(world);
    const files: Record<number, string> = {};
    await drawClosed(all.times, async (cycle, text) => {
      files[cycle] = text(null);
      return true;
    });
    expect(Object.keys(files)).toEqual(['1']);
    expect(markersIn(files[1]!)).toMatchObject({
      'plan-knowledge-approval': '[C]',
      'task-1': '[x]',
      'task-2': '[x]',
    });
    expect(markersIn(files[1]!)).not.toHaveProperty('task-3');
    expect(files[1]).toContain('| 1 | Complete | 2/2 |');
    expect(markersAt(all, startOf('feedback-analysis'))).toMatchObject({
      'plan-rebrainstorm': '[/]',
      'plan-reresearch': '[ ]',
    });
    expect(all.seen.at(-1)!.markers).toMatchObject({
      'plan-rebrainstorm': '[x]',
      'plan-reresearch': '[x]',
      'plan-update': '[x]',
      'plan-rebreakdown': '[x]',
      'task-3': '[x]',
    });
    expect(all.seen.some(({ text }) => text.includes('| 2 | Replanning |'))).toBe(true);
    await drawClosed(all.times, () => Promise.reject(new Error('drawn twice')));
  });
});
