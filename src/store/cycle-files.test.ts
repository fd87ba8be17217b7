/** The works of a session on a real disk: what agents leave in their place leads nowhere else. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskDef } from '../core/index.ts';
import { openCycleFiles } from './cycle-files.ts';
import { openWorks } from './works.ts';

let root: string;
let outside: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cycles-'));
  outside = mkdtempSync(join(tmpdir(), 'outside-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
  rmSync(outside, { recursive: true, force: true });
});

const open = () => openCycleFiles({ sessionDir: root, works: openWorks(root), now: () => 0 });
const at = (path: string) => join(root, 'iterations/1', path);
const write = (path: string, text: string) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};
const def: TaskDef = {
  id: 'task-1',
  title: 'One',
  description: '',
  acceptance: [],
  priority: 0,
  order: 0,
  dependsOn: [],
  status: 'todo',
  files: [],
  changes: 'expected',
};
const report = { task: def, cycle: 1, attempt: 1, at: 0, files: [], summary: 'done', gates: [] };
const REPORT = 'iterations/1/reports/task-1-report.md';

describe('the words of the instructions file', () => {
  const file = () => `${root}.instructions.md`;
  afterEach(() => rmSync(file(), { recursive: true, force: true }));

  it('stand below its front matter', async () => {
    writeFileSync(file(), '---\nmax_cycles: 2\n---\n\nNever touch the billing code.\n');
    expect(await open().guardrails()).toBe('Never touch the billing code.');
  });

  it('are none where there is no file, a folder in its place, or a pipe', async () => {
    expect(await open().guardrails()).toBe('');
    mkdirSync(file());
    expect(await open().guardrails()).toBe('');
    rmSync(file(), { recursive: true });
    execFileSync('mkfifo', [file()]);
    expect(await open().guardrails()).toBe('');
  });
});

describe('what an agent leaves in the place of a work', () => {
  it('a link to a file, to a folder, and a folder moved away: nothing is written outside, all is put back', async () => {
    const files = open();
    write('plan.md', 'the plan');
    write('tasks/task-1.md', 'the task');
    const before = await files.marks();
    expect(Object.keys(before)).toEqual(['iterations/1/plan.md', 'iterations/1/tasks/task-1.md']);

    writeFileSync(join(outside, 'victim.txt'), 'of somebody');
    rmSync(at('plan.md'));
    symlinkSync(join(outside, 'victim.txt'), at('plan.md'));
    rmSync(at('tasks'), { recursive: true });
    symlinkSync(outside, at('tasks'));
    mkdirSync(at('reports'));
    symlinkSync(join(outside, 'victim.txt'), join(root, REPORT));
    for (const [path, hash] of Object.entries(before)) await files.put(path, hash);
    await files.report(REPORT, report);
    expect(await files.marks()).toMatchObject(before);
    expect(readdirSync(outside)).toEqual(['victim.txt']);
    expect(readFileSync(join(outside, 'victim.txt'), 'utf8')).toBe('of somebody');
    expect(readFileSync(join(root, REPORT), 'utf8')).toContain('PART 1');
  });

  it('a whole cycle behind a link is not written to, and not removed from', async () => {
    const files = open();
    write('plan.md', 'the plan');
    const before = await files.marks();
    rmSync(at('.'), { recursive: true });
    writeFileSync(join(outside, 'plan.md'), 'of somebody');
    symlinkSync(outside, at('.').replace(/\/$/, ''));
    await files.put('iterations/1/plan.md', null);
    expect(existsSync(join(outside, 'plan.md'))).toBe(true);
    await files.put('iterations/1/plan.md', before['iterations/1/plan.md']!);
    expect(readFileSync(join(outside, 'plan.md'), 'utf8')).toBe('of somebody');
    expect(readFileSync(at('plan.md'), 'utf8')).toBe('the plan');
  });

  it.skipIf(process.platform === 'win32')(
    'a folder and a pipe are set aside, and nobody waits for them',
    async () => {
      const files = open();
      mkdirSync(join(root, REPORT, 'x'), { recursive: true });
      await files.report(REPORT, report);
      expect(readFileSync(join(root, REPORT), 'utf8')).toContain('PART 1');
      execFileSync('mkfifo', [at('plan.md')]);
      expect(await files.marks()).not.toHaveProperty('iterations/1/plan.md');
      await files.begin(1, { tasks: [], notes: [], most: 2 });
      expect(readFileSync(at('plan.md'), 'utf8')).toBe('');
    },
  );

  it('a note does not go through a link in .docs', async () => {
    const files = open();
    write(
      'knowledge/how-to/a.md',
      '---\ncategory: how-to\nsource_session: s\nsource_iteration: 1\nsource_artifacts: []\nstaged_at: 2026-01-01T00:00:00Z\n---\n# A\n\nSo.\n',
    );
    const dir = join(root, '.docs');
    mkdirSync(dir);
    symlinkSync(outside, join(dir, 'how-to'));
    const promoted = await files.promote(1, ['knowledge/how-to/a.md'], { dir, made: new Set() });
    expect(promoted.refused).toEqual([expect.stringContaining('a link lies on the way')]);
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe('a task that is cut anew', () => {
  const taskFile = (id: string, needs: string) => `---
id: ${id}
iteration: 1
type: Parallelizable
---

# ${id}

## Title
Make ${id}

## Files
- src/${id}.ts

## Objective
Make it.

## Grounded In
- plan.md, Approach
- Q-TECH-001

## Success Criteria
- [ ] \`npm test\` passes

## Dependencies
depends_on: [${needs}]

## Notes
None.
`;
  const around = [
    { id: 'task-1', dependsOn: [] },
    { id: 'task-2', dependsOn: ['task-1a', 'task-1b'] },
    { id: 'task-9', dependsOn: [] },
  ];
  const item = { role: 'planner', mode: 'SPLIT_TASK', subject: 'task-1', task: 'task-1' } as const;
  const read = () =>
    open().read({
      item,
      cycle: 1,
      before: {},
      finished: new Set(),
      taken: new Set(),
      cut: { paths: ['a', 'b'].map((part) => `iterations/1/tasks/task-1${part}.md`), around },
    });

  it('is replaced by the new files only, which may name every other task', async () => {
    write('tasks/task-1.md', 'no task file at all');
    write('tasks/task-1a.md', taskFile('task-1a', 'task-9'));
    write('tasks/task-1b.md', taskFile('task-1b', 'task-1a'));
    const { tasks, faults } = await read();
    expect(faults).toEqual([]);
    expect(tasks?.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
      ['task-1a', ['task-9']],
      ['task-1b', ['task-1a']],
    ]);
  });

  it('a circle through those that wait for it, and an unknown name, are said exactly', async () => {
    write('tasks/task-1a.md', taskFile('task-1a', 'task-2'));
    write('tasks/task-1b.md', taskFile('task-1b', 'task-8'));
    expect((await read()).faults).toEqual([
      '"task-1b" depends on "task-8", which is no task of this list; did you mean "task-1"?',
      expect.stringMatching(/^these tasks wait for each other: /),
    ]);
  });

  it('a carried task may depend on one that an earlier cycle has finished', async () => {
    write('tasks/task-4.md', taskFile('task-4', 'task-3'));
    const { faults } = await open().read({
      item: { role: 'planner', mode: 'REBREAKDOWN', subject: 'session' },
      cycle: 1,
      before: {},
      finished: new Set(['task-3']),
      taken: new Set(['task-3']),
    });
    expect(faults).toEqual([]);
  });
});
