/** Real repositories in temporary folders, for the tests of this room. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type GroundOptions, openGround, type RepoGround } from './index.ts';

const IDENTITY = {
  GIT_AUTHOR_NAME: 'A User',
  GIT_AUTHOR_EMAIL: 'user@example.com',
  GIT_COMMITTER_NAME: 'A User',
  GIT_COMMITTER_EMAIL: 'user@example.com',
};

/** The whole environment of a test's git: nobody's configuration. */
export function testEnv(extra: Record<string, string> = {}): Record<string, string> {
  const { PATH = '' } = process.env;
  return {
    PATH,
    HOME: '/nonexistent',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    ...IDENTITY,
    ...extra,
  };
}

export interface TestRepository {
  root: string;
  /** Outside the repository. */
  privateDir: string;
  git(...args: string[]): string;
  write(path: string, content: string | Uint8Array): void;
  text(path: string): string;
  commitAll(message: string): string;
  /** Commits on main, checked out, each writing one of seven files. */
  importHistory(commits: number): void;
  open(options?: Partial<GroundOptions>): Promise<RepoGround>;
  remove(): void;
}

/** A folder with or without `git init`. */
export function temporaryRepository(options: { init: boolean } = { init: true }): TestRepository {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'ground-')));
  const root = join(base, 'project');
  mkdirSync(root);
  const git = (...args: string[]) => gitIn(root, ...args);
  if (options.init) git('init', '-q', '-b', 'main');
  const privateDir = join(base, 'session');
  return {
    root,
    privateDir,
    git,
    write(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    },
    text: (path) => readFileSync(join(root, path), 'utf8'),
    commitAll(message) {
      git('add', '-A');
      git('commit', '-q', '--allow-empty', '-m', message);
      return git('rev-parse', 'HEAD');
    },
    importHistory(commits) {
      const data = (text: string) => `data ${text.length}\n${text}\n`;
      const input = Array.from({ length: commits }, (_, n) => {
        const who = `A User <user@example.com> ${1_700_000_000 + n} +0000`;
        return `commit refs/heads/main\ncommitter ${who}\n${data(`commit ${n}`)}M 644 inline f${n % 7}\n${data(`${n}`)}`;
      });
      execFileSync('git', ['fast-import', '--quiet'], { cwd: root, env: testEnv(), input: input.join('') });
      git('reset', '-q', '--hard');
    },
    open: (more = {}) =>
      openGround({
        cwd: root,
        privateDir,
        excluded: [],
        useGit: true,
        sessionId: '260208-143000',
        env: testEnv(),
        ...more,
      }),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** Trimmed stdout of a git command; throws with its stderr when it fails. */
export function gitIn(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd,
    env: testEnv(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}
