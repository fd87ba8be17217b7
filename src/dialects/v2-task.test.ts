import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskDef } from '../core/index.ts';
import { readTaskFile, readTaskFolder, writeTaskFile } from './index.ts';

const FULL = `---
id: task-2
iteration: 1
type: Sequential
created_at: 2026-02-08T14:30:00Z
updated_at: 2026-02-08T14:30:00Z
---

# Task: task-2

## Title
Build the parser

## Files
- \`src/parser.ts\` (create)
- src/index.ts — export \`parse\`

## Objective
Read the format.

It must not throw.

## Grounded In
- plan.md, Approach
- \`questions/technical.md\` Q-TECH-001

## Success Criteria
- [ ] Parses the sample
- [x] Says the line of an error

## Dependencies
# what must be done first
depends_on: [task-1]  # the types
inherited_by: [task-3]

## Notes
None.
`;

const task2: TaskDef = {
  id: 'task-2',
  title: 'Build the parser',
  description: 'Read the format.\n\nIt must not throw.',
  acceptance: ['Parses the sample', 'Says the line of an error'],
  priority: 0,
  order: 0,
  dependsOn: ['task-1'],
  status: 'todo',
  files: ['src/parser.ts', 'src/index.ts'],
  changes: 'expected',
  sequential: true,
};

const withNeeds = (section: string) =>
  FULL.replace(/(## Dependencies\n)[\s\S]*?(?=\n## Notes)/, `$1${section}\n`);
const needs = (section: string) => readTaskFile('tasks/task-2.md', withNeeds(section)).def.dependsOn;

describe('a task’s file', () => {
  it('is one task, whole', () => {
    expect(readTaskFile('iterations/1/tasks/task-2.md', FULL)).toEqual({
      def: task2,
      references: 3,
      faults: [],
      warnings: [],
    });
  });

  it.each([
    ['CRLF and a BOM', `\ufeff${FULL.replaceAll('\n', '\r\n')}`],
    ['a code block around the whole', `\`\`\`markdown\n${FULL}\`\`\`\n`],
    ['deeper headings', FULL.replaceAll('\n## ', '\n### ')],
    ['numbered, bold headings with a colon', FULL.replace(/\n## (.+)/g, (_, name) => `\n## 3. **${name}:**`)],
    ['bold lines for headings', FULL.replace(/\n## (.+)/g, '\n\n**$1:**')],
    ['underlined headings', FULL.replace(/\n## (.+)/g, '\n\n$1\n-----')],
  ])('reads the same with %s', (_what, text) => {
    expect(readTaskFile('task-2.md', text).def).toEqual(task2);
  });

  it('has the name of its file, whatever its front matter says', () => {
    const { def, faults, warnings } = readTaskFile('tasks/task-7.md', FULL);
    expect(def.id).toBe('task-7');
    expect(faults).toEqual([]);
    expect(warnings).toEqual(['task-7: the front matter calls it "task-2"; the file\'s name counts']);
  });

  it.each([
    ['depends_on: []', []],
    ['depends_on:', []],
    ['depends_on: null', []],
    ['depends_on: ~ # nothing', []],
    ['depends_on: none', []],
    ['None. This is the first task.', []],
    ['N/A', []],
    ['- No dependencies', []],
    ['depends_on: task-1', ['task-1']],
    ['depends_on: "task-1", task-3', ['task-1', 'task-3']],
    ['depends_on: [task-1, "task-3"] # two', ['task-1', 'task-3']],
    ['depends_on: [\n  task-1, # first\n  task-3\n]\ninherited_by: [task-9]', ['task-1', 'task-3']],
    [
      'depends_on:\n  # first\n  - task-1\n  - task-3 # second\ninherited_by:\n  - task-9',
      ['task-1', 'task-3'],
    ],
    ['depends_on: |\n  task-1\n  task-3', ['task-1', 'task-3']],
    ['```yaml\ndepends_on:\n  - task-1\ninherited_by: []\n```', ['task-1']],
    ['- **depends_on**: task-1\n- **inherited_by**: task-9', ['task-1']],
    ['**Depends on:** `task-1` and `task-3`', ['task-1', 'task-3']],
    ['- `depends_on: [task-1]`', ['task-1']],
    ['- task-1 (the types)\n- [task-3](task-3.md): the store', ['task-1', 'task-3']],
    ['- task-1 - gives the types', ['task-1']],
    ['task-1, task-3', ['task-1', 'task-3']],
    ['depends_on: [na-1, none-2]', ['na-1', 'none-2']],
    ['# depends_on: [task-8]\ndepends_on: [task-1]', ['task-1']],
    ['depends_on: [tasks/task-1.md]', ['task-1']],
    ['depends_on: [task-1', ['task-1']],
  ])('waits for what %j names', (section, expected) => {
    expect(needs(section)).toEqual(expected);
  });

  it.each([
    ['depends_on: [task-1]', ['task-1']],
    ['depends_on:\n  - task-1\n  - task-3', ['task-1', 'task-3']],
    ['depends_on: task-1, task-3', ['task-1', 'task-3']],
    ['dependsOn: task-1', ['task-1']],
    ['depends_on: null', []],
    ['depends_on: ""', []],
  ])('waits for what %j in the front matter names', (field, expected) => {
    const text = withNeeds('').replace('iteration: 1', `iteration: 1\n${field}`);
    expect(readTaskFile('task-2.md', text).def.dependsOn).toEqual(expected);
  });

  it('a word that names no task behind the key is not dropped; prose without a key is told', () => {
    expect(needs('depends_on: [the parser]')).toEqual(['[the parser]']);
    expect(readTaskFile('task-2.md', withNeeds('It needs the parser.')).warnings).toEqual([
      'task-2: "It needs the parser." below Dependencies names no task and is not waited for',
    ]);
  });

  it('says what is missing', () => {
    const text = FULL.replace(/## Success Criteria[\s\S]*?(?=## Dep)/, '').replace(/- plan.md.*\n- .*\n/, '');
    expect(readTaskFile('task-2.md', text).faults).toEqual([
      'task-2: no success criteria; list them below "## Success Criteria"',
      'task-2: no reference below "## Grounded In"; cite at least 2',
    ]);
    expect(readTaskFile('task-2.md', '').faults[0]).toBe('task-2: its file is empty');
    expect(readTaskFile('tasks/my task.md', FULL).faults[0]).toContain('"my task" is none');
  });

  it.each(['- [ ] ...', '- [ ] [criterion]', '- [ ] TBD', 'None', '<!-- - [ ] what proves it -->'])(
    'a placeholder is no criterion: %s',
    (line) => {
      const text = FULL.replace(/(## Success Criteria\n)[\s\S]*?(?=\n## Dep)/, `$1${line}\n`);
      expect(readTaskFile('task-2.md', text).def.acceptance).toEqual([]);
    },
  );

  it('criteria in other shapes are criteria', () => {
    const read = (section: string) =>
      readTaskFile('task-2.md', FULL.replace(/(## Success Criteria\n)[\s\S]*?(?=\n## Dep)/, `$1${section}\n`))
        .def.acceptance;
    expect(read('1. One\n2. Two\n   and more')).toEqual(['One', 'Two and more']);
    expect(read('It parses the sample.')).toEqual(['It parses the sample.']);
    expect(read('- Works on:\n  - [ ] Linux\n  - [ ] Windows')).toEqual([
      'Works on: Linux',
      'Works on: Windows',
    ]);
  });

  it.each([
    ['- `src/a.ts`, `src/b.ts`: add `parse`', ['src/a.ts', 'src/b.ts']],
    ['- **Create**: `Makefile`', ['Makefile']],
    ['- Modify: src/a.ts', ['src/a.ts']],
    ['- ./src/a.ts:12-30', ['src/a.ts']],
    ['* LICENSE', ['LICENSE']],
    ['src/a.ts, src/b.ts', ['src/a.ts', 'src/b.ts']],
    ['| File | Change |\n|---|---|\n| `src/a.ts` | new |', ['src/a.ts']],
    ['- [src/a.ts](../src/a.ts) is new', ['src/a.ts']],
    ['```\nsrc/a.ts\n```', ['src/a.ts']],
    ['- None', []],
    ['Nothing but words here.', []],
  ])('names the files of %j', (section, expected) => {
    const text = FULL.replace(/(## Files\n)[\s\S]*?(?=\n## Obj)/, `$1${section}\n`);
    expect(readTaskFile('task-2.md', text).def.files).toEqual(expected);
  });

  it('takes its title from the heading above, else from its objective', () => {
    const untitled = FULL.replace('## Title\nBuild the parser\n', '');
    const read = (heading: string) =>
      readTaskFile('task-2.md', untitled.replace('# Task: task-2', heading)).def.title;
    expect(read('# Task 2: Build it')).toBe('Build it');
    expect(read('# task-2 — Build it')).toBe('Build it');
    expect(read('# Build it')).toBe('Build it');
    expect(read('# Task: task-2')).toBe('Read the format.');
  });

  it('odd front matter is a warning, and its lines are read all the same', () => {
    const text = FULL.replace('type: Sequential', 'title: Fix: it\ntype: Sequential');
    const { def, faults, warnings } = readTaskFile('task-2.md', text);
    expect(def).toEqual(task2);
    expect(faults).toEqual([]);
    expect(warnings[0]).toMatch(/^task-2: its front matter is no plain YAML: /);
    const odd = readTaskFile('task-2.md', FULL.replace('Sequential', 'sometimes'));
    expect(odd.def.sequential).toBeUndefined();
    expect(odd.warnings[0]).toContain('type "sometimes" is neither');
  });
});

const facts = {
  cycle: 2,
  createdAt: 0,
  updatedAt: 0,
  references: ['plan.md', 'Q-TECH-001'],
  notes: 'Mind it.',
};

describe('a task’s file that is written', () => {
  it('has the form of the contract', () => {
    expect(writeTaskFile(task2, { ...facts, inheritedBy: ['task-3'] })).toBe(`---
id: task-2
iteration: 2
type: Sequential
created_at: 1970-01-01T00:00:00Z
updated_at: 1970-01-01T00:00:00Z
---

## Title
Build the parser

## Files
- \`src/parser.ts\`
- \`src/index.ts\`

## Objective
Read the format.

It must not throw.

## Grounded In
- plan.md
- Q-TECH-001

## Success Criteria
- [ ] Parses the sample
- [ ] Says the line of an error

## Dependencies
depends_on: [task-1]
inherited_by: [task-3]

## Notes
Mind it.
`);
  });

  it.each([
    '# Heading\n## Files\n- `x.ts`\n### Notes\nmore',
    'Files\n-----\nUnderlined\n===',
    '**Notes:** bold\n\n__Files__',
    '```sh\n# a comment\n```\n\\# shielded\n\\\\# twice',
    '```\nnever closed',
    '<!-- never closed\n## Notes',
    '---\nid: x\n---\ntext',
    'depends_on: [task-9]',
    '- [ ] a box\n\n    ## code',
  ])('keeps an objective that looks like structure: %j', (description) => {
    const def = { ...task2, description };
    expect(readTaskFile('task-2.md', writeTaskFile(def, facts)).def).toEqual(def);
  });

  it('reads back equal', () => {
    const id = fc.stringMatching(/^[a-z]{1,6}-\d{1,3}[a-z]?$/);
    const words = fc.stringMatching(/^[A-Z][a-z]{2,9}( [a-z0-9.,:!?()=+/-]{1,9}){1,5}[a-z]$/);
    const line = fc.oneof(
      words,
      fc.constantFrom(
        '',
        '# A',
        '## Files',
        'Notes',
        '---',
        '===',
        '```',
        '- x',
        '> q',
        '<div>',
        '<!--',
        '-->',
        '**Files**',
        '\\#',
        '    code',
      ),
    );
    const def = fc.record({
      id,
      title: words,
      description: fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n').trim()),
      acceptance: fc.array(words, { minLength: 1, maxLength: 4 }),
      priority: fc.nat(9),
      order: fc.constant(0),
      dependsOn: fc.uniqueArray(id, { maxLength: 4 }),
      status: fc.constant('todo' as const),
      files: fc.uniqueArray(fc.stringMatching(/^(src|lib)(\/[a-z]{1,5}){1,3}\.[a-z]{2}$/), { maxLength: 3 }),
      changes: fc.constantFrom('expected' as const, 'none' as const),
    });
    fc.assert(
      fc.property(def, (task) => {
        const { def: back, faults } = readTaskFile(`tasks/${task.id}.md`, writeTaskFile(task, facts));
        expect(back).toEqual(task);
        expect(faults).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

const file = (id: string, dependsOn = '[]') => ({
  path: `tasks/${id}.md`,
  text: FULL.replace('id: task-2', `id: ${id}`).replace('[task-1]', dependsOn),
});

describe('a folder of tasks', () => {
  it('is in natural order, and other files are no tasks', () => {
    const files = [file('task-10', '[task-2]'), file('task-2'), { path: 'tasks/README.md', text: '' }];
    const { tasks, faults, warnings } = readTaskFolder([...files, { path: 'tasks/.x.md', text: '' }]);
    expect(tasks.map(({ id, order }) => [id, order])).toEqual([
      ['task-2', 0],
      ['task-10', 1],
    ]);
    expect(faults).toEqual([]);
    expect(warnings).toEqual(['tasks/README.md is no task']);
  });

  it('without a task is a fault', () => {
    expect(readTaskFolder([]).faults).toEqual(['there is no task; write at least one file tasks/<id>.md']);
  });

  it('two names that differ in case alone are one id', () => {
    const { tasks, faults } = readTaskFolder([file('task-1'), file('Task-1')]);
    expect(tasks).toHaveLength(1);
    expect(faults).toEqual([
      'tasks/task-1.md and tasks/Task-1.md are both "Task-1", as case does not count; give one another name',
    ]);
  });

  it('tells every unknown dependency with the nearest id, each self-dependency and one shortest cycle', () => {
    const { faults } = readTaskFolder([
      file('task-1', '[task-2, task-1]'),
      file('task-2', '[task-1, tsk-3]'),
      file('task-3', '[TASK-2]'),
      file('task-4', '[payments]'),
    ]);
    expect(faults).toEqual([
      '"task-1" depends on itself; remove that dependency',
      '"task-2" depends on "tsk-3", which is no task of this list; did you mean "task-3"?',
      '"task-4" depends on "payments", which is no task of this list; name an existing task or drop the dependency',
      'these tasks wait for each other: task-1 → task-2 → task-1; remove one of these dependencies',
    ]);
  });

  it('never throws', () => {
    const bits = FULL.split('\n').concat([
      '```',
      '<!--',
      '---',
      '\r',
      '\u0000',
      '[',
      '**Files**',
      '- [',
      '| a |',
    ]);
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(fc.constantFrom(...bits), { maxLength: 40 }).map((lines) => lines.join('\n')),
    );
    const some = fc.record({ path: fc.oneof(fc.string(), fc.constantFrom('a.md', 'A.md', 'b.md')), text });
    fc.assert(
      fc.property(fc.array(some, { maxLength: 4 }), (files) => {
        const { tasks, faults } = readTaskFolder(files);
        expect(tasks.length > 0 || faults.length > 0).toBe(true);
        for (const fault of faults) expect(fault).not.toBe('');
      }),
      { numRuns: 300 },
    );
  });
});
