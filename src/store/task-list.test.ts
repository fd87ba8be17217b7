import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyState, evolve, type TaskDef, type TaskState } from '../core/index.ts';
import type { ListReading, TaskList } from '../engine/index.ts';
import { findTaskList } from './find-task-list.ts';
import { openTaskList } from './task-list.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-list-')));
  mkdirSync(join(root, 'ralph'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (path: string) => join(root, path);
const text = (path: string) => readFileSync(at(path), 'utf8');
const put = (path: string, content: string) => writeFileSync(at(path), content);
const open = (path: string, warn: (text: string) => void = () => {}) =>
  openTaskList({ projectDir: root, groundRoot: root, path, warn });

interface Story {
  id: string;
  title?: string;
  passes?: boolean;
  [key: string]: unknown;
}
const story = ({ id, ...rest }: Story) => ({
  id,
  title: `Do ${id}`,
  description: '',
  acceptanceCriteria: ['it works'],
  priority: 1,
  passes: false,
  ...rest,
});
const reviewed = (fields: Story) =>
  story({ reviewStatus: null, reviewCount: 0, reviewFeedback: '', ...fields });
const file = (stories: unknown[], top: object = {}) =>
  `${JSON.stringify({ project: 'p', ...top, userStories: stories }, null, 2)}\n`;

async function list(of: TaskList): Promise<Extract<ListReading, { kind: 'list' }>> {
  const reading = await of.read();
  if (reading.kind !== 'list') throw new Error(JSON.stringify(reading));
  return reading;
}

/** The states of a list's tasks as the law makes them, some of them then changed. */
async function states(of: TaskList, change: Record<string, Partial<TaskState>>): Promise<TaskState[]> {
  const { tasks } = await list(of);
  const state = emptyState();
  const set: TaskDef[] = tasks;
  evolve(state, {
    seq: 1,
    at: 0,
    facts: [{ type: 'tasks.read', source: of.source, sha256: '', set, gone: [], by: 'person' }],
  });
  for (const [id, fields] of Object.entries(change)) Object.assign(state.tasks.get(id)!, fields);
  return [...state.tasks.values()];
}

/** Plays an attempt: reads, lets the agent edit, inspects. */
async function attempt(
  of: TaskList,
  edit: (before: string) => void,
  call: { mode?: string; active?: string } = {},
) {
  const before = (await list(of)).text;
  edit(before);
  return of.inspect({ before, mode: call.mode ?? 'implement', active: call.active ?? 'a', reviewCap: 5 });
}

describe('a task list', () => {
  it('says where it lies, which format it speaks and whether it is reviewed', async () => {
    put('ralph/tasks.json', file([reviewed({ id: 'a' })], { verifyCommands: ['npm test'] }));
    const tasks = await openTaskList({ projectDir: at('ralph'), groundRoot: root, path: 'tasks.json' });
    expect(tasks.source).toEqual({ kind: 'file', path: 'tasks.json', dialect: 'tasks-json', reviewed: true });
    expect(tasks.groundPath).toBe('ralph/tasks.json');
    expect((await list(tasks)).gates).toEqual(['npm test']);
  });

  it('outside the ground has no path in it, and a real path is used where a link leads to the project', async () => {
    put('list.json', file([story({ id: 'a' })]));
    const outside = await openTaskList({
      projectDir: at('ralph'),
      groundRoot: at('ralph'),
      path: '../list.json',
    });
    expect(outside.groundPath).toBeNull();
    expect((await list(outside)).tasks).toHaveLength(1);
    symlinkSync(root, `${root}-link`);
    try {
      const linked = await openTaskList({ projectDir: `${root}-link`, groundRoot: root, path: 'list.json' });
      expect(linked.groundPath).toBe('list.json');
    } finally {
      rmSync(`${root}-link`);
    }
  });

  it('that nobody touched is not parsed again, and one that changed is', async () => {
    const many = Array.from({ length: 5_000 }, (_, n) => story({ id: `t${n}` }));
    put('prd.json', file(many));
    const past = new Date(Date.now() - 60_000);
    utimesSync(at('prd.json'), past, past);
    const tasks = await open('prd.json');
    const first = await list(tasks);
    expect(await tasks.read()).toBe(first);
    utimesSync(at('prd.json'), new Date(), new Date());
    expect(await tasks.read()).toBe(first);
    put('prd.json', file(many.slice(1)));
    expect((await list(tasks)).tasks).toHaveLength(4_999);
  });

  it('that changes within one tick of the clock and to the same length is read again', async () => {
    put('prd.json', file([story({ id: 'a' })]));
    const tasks = await open('prd.json');
    const { mtime } = statSync(at('prd.json'));
    put('prd.json', file([story({ id: 'b' })]));
    utimesSync(at('prd.json'), mtime, mtime);
    expect((await list(tasks)).tasks[0]?.id).toBe('b');
  });

  it('missing, empty and unreadable are three answers', async () => {
    const tasks = await open('prd.json');
    expect(await tasks.read()).toEqual({ kind: 'missing' });
    put('prd.json', '');
    expect((await tasks.read()).kind).toBe('empty');
    put('prd.json', '{"userStories": [');
    expect(await tasks.read()).toMatchObject({ kind: 'unreadable', problem: { code: 'tasks.syntax' } });
  });

  it('that is a folder, a link, too large or not text is a problem that says what to do', async () => {
    mkdirSync(at('folder.json'));
    put('real.json', file([story({ id: 'a' })]));
    symlinkSync('real.json', at('link.json'));
    writeFileSync(at('large.json'), Buffer.alloc(10 * 1024 * 1024 + 1, 0x20));
    writeFileSync(at('latin.json'), Buffer.from('{"userStories":[{"id":"a","title":"caf\xe9"}]}', 'latin1'));
    for (const [path, code] of [
      ['folder.json', 'tasks.folder'],
      ['link.json', 'tasks.link'],
      ['large.json', 'tasks.too_large'],
      ['latin.json', 'tasks.encoding'],
    ] as const) {
      const reading = await (await open(path)).read();
      expect(reading).toMatchObject({ kind: 'unreadable', problem: { code, at: path } });
    }
  });

  it('tells each warning of the reader once', async () => {
    const said: string[] = [];
    put('PRD.md', '- [ ] First\n- [?] Second\n');
    const tasks = await open('PRD.md', (line) => said.push(line));
    const { warnings } = await list(tasks);
    put('PRD.md', '- [ ] First\n- [?] Second\n- [ ] Third\n');
    await tasks.read();
    expect(said).toEqual(warnings.map((warning) => `PRD.md: ${warning}`));
  });
});

describe('marking', () => {
  it('changes the outcome fields and not one other byte', async () => {
    const before =
      '\ufeff{ "userStories" : [\r\n\t{"id":"a" ,"title":"A","acceptanceCriteria":["x"],"passes":false}\r\n] }';
    put('prd.json', before);
    chmodSync(at('prd.json'), 0o640);
    const tasks = await open('prd.json');
    expect(await tasks.mark(await states(tasks, { a: { status: 'done' } }))).toBe(true);
    expect(text('prd.json')).toBe(before.replace('false', 'true'));
    expect(statSync(at('prd.json')).mode & 0o777).toBe(0o640);
    expect(readdirSync(root).sort()).toEqual(['prd.json', 'ralph']);
  });

  it('writes the review fields of a reviewed list', async () => {
    put('ralph/tasks.json', file([reviewed({ id: 'a' }), reviewed({ id: 'b' })]));
    const tasks = await open('ralph/tasks.json');
    const review = { status: 'changes_requested' as const, count: 2, feedback: 'no test' };
    await tasks.mark(await states(tasks, { a: { review, rework: true } }));
    const [a, b] = JSON.parse(text('ralph/tasks.json')).userStories;
    expect(a).toMatchObject({
      passes: false,
      reviewStatus: 'changes_requested',
      reviewCount: 2,
      reviewFeedback: 'no test',
    });
    expect(b).toMatchObject({ passes: false, reviewStatus: null, reviewCount: 0 });
  });

  it('ticks a box and unticks one that is open again', async () => {
    put('PRD.md', '# P\n\n- [ ] First\n- [x] Second\n');
    const tasks = await open('PRD.md');
    const [first, second] = (await list(tasks)).tasks.map((task) => task.id);
    await tasks.mark(await states(tasks, { [first!]: { status: 'done' }, [second!]: { status: 'todo' } }));
    expect(text('PRD.md')).toBe('# P\n\n- [x] First\n- [ ] Second\n');
  });

  it('of what the file says already writes nothing', async () => {
    put('prd.json', file([story({ id: 'a', passes: true })]));
    const tasks = await open('prd.json');
    const { ino, mtimeMs } = statSync(at('prd.json'));
    expect(await tasks.mark(await states(tasks, {}))).toBe(false);
    expect(statSync(at('prd.json'))).toMatchObject({ ino, mtimeMs });
  });

  it('marks what a person saved a moment ago', async () => {
    put('prd.json', file([story({ id: 'a' })]));
    const tasks = await open('prd.json');
    const due = await states(tasks, { a: { status: 'done' } });
    put('prd.json', file([story({ id: 'a', title: 'A better title' }), story({ id: 'b' })]));
    await tasks.mark(due);
    const { userStories } = JSON.parse(text('prd.json'));
    expect(userStories).toMatchObject([
      { title: 'A better title', passes: true },
      { id: 'b', passes: false },
    ]);
  });

  it('beside a program that saves all the time loses neither its words nor the mark', async () => {
    put('prd.json', file([story({ id: 'a', notes: '0' })]));
    const tasks = await open('prd.json');
    const due = await states(tasks, { a: { status: 'done' } });
    let notes = 0;
    const saving = setInterval(() => {
      const now = JSON.parse(text('prd.json'));
      now.userStories[0].notes = String(++notes);
      writeFileSync(at('prd.tmp'), `${JSON.stringify(now, null, 2)}\n`);
      renameSync(at('prd.tmp'), at('prd.json'));
    }, 2);
    try {
      for (let n = 0; n < 41; n++) {
        due[0]!.status = n % 2 === 0 ? 'done' : 'todo';
        await tasks.mark(due).catch((error: unknown) => {
          expect(error).toMatchObject({ facts: { code: 'tasks.restless' } });
        });
      }
    } finally {
      clearInterval(saving);
    }
    expect(JSON.parse(text('prd.json')).userStories[0]).toMatchObject({ notes: String(notes) });
  });

  it('of a write-protected file is a problem that says how to lift it', async () => {
    put('prd.json', file([story({ id: 'a' })]));
    chmodSync(at('prd.json'), 0o444);
    const tasks = await open('prd.json');
    const before = text('prd.json');
    await expect(tasks.mark(await states(tasks, { a: { status: 'done' } }))).rejects.toMatchObject({
      facts: { code: 'tasks.read_only', fix: expect.stringContaining('chmod u+w prd.json') },
    });
    expect(text('prd.json')).toBe(before);
  });

  it('of a file that is gone or half-written leaves it alone', async () => {
    put('prd.json', file([story({ id: 'a' })]));
    const tasks = await open('prd.json');
    const due = await states(tasks, { a: { status: 'done' } });
    put('prd.json', '{"userStories": [{"id": "a"');
    expect(await tasks.mark(due)).toBe(false);
    rmSync(at('prd.json'));
    expect(await tasks.mark(due)).toBe(false);
    expect(existsSync(at('prd.json'))).toBe(false);
  });
});

describe('an agent that edits tasks.json', () => {
  beforeEach(() => {
    put(
      'ralph/tasks.json',
      file([reviewed({ id: 'a' }), reviewed({ id: 'b', reviewStatus: 'needs_review' })]),
    );
  });

  it('and leaves it alone is told apart from one that touched it', async () => {
    const tasks = await open('ralph/tasks.json');
    const { mtimeMs } = statSync(at('ralph/tasks.json'));
    expect(await attempt(tasks, () => {})).toMatchObject({ touched: false, violations: [], agentText: null });
    expect(statSync(at('ralph/tasks.json')).mtimeMs).toBe(mtimeMs);
  });

  it('may ask for its review, which is a claim and no mark', async () => {
    const tasks = await open('ralph/tasks.json');
    const edited = file([
      reviewed({ id: 'a', reviewStatus: 'needs_review', notes: 'done it' }),
      reviewed({ id: 'b', reviewStatus: 'needs_review' }),
    ]);
    const seen = await attempt(tasks, () => put('ralph/tasks.json', edited));
    expect(seen).toMatchObject({ touched: true, marked: ['a'], violations: [], review: null });
    const [a] = JSON.parse(text('ralph/tasks.json')).userStories;
    expect(a).toMatchObject({ reviewStatus: null, notes: 'done it' });
  });

  it('may not pass a story, count a review or delete one; that is put back and its version kept', async () => {
    const tasks = await open('ralph/tasks.json');
    chmodSync(at('ralph/tasks.json'), 0o600);
    const before = text('ralph/tasks.json');
    const edited = file([reviewed({ id: 'a', passes: true, reviewCount: 4 })]);
    const seen = await attempt(tasks, () => put('ralph/tasks.json', edited));
    expect(seen.violations.length).toBeGreaterThanOrEqual(2);
    expect(seen.agentText).toBe(edited);
    expect(text('ralph/tasks.json')).toBe(before);
    expect(seen.sha256).toBe((await list(tasks)).sha256);
    expect(statSync(at('ralph/tasks.json')).mode & 0o777).toBe(0o600);
  });

  it('as a reviewer gives its verdict in the file', async () => {
    const tasks = await open('ralph/tasks.json');
    const edited = file([
      reviewed({ id: 'a' }),
      reviewed({ id: 'b', reviewStatus: 'changes_requested', reviewFeedback: 'untested' }),
    ]);
    const seen = await attempt(tasks, () => put('ralph/tasks.json', edited), {
      mode: 'TASK_REVIEW',
      active: 'b',
    });
    expect(seen.review).toEqual({ verdict: 'Failed', feedback: 'untested' });
    expect(JSON.parse(text('ralph/tasks.json')).userStories[1].reviewStatus).toBe('needs_review');
  });
});

describe('an agent that edits prd.json', () => {
  beforeEach(() => put('prd.json', file([story({ id: 'a' }), story({ id: 'b' })])));

  it('claims its own story, and a new open story is taken in', async () => {
    const tasks = await open('prd.json');
    const edited = file([story({ id: 'a', passes: true }), story({ id: 'b' }), story({ id: 'c' })]);
    const seen = await attempt(tasks, () => put('prd.json', edited));
    expect(seen.marked).toEqual(['a']);
    expect(seen.set.map((task) => task.id)).toEqual(['c']);
    const { userStories } = JSON.parse(text('prd.json'));
    expect(userStories.map((each: Story) => [each.id, each.passes])).toEqual([
      ['a', false],
      ['b', false],
      ['c', false],
    ]);
  });

  it('may not pass the story of another', async () => {
    const tasks = await open('prd.json');
    const seen = await attempt(tasks, () =>
      put('prd.json', file([story({ id: 'a' }), story({ id: 'b', passes: true })])),
    );
    expect(seen).toMatchObject({ violations: [], marked: ['b'] });
    expect(JSON.parse(text('prd.json')).userStories[1].passes).toBe(false);
  });

  it('and breaks it gets it back', async () => {
    const tasks = await open('prd.json');
    const before = text('prd.json');
    const seen = await attempt(tasks, () => put('prd.json', before.slice(0, 40)));
    expect(seen).toMatchObject({ touched: true, set: [], agentText: before.slice(0, 40) });
    expect(text('prd.json')).toBe(before);
  });
});

describe('an agent that edits a checklist', () => {
  it('claims by ticking its own box, and may write texts and new open tasks', async () => {
    put('PRD.md', '# P\n\n- [ ] First\n- [ ] Second\n');
    const tasks = await open('PRD.md');
    const [first] = (await list(tasks)).tasks;
    const seen = await attempt(
      tasks,
      () => put('PRD.md', '# P\n\nNote of the agent.\n\n- [x] First\n- [ ] Second\n- [ ] Third\n'),
      { active: first!.id },
    );
    expect(seen).toMatchObject({ touched: true, marked: [first!.id], violations: [] });
    expect(text('PRD.md')).toBe('# P\n\nNote of the agent.\n\n- [ ] First\n- [ ] Second\n- [ ] Third\n');
  });

  it('may not tick the box of another', async () => {
    put('PRD.md', '- [ ] First\n- [ ] Second\n');
    const tasks = await open('PRD.md');
    const [first] = (await list(tasks)).tasks;
    const seen = await attempt(tasks, () => put('PRD.md', '- [ ] First\n- [x] Second\n'), {
      active: first!.id,
    });
    expect(seen.violations).toEqual([]);
    expect(seen.marked).toHaveLength(1);
    expect(text('PRD.md')).toBe('- [ ] First\n- [ ] Second\n');
  });
});

describe('an agent that leaves no file', () => {
  const before = file([story({ id: 'a' })]);
  beforeEach(() => put('prd.json', before));

  it('by deleting it, its folder too, gets it back with its rights', async () => {
    mkdirSync(at('deep'));
    put('deep/prd.json', before);
    chmodSync(at('deep/prd.json'), 0o600);
    const tasks = await open('deep/prd.json');
    const seen = await attempt(tasks, () => rmSync(at('deep'), { recursive: true }));
    expect(seen).toMatchObject({ touched: true, violations: [expect.stringContaining('it was deleted')] });
    expect(text('deep/prd.json')).toBe(before);
    expect(statSync(at('deep/prd.json')).mode & 0o777).toBe(0o600);
  });

  it('by putting a link there gets the link removed and never its target written', async () => {
    put('secret.json', 'precious');
    const tasks = await open('prd.json');
    await attempt(tasks, () => {
      rmSync(at('prd.json'));
      symlinkSync('secret.json', at('prd.json'));
    });
    expect(text('prd.json')).toBe(before);
    expect(text('secret.json')).toBe('precious');
  });

  it('by putting a folder there gets the folder moved aside', async () => {
    const tasks = await open('prd.json');
    const seen = await attempt(tasks, () => {
      rmSync(at('prd.json'));
      mkdirSync(at('prd.json'));
      put('prd.json/inside', 'kept');
    });
    expect(seen.violations[0]).toContain('prd.json.moved-aside');
    expect(text('prd.json')).toBe(before);
    expect(text('prd.json.moved-aside/inside')).toBe('kept');
  });

  it('by filling it with bytes that are no text gets it back', async () => {
    const tasks = await open('prd.json');
    const seen = await attempt(tasks, () => writeFileSync(at('prd.json'), Buffer.from([0xff, 0xfe, 0x41])));
    expect(seen.agentText).toContain('A');
    expect(text('prd.json')).toBe(before);
  });

  it('or anything else by any edit never ends without the tasks it began with', async () => {
    const tasks = await open('prd.json');
    await fc.assert(
      fc.asyncProperty(
        fc.nat(before.length),
        fc.nat(40),
        fc.string({ maxLength: 20 }),
        async (start, length, insert) => {
          put('prd.json', before);
          await attempt(tasks, () =>
            put('prd.json', before.slice(0, start) + insert + before.slice(start + length)),
          );
          const { tasks: now } = await list(tasks);
          expect(now.some((task) => task.id === 'a' && task.status === 'todo')).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  }, 30_000);
});

describe('the task list of a project', () => {
  it('is the first of the usual places, and the others are named', async () => {
    put('PRD.md', '- [ ] x\n');
    put('fix_plan.md', '- [ ] x\n');
    const found = await findTaskList(root);
    expect(found?.path).toBe('PRD.md');
    expect(found?.warnings).toEqual([expect.stringContaining('fix_plan.md')]);
    put('ralph/tasks.json', file([story({ id: 'a' })]));
    expect((await findTaskList(root))?.path).toBe('ralph/tasks.json');
  });

  it('is nothing in a project without one, and a folder of that name is none', async () => {
    mkdirSync(at('PRD.md'));
    expect(await findTaskList(root)).toBeNull();
  });

  it('that was named is taken as it is, from wherever it lies', async () => {
    put('mine.md', '- [ ] x\n');
    expect(await findTaskList(root, './mine.md')).toEqual({ path: 'mine.md', warnings: [] });
    expect(await findTaskList(root, at('mine.md'))).toEqual({ path: 'mine.md', warnings: [] });
    expect((await findTaskList(at('ralph'), '../mine.md'))?.path).toBe(at('mine.md'));
  });

  it('that was named and is not there is a problem with the nearest name', async () => {
    put('ralph/tasks.json', file([story({ id: 'a' })]));
    await expect(findTaskList(root, 'ralph/task.json')).rejects.toMatchObject({
      facts: { code: 'tasks.missing', fix: 'Did you mean ralph/tasks.json?' },
    });
    await expect(findTaskList(root, 'elsewhere/other.txt')).rejects.toMatchObject({
      facts: { fix: 'There is: ralph/tasks.json' },
    });
    await expect(findTaskList(root, 'ralph')).rejects.toMatchObject({ facts: { code: 'tasks.folder' } });
  });
});
