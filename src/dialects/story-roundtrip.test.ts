/** Every list in `test/fixtures/tasks/json` and `yaml`: what is read, and that a mark changes one field. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { TaskDef, TaskStatus } from '../core/index.ts';
import { readTaskList, writeMarks } from './index.ts';

const ROOT = join(import.meta.dirname, '../../test/fixtures/tasks');
const files = ['json', 'yaml'].flatMap((kind) =>
  readdirSync(join(ROOT, kind)).map((name) => ({ name, text: readFileSync(join(ROOT, kind, name), 'utf8') })),
);

function listIn(name: string, text: string) {
  const reading = readTaskList(name, text);
  if (reading.kind !== 'list') throw new Error(`${name}: ${JSON.stringify(reading)}`);
  return reading;
}

const fileNamed = (name: string) => files.find((file) => file.name === name)!.text;
const parsed = (name: string, text: string): unknown =>
  name.endsWith('.json') ? JSON.parse(text.replace(/^\ufeff/, '')) : parse(text, { logLevel: 'error' });

/** What differs between two texts, without their common beginning and end. */
function difference(a: string, b: string): [string, string] {
  let from = 0;
  while (from < a.length && a[from] === b[from]) from += 1;
  let back = 0;
  while (back < Math.min(a.length, b.length) - from && a.at(-1 - back) === b.at(-1 - back)) back += 1;
  return [a.slice(from, a.length - back), b.slice(from, b.length - back)];
}

/** Paths of the values that differ, e.g. `userStories.1.passes`. */
function changedPaths(a: unknown, b: unknown, path = ''): string[] {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return Object.is(a, b) ? [] : [path.slice(1)];
  }
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  const at = (owner: object, key: string) => (owner as Record<string, unknown>)[key];
  return [...keys].flatMap((key) => changedPaths(at(a, key), at(b, key), `${path}.${key}`));
}

/** Stories that say two things at once, have no field to mark, or a word nothing can bring back. */
const ONE_WAY = ['disagreeing', 'no-done-field'];
const isTwoWay = (name: string, task: TaskDef) =>
  !ONE_WAY.some((file) => name.startsWith(file)) && task.status !== 'cancelled' && task.id !== 'b3';

describe.each(files)('$name', ({ name, text }) => {
  const { tasks } = listIn(name, text);

  it('marking a task done and undone, or undone and done, gives the same bytes', () => {
    for (const task of tasks.filter((each) => isTwoWay(name, each))) {
      const other: TaskStatus = task.status === 'done' ? 'todo' : 'done';
      const marked = writeMarks(text, [{ task: task.id, status: other }], name);
      const now = listIn(name, marked).tasks[task.order];
      // Where reviews are kept, a mark without its review fields says less than they do.
      if (task.review === undefined) expect(now).toEqual({ ...task, status: other });
      expect(writeMarks(marked, [{ task: task.id, status: task.status }], name)).toBe(text);
    }
  });

  it('a mark changes that field and nothing else', () => {
    for (const task of tasks) {
      const status = task.status === 'done' ? 'todo' : 'done';
      const marked = writeMarks(text, [{ task: task.id, status }], name);
      const paths = changedPaths(parsed(name, text), parsed(name, marked));
      expect(paths.length).toBeGreaterThan(0);
      for (const path of paths) expect(path).toMatch(/\.(?:passes|completed|done|status)$|^\d+\.passes$/);
      if (paths.length === 1) expect(difference(text, marked).join('').length).toBeLessThan(40);
      expect(writeMarks(marked, [{ task: task.id, status }], name)).toBe(marked);
      const others = listIn(name, marked).tasks.filter(({ order }) => order !== task.order);
      expect(others).toEqual(tasks.filter(({ order }) => order !== task.order));
    }
  });
});

describe('what the lists say', () => {
  it('there are many of them', () => {
    expect(files.length).toBeGreaterThanOrEqual(35);
  });

  it('ids come from their field, from the title, or are made of it', () => {
    const { tasks } = listIn('ids-in-titles.json', fileNamed('ids-in-titles.json'));
    expect(tasks.map(({ id }) => id)).toEqual([
      'AUTH-1',
      'US-014',
      'task-3',
      expect.stringMatching(/^write-down-how-to-unlock-[a-z0-9]{6}$/),
      `${tasks[3]!.id}-2`,
    ]);
    expect(tasks[1]!.title).toBe('Show the time of the last login');
    const features = listIn('feature-steps.json', fileNamed('feature-steps.json')).tasks;
    expect(features[0]).toMatchObject({
      title: 'A new note is saved without a button',
      acceptance: [
        'Open an empty note',
        'Type a line',
        'Close the window',
        'Open it again',
        'The line is there',
      ],
    });
  });

  it('lists are found one level down and in every phase', () => {
    const tags = listIn('numbered-tags.json', fileNamed('numbered-tags.json')).tasks;
    expect(tags[1]).toMatchObject({ id: '2', dependsOn: ['1'], priority: 1, acceptance: ['Atom', 'RSS'] });
    for (const name of ['phases.json', 'phases.yaml']) {
      expect(listIn(name, fileNamed(name)).tasks).toHaveLength(3);
    }
  });

  it('priorities, states and blocked tasks are read whatever the word', () => {
    const priorities = listIn('priorities.json', fileNamed('priorities.json')).tasks;
    expect(priorities.map(({ priority }) => priority)).toEqual([3, 1, 1, 0, 2]);
    const words = listIn('title-case-status.json', fileNamed('title-case-status.json')).tasks;
    expect(words.map(({ status }) => status)).toEqual(['doing', 'todo', 'done', 'todo']);
    expect(listIn('blocked.json', fileNamed('blocked.json')).blocked).toEqual([
      { task: 'b1', reason: 'The card has to be renewed first' },
      { task: 'b3', reason: '' },
    ]);
  });

  it('where two places disagree, the one that rules is named', () => {
    const { tasks, warnings } = listIn('disagreeing.json', fileNamed('disagreeing.json'));
    expect(tasks.map(({ status }) => status)).toEqual(['done', 'todo', 'todo']);
    expect(warnings).toEqual([
      'line 7: story "E1" has "passes": true and "status": "open"; "passes" rules',
      'line 13: story "E2" has "passes": false and "status": "done"; "passes" rules',
      'line 13: story "E2" is open, but the list "completedStories" names it; the story itself rules',
    ]);
    const described = listIn('described-features.json', fileNamed('described-features.json'));
    expect(described.tasks.map(({ id }) => id)).toEqual(['F1']);
    expect(described.warnings[0]).toContain('"features" (2 items) holds nothing that can be marked');
  });

  it('a field is added where there is none, in the story’s own form', () => {
    const text = fileNamed('no-done-field.json');
    expect(writeMarks(text, [{ task: 'm1', status: 'done' }], 'tasks.json')).toBe(
      text.replace('"Mark me by adding a field"', '"Mark me by adding a field",\n      "passes": true'),
    );
  });
});

describe('several lists in one file', () => {
  const text = JSON.stringify({
    stories: [{ id: 's1', title: 'A story', passes: false }],
    tasks: [
      { id: 't1', title: 'A task', done: false },
      { id: 't2', title: 'Another', done: true },
    ],
  });

  it('are told as choices, and nothing is marked', () => {
    const reading = readTaskList('prd.json', text);
    expect(reading).toMatchObject({
      kind: 'unreadable',
      problem: { code: 'tasks.ambiguous', at: 'prd.json' },
      choices: [
        { list: 'stories', tasks: 1, first: 'A story' },
        { list: 'tasks', tasks: 2, first: 'A task' },
      ],
    });
    expect(writeMarks(text, [{ task: 't1', status: 'done' }], 'prd.json')).toBe(text);
  });

  it('one that is named is read', () => {
    expect(readTaskList('prd.json', text, 'tasks')).toMatchObject({ tasks: [{ id: 't1' }, { id: 't2' }] });
    expect(readTaskList('prd.json', text, 'taks')).toMatchObject({
      problem: { code: 'tasks.no_such_list', why: expect.stringContaining('did you mean "tasks"?') },
    });
  });

  it('a list under a name that does not mean tasks is offered, never taken', () => {
    const odd = '{"items": [{"id": "i1", "title": "One", "done": false}]}';
    expect(readTaskList('prd.json', odd)).toMatchObject({
      kind: 'unreadable',
      choices: [{ list: 'items', tasks: 1, first: 'One' }],
    });
    expect(readTaskList('prd.json', odd, 'items')).toMatchObject({ tasks: [{ id: 'i1' }] });
    expect(readTaskList('prd.json', '{"team": [{"name": "Ada"}]}')).toMatchObject({ kind: 'empty' });
  });
});
