import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareTaskFile, readTaskList } from './index.ts';
import type { TaskFileVerdict } from './tasklist.ts';

type Story = Record<string, unknown>;
const stories = (): Story[] => [
  {
    id: 'US-1',
    title: 'One',
    acceptanceCriteria: ['a'],
    passes: true,
    reviewStatus: 'approved',
    reviewCount: 1,
    reviewFeedback: 'fine',
    notes: 'n',
  },
  {
    id: 'US-2',
    title: 'Two',
    acceptanceCriteria: ['a'],
    passes: false,
    reviewStatus: null,
    reviewCount: 0,
    reviewFeedback: '',
    notes: '',
  },
  {
    id: 'US-3',
    title: 'Three',
    acceptanceCriteria: ['a'],
    passes: false,
    reviewStatus: 'needs_review',
    reviewCount: 2,
    reviewFeedback: '',
    notes: '',
  },
];
const file = (list: Story[], top: object = {}): string =>
  JSON.stringify({ verifyCommands: ['npm test'], ...top, userStories: list }, null, 2);
const before = file(stories());
function edited(change: (list: Story[]) => unknown, mode = 'implement', active = 'US-2'): TaskFileVerdict {
  const list = stories();
  change(list);
  return compareTaskFile({ before, after: file(list), mode, active, path: 'ralph/tasks.json' });
}

describe('what of an agent’s edit of its task list stands', () => {
  it('an untouched file has nothing to tell', () => {
    const verdict = compareTaskFile({ before, after: before, mode: 'implement', active: 'US-2' });
    expect(verdict).toMatchObject({ marked: [], violations: [], legal: [], restored: before });
  });

  it.each([
    ['passes', (s: Story) => (s.passes = true)],
    ['needs_review', (s: Story) => (s.reviewStatus = 'needs_review')],
  ])('marking its own task with %s is a claim, and is undone', (_name, set) => {
    const verdict = edited((list) => set(list[1]!));
    expect(verdict).toMatchObject({ marked: ['US-2'], violations: [], restored: before, legal: [] });
  });

  it('texts, notes, unknown keys and new open stories stay; the file keeps its own form', () => {
    const list = stories();
    list[1]!.notes = 'found a bug';
    list[1]!.agentHint = { a: 1 };
    list.push({ id: 'US-9', title: 'New', acceptanceCriteria: ['b'], passes: false });
    const verdict = compareTaskFile({
      before,
      after: JSON.stringify({ userStories: list, verifyCommands: ['npm test'] }),
      mode: 'implement',
      active: 'US-2',
    });
    expect(verdict.violations).toEqual([]);
    expect(verdict.legal.map((task) => task.id)).toEqual(['US-9']);
    expect(verdict.restored.startsWith(before.slice(0, before.indexOf('"id": "US-2"')))).toBe(true);
    expect(JSON.parse(verdict.restored).userStories[1]).toMatchObject({
      notes: 'found a bug',
      agentHint: { a: 1 },
    });
    expect(verdict.reading).toMatchObject({
      kind: 'list',
      tasks: [{}, {}, {}, { id: 'US-9', status: 'todo' }],
    });
  });

  it.each([
    ['a deleted story', (l: Story[]) => l.splice(0, 1), 'deleted'],
    ['another story’s review fields', (l: Story[]) => (l[2]!.reviewFeedback = 'x'), 'reviewFeedback'],
    ['a count of its own', (l: Story[]) => (l[1]!.reviewCount = 3), 'reviewCount'],
    ['its own approval', (l: Story[]) => (l[1]!.reviewStatus = 'approved'), 'without a review'],
    [
      'a new story already passed',
      (l: Story[]) => l.push({ id: 'N', title: 'N', passes: true }),
      'already passed',
    ],
    ['an exemption', (l: Story[]) => (l[1]!.changes = 'none'), 'exemption'],
    ['a second story of the same id', (l: Story[]) => l.push({ ...l[0] }), 'id of its own'],
  ])('%s is undone and told', (_name, change, told) => {
    const verdict = edited(change);
    expect(verdict.violations.map((v) => v.detail).join('\n')).toContain(told);
    expect(verdict.marked).toEqual([]);
    const reading = verdict.reading;
    if (reading.kind !== 'list') throw new Error('unreadable');
    expect(reading.tasks.slice(0, 3)).toEqual((readTaskList('t.json', before) as typeof reading).tasks);
    expect(reading.tasks.slice(3).every((task) => task.status === 'todo')).toBe(true);
  });

  it('another story passed on the way is told as marked, undone, and spoils nothing', () => {
    const verdict = edited((l: Story[]) => (l[2]!.passes = true));
    expect(verdict.violations).toEqual([]);
    expect(verdict.marked).toEqual(['US-3']);
    expect(verdict.restored).toBe(before);
  });

  it('the gates of the list are not the agent’s to choose', () => {
    const verdict = compareTaskFile({
      before,
      after: file(stories(), { verifyCommands: ['true'] }),
      mode: 'implement',
      active: 'US-2',
    });
    expect(verdict.violations[0]!.detail).toContain('verifyCommands');
    expect(verdict.restored).toBe(before);
  });

  it('priority and dependencies are put back without a reproach', () => {
    const verdict = edited((l) => Object.assign(l[1]!, { priority: 0.5, dependsOn: ['US-1'] }));
    expect(verdict).toMatchObject({ violations: [], restored: before });
  });

  it.each(['', '{', '{"userStories": []', '{"userStories": 3}', 'null', before.slice(0, 200)])(
    'an unreadable or half-written file is put back whole: %j',
    (after) => {
      const verdict = compareTaskFile({
        before,
        after,
        mode: 'implement',
        active: 'US-2',
        path: 'ralph/tasks.json',
      });
      expect(verdict.restored).toBe(before);
      expect(verdict.violations).toHaveLength(1);
      expect(verdict.reading.kind).toBe('list');
    },
  );

  it('an emptied list is every story deleted', () => {
    const verdict = compareTaskFile({ before, after: file([]), mode: 'implement', active: 'US-2' });
    expect(verdict.violations).toHaveLength(3);
    expect(verdict.restored).toBe(before);
  });
});

describe('a reviewer’s own edit', () => {
  it.each([
    ['approved', 'Qualified'],
    ['changes_requested', 'Failed'],
  ])('%s is the verdict %s, and the engine’s fields are put back', (status, verdict) => {
    const found = edited(
      (l) =>
        Object.assign(l[2]!, {
          reviewStatus: status,
          reviewFeedback: 'see line 3',
          reviewCount: 3,
          passes: status === 'approved',
        }),
      'TASK_REVIEW',
      'US-3',
    );
    expect(found).toMatchObject({
      violations: [],
      review: { verdict, feedback: 'see line 3' },
      restored: before,
      marked: [],
    });
  });

  it('reviews only what needs a review', () => {
    const found = edited((l) => Object.assign(l[1]!, { reviewStatus: 'approved' }), 'TASK_REVIEW', 'US-2');
    expect(found.violations[0]!.detail).toContain('not needs_review');
    expect(found.review).toBeUndefined();
  });

  it('approving as if at the cap, below the cap, is a review with issues', () => {
    const change = (l: Story[]) =>
      Object.assign(l[2]!, { reviewStatus: 'approved', reviewFeedback: '[AUTO-APPROVED AT CAP] still slow' });
    expect(edited(change, 'TASK_REVIEW', 'US-3')).toMatchObject({
      review: { verdict: 'Failed' },
      violations: [{}],
    });
    const list = stories();
    change(list);
    const atCap = compareTaskFile({
      before,
      after: file(list),
      mode: 'TASK_REVIEW',
      active: 'US-3',
      reviewCap: 3,
    });
    expect(atCap).toMatchObject({ review: { verdict: 'Qualified' }, violations: [] });
  });

  it('a count that jumps is told', () => {
    const found = edited(
      (l) => Object.assign(l[2]!, { reviewStatus: 'approved', reviewCount: 5 }),
      'TASK_REVIEW',
      'US-3',
    );
    expect(found.violations[0]!.detail).toContain('jumped from 2 to 5');
  });
});

it('whatever an agent writes, every old story is back with its old result', () => {
  const old = readTaskList('t.json', before);
  const value = fc.jsonValue();
  const touched = fc.record({
    which: fc.nat(3),
    key: fc.constantFrom(
      'passes',
      'reviewStatus',
      'reviewCount',
      'id',
      'notes',
      'title',
      'status',
      'priority',
      'x',
    ),
    value,
  });
  fc.assert(
    fc.property(
      fc.array(touched, { maxLength: 5 }),
      fc.constantFrom('implement', 'TASK_REVIEW'),
      fc.constantFrom('US-1', 'US-2', 'US-3', ''),
      (edits, mode, active) => {
        const list = [...stories(), { id: 'US-4', title: 'Four' }];
        for (const { which, key, value: v } of edits) list[which]![key] = v;
        const verdict = compareTaskFile({ before, after: file(list), mode, active });
        if (verdict.reading.kind !== 'list' || old.kind !== 'list') throw new Error('unreadable');
        const facts = verdict.reading.tasks.map(({ id, status, review }) => ({ id, status, review }));
        expect(facts.slice(0, 3)).toEqual(
          old.tasks.map(({ id, status, review }) => ({ id, status, review })),
        );
        expect(facts.slice(3).every((task) => task.status === 'todo')).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});
