/** A project with loops in work trees of their own, on real git, for the tests of this room. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gitIn, temporaryRepository, testEnv } from '../repo/test-ground.ts';
import { type Loop, readLoops, tellLoop } from '../store/index.ts';
import { type Landing, type LandRequest, landLoop } from './index.ts';

export interface TestFleet {
  root: string;
  /** What was told to whoever watches. */
  told: string[];
  git(...args: string[]): string;
  /** Writes files in a folder and commits all of it; answers the commit. */
  commit(dir: string, files: Record<string, string>, message?: string): string;
  /** A loop on a branch of its own in a work tree of its own. */
  loop(id: string, onto?: string): Promise<string>;
  land(id: string, more?: Partial<LandRequest>): Promise<Landing>;
  known(id: string): Loop;
  /** Throws where git finds the repository damaged. */
  check(): void;
  remove(): void;
}

export function openFleet(): TestFleet {
  const repository = temporaryRepository();
  const { root } = repository;
  const told: string[] = [];
  const commit: TestFleet['commit'] = (dir, files, message = 'a change') => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
    gitIn(dir, 'add', '-A');
    gitIn(dir, 'commit', '-q', '-m', message);
    return gitIn(dir, 'rev-parse', 'HEAD');
  };
  mkdirSync(join(root, '.git', 'info'), { recursive: true });
  writeFileSync(join(root, '.git', 'info', 'exclude'), '.ralph/\n');
  mkdirSync(join(root, '.ralph'));
  commit(root, { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n' }, 'first');
  return {
    root,
    told,
    git: repository.git,
    commit,
    async loop(id, onto = 'main') {
      const worktree = join(dirname(root), id);
      repository.git('worktree', 'add', '-q', '-b', `ralph/${id}`, worktree, onto);
      const base = gitIn(worktree, 'rev-parse', 'HEAD');
      const where = { branch: `refs/heads/ralph/${id}`, onto: `refs/heads/${onto}`, base, worktree };
      await tellLoop(root, Date.now(), { type: 'loop.created', loop: id, ...where });
      return worktree;
    },
    land: (id, more = {}) =>
      landLoop({
        mainDir: root,
        below: '',
        commonDir: join(root, '.git'),
        env: testEnv(),
        loop: id,
        isDone: true,
        title: `what ${id} does`,
        trailers: [],
        overlook: [],
        lastHead: null,
        work: [],
        settler: null,
        moved: () => [],
        asked: false,
        gates: { required: [], passedOn: null, run: () => Promise.resolve(null) },
        wait: false,
        say: (text) => told.push(text),
        ...more,
      }),
    known: (id) => readLoops(root).find((loop) => loop.id === id)!,
    check() {
      const trees = repository.git('worktree', 'list', '--porcelain').matchAll(/^worktree (.+)$/gm);
      for (const [, tree] of trees) {
        if (existsSync(tree!)) gitIn(tree!, 'fsck', '--full', '--strict', '--no-dangling');
        if (existsSync(join(tree!, '.git', 'index.lock'))) throw new Error(`${tree} is left locked`);
      }
    },
    remove: repository.remove,
  };
}
