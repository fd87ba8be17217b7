/** Lists as nobody meant them: any type in any field, lists in odd places, stories without ids. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { canonicalTasks, compareTaskFile, readTaskList, repairTaskFile, writeMarks } from './index.ts';

const KEYS = [
  ...['id', 'story_id', 'key', 'title', 'name', 'description', 'notes', 'priority', 'status', 'files'],
  ...['acceptanceCriteria', 'acceptance', 'acceptance_criteria', 'steps', 'subtasks', 'type', 'changes'],
  ...['passes', 'completed', 'done', 'blocked', 'reason', 'reviewStatus', 'reviewCount', 'reviewFeedback'],
  ...['dependsOn', 'depends_on', 'dependencies', 'blockedBy', 'targetFiles', 'sequential', '__proto__'],
];
const word = fc.constantFrom(
  'a',
  'b',
  'US-1',
  'Task 2: x',
  '[c]',
  'done',
  'open',
  'blocked',
  'high',
  '',
  '\u2028',
);
const value = fc.oneof(
  { weight: 4, arbitrary: word },
  { weight: 2, arbitrary: fc.boolean() },
  { weight: 2, arbitrary: fc.array(word, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);
const anything = fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 8 });
const state = fc.constantFrom(
  'open',
  'done',
  'pending',
  'In Progress',
  'BLOCKED',
  'wontfix',
  'mystery',
  7,
  null,
  [1],
);
const maybe = fc.constantFrom(true, false, null);
const texts = fc.array(fc.oneof(word, fc.record({ text: word })), { maxLength: 2 });
/** What a tool could have written, in any of the spellings at once. */
const plausible = fc.record(
  {
    id: fc.oneof(fc.string({ minLength: 1, maxLength: 4 }), fc.nat(30)),
    title: fc.constantFrom('Read', 'US-3: Send', '[X-1] Draw', 'Task 4: Fold', 'Weigh (P1)', 'Pack — größer'),
    description: fc.constantFrom('', 'Long\nwords', null),
    acceptance: texts,
    steps: fc.constantFrom('- a\n- b', 'c', null),
    priority: fc.constantFrom(0, 2.5, 'P3', 'low', null),
    passes: maybe,
    completed: maybe,
    status: state,
    blocked: maybe,
    reason: word,
    files: fc.constantFrom([], ['a.ts']),
    depends_on: fc.constantFrom([], '', null, 'none'),
    changes: fc.constantFrom('none', 'some'),
    sequential: maybe,
    owner: value,
  },
  { requiredKeys: ['title'] },
);
const story = fc.oneof({ weight: 30, arbitrary: plausible }, { weight: 1, arbitrary: anything });
const LISTS = [
  'userStories',
  'user_stories',
  'stories',
  'tasks',
  'features',
  'queue',
  'phases',
  'items',
  'completed',
];
const stories = fc.array(fc.oneof({ weight: 30, arbitrary: story }, { weight: 1, arbitrary: value }), {
  maxLength: 5,
});
const list: fc.Arbitrary<unknown> = fc.oneof(
  stories,
  fc.dictionary(
    fc.constantFrom(...LISTS, 'verifyCommands', 'project', 'branchName', 'meta'),
    fc.oneof(
      stories,
      value,
      fc.dictionary(fc.constantFrom(...LISTS), stories, { maxKeys: 2 }),
      fc.array(fc.dictionary(fc.constantFrom(...LISTS, 'name'), stories, { maxKeys: 2 }), { maxLength: 3 }),
    ),
    { maxKeys: 4 },
  ),
);

describe('odd lists', () => {
  it.each(['prd.json', 'flow.yaml', 'block.yaml'])(
    '%s: every answer is a value, and what is read can be marked',
    (path) => {
      fc.assert(
        fc.property(list, list, fc.constantFrom(undefined, 0, 2), (before, after, indent) => {
          const text = path === 'block.yaml' ? stringify(before) : JSON.stringify(before, null, indent);
          const other = JSON.stringify(after, null, 2);
          const reading = readTaskList(path, text);
          repairTaskFile(path, text);
          const verdict = compareTaskFile({
            before: text,
            after: other,
            mode: 'implement',
            active: 'a',
            path,
          });
          expect(typeof verdict.restored).toBe('string');
          if (reading.kind === 'unreadable') {
            expect(reading.problem.what).not.toBe('');
            for (const choice of reading.choices ?? []) {
              const chosen = readTaskList(path, text, choice.list);
              expect(chosen.kind === 'unreadable' ? chosen.choices : undefined).toBeUndefined();
            }
          }
          if (reading.kind !== 'list') return;
          const again = readTaskList('ralph/tasks.json', canonicalTasks({ path, text, reading }));
          expect(again).toMatchObject({ kind: 'list', tasks: reading.tasks });
          for (const { id, status, order } of reading.tasks) {
            const wanted = status === 'done' ? 'todo' : 'done';
            const review = reading.reviewed ? { status: null, count: 0, feedback: '' } : undefined;
            const marked = writeMarks(text, [{ task: id, status: wanted, ...(review && { review }) }], path);
            const now = readTaskList(path, marked);
            if (now.kind !== 'list') throw new Error(JSON.stringify({ text, marked, now }));
            expect(now.tasks[order]).toMatchObject({ id, status: wanted });
          }
        }),
        { numRuns: path === 'prd.json' ? 400 : 100 },
      );
    },
  );
});

describe('stories without ids', () => {
  const before = JSON.stringify(
    [
      { title: 'Read the meter', passes: false },
      { title: 'Send the reading', passes: false },
    ],
    null,
    2,
  );
  const ids = () => {
    const reading = readTaskList('prd.json', before);
    return reading.kind === 'list' ? reading.tasks.map(({ id }) => id) : [];
  };
  const edited = (after: unknown) =>
    compareTaskFile({
      before,
      after: JSON.stringify(after),
      mode: 'implement',
      active: ids()[0]!,
      path: 'prd.json',
    });

  it('an agent that marks its own has claimed it', () => {
    const verdict = edited([
      { title: 'Read the meter', passes: true },
      { title: 'Send the reading', passes: false },
    ]);
    expect(verdict).toMatchObject({ violations: [], marked: [ids()[0]], restored: before });
  });

  it('a title that is changed is put back, for it is what the story is known by', () => {
    const verdict = edited([
      { title: 'Read the old meter', passes: false, notes: 'seen' },
      { title: 'Send the reading', passes: false },
    ]);
    expect(verdict.violations).toEqual([]);
    expect(JSON.parse(verdict.restored)).toEqual([
      { title: 'Read the meter', passes: false, notes: 'seen' },
      { title: 'Send the reading', passes: false },
    ]);
  });

  it('a new one is kept, and a deleted one comes back', () => {
    const added = edited([...JSON.parse(before), { title: 'Draw the year', passes: true }]);
    expect(added.violations).toEqual([{ detail: expect.stringContaining('was added already passed') }]);
    expect(JSON.parse(added.restored)[2]).toEqual({ title: 'Draw the year', passes: false });
    const deleted = edited([{ title: 'Send the reading', passes: false }]);
    expect(deleted).toMatchObject({
      restored: before,
      violations: [{ detail: `story "${ids()[0]}" was deleted` }],
    });
  });
});

describe('an agent’s edit of stories in phases', () => {
  it('stands or is undone in its own phase; a new story joins the last one', () => {
    const file = (first: object, more: object[] = []) =>
      JSON.stringify({
        phases: [
          { name: 'One', tasks: [{ id: 'a', title: 'A', passes: false, ...first }] },
          { name: 'Two', tasks: [{ id: 'b', title: 'B', passes: false }, ...more] },
        ],
      });
    const after = file({ passes: true, notes: 'n' }, [{ id: 'c', title: 'C', passes: false }]);
    const verdict = compareTaskFile({
      before: file({}),
      after,
      mode: 'implement',
      active: 'a',
      path: 'plan.json',
    });
    expect(verdict).toMatchObject({ violations: [], marked: ['a'] });
    expect(verdict.restored).toBe(file({ notes: 'n' }, [{ id: 'c', title: 'C', passes: false }]));
  });
});
