/** Work trees beside the user's, against real git. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { GroundPool } from '../engine/index.ts';
import { openPool, type PoolOptions, type RepoGround } from './index.ts';
import { type TestRepository, temporaryRepository } from './test-ground.ts';

let repository: TestRepository;
let ground: RepoGround;
let folder: string;
beforeEach(async () => {
  repository = temporaryRepository();
  repository.write('a.txt', 'a\n');
  repository.write('src/b.txt', 'b\n');
  repository.write('.gitignore', 'cache/\n.env\n');
  repository.commitAll('first');
  ground = await repository.open();
  folder = join(repository.root, '.ralph/worktrees');
});
afterEach(() => repository.remove());

const open = (over: Partial<PoolOptions> = {}) =>
  openPool({ ground, folder, copy: [], made: async () => undefined, ...over });
const poolOf = (over?: Partial<PoolOptions>): GroundPool => open(over)!;
const at = (id: string, path: string) => join(folder, id, path);
const text = (id: string, path: string) => readFileSync(at(id, path), 'utf8');

test("a work tree holds exactly what stands in the user's, the uncommitted and the deleted included", async () => {
  repository.write('a.txt', 'edited\n');
  repository.write('new file.txt', 'new\n');
  rmSync(join(repository.root, 'src/b.txt'));
  const mark = await ground.snapshot();
  const side = await poolOf().fill('test-1', mark);
  expect((await side.snapshot()).tree).toBe(mark.tree);
  expect([text('test-1', 'a.txt'), text('test-1', 'new file.txt')]).toEqual(['edited\n', 'new\n']);
  expect(existsSync(at('test-1', 'src/b.txt'))).toBe(false);
});

test('filled again it holds nothing of the attempt before, but for what git ignores', async () => {
  const pool = poolOf();
  const mark = await ground.snapshot();
  await pool.fill('test-1', mark);
  writeFileSync(at('test-1', 'a.txt'), 'an attempt\n');
  writeFileSync(at('test-1', 'left.txt'), 'left\n');
  mkdirSync(at('test-1', 'cache'));
  writeFileSync(at('test-1', 'cache/warm'), 'warm\n');
  const side = await pool.fill('test-1', mark);
  expect((await side.snapshot()).tree).toBe(mark.tree);
  expect(existsSync(at('test-1', 'left.txt'))).toBe(false);
  expect(text('test-1', 'cache/warm')).toBe('warm\n');
});

test('what an attempt made there can be put into the user’s work tree', async () => {
  const pool = poolOf();
  const mark = await ground.snapshot();
  const side = await pool.fill('test-1', mark);
  writeFileSync(at('test-1', 'a.txt'), 'made beside\n');
  const after = await side.snapshot();
  const changes = await side.changes(mark.tree, after.tree);
  expect(await ground.apply(changes)).toEqual([]);
  expect(repository.text('a.txt')).toBe('made beside\n');
});

test('after a crash it is found as it lies, and one that is gone is not', async () => {
  await poolOf().fill('test-1', await ground.snapshot());
  writeFileSync(at('test-1', 'a.txt'), 'half\n');
  const again = poolOf();
  const side = (await again.open('test-1'))!;
  expect(await side.current(['a.txt'])).not.toEqual(await ground.current(['a.txt']));
  rmSync(join(folder, 'test-1'), { recursive: true });
  expect(await poolOf().open('test-1')).toBeNull();
  // And it can be made again under its name.
  expect((await poolOf().fill('test-1', await ground.snapshot())).root).toContain('test-1');
});

test.each<[string, () => void]>([
  ['its git folder is a file of rubbish', () => writeFileSync(at('test-1', '.git'), 'rubbish')],
  [
    'it is a repository of its own',
    () => {
      rmSync(at('test-1', '.git'));
      repository.git('init', '-q', join(folder, 'test-1'));
    },
  ],
  [
    'a lock of a killed git lies in it',
    () => {
      const dir = readFileSync(at('test-1', '.git'), 'utf8').replace('gitdir: ', '').trim();
      writeFileSync(join(dir, 'index.lock'), '');
    },
  ],
])('it is made anew where %s', async (_, damage) => {
  const pool = poolOf();
  const mark = await ground.snapshot();
  await pool.fill('test-1', mark);
  damage();
  const side = await pool.fill('test-1', mark);
  expect((await side.snapshot()).tree).toBe(mark.tree);
});

test('a new one is given the named files and prepared once', async () => {
  repository.write('.env', 'secret\n');
  const prepared: string[] = [];
  const pool = poolOf({
    copy: ['.env', '../outside', 'missing'],
    made: async (cwd) => void prepared.push(cwd),
  });
  const mark = await ground.snapshot();
  await pool.fill('test-1', mark);
  await pool.fill('test-1', mark);
  expect(text('test-1', '.env')).toBe('secret\n');
  expect(prepared).toEqual([join(folder, 'test-1')]);
});

test('given back are this session’s work trees and no others', async () => {
  const pool = poolOf();
  await pool.fill('260208-143000-1', await ground.snapshot());
  repository.git('worktree', 'add', '-q', '--detach', join(folder, 'a-persons'));
  await pool.close();
  expect(existsSync(at('260208-143000-1', ''))).toBe(false);
  expect(existsSync(at('a-persons', 'a.txt'))).toBe(true);
  expect(repository.git('worktree', 'list').split('\n')).toHaveLength(2);
});

test('there is no pool without git, and none where submodules would be missing', async () => {
  repository.write('.gitmodules', '[submodule "x"]\n\tpath = x\n\turl = ./x\n');
  expect(open()).toBeNull();
});

test('changes of one file are put together where they fit, and left alone where they do not', async () => {
  const lines = Array.from({ length: 9 }, (_, n) => `${n + 1}\n`);
  const made = (at: number, text: string) => lines.with(at, text).join('');
  for (const path of ['fits.txt', 'clash.txt', 'gone.txt']) repository.write(path, lines.join(''));
  repository.write('binary', new Uint8Array([0, 1, 2]));
  repository.commitAll('nine lines');
  const mark = await ground.snapshot();
  const side = await poolOf().fill('test-1', mark);
  writeFileSync(at('test-1', 'fits.txt'), made(0, 'theirs\n'));
  writeFileSync(at('test-1', 'clash.txt'), made(0, 'theirs\n'));
  writeFileSync(at('test-1', 'gone.txt'), made(0, 'theirs\n'));
  writeFileSync(at('test-1', 'binary'), new Uint8Array([0, 1, 3]));
  const changes = await side.changes(mark.tree, (await side.snapshot()).tree);
  repository.write('fits.txt', made(8, 'ours\n'));
  repository.write('clash.txt', made(0, 'ours\n'));
  repository.write('binary', new Uint8Array([0, 1, 4]));
  rmSync(join(repository.root, 'gone.txt'));
  const conflicts = await ground.apply(changes);
  expect(conflicts).toEqual(['binary', 'clash.txt', 'fits.txt', 'gone.txt']);
  const { merged, conflicts: left } = await ground.merge(changes);
  expect(merged.map(({ path }) => path)).toEqual(['fits.txt']);
  expect(left).toEqual(['binary', 'clash.txt', 'gone.txt']);
  expect(repository.text('fits.txt')).toBe(['theirs\n', ...lines.slice(1, 8), 'ours\n'].join(''));
  expect(repository.text('clash.txt')).toBe(made(0, 'ours\n'));
  expect(await ground.current(['fits.txt'])).toEqual(new Map([['fits.txt', merged[0]!.after]]));
});

test.each<[string, boolean]>([
  ['that is filled anew', false],
  ['that is given back', true],
])('a repository that an agent made in a work tree %s is left where it lies, and told', async (_, closes) => {
  const pool = poolOf();
  const mark = await ground.snapshot();
  const { sessionId } = ground.options;
  const id = `${sessionId}-1`;
  await pool.fill(id, mark);
  writeFileSync(at(id, 'left.txt'), 'left\n');
  repository.git('init', '-q', at(id, 'made'));
  writeFileSync(at(id, 'made/only.txt'), 'only here\n');
  if (closes) await pool.close();
  else {
    const side = await pool.fill(id, mark);
    expect((await side.snapshot()).tree).toBe(mark.tree);
    expect((await pool.open(id))?.root).toBe(side.root);
    expect(side.root).not.toBe(join(folder, id));
    // The next one begins in the clean one, and so does a run that finds it after a crash.
    await pool.fill(id, mark);
    expect((await poolOf().open(id))?.root).toBe(side.root);
  }
  expect(text(id, 'made/only.txt')).toBe('only here\n');
  expect(pool.left()).toEqual([{ root: join(folder, id), paths: ['made'] }]);
  expect(pool.left()).toEqual([]);
  await pool.close();
  expect(text(id, 'made/only.txt')).toBe('only here\n');
  expect(existsSync(join(folder, `${id}.2`))).toBe(false);
});

test('a repository in it of which everything is elsewhere is no reason to keep it', async () => {
  const pool = poolOf();
  const mark = await ground.snapshot();
  await pool.fill('test-1', mark);
  repository.git('init', '-q', at('test-1', 'made'));
  await pool.fill('test-1', mark);
  expect(existsSync(at('test-1', 'made'))).toBe(false);
  expect(pool.left()).toEqual([]);
});
