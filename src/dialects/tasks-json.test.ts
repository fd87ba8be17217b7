import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTaskList, writeMarks } from './index.ts';
import type { TaskListReading } from './tasklist.ts';

const story = (id: string, more: object = {}): object => ({
  id,
  title: `Story ${id}`,
  description: '',
  acceptanceCriteria: ['it works'],
  priority: 1,
  passes: false,
  reviewStatus: null,
  reviewCount: 0,
  reviewFeedback: '',
  notes: '',
  dependsOn: [],
  ...more,
});
const file = (stories: unknown[], top: object = {}): string =>
  `${JSON.stringify({ project: 'Shop', verifyCommands: ['npm test'], ...top, userStories: stories }, null, 2)}\n`;
const read = (text: string): TaskListReading => readTaskList('ralph/tasks.json', text);
const problemOf = (text: string): { what: string; at?: string; why: string; fix: string; code: string } => {
  const reading = read(text);
  if (reading.kind !== 'unreadable') throw new Error(`expected a problem, got ${reading.kind}`);
  return reading.problem;
};
const lineWith = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split('\n').length;

describe('reading a list of stories', () => {
  it('reads every field, the gates and that stories are reviewed', () => {
    const reading = read(
      file([story('US-2', { dependsOn: ['US-1'], passes: true, reviewStatus: 'approved' }), story('US-1')]),
    );
    if (reading.kind !== 'list') throw new Error(reading.kind);
    expect(reading).toMatchObject({ reviewed: true, gates: ['npm test'], project: 'Shop', warnings: [] });
    expect(reading.tasks[0]).toMatchObject({
      id: 'US-2',
      order: 0,
      dependsOn: ['US-1'],
      status: 'done',
      acceptance: ['it works'],
    });
    expect(reading.tasks[1]).toMatchObject({
      status: 'todo',
      review: { status: null, count: 0, feedback: '' },
    });
  });

  it('tells empty, missing and complete apart', () => {
    for (const text of ['', '  \n', '\ufeff', '{}', '{"userStories": null}', file([])]) {
      expect(read(text)).toMatchObject({ kind: 'empty' });
    }
    const complete = read(file([story('US-1', { passes: true, reviewStatus: 'approved' })]));
    expect(complete).toMatchObject({ kind: 'list', tasks: [{ status: 'done' }] });
  });

  it('takes a plain prd.json, a top-level array and other tools’ names for the same things', () => {
    const plain = readTaskList(
      'prd.json',
      JSON.stringify({
        tasks: [
          { key: 7, name: 'A', completed: true },
          { story_id: 'b', title: 'B', steps: ['x'], depends_on: [7], priority: 'high' },
        ],
      }),
    );
    expect(plain).toMatchObject({
      reviewed: false,
      tasks: [
        { id: '7', title: 'A', status: 'done' },
        { id: 'b', acceptance: ['x'], dependsOn: ['7'], priority: 1 },
      ],
    });
    const array = readTaskList(
      'x.json',
      '[{"id":"a","title":"A","status":"in progress"},{"id":"b","title":"B","status":"mystery"}]',
    );
    expect(array).toMatchObject({ tasks: [{ status: 'doing' }, { status: 'todo' }] });
    expect(array.kind === 'list' && array.warnings[0]).toContain('mystery');
  });

  it('accepts a BOM and CRLF, and refuses comments and trailing commas with their line', () => {
    const text = file([story('US-1')]).replaceAll('\n', '\r\n');
    expect(read(`\ufeff${text}`).kind).toBe('list');
    const comment = problemOf(text.replace('"title"', '// why\r\n"title"'));
    expect(comment).toMatchObject({
      code: 'tasks.syntax',
      at: `ralph/tasks.json:${lineWith(text, '"title"')}`,
    });
    expect(comment.why).toContain('no comments');
    const comma = problemOf(text.replace('"dependsOn": []', '"dependsOn": [],'));
    expect(comma.at).toBe(`ralph/tasks.json:${lineWith(text, '"dependsOn"')}`);
    expect(comma.why).toContain('trailing commas');
    expect(problemOf(text.slice(0, 90)).why).toContain('ends too early');
  });

  it.each([
    ['a count that is no whole number', { reviewCount: true }, '"reviewCount"', 'true'],
    ['a count in quotes', { reviewCount: '1' }, '"reviewCount"', '"1"'],
    ['a negative count', { reviewCount: -1 }, '"reviewCount"', '-1'],
    ['notes that are null', { notes: null }, '"notes"', 'null'],
    ['a priority nobody knows', { priority: 'soonish' }, '"priority"', 'soonish'],
    ['passes in quotes', { passes: 'true' }, '"passes"', '"true"'],
    ['an unknown review status', { reviewStatus: 'ok' }, '"reviewStatus"', '"ok"'],
    ['criteria that are empty', { acceptanceCriteria: [] }, '"acceptanceCriteria"', 'is empty'],
    ['a dependency that is no text', { dependsOn: [3] }, '3\n', 'dependsOn'],
    ['an id with a slash', { id: '../x' }, '"id"', '../x'],
  ])('refuses %s, naming the line', (_name, more, part, told) => {
    const text = file([story('US-1', more)]);
    const problem = problemOf(text);
    expect(problem.at).toBe(`ralph/tasks.json:${lineWith(text, part)}`);
    expect(problem.what).toContain(told);
  });

  it('accepts 1.0 as a count and known words as priorities', () => {
    const text = file([story('US-1', { reviewCount: 77, priority: 'low' })]).replace('77', '1.0');
    expect(read(text)).toMatchObject({ tasks: [{ review: { count: 1 }, priority: 3 }] });
  });

  it('refuses a story that is a text, several faults at once told in one problem', () => {
    const text = file(['oops', story('US-1', { notes: null })]);
    const problem = problemOf(text);
    expect(problem.at).toBe(`ralph/tasks.json:${lineWith(text, '"oops"')}`);
    expect(problem.why).toContain(`line ${lineWith(text, '"notes"')}`);
  });

  it('names the nearest id of an unknown dependency, a doubled id and one shortest cycle', () => {
    expect(problemOf(file([story('US-10'), story('US-2', { dependsOn: ['US-1O'] })]))).toMatchObject({
      code: 'tasks.unknown_dependency',
      fix: 'did you mean "US-10"?',
    });
    expect(problemOf(file([story('US-1'), story('us-1')])).code).toBe('tasks.duplicate');
    const cycle = problemOf(
      file([
        story('a', { dependsOn: ['b'] }),
        story('b', { dependsOn: ['c'] }),
        story('c', { dependsOn: ['a', 'd'] }),
        story('d', { dependsOn: ['c'] }),
        story('e', { dependsOn: ['a'] }),
      ]),
    );
    expect(cycle).toMatchObject({ code: 'tasks.cycle' });
    expect(cycle.what).toMatch(/: (c → d → c|d → c → d)$/);
    expect(problemOf(file([story('x', { dependsOn: ['x'] })])).what).toContain('x → x');
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((s) => `{"userStories":${s}}`),
        ),
        (text) => {
          const reading = read(text);
          const strict = /[{[]/.test(text) ? undefined : reading;
          expect(['list', 'empty', 'unreadable']).toContain(reading.kind);
          return strict === undefined || strict.kind !== 'list';
        },
      ),
      { numRuns: 500 },
    );
    expect(read('['.repeat(100_000)).kind).toBe('unreadable');
    expect(read(`{"userStories":${'['.repeat(5000)}${']'.repeat(5000)}}`).kind).toBe('unreadable');
  });
});

describe('marking stories', () => {
  it('changes only the value of the marked field', () => {
    const text = `\ufeff{ "x": 1,\r\n\t"userStories": [\r\n\t\t{"id":"a", "title":"A","passes" : false, "own":[1, 2]},\r\n\t\t{"id":"b","title":"B","passes":false}]}`;
    expect(writeMarks(text, [{ task: 'a', status: 'done' }])).toBe(
      text.replace('"passes" : false', '"passes" : true'),
    );
    expect(writeMarks(text, [{ task: 'a', status: 'doing' }])).toBe(text);
    expect(writeMarks(text, [{ task: 'nobody', status: 'done' }])).toBe(text);
  });

  it('adds a missing field in the story’s own style', () => {
    const text =
      '{\n  "userStories": [\n    {\n      "id": "a",\n      "title": "A"\n    },\n    {"id":"b","title":"B"}\n  ]\n}';
    const marks = ['a', 'b'].map((task) => ({
      task,
      status: 'review' as const,
      review: { status: 'needs_review' as const, count: 1, feedback: '' },
    }));
    expect(writeMarks(text, marks)).toBe(
      '{\n  "userStories": [\n    {\n      "id": "a",\n      "title": "A",\n      "reviewStatus": "needs_review",\n      "reviewCount": 1\n    },\n    {"id":"b","title":"B","reviewStatus":"needs_review","reviewCount":1}\n  ]\n}',
    );
  });

  it('writes the word for done that the list itself uses', () => {
    const text = '[{"id":"a","title":"A","status":"open"},{"id":"b","title":"B","status":"closed"}]';
    expect(writeMarks(text, [{ task: 'a', status: 'done' }])).toBe(text.replace('"open"', '"closed"'));
  });

  it('says what was marked, leaves the rest, and does nothing the second time', () => {
    const style = fc.constantFrom<string | number | undefined>(undefined, 1, 2, 4, '\t');
    const status = fc.constantFrom('todo' as const, 'done' as const, 'review' as const);
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ title: fc.string({ minLength: 1 }), extra: fc.jsonValue(), passes: fc.boolean() }),
          { minLength: 1, maxLength: 6 },
        ),
        style,
        status,
        fc.nat(),
        fc.string(),
        (rows, indent, to, pick, feedback) => {
          const stories = rows.map((row, i) => ({
            id: `S-${i}`,
            own: row.extra,
            title: row.title,
            passes: row.passes,
            reviewStatus: null,
          }));
          const text = JSON.stringify({ userStories: stories, tail: true }, null, indent);
          const at = pick % rows.length;
          const review = {
            status:
              to === 'done' ? ('approved' as const) : to === 'review' ? ('needs_review' as const) : null,
            count: 2,
            feedback,
          };
          const marked = writeMarks(text, [{ task: `S-${at}`, status: to, review }]);
          expect(writeMarks(marked, [{ task: `S-${at}`, status: to, review }])).toBe(marked);
          const reading = read(marked);
          if (reading.kind !== 'list') throw new Error(JSON.stringify(reading));
          expect(reading.tasks[at]).toMatchObject({ status: to, review });
          const now = JSON.parse(marked) as { userStories: Record<string, unknown>[] };
          const { passes, reviewStatus, reviewCount, reviewFeedback, ...same } = now.userStories[at]!;
          const { passes: _p, reviewStatus: _r, ...before } = JSON.parse(text).userStories[at];
          expect(same).toEqual(before);
          expect(now.userStories.filter((_, i) => i !== at)).toEqual(
            JSON.parse(text).userStories.filter((_: unknown, i: number) => i !== at),
          );
          expect([passes, reviewStatus, reviewCount, reviewFeedback ?? '']).toEqual([
            to === 'done',
            review.status,
            2,
            feedback,
          ]);
        },
      ),
    );
  });
});
