import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskDef } from '../core/index.ts';
import { readChecklist } from './checklist.ts';
import { compareTaskFile, readTaskList, repairTaskFile, writeMarks } from './index.ts';

const tasksOf = (text: string): TaskDef[] => readChecklist(text).items.map((item) => item.task);
const titles = (text: string): string[] => tasksOf(text).map((task) => task.title);

describe('which checkboxes are tasks', () => {
  it('the outermost ones; what is nested below is their criteria', () => {
    const text =
      '- [ ] Log in\n  - [ ] with a password\n  - by mail\n    - [x] deeper\n\n  More about it.\n* [x] Log out\n1. [ ] Count\n';
    expect(tasksOf(text)).toMatchObject([
      {
        title: 'Log in',
        acceptance: ['with a password', 'by mail', 'deeper'],
        description: 'More about it.',
      },
      { title: 'Log out', status: 'done' },
      { title: 'Count' },
    ]);
  });

  it('a plain bullet only groups', () => {
    expect(titles('- Phase 1\n  - [ ] inner\n- [ ] outer\n')).toEqual(['inner', 'outer']);
  });

  it.each([
    ['a fence', '```\n- [ ] no\n```\n'],
    ['a fence in an item', '- x\n  ~~~~\n  - [ ] no\n  ~~~\n  ~~~~\n'],
    ['an HTML comment', '<!--\n- [ ] no\n\n- [ ] no\n-->\n'],
    ['a comment that begins within a line', 'text <!-- off:\n- [ ] no\n-->\n'],
    ['a quote', '> - [ ] no\n'],
    ['indented code', 'text\n\n    - [ ] no\n'],
    ['a legend', '## Legend\n- [ ] Open\n- [x] Shipped\n'],
    ['a legend without a heading', '- [ ] Not started\n- [/] In progress\n- [x] Completed\n- `[F]` Failed\n'],
    ['success metrics', '## 5. Success Metrics\n- [ ] no\n### Deeper\n- [ ] no\n'],
    ['what ends the whole', '## Erledigt wenn\n\n- [ ] no\n\n## Done when all of this holds\n\n- [ ] no\n'],
    ['a definition of done', '### ✅ **Definition of Done**\n\n- [ ] no\n'],
    ['notes', 'Notes\n-----\n- [ ] no\n'],
    ['acceptance criteria of a heading', '### A story\n**Acceptance Criteria:**\n- [ ] no\n- [ ] no\n'],
    ['links and footnotes', '- [a](b)\n- [1] no\n- [link text] no\n'],
    ['a front matter list', '---\nitems:\n- [ ] no\n---\n'],
    ['raw HTML', '<details>\n- [ ] no\n</details>\n'],
  ])('%s holds none', (_name, text) => {
    expect(titles(text)).toEqual([]);
    expect(titles(`${text}\n## Tasks\n\n- [ ] yes\n`)).toEqual(['yes']);
    expect(readTaskList('PRD.md', text)).toMatchObject({ kind: 'empty' });
  });

  it('an item that ends also ends the fence in it', () => {
    expect(titles('- [ ] a\n  ```\n  code\n- [ ] b\n')).toEqual(['a', 'b']);
  });

  it('a fence that is never closed is told', () => {
    expect(readChecklist('- [ ] a\n\n```\n- [ ] b\n').warnings[0]).toContain('line 3');
  });

  it('reads CRLF, a BOM and tabs', () => {
    expect(tasksOf('\ufeff# P\r\n-\t[X]\tDone it\r\n\t- crit\r\n- [ ] b')).toMatchObject([
      { title: 'Done it', status: 'done', acceptance: ['crit'] },
      { title: 'b' },
    ]);
  });
});

describe('what only looks like a checkbox', () => {
  const unread = (text: string) => readChecklist(text).unread.join();
  const near = ['-[ ] b', '* [ ]b', '- [x]b', '[ ] b', '1.[ ] b', '• [ ] b', '-\u00a0[ ] b', '- [ ]\u00a0b'];

  it.each(near)('%s is no task, is named with its line, and can be repaired', (line) => {
    const text = `- [ ] a\n${line}\n`;
    expect(titles(text)[0]).toBe('a');
    expect(titles(text)).toHaveLength(1);
    expect(unread(text)).toMatch(/^line 2: this looks like a check box/);
    const repaired = repairTaskFile('PRD.md', text);
    expect(repaired?.changes).toEqual([{ lines: [2], what: 'a check box was completed' }]);
    expect(titles(repaired!.text)).toEqual(['a', 'b']);
    expect(repairTaskFile('PRD.md', repaired!.text)).toBeNull();
    expect(readTaskList('PRD.md', `${line}\n`)).toMatchObject({
      kind: 'empty',
      why: expect.stringContaining('looks like'),
    });
  });

  it.each([
    '- [a](b)',
    '[x](y)',
    '[x]: y',
    '- [ ](z)',
    '[ ] Not started',
    '`[ ] b`',
    'a [ ] b',
    '- [1]b',
    '> -[ ] q',
  ])('%s looks like something else', (line) => expect(unread(`- [ ] a\n\n${line}\n`)).toBe(''));

  it('within a task it is a criterion, and below "Notes" nothing', () => {
    expect(unread('- [ ] a\n  - [ ]b\n\n## Notes\n\n-[ ] c\n')).toBe('');
  });

  it('what stands in fences, comments and quotes is said to be left out, and is no oddity', () => {
    const text = '- [ ] a\n\n```\n- [ ] b\n```\n\n> - [ ] c\n\n<!-- - [ ] d -->\n\n<!--\n- [ ] e\n-->\n';
    const { warnings, leftOut, unread: odd } = readChecklist(text);
    expect(leftOut).toEqual([
      expect.stringMatching(/^line 4: 1 check box is left out, because it stands in a code fence/),
      expect.stringMatching(/^line 7: .* in a quote/),
      expect.stringMatching(/^lines 9 and 12: 2 check boxes .* in a comment or HTML/),
    ]);
    expect([warnings, odd]).toEqual([leftOut, []]);
  });

  it('the repair of any text leaves what it cannot mean alone and reads what it made', () => {
    const piece = fc.constantFrom(
      ...near,
      '- [ ] a',
      '  - [ ]n',
      'text',
      '```',
      '<!--',
      '-->',
      '## Notes',
      '> -[ ] q',
      '',
      '    -[ ] c',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (lines) => {
        const text = lines.join('\n');
        const repair = repairTaskFile('PRD.md', text);
        if (repair === null) return;
        expect(titles(repair.text).length).toBeGreaterThanOrEqual(titles(text).length);
        expect(readChecklist(repair.text).near).toBeNull();
      }),
      { numRuns: 300 },
    );
  });
});

describe('what a line says', () => {
  it.each([
    ['**US-001**: Add login', 'US-001', 'Add login'],
    ['**US-001: Add login**', 'US-001', 'Add login'],
    ['**task-3** Add login', 'task-3', 'Add login'],
    ['[auth-login] Add login', 'auth-login', 'Add login'],
    ['US-001: Add login', 'US-001', 'Add login'],
    ['E1-02 - Add login', 'E1-02', 'Add login'],
    ['Task 4: Add login', 'task-4', 'Add login'],
    ['task-1 (Attempt 2)', 'task-1', '(Attempt 2)'],
    ['1.2 Add login', '1.2', 'Add login'],
    ['Add login <!-- id: L1 -->', 'L1', 'Add login'],
  ])('%s', (line, id, title) => {
    expect(tasksOf(`- [ ] ${line}\n`)).toMatchObject([{ id, title }]);
  });

  it('without an id one is made of the title, the same under every marker', () => {
    const ids = [' ', 'x', '/', 'P', 'f', 'C', ''].map(
      (marker) => tasksOf(`- [${marker}] Set up *CI*: fast!\n`)[0]!.id,
    );
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(/^set-up-ci-fast-[a-z0-9]{6}$/);
    expect(tasksOf('- [ ] same\n- [x] same\n').map((task) => task.id)).toEqual([
      expect.any(String),
      expect.stringMatching(/-2$/),
    ]);
    expect(tasksOf('- [ ] Docs: write them\n')[0]!.title).toBe('Docs: write them');
  });

  it('reads priorities from the line, its bullets and its heading', () => {
    const text =
      '## High Priority\n- [ ] a\n- [ ] b (P3)\n## Later\n- [ ] P0: c\n- [ ] d\n  - Priority: LOW\n- [ ] e\n- [ ] **HIGH** f\n';
    expect(tasksOf(text).map((task) => [task.title, task.priority])).toEqual([
      ['a', 1],
      ['b', 3],
      ['c', 0],
      ['d', 3],
      ['e', 0],
      ['f', 1],
    ]);
  });

  it('reads dependencies, files and the exemption from bullets', () => {
    const text =
      '- [ ] Task 1: a\n- [ ] T2: b\n  - **Depends on:** Task 1, `task-1`\n  - Files: a.ts, `b.ts`\n  - Changes: none\n- [ ] c (depends on: T2)\n  - Dependencies: none\n';
    expect(tasksOf(text)).toMatchObject([
      {},
      { dependsOn: ['task-1'], files: ['a.ts', 'b.ts'], changes: 'none', acceptance: [] },
      { title: 'c', dependsOn: ['T2'] },
    ]);
  });

  it('an unknown marker is told with its line and never counts as done', () => {
    const { items, warnings } = readChecklist('- [~] a\n- [✅] b\n- [] c\n- [  ] d\n- [?] e\n- [q] f\n');
    expect(items.map((item) => item.task.status)).toEqual(['todo', 'todo', 'todo', 'todo', 'todo']);
    expect(warnings).toHaveLength(4);
    expect(warnings[1]).toContain('line 2');
  });

  it('graph faults are told with their line', () => {
    expect(readTaskList('PRD.md', '- [ ] T1: a (depends on: T9)\n')).toMatchObject({
      kind: 'unreadable',
      problem: { code: 'tasks.unknown_dependency', at: 'PRD.md:1' },
    });
    expect(readTaskList('PRD.md', '- [ ] T1: a\n\n- [x] t1: b\n')).toMatchObject({
      problem: { at: 'PRD.md:3' },
    });
  });
});

/** Markdown that is likely to go wrong: pieces of structure on lines of their own. */
const piece = fc.constantFrom(
  '- [ ] task',
  '* [x] other',
  '1. [ ] num',
  '2. [ ] two',
  '- bullet',
  '-',
  '+ [P] t',
  '-     [ ] code',
  '- - [ ] twice',
  '```',
  '~~~',
  '````',
  '- ```',
  '<!--',
  '-->',
  '<!-- a -->',
  '<div>',
  '</div>',
  '> quote',
  '> - [ ] q',
  'text',
  '---',
  '===',
  '# Head',
  '## Notes',
  '',
  '',
  '',
  '\t- [ ] tab',
  '- [ ]',
  '[ ] no bullet',
  '* * *',
  '-\t[ ] tabbed',
  '<pre>',
  '| a | b |',
  '|---|---|',
  '- <!--',
  '- # Notes',
  '3) [ ] paren',
);
const markdown = fc
  .array(fc.tuple(fc.constantFrom('', '', ' ', '  ', '   ', '    ', '      ', '\t'), piece), {
    maxLength: 14,
  })
  .map((lines) => lines.map(([indent, text]) => indent + text).join('\n'));

describe('properties', () => {
  it('a mark changes one task and the one marker, is read back, and twice is once', () => {
    const status = fc.constantFrom<TaskDef['status']>(
      'todo',
      'doing',
      'review',
      'done',
      'failed',
      'cancelled',
    );
    fc.assert(
      fc.property(markdown, fc.boolean(), status, fc.nat(), (plain, crlf, to, pick) => {
        const text = crlf ? `\ufeff${plain.replaceAll('\n', '\r\n')}` : plain;
        const items = readChecklist(text).items;
        if (items.length === 0) return;
        const item = items[pick % items.length]!;
        const marked = writeMarks(text, [{ task: item.task.id, status: to }], 'PRD.md');
        expect(writeMarks(marked, [{ task: item.task.id, status: to }], 'PRD.md')).toBe(marked);
        if (item.mark.kind !== 'box') throw new Error('a line of a list has a checkbox');
        expect(marked.slice(0, item.mark.start)).toBe(text.slice(0, item.mark.start));
        expect(marked.endsWith(text.slice(item.mark.end))).toBe(true);
        expect(readChecklist(marked).items.map(({ task }) => task)).toEqual(
          items.map(({ task }) => (task.id === item.task.id ? { ...task, status: to } : task)),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('never throws, and an agent’s edit never loses or closes a task', () => {
    fc.assert(
      fc.property(markdown, fc.oneof(markdown, fc.string()), fc.nat(), (before, after, pick) => {
        const items = readChecklist(before).items;
        const active = items[pick % Math.max(1, items.length)]?.task.id ?? '';
        const verdict = compareTaskFile({ before, after, mode: 'implement', active, path: 'PRD.md' });
        const now = new Map(readChecklist(verdict.restored).items.map(({ task }) => [task.id, task.status]));
        for (const { task } of items) expect(now.get(task.id)).toBe(task.status);
        for (const { task } of items) now.delete(task.id);
        expect([...now.values()].filter((status) => status !== 'todo')).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('what of an agent’s edit stands', () => {
  const before = '# P\n\n- [x] T1: one\n- [ ] Add the login page\n  - works\n- [ ] T3: three\n\nWords.\n';
  const active = readChecklist(before).items[1]!.task.id;
  const compare = (after: string) =>
    compareTaskFile({ before, after, mode: 'implement', active, path: 'PRD.md' });

  it('ticking its own task is a claim and is undone', () => {
    expect(compare(before.replace('[ ] Add', '[x] Add'))).toMatchObject({
      marked: [active],
      violations: [],
      restored: before,
    });
  });

  it('also when words were added to the line', () => {
    const verdict = compare(
      before.replace('- [ ] Add the login page', '- [x] Add the login page (done in abc123)'),
    );
    expect(verdict).toMatchObject({ marked: [active], violations: [], restored: before });
  });

  it('criteria, notes and new open tasks stay', () => {
    const after = before.replace('- works', '- [x] works').replace('Words.', '- [ ] T4: four\n\nMore words.');
    const verdict = compare(after);
    expect(verdict).toMatchObject({ marked: [], violations: [], restored: after });
    expect(verdict.legal.map((task) => task.id)).toEqual(['T4']);
  });

  it('ticking another task, adding a ticked one, deleting one: undone and told', () => {
    expect(compare(before.replace('[ ] T3', '[x] T3'))).toMatchObject({
      violations: [],
      marked: ['T3'],
      restored: before,
    });
    expect(compare(before.replace('\nWords', '- [x] T4: four\n\nWords')).restored).toBe(
      before.replace('\nWords', '- [ ] T4: four\n\nWords'),
    );
    const deleted = compare(before.replace('- [ ] Add the login page\n  - works\n', ''));
    expect(deleted).toMatchObject({
      violations: [{ detail: expect.stringContaining('deleted') }],
      restored: before,
    });
  });

  it('an exemption or a dropped dependency is put back', () => {
    expect(compare(before.replace('  - works\n', '  - works\n  - Changes: none\n'))).toMatchObject({
      violations: [{}],
      restored: before,
    });
  });

  it('a file cut off while it is written is put back whole', () => {
    for (const after of ['', before.slice(0, 30), '# P\n']) {
      expect(compare(after)).toMatchObject({ restored: before, violations: [{}], marked: [] });
    }
  });
});

describe('what of an agent’s edit of other forms stands', () => {
  const stories =
    '# PRD\n\n### US-001: One\n\n**Acceptance Criteria:**\n\n- [ ] a\n- [ ] b\n\n### US-002: Two\n\n- [x] c\n- [ ] d\n\n### US-003: Three\n\n**Status:** pending\n\n- e\n';
  const compare = (after: string, active = 'US-001') =>
    compareTaskFile({ before: stories, after, mode: 'implement', active, path: 'PRD.md' });

  it('all criteria of its own heading ticked is a claim; some of them is its way of counting', () => {
    const all = stories.replace('[ ] a', '[x] a').replace('[ ] b', '[x] b');
    expect(compare(all)).toMatchObject({ marked: ['US-001'], violations: [], restored: stories });
    const some = stories.replace('[ ] a', '[x] a');
    expect(compare(some)).toMatchObject({ marked: [], violations: [], restored: some });
    const tick = stories.replace('US-001: One', 'US-001: One ✅');
    expect(compare(tick)).toMatchObject({ marked: ['US-001'], violations: [], restored: stories });
  });

  it('criteria of another heading ticked or opened are found and put back', () => {
    const finished = compare(stories.replace('[ ] d', '[x] d'));
    expect(finished).toMatchObject({ marked: ['US-002'], restored: stories });
    const opened = compare(stories.replace('[x] c', '[ ] c'));
    expect(opened).toMatchObject({
      marked: [],
      violations: [{ detail: expect.stringContaining('criteria of "US-002" were ticked or opened') }],
      restored: stories,
    });
  });

  it('a criterion that is edited, added or taken away is told as a changed task', () => {
    for (const after of [
      stories.replace('] a', '] a, and fast'),
      stories.replace('- [ ] b\n', ''),
      stories.replace('- [ ] b\n', '- [ ] b\n- [ ] more\n'),
    ]) {
      const verdict = compare(after);
      expect(verdict).toMatchObject({ marked: [], violations: [], restored: after });
      expect(verdict.legal.map(({ id }) => id)).toEqual(['US-001']);
    }
  });

  it('a status word is a mark as a box is', () => {
    const done = stories.replace('pending', 'Done');
    expect(compare(done, 'US-003')).toMatchObject({ marked: ['US-003'], violations: [], restored: stories });
    expect(compare(stories.replace('pending', 'failed'))).toMatchObject({
      marked: [],
      violations: [{ detail: expect.stringContaining('"US-003" was marked "failed"') }],
      restored: stories,
    });
    const board = '| ID | Task | Status |\n|--|--|--|\n| A-1 | One | Open |\n| A-2 | Two | Open |\n';
    const after = board.replace('One | Open', 'One | Done');
    expect(
      compareTaskFile({ before: board, after, mode: 'implement', active: 'A-1', path: 'b.md' }),
    ).toMatchObject({ marked: ['A-1'], violations: [], restored: board });
  });

  it('a status line of its own making is no way around', () => {
    const verdict = compare(stories.replace('### US-001: One\n', '### US-001: One\n\n**Status:** done\n'));
    expect(verdict).toMatchObject({ marked: ['US-001'], restored: stories });
    const added = compare(`${stories}\n### US-004: Four\n\n**Status:** done\n`);
    expect(added.violations).toHaveLength(1);
    expect(added.restored).toContain('**Status:** pending\n\n- e\n\n### US-004');
    expect(readTaskList('PRD.md', added.restored)).toMatchObject({ tasks: [{}, {}, {}, { status: 'todo' }] });
  });
});

it('a heading that is a task does not vanish for a stray checkbox elsewhere', () => {
  const text =
    '## Task 1: Login\nBuild the form.\n\n## Task 2: Logout\n- [ ] button\n\n## Rollout\n- [ ] announce\n';
  const reading = readTaskList('PRD.md', text);
  expect(reading.kind === 'list' && reading.tasks.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['task-1', 'task-2']),
  );
});
