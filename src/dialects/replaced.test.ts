/** What an agent writes over a task, or in its place, is not that task: no dialect may take it for it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { TaskDef } from '../core/index.ts';
import { compareTaskFile, readTaskList, type TaskFileVerdict } from './index.ts';
import { isReworded } from './reworded.ts';

interface Plain {
  id: string | null;
  title: string;
  criteria: string[];
  done: boolean;
}

/** One form of list: how tasks are written in it. */
interface Form {
  path: string;
  write(tasks: Plain[]): string;
}

const named = ({ id, title }: Plain): string => (id === null ? title : `${id}: ${title}`);
const bullets = (tasks: Plain[], box: (task: Plain) => string, newline: string): string =>
  tasks.map((task) => [box(task), ...task.criteria.map((text) => `  - ${text}`)].join(newline)).join(newline);
const stories = (tasks: Plain[], inField: boolean) =>
  tasks.map((task) => ({
    ...(inField && task.id !== null ? { id: task.id, title: task.title } : { title: named(task) }),
    acceptanceCriteria: task.criteria,
    passes: task.done,
  }));

const FORMS: Record<string, Form> = {
  'a checklist': {
    path: 'PRD.md',
    write: (tasks) =>
      `# P\n\n${bullets(tasks, (task) => `- [${task.done ? 'x' : ' '}] ${named(task)}`, '\n')}\n`,
  },
  'a checklist with CRLF and no last line break': {
    path: 'PRD.md',
    write: (tasks) =>
      `# P\r\n\r\n${bullets(tasks, (task) => `* [${task.done ? 'x' : ' '}] ${named(task)}`, '\r\n')}`,
  },
  headings: {
    path: 'PRD.md',
    write: (tasks) =>
      `# P\n\n${tasks
        .map(
          (task) =>
            `### ${task.id === null ? `[${task.done ? 'x' : ' '}] ` : ''}${named(task)}\n\n${task.id === null ? '' : `**Status:** ${task.done ? 'Done' : 'Open'}\n\n`}${task.criteria.map((text) => `- ${text}\n`).join('')}`,
        )
        .join('\n')}`,
  },
  'prd.json with ids in fields': {
    path: 'prd.json',
    write: (tasks) => JSON.stringify({ userStories: stories(tasks, true) }, null, 2),
  },
  'prd.json with ids in titles': {
    path: 'prd.json',
    write: (tasks) => JSON.stringify({ userStories: stories(tasks, false) }, null, 2),
  },
  'tasks.yaml': { path: 'tasks.yaml', write: (tasks) => stringify({ tasks: stories(tasks, true) }) },
  'tasks.yaml with ids in titles': {
    path: 'tasks.yaml',
    write: (tasks) => stringify({ tasks: stories(tasks, false) }),
  },
};

const OLD = [
  'Make the red file',
  'Draw a blue map',
  'Weigh seven stones',
  'Make file number 3',
  'Sort letters',
];
const NEW = ['Something else entirely', 'Make file number 9', 'Extra', 'Weigh eight pebbles'];
const tasksOf = (path: string, text: string): TaskDef[] => {
  const reading = readTaskList(path, text);
  if (reading.kind !== 'list') throw new Error(`${reading.kind}: ${text}`);
  return reading.tasks;
};
/** All that a person asked for with a task. */
const asked = ({ id, title, acceptance, description, status }: TaskDef) => ({
  id,
  title,
  acceptance,
  description,
  status,
});

describe.each(Object.entries(FORMS))('%s: a task that was replaced', (_name, { path, write }) => {
  it('is back with its criteria, is told, and what was written instead is kept as a new task', () => {
    const criteria = fc.array(fc.constantFrom('it works', 'a.txt exists', 'b.txt holds 2'), { maxLength: 3 });
    const task = (titles: string[], index: number) =>
      fc.record({ title: fc.constant(titles[index]!), criteria, done: fc.boolean() });
    fc.assert(
      fc.property(
        fc.tuple(...OLD.map((_, index) => task(OLD, index))),
        fc.nat(NEW.length - 1).chain((index) => task(NEW, index)),
        fc.record({ ids: fc.boolean(), which: fc.nat(4), at: fc.option(fc.nat(4)), ticks: fc.boolean() }),
        (old, fresh, { ids, which, at, ticks }) => {
          const plain = old.map((one, index) => ({ ...one, id: ids ? `T-${index + 1}` : null }));
          const extra: Plain = { ...fresh, done: false, id: ids ? 'T-9' : null };
          const edited: Plain[] = plain.map((one) => ({ ...one }));
          if (ticks) edited[0]!.done = true;
          edited.splice(which, 1);
          edited.splice(at ?? which, 0, extra);
          const before = write(plain);
          const was = tasksOf(path, before);
          const active = was[0]!.id;
          const verdict = compareTaskFile({ before, after: write(edited), mode: 'implement', active, path });
          const told = verdict.violations.map(({ detail }) => detail).join('\n');
          expect(told).toContain(`"${was[which]!.id}" was deleted`);
          const now = tasksOf(path, verdict.restored);
          const byId = new Map(now.map((one) => [one.id, asked(one)]));
          for (const one of was) expect(byId.get(one.id)).toEqual(asked(one));
          const added = now.filter(({ id }) => !was.some((one) => one.id === id));
          expect(added).toMatchObject([{ title: extra.title, acceptance: extra.criteria, status: 'todo' }]);
          expect(verdict.legal.map(({ id }) => id)).toContain(added[0]!.id);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('an id that is given to another task, and the rest numbered anew, is put back whole and told', () => {
    const plain = OLD.slice(0, 3).map((title, index) => ({
      id: `T-${index + 1}`,
      title,
      criteria: ['it works'],
      done: index === 0,
    }));
    const first: Plain = { id: null, title: 'Set up', criteria: ['it works'], done: true };
    const anew = [first, ...plain].map((task, index) => ({ ...task, id: `T-${index + 1}` }));
    const before = write(plain);
    const verdict = compareTaskFile({
      before,
      after: write(anew),
      mode: 'implement',
      active: 'T-2',
      path,
    });
    expect(verdict).toMatchObject({ restored: before, marked: [], legal: [] });
    if (path.endsWith('.md') || _name.includes('fields') || _name === 'tasks.yaml')
      expect(verdict.violations[0]!.detail).toContain('numbered anew: "Make the red file" was "T-1"');
  });
});

describe('a checklist in which', () => {
  const before = [1, 2, 3].map((n) => `- [ ] T-${n}: Make file number ${n}\n  - f${n}.txt exists\n`).join('');
  const compare = (after: string): TaskFileVerdict =>
    compareTaskFile({ before, after, mode: 'implement', active: 'T-1', path: 'PRD.md' });
  const lost = (id: string) => [{ detail: `task "${id}" was deleted` }];

  it('a line and its criteria became another task’s: both are there in the end', () => {
    const other = '- [ ] T-9: Something else entirely\n  - zzz holds\n';
    const mine = '- [ ] T-2: Make file number 2\n  - f2.txt exists\n';
    const verdict = compare(before.replace(mine, other));
    expect(verdict).toMatchObject({ violations: lost('T-2'), restored: before.replace(mine, mine + other) });
  });

  it('the last task gave way to a new one at the end: both are there in the end', () => {
    const last = '- [ ] T-3: Make file number 3\n  - f3.txt exists\n';
    const verdict = compare(before.replace(last, '- [ ] T-9: extra\n'));
    expect(verdict).toMatchObject({ violations: lost('T-3'), restored: `${before}- [ ] T-9: extra\n` });
    expect(verdict.legal.map(({ id }) => id)).toEqual(['T-9']);
  });

  it('only the lines of tasks went: what was nested in them does not stay with the task above', () => {
    const without = (...ids: number[]) =>
      ids.reduce((text, n) => text.replace(RegExp(`.*T-${n}:.*\n`), ''), before);
    expect(compare(without(2))).toMatchObject({ violations: lost('T-2'), restored: before });
    expect(compare(without(2, 3))).toMatchObject({ restored: before });
    expect(compare(without(1))).toMatchObject({ violations: lost('T-1'), restored: before });
  });

  it('a line lost its id, or got another one: by the title it is the same, unless both name it', () => {
    const plain = before.replace('T-2: ', '');
    expect(compare(plain)).toMatchObject({ violations: [], restored: before });
    const moved = compare(before.replace('T-2: ', 'T-7: '));
    expect(moved.violations).toEqual(lost('T-2'));
    expect(readTaskList('PRD.md', moved.restored)).toMatchObject({
      tasks: [{}, { id: 'T-2' }, { id: 'T-7' }, {}],
    });
  });

  it('a new task exempts itself: it is kept, without the exemption', () => {
    const added = compare(`${before}- [ ] T-4: Look around\n  - Changes: none\n`);
    expect(added).toMatchObject({ violations: [], legal: [{ id: 'T-4', changes: 'expected' }] });
  });

  it('lines without ids were reworded: they are put back without a reproach; a finished one may move', () => {
    const old = '- [ ] Add the logn page\n  - works\n- [ ] Write the guide\n\n## Finished\n\n- [x] Begin\n';
    const by = (after: string) =>
      compareTaskFile({ before: old, after, mode: 'implement', active: '', path: 'PRD.md' });
    const reworded = by(old.replace('logn', 'login').replace('the guide', 'the whole guide'));
    expect(reworded).toMatchObject({ violations: [], restored: old });
    const moved = by(`${old.replace('- [ ] Write the guide\n', '')}- [x] Write the guide (abc123)\n`);
    expect(moved).toMatchObject({ violations: [], marked: [expect.stringMatching(/^write-the-guide/)] });
    const gutted = by(old.replace('logn', 'login').replace('- works', '- zzz'));
    expect(gutted.violations).toHaveLength(1);
    expect(gutted.restored).toContain(
      '- [ ] Add the logn page\n  - works\n- [ ] Add the login page\n  - zzz\n',
    );
  });
});

describe('two titles are one task’s', () => {
  it.each([
    ['Add the logn page', 'Add the login page', true],
    ['Add the login page', 'Add the login page (done in abc123), with tests and a guide', true],
    ['Read the meter', 'Read the old meter', true],
    ['ログイン画面を追加', 'ログイン画面を追加（完了）', true],
    ['Make file number 2', 'Make file number 9', false],
    ['Make file number 1', 'Make file number 12', false],
    ['Add the login page', 'Add the logout page', false],
    ['Fix', 'Fix everything else', false],
    ['Make file', 'Something else', false],
    ['???', '!!!', false],
  ])('%s / %s: %s', (a, b, same) => {
    expect(isReworded(a, b)).toBe(same);
    expect(isReworded(b, a)).toBe(same);
  });
});
