/** The registry of loops: what the project journal told, folded. */
import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LoopNews } from './loop-news.ts';
import { followLoops, loopsOf, readLoops, tellLoop } from './loops.ts';
import { isWholeRecord } from './notes.ts';
import {
  appendProject,
  type ProjectNews,
  type ProjectRecord,
  projectJournal,
  readProject,
} from './project.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ralph-loops-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const created = (loop: string): LoopNews => ({
  type: 'loop.created',
  loop,
  branch: `refs/heads/ralph/${loop}`,
  onto: 'refs/heads/main',
  base: 'a'.repeat(40),
  worktree: `/trees/${loop}`,
});

test('a project without loops has none', () => {
  expect(readLoops(root)).toEqual([]);
});

test('each loop stands where its last news left it, and news of unknown loops says nothing', async () => {
  let at = 0;
  const tell = (news: LoopNews) => tellLoop(root, ++at, news);
  await tell(created('one'));
  await tell(created('two'));
  await tell({ type: 'loop.session', loop: 'one', session: '261129-100000' });
  await tell({ type: 'loop.queued', loop: 'one', head: 'b'.repeat(40) });
  await tell({ type: 'loop.landing', loop: 'one', from: 'a'.repeat(40), to: 'c'.repeat(40) });
  expect(readLoops(root)[0]).toMatchObject({ standing: 'queued', landing: { to: 'c'.repeat(40) } });
  await tell({ type: 'loop.landed', loop: 'one', commit: 'c'.repeat(40) });
  await tell({ type: 'loop.parked', loop: 'two', why: 'a conflict', files: ['a.txt'] });
  await tell({ type: 'loop.landed', loop: 'nobody', commit: 'c'.repeat(40) });
  expect(readLoops(root)).toMatchObject([
    { id: 'one', session: '261129-100000', standing: 'landed', landing: null, createdAt: 1 },
    { id: 'two', session: null, standing: 'needs_review', parked: { files: ['a.txt'] } },
  ]);
  await tell({ type: 'loop.queued', loop: 'two', head: 'd'.repeat(40) });
  expect(readLoops(root)[1]).toMatchObject({ standing: 'queued', parked: null, head: 'd'.repeat(40) });
  await tell({ type: 'loop.landed', loop: 'two', commit: 'c'.repeat(40), unfinished: true });
  expect(readLoops(root)[1]).toMatchObject({ standing: 'open', landed: 'c'.repeat(40) });
});

test('who looks again and again sees what a fresh reader sees, also after the journal was closed under another name', async () => {
  const follow = followLoops(root);
  expect(follow()).toEqual([]);
  await tellLoop(root, 1, created('one'));
  expect(follow()).toEqual(readLoops(root));
  await appendProject(root, { type: 'spend', at: 2, note: 'of "loop.x"' });
  await tellLoop(root, 3, { type: 'loop.landed', loop: 'one', commit: 'c'.repeat(40) });
  expect(follow()).toMatchObject([{ id: 'one', standing: 'landed' }]);
  renameSync(projectJournal(root), join(root, '.ralph', 'journal-20261129T100000Z.jsonl'));
  await tellLoop(root, 4, created('two'));
  expect(readFileSync(projectJournal(root), 'utf8')).not.toContain('"one"');
  expect(follow()).toEqual(readLoops(root));
  expect(follow().map(({ id, standing }) => [id, standing])).toEqual([
    ['one', 'landed'],
    ['two', 'open'],
  ]);
});

test('a record that names no work tree, branch or commit of ours says nothing, and counts as damaged', () => {
  const whole: ProjectNews[] = [
    { at: 1, ...created('one') },
    { at: 2, type: 'loop.session', loop: 'one', session: '261129-100000' },
    { at: 3, type: 'loop.queued', loop: 'one', head: 'b'.repeat(40) },
    { at: 4, type: 'loop.parked', loop: 'one', why: 'a conflict', files: ['a.txt'] },
  ];
  const records = (news: ProjectNews[]) => news.map((one) => ({ v: 1, ...one }) as ProjectRecord);
  const known = loopsOf(records(whole));
  expect(known).toMatchObject([{ id: 'one', standing: 'needs_review' }]);
  const spoilt = whole.flatMap((news) =>
    Object.keys(news)
      .filter((key) => key !== 'at' && key !== 'type')
      .flatMap((key) => [undefined, null, 12, '', [3], {}].map((value) => ({ ...news, [key]: value }))),
  );
  const outside = { ...whole[0]!, loop: '../x', branch: 'refs/heads/ralph/../x' };
  const theirs = { ...whole[0]!, branch: 'refs/heads/main' };
  for (const news of [...spoilt, outside, theirs]) {
    expect([news, loopsOf(records([...whole, news]))]).toEqual([news, known]);
    expect([news, isWholeRecord({ v: 1, ...news })]).toEqual([news, false]);
  }
  expect(isWholeRecord({ v: 1, at: 1, type: 'loop.of_a_later_ralph', loop: 7 })).toBe(true);
});

test('the loops beside a line that cannot be, are as before, for every reader', async () => {
  await tellLoop(root, 1, created('one'));
  const follow = followLoops(root);
  const before = follow();
  appendFileSync(projectJournal(root), '{"v":1,"at":12,"type":"loop.created","loop":"zz"}\n');
  appendFileSync(projectJournal(root), '{"v":1,"at":1e999,"type":"loop.removed","loop":"one"}\n');
  expect(follow()).toEqual(before);
  expect(readLoops(root)).toEqual(before);
  expect(readProject(root, isWholeRecord).bad.map(({ place }) => place)).toEqual([
    'journal.jsonl:2',
    'journal.jsonl:3',
  ]);
});
