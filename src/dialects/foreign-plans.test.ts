/** Plans that newcomers bring: other marks, other words, other shapes, and what they are told of them. */
import { describe, expect, it } from 'vitest';
import { compareTaskFile, readTaskList, writeMarks } from './index.ts';
import { stateOfPhrase } from './state-words.ts';

function listIn(path: string, text: string) {
  const reading = readTaskList(path, text);
  if (reading.kind !== 'list') throw new Error(JSON.stringify(reading));
  return reading;
}
const tasksIn = (text: string) => listIn('PLAN.md', text).tasks;
const done = (text: string, task: string, path = 'PLAN.md') =>
  writeMarks(text, [{ task, status: 'done' }], path);

describe('stages', () => {
  const text =
    '## Stage 1: Read\n**Goal**: x\n**Status**: Not Started\n\n## Stage 2: Write\n**Status**: In Progress\n';

  it('only the word of the status is written', () => {
    expect(done(text, 'stage-1')).toBe(text.replace('Not Started', 'Done <!-- was: Not Started -->'));
    const complete = `${text}\n## Stage 3: Print\n**Status**: Complete\n`;
    expect(done(complete, 'stage-2')).toBe(
      complete.replace('In Progress', 'Complete <!-- was: In Progress -->'),
    );
  });

  it('a stage whose tasks are check boxes or a table only groups them', () => {
    const boxes = text.replace('**Goal**: x', '- [ ] one\n- [ ] two\n');
    expect(tasksIn(boxes).map(({ title }) => title)).toEqual(['one', 'two', 'Write']);
    const table = text.replace('**Goal**: x', '| Task | Status |\n|--|--|\n| one | open |\n');
    expect(tasksIn(table).map(({ title }) => title)).toEqual(['one', 'Write']);
  });

  it('one heading with a status is a note on the document, not a task', () => {
    expect(readTaskList('PLAN.md', '# Specification\n\nStatus: Draft\n\n## Overview\n\nWords.\n').kind).toBe(
      'empty',
    );
  });
});

describe('words of the file', () => {
  it.each([
    [
      'Erledigt',
      '### Task 1: a\nStatus: offen\n\n### Task 2: b\nStatus: Erledigt\n\n### Task 3: c\nStatus: Done\n',
    ],
    [
      'Done',
      '### Task 1: a\nStatus: TODO\n\n### Task 2: b\nStatus: Erledigt\n\n### Task 3: c\nStatus: Done\n',
    ],
    [
      'Concluído <!-- was: Pendente -->',
      '### Task 1: a\nStatus: Pendente\n\n### Task 2: b\nStatus: Em andamento\n',
    ],
    ['Hecho', '### Task 1: a\nStatus: Pendiente\n'],
    ['已完成', '### Task 1: a\n状态：进行中\n\n### Task 2: b\n状态：待办\n'],
    ['已完成', '### Task 1: a\n状态：進行中\n\n### Task 2: b\n状态：待办\n'],
    ['完了', '### Task 1: a\n状態：進行中\n\n### Task 2: b\n状態：未着手\n'],
  ])('%s is written where the file speaks so', (word, text) => {
    const marked = done(text, 'task-1');
    expect(marked).toContain(word.split(' ')[0]!);
    expect(tasksIn(marked)[0]!.status).toBe('done');
    const [was] = tasksIn(text);
    expect(writeMarks(marked, [{ task: 'task-1', status: was!.status }], 'PLAN.md')).toBe(text);
  });

  it('the words of a language mean what they mean in each of its places', () => {
    expect(stateOfPhrase('進行中')!.languages).toHaveLength(2);
    expect(stateOfPhrase('Готово')?.status).toBe('done');
    expect(stateOfPhrase('진행 중')?.status).toBe('doing');
  });

  it('JSON and YAML lists in another language stay in it', () => {
    const text =
      '{"tasks":[{"id":"a","title":"A","status":"offen"},{"id":"b","title":"B","status":"in Arbeit"}]}';
    expect(listIn('tasks.json', text).tasks.map(({ status }) => status)).toEqual(['todo', 'doing']);
    expect(done(text, 'a', 'tasks.json')).toBe(text.replace('offen', 'erledigt'));
    expect(listIn('tasks.json', text.replace('offen', 'blockiert')).blocked).toEqual([
      { task: 'a', reason: '' },
    ]);
  });
});

describe('what is no task', () => {
  it.each([
    ['Verification'],
    ['Quality Gates'],
    ['Prerequisites'],
    ['Constraints'],
    ['Goals'],
    ['Checklist before merge'],
    ['Pre-merge checklist'],
    ['Definition of Done'],
    ['Success criteria'],
    ['Abnahme'],
    ['Voraussetzungen'],
    ['Ziele'],
    ['Checkliste vor dem Merge'],
    ['验收'],
    ['前置条件'],
    ['约束'],
    ['Criterios de aceptación'],
    ['Requisitos previos'],
    ['Pré-requisitos'],
    ["Critères d'acceptation"],
    ['Vérification'],
    ['Prerequisiti'],
    ['Ограничения'],
    ['制約'],
    ['検証'],
    ['목표'],
    ['معايير القبول'],
    ['القيود'],
  ])('%s: told with its line and the reason', (title) => {
    const text = `# P\n\n- [ ] real\n\n## ${title}\n\n- [ ] other\n- [x] third\n`;
    const { tasks, warnings } = listIn('PLAN.md', text);
    expect(tasks.map((task) => task.title)).toEqual(['real']);
    expect(warnings).toEqual([
      `line 5: 2 check boxes below "${title}" are not read as tasks, because that title says criteria or notes`,
    ]);
  });

  it('titles of work stay work', () => {
    for (const title of [
      'Requirements',
      'Validation of inputs',
      'Release',
      'Testing',
      'Goal tracker',
      'Backlog',
    ]) {
      expect(tasksIn(`## ${title}\n\n- [ ] real\n`)).toHaveLength(1);
    }
  });
});

describe('a file that holds no task says what it holds, and what a task looks like', () => {
  it.each([
    [
      'a.md',
      '# Ideas\n\n- one\n- two\n',
      ['2 bullet points without a check box (line 3)', 'a heading (line 1)'],
      '- [ ] Title',
    ],
    [
      'a.md',
      '## Verification\n\n- [ ] one\n',
      ['1 check box below "Verification" is not read as a task'],
      '- [ ] Title',
    ],
    ['a.md', '1. Prose\n\nA long text.\n\nAnother one.\n\n1. More\n', ['2 numbered points'], '- [ ] Title'],
    ['a.md', 'Words.\n', ['no list at all'], '- [ ] Title'],
    [
      'a.md',
      '| Task | State |\n|--|--|\n| a | purple |\n',
      ['a table without a state that is known'],
      '- [ ] Title',
    ],
    ['a.json', '{"name": "x", "version": 1}', ['It holds "name", "version"'], '"passes": false'],
    ['a.json', '{"tasks": []}', ['"tasks" is an empty list'], '"passes": false'],
    ['a.yaml', 'a: 1\n', ['It holds "a"'], 'passes: false'],
    ['a.yaml', '', ['The file is empty'], 'passes: false'],
  ])('%s %j', (path, text, why, fix) => {
    const reading = readTaskList(path, text);
    if (reading.kind !== 'empty') throw new Error(JSON.stringify(reading));
    for (const part of why) expect(reading.why).toContain(part);
    expect(reading.fix).toContain(fix);
  });
});

describe('numbered plans', () => {
  const text = '# Move\n\n1. Pack\n2. Drive\n3. Unpack\n';

  it('are plans where nothing else is; a finished step is ticked behind, and only that is written', () => {
    const [pack] = tasksIn(text);
    const marked = done(text, pack!.id);
    expect(marked).toBe(text.replace('1. Pack', '1. Pack ✅'));
    expect(tasksIn(marked).map(({ status }) => status)).toEqual(['done', 'todo', 'todo']);
    expect(writeMarks(marked, [{ task: pack!.id, status: 'todo' }], 'PLAN.md')).toBe(text);
  });

  it.each([
    ['check boxes elsewhere', `${text}\n- [ ] real\n`, ['real']],
    ['bullets among them', `${text}\n- other\n`, []],
    ['a number left out', text.replace('3.', '7.'), []],
    ['more words than steps', `${text}\nOne.\n\nTwo.\n\nThree.\n\nFour.\n`, []],
    ['an only step', '1. Alone\n', []],
  ])('not with %s', (_, other, titles) => {
    const reading = readTaskList('PLAN.md', other);
    expect(reading.kind === 'list' ? reading.tasks.map(({ title }) => title) : []).toEqual(titles);
  });
});

describe('states beside the title', () => {
  it('are no part of it, and no part of the id that is made of it', () => {
    const ids = [
      'Draw it',
      '[DONE] Draw it',
      'Draw it (done)',
      '~~Draw it~~',
      'Draw it ✅',
      '☑ Draw it',
      'Draw it — DONE',
    ].map((title) => tasksIn(`- [x] ${title}\n`)[0]!);
    expect(new Set(ids.map(({ id, title }) => `${id} ${title}`)).size).toBe(1);
  });

  it.each([
    ['Show a badge (new)'],
    ['Sort by state (open)'],
    ['Handle [x] in titles'],
    ['~~Old~~ new text'],
    ['Rename to Backlog - done right'],
    ['Print "status: done"'],
    ['Set the light: DONE'],
    ['更新（依存関係の整理）'],
  ])('%s keeps its words', (title) => {
    expect(tasksIn(`- [ ] ${title}\n`)[0]!.title).toBe(title);
  });

  it.each([
    ['### [WIP] Task 1: a', '### [DONE <!-- was: WIP -->] Task 1: a'],
    ['### Task 1: a (TODO)', '### Task 1: a (DONE)'],
    ['### 🚧 Task 1: a', '### ✅ <!-- was: 🚧 --> Task 1: a'],
    ['### Task 1: a — in progress', '### Task 1: a — done'],
  ])('%s is marked in its own way, and opened again', (line, marked) => {
    const text = `# P\n\n${line}\n\n- words\n`;
    const [task] = tasksIn(text);
    expect(done(text, 'task-1')).toBe(text.replace(line, marked));
    expect(writeMarks(done(text, 'task-1'), [{ task: 'task-1', status: task!.status }], 'PLAN.md')).toBe(
      text,
    );
  });

  it('what is struck through is not worked on, and opened by taking the line away', () => {
    const heading = '# P\n\n### ~~Task 1: a~~\n\n- words\n';
    expect(tasksIn(heading)[0]).toMatchObject({ status: 'done', title: 'a' });
    expect(writeMarks(heading, [{ task: 'task-1', status: 'todo' }], 'PLAN.md')).toBe(
      heading.replaceAll('~~', ''),
    );
    const box = '- [ ] ~~Task 1: a~~\n';
    expect(tasksIn(box)[0]!.status).toBe('cancelled');
    expect(writeMarks(box, [{ task: 'task-1', status: 'todo' }], 'PLAN.md')).toBe('- [ ] Task 1: a\n');
    expect(done(box, 'task-1')).toBe('- [x] ~~Task 1: a~~\n');
  });

  it('an agent that strikes another task out is undone', () => {
    const before = '- [ ] Task 1: a\n- [ ] Task 2: b\n';
    const after = before.replace('Task 2: b', '~~Task 2: b~~');
    const verdict = compareTaskFile({ before, after, mode: 'implement', active: 'task-1', path: 'PLAN.md' });
    expect(verdict.restored).toBe(before);
    expect(verdict.violations).toHaveLength(1);
  });
});

describe('dependencies', () => {
  it('never propose the task itself', () => {
    const reading = readTaskList('PLAN.md', '- [ ] T-10: a\n  - Depends on: T-11\n- [ ] X: b\n');
    expect(reading).toMatchObject({
      kind: 'unreadable',
      problem: { fix: 'name an existing task or drop the dependency' },
    });
    const json = '{"tasks":[{"id":"T1","title":"a","passes":false,"dependsOn":["T2"]}]}';
    expect(JSON.stringify(readTaskList('tasks.json', json))).not.toContain('did you mean');
  });

  it('words that may mean something else count where they name tasks, and stay in the title elsewhere', () => {
    const text =
      '- [ ] T1: a\n- [ ] T2: b (needs T1)\n- [ ] T3: c (after the rain)\n- [ ] T4: d (requires ES2022)\n';
    expect(tasksIn(text).map(({ title, dependsOn }) => [title, ...dependsOn])).toEqual([
      ['a'],
      ['b', 'T1'],
      ['c (after the rain)'],
      ['d (requires ES2022)'],
    ]);
  });

  it('equal ids in one part of a plan stay a mistake', () => {
    const twice = '## Phase 1\n\n- [ ] Task 1: a\n- [ ] Task 1: b\n';
    expect(readTaskList('PLAN.md', twice)).toMatchObject({ problem: { code: 'tasks.duplicate' } });
    expect(readTaskList('PLAN.md', `${twice}\n## Phase 2\n\n- [ ] Task 1: c\n`)).toMatchObject({
      problem: { code: 'tasks.duplicate' },
    });
  });
});

describe('bytes that are no text', () => {
  it.each(['a.md', 'a.json', 'a.yaml'])(
    'a NUL byte in %s is refused with its line and never written',
    (path) => {
      const text = path === 'a.json' ? '[\n"a\0b"]' : '- [ ] one\n- [ ] t\0wo\n';
      expect(readTaskList(path, text)).toMatchObject({
        kind: 'unreadable',
        problem: {
          code: 'tasks.syntax',
          at: `${path}:2`,
          what: expect.stringContaining('NUL'),
          fix: expect.any(String),
        },
      });
      expect(writeMarks(text, [{ task: 'one', status: 'done' }], path)).toBe(text);
    },
  );

  it('an agent that leaves one is undone', () => {
    const before = '- [ ] Task 1: a\n';
    const verdict = compareTaskFile({
      before,
      after: '- [x] Ta\0sk',
      mode: 'implement',
      active: 'task-1',
      path: 'a.md',
    });
    expect(verdict).toMatchObject({ restored: before, marked: [], reading: { kind: 'list' } });
    expect(verdict.violations[0]!.detail).toContain('NUL');
  });

  it('carriage returns alone end lines, also for the line of a problem', () => {
    expect(readTaskList('a.md', '# P\r\r- [ ] T1: a\r- [ ] T1: b\r')).toMatchObject({
      problem: { at: 'a.md:4' },
    });
    expect(readTaskList('a.json', '{"tasks": [\r{"id": "a", "title": "A",\r"passes": 3}]}')).toMatchObject({
      problem: { at: 'a.json:3' },
    });
    const before = '- [ ] T1: a\r- [ ] T2: b\r';
    const input = { before, mode: 'implement', active: 'T1', path: 'a.md' };
    expect(compareTaskFile({ ...input, after: '- [x] T1: a\r' })).toMatchObject({
      restored: before,
      marked: ['T1'],
    });
  });
});

describe('JSON and YAML', () => {
  it('keys that stand twice are told with both lines; a list that hides another is refused', () => {
    const text = '{"tasks": [\n{"id": "a",\n"title": "A", "passes": true,\n"passes": false}\n]}';
    expect(listIn('tasks.json', text).warnings).toEqual([
      'line 4: "passes" stands twice in one object, first in line 3; the last one counts',
    ]);
    expect(done(text, 'a', 'tasks.json')).toBe(text.replace('"passes": false', '"passes": true'));
    const hidden = '{"tasks": [{"id": "a", "title": "A"}],\n"tasks": [{"id": "b", "title": "B"}]}';
    expect(readTaskList('tasks.json', hidden)).toMatchObject({
      problem: { code: 'tasks.field', at: 'tasks.json:2', what: expect.stringContaining('first in line 1') },
    });
    expect(
      listIn('tasks.json', '{"tasks": [{"id": "a:b", "title": "say \\"x: y\\"", "k": {"k": 1}}]}').warnings,
    ).toEqual([]);
  });

  it.each([
    ['a.yaml', 'tasks:\n  - {id: a, title: A, passes: no}\n', 'write `passes: false`'],
    ['a.yaml', 'tasks:\n  - {id: a, title: A, done: "yes"}\n', 'write `done: true`'],
    ['a.json', '{"tasks":[{"id":"a","title":"A","passes":"false"}]}', 'write `"passes": false`'],
    [
      'a.json',
      '{"tasks":[{"id":"a","title":"A","passes":"perhaps"}]}',
      'write `"passes": true` or `"passes": false`',
    ],
  ])('%s %j says letter by letter what to write', (path, text, fix) => {
    expect(readTaskList(path, text)).toMatchObject({ problem: { fix } });
  });

  it.each([
    [
      'tasks.yaml',
      'tasks:\n  T1:\n    title: One # first\n    passes: false\n  T2: {title: Two, dependsOn: [T1]}\n',
    ],
    ['tasks.yaml', '# top\nT1:\n  title: One\n  passes: false\nT2:\n  title: Two\n  dependsOn: [T1]\n'],
    [
      'tasks.json',
      '{\n  "tasks": {\n    "T1": {"title": "One", "passes": false},\n    "T2": {"title": "Two", "dependsOn": ["T1"]}\n  }\n}\n',
    ],
    ['tasks.json', '{"T1": {"title": "One", "passes": false}, "T2": {"title": "Two", "dependsOn": ["T1"]}}'],
  ])('%s: tasks by their ids, marked in place', (path, text) => {
    expect(listIn(path, text).tasks).toMatchObject([
      { id: 'T1', title: 'One', status: 'todo' },
      { id: 'T2', title: 'Two', dependsOn: ['T1'] },
    ]);
    expect(done(text, 'T1', path)).toBe(text.replace('false', 'true'));
    const marked = done(text, 'T2', path);
    expect(listIn(path, marked).tasks[1]!.status).toBe('done');
    const claim = compareTaskFile({ before: text, after: marked, mode: 'implement', active: 'T2', path });
    expect(claim).toMatchObject({ restored: text, marked: ['T2'], violations: [] });
    expect(
      compareTaskFile({ before: text, after: marked, mode: 'implement', active: 'T1', path }).restored,
    ).toBe(text);
    const three = '"T2": {"title": "Two", "dependsOn": ["T1"]}';
    const added = path.endsWith('json')
      ? text.replace(three, `${three}, "T3": {"title": "Three"}`)
      : `${text}${text.startsWith('tasks') ? '  ' : ''}T3: {title: Three}\n`;
    const grown = compareTaskFile({ before: text, after: added, mode: 'implement', active: 'T1', path });
    expect(grown.violations).toEqual([]);
    expect(listIn(path, grown.restored).tasks.map(({ id }) => id)).toEqual(['T1', 'T2', 'T3']);
  });

  it('whole numbers for ids are marked where they stand', () => {
    const text =
      '{"tasks": {"2": {"title": "Two", "passes": false}, "1": {"title": "One", "passes": false}}}';
    expect(done(text, '2', 'tasks.json')).toBe(
      text.replace('"Two", "passes": false', '"Two", "passes": true'),
    );
  });

  it('anchors and tags stay where they are, an alias is refused with its line', () => {
    const text = 'x: &d {a: 1}\ntasks:\n  - !task\n    id: a\n    title: &t A\n    passes: !!bool false\n';
    expect(done(text, 'a', 'tasks.yaml')).toBe(text.replace('false', 'true'));
    expect(readTaskList('tasks.yaml', `${text}    notes: *t\n`)).toMatchObject({
      problem: { at: 'tasks.yaml:7', what: expect.stringContaining('*t') },
    });
  });
});
