/** The work tree as the engine's `Ground`: what stands there, what changed, and commits. */
import { basename } from 'node:path';
import type { Mark } from '../core/index.ts';
import type { Ground } from '../engine/index.ts';
import { findProgram } from '../process/index.ts';
import { commitPaths, type GitPlace, withdraw } from './commit.ts';
import { committedBlobs, currentBlobs, lstatOrNull, readBlob } from './content.ts';
import { noGit } from './git.ts';
import { readHead, unfinishedOperation } from './head.ts';
import {
  commitPlaces,
  commitSaying,
  commitsBetween,
  isAncestor,
  isHeldBy,
  keepCommit,
  missingCommits,
  recentHistory,
  stagedPaths,
} from './history.ts';
import { innerRepositories } from './inner.ts';
import { openMemory, type Subjects, withCommit } from './memory.ts';
import { mergeInto } from './merge.ts';
import { isExcluded, makePlace, type Place } from './place.ts';
import { findProject } from './project.ts';
import { restore } from './restore.ts';
import { readRules, restoreRules, tipsIn } from './rules.ts';
import { takeTree, treeChanges, type Warmth, warmIndex } from './snapshots.ts';
import { texts } from './texts.ts';
import { whereabouts } from './whereabouts.ts';

export interface GroundOptions {
  cwd: string;
  /** A folder of this session alone; objects and the warm index live in `<privateDir>/git`. */
  privateDir: string;
  /** The private folder of a ground of the same session whose objects this one shares. Default: its own. */
  objectsOf?: string;
  /** Paths relative to the ground's root, literal, that snapshots leave out; a folder with all below it. */
  excluded: string[];
  /** False: work as if there were no repository. */
  useGit: boolean;
  /** The session this ground serves. */
  sessionId: string;
  /** Default: the process's. */
  env?: Record<string, string | undefined>;
  /** How long a commit waits for another git's index.lock. Default 30 s. */
  lockWaitMs?: number;
  /** How long a commit with its hooks may take. Default 10 minutes. */
  commitTimeoutMs?: number;
}

/** A Ground as it is opened: with what stands uncommitted, and what snapshots had to skip. */
export type RepoGround = Ground & {
  /** What it was opened with. */
  readonly options: GroundOptions;
  /** What snapshots left out and why, e.g. unreadable files and empty nested repositories. */
  notes(): string[];
  /**
   * The content that stands there, and the paths that are not as HEAD has them, without what snapshots leave
   * out and what the user told git to overlook; in the order of their names. Without git: none.
   */
  standing(): Promise<{ mark: Mark; dirty: Dirty[] }>;
};

/** A path that is not as HEAD has it. */
export interface Dirty {
  path: string;
  /** Blob id of what stands there, null: nothing; absent where only the index differs from HEAD. */
  now?: string | null;
}

/** Opens the ground around `cwd`. A missing folder or git is a Problem. */
export async function openGround(options: GroundOptions): Promise<RepoGround> {
  const found = await findProject(options.cwd);
  const project = options.useGit ? found : { root: found.cwd, cwd: found.cwd, gitDir: null, commonDir: null };
  const place = await makePlace({
    project,
    privateDir: options.privateDir,
    excluded: options.excluded,
    objectsOf: options.objectsOf ?? options.privateDir,
    env: options.env ?? process.env,
    lockWaitMs: options.lockWaitMs ?? 30_000,
    commitTimeoutMs: options.commitTimeoutMs ?? 10 * 60_000,
  });
  if (findProgram('git', place.userEnv) === null) throw noGit();
  return groundAt(place, options);
}

/** Subjects that are read along with HEAD's tree; a prompt quotes as many. */
const RECENT = 10;

function groundAt(place: Place, options: GroundOptions): RepoGround {
  const inGit = inRepository(place) ? place : null;
  const alone = oneAtATime();
  const memory = openMemory(place);
  let subjects: Subjects | null = null;
  let excludedInHead: { head: string | null; paths: Set<string> } | null = null;
  let warmth: Warmth = { stamp: '', tracked: '', entries: null, hidden: [], staged: null };
  let lastTree: string | null = null;
  const warm = async () => {
    warmth = await warmIndex(place, warmth);
  };
  const head = async () => (inGit === null ? { head: null, branch: null } : readHead(inGit, place.userEnv));
  const current = (paths: string[]) =>
    alone(async () => {
      await warm();
      return currentBlobs(place, paths, memory.recognise);
    });
  const snapshot = () =>
    alone(async (): Promise<Mark> => {
      await warm();
      lastTree = await takeTree(place, lastTree);
      return { ...(await head()), tree: lastTree };
    });
  return {
    options,
    id: nameOf(place),
    root: place.root,
    cwd: place.cwd,
    hasGit: inGit !== null,
    notes: () => [...place.notes],
    head,
    operation: async () => (inGit === null ? null : unfinishedOperation(inGit.gitDir)),
    rules: async () => readRules(place),
    restoreRules: (before, until) => alone(async () => restoreRules(place, before, until)),
    snapshot,
    async changes(before, after) {
      const changes = await treeChanges(place, before, after);
      memory.learn(changes);
      return changes;
    },
    current,
    whereabouts: (paths) => whereabouts(place, paths),
    inner: () => alone(() => innerRepositories(place)),
    texts: (paths) => texts(place, paths),
    uncommitted: async (paths) => {
      // Without git nothing is ever committed.
      if (inGit === null) return [...paths];
      const committed = await committedBlobs(place, (await head()).head, paths);
      const now = await current(paths);
      return paths.filter((path) => (now.get(path) ?? null) !== (committed.get(path) ?? null));
    },
    committed: (commit, paths) => committedBlobs(place, commit, paths),
    read: (blob) => readBlob(place, blob),
    writtenAfter: async (paths, at) => {
      const stats = paths.map((path) => lstatOrNull(place.root, path));
      return paths.filter((_, index) => (stats[index]?.mtimeMs ?? 0) > at);
    },
    withdraw: () => alone(async () => (inGit === null ? undefined : withdraw(inGit))),
    apply: (changes) =>
      alone(async () => {
        await warm();
        const left = await restore(place, changes);
        memory.learn(changes);
        return left;
      }),
    merge: (changes) =>
      alone(async () => {
        await warm();
        return mergeInto(place, changes);
      }),
    commit: (request) =>
      alone(async () => {
        if (inGit === null) return { kind: 'nothing' as const };
        await warm();
        const from = await head();
        const result = await commitPaths(inGit, request);
        const known = result.kind === 'committed' && !result.hooked && subjects?.head === from.head;
        subjects = known ? withCommit(subjects!, result.commit, request.message) : null;
        return result;
      }),
    tracked: async (paths) => {
      const at = (await head()).head;
      if (excludedInHead?.head === at && paths.every((path) => isExcluded(place, path))) {
        const { paths: known } = excludedInHead;
        return paths.filter((path) => known.has(path));
      }
      const committed = await committedBlobs(place, at, paths);
      return paths.filter((path) => committed.has(path));
    },
    commitsBetween: async (from, to) => (inGit === null ? [] : commitsBetween(inGit, from, to)),
    commitPlaces: async (ids, since) => (inGit === null ? new Map() : commitPlaces(inGit, ids, since)),
    isAncestor: async (ancestor, of) => (inGit === null ? ancestor === of : isAncestor(inGit, ancestor, of)),
    wasHeld: async (rules, commit) => {
      const tips = inGit === null ? null : tipsIn(place, rules);
      return inGit === null || tips === null || isHeldBy(inGit, commit, tips);
    },
    missing: async (commits) => (inGit === null ? [] : missingCommits(inGit, commits)),
    keep: async (commit, session, n) => {
      if (inGit !== null) await keepCommit(inGit, commit, `refs/ralph/${session}/${n}`);
    },
    commitSaying: async (from, lines) => (inGit === null ? null : commitSaying(inGit, from, lines)),
    standing: async () => {
      if (inGit === null) return { mark: await snapshot(), dirty: [] };
      const from = await head();
      const { tree: committed, subjects: lines } = await recentHistory(inGit, RECENT);
      subjects = { head: from.head, count: RECENT, lines };
      // So that the comparison comes along with the snapshot.
      lastTree = committed;
      const mark = await snapshot();
      const changed = await treeChanges(place, committed, mark.tree);
      // Snapshots lack what is excluded, so the difference names those of HEAD.
      const theirs = changed.filter(({ path, before }) => before !== null && isExcluded(place, path));
      excludedInHead = { head: from.head, paths: new Set(theirs.map(({ path }) => path)) };
      const staged = warmth.staged === committed ? [] : await stagedPaths(inGit, committed);
      const found = new Map<string, Dirty>(staged.map((path) => [path, { path }]));
      for (const { path, after } of changed) found.set(path, { path, now: after });
      const hidden = new Set(warmth.hidden);
      const dirty = [...found.values()].filter(({ path }) => !isExcluded(place, path) && !hidden.has(path));
      return { mark, dirty: dirty.sort((a, b) => (a.path < b.path ? -1 : 1)) };
    },
    async recentCommits(count) {
      if (inGit === null) return [];
      const at = (await head()).head;
      if (subjects === null || subjects.head !== at || subjects.count < count) {
        subjects = { head: at, count, lines: (await recentHistory(inGit, count)).subjects };
      }
      return subjects.lines.slice(0, count);
    },
  };
}

function inRepository(place: Place): place is GitPlace {
  return place.gitDir !== null && place.commonDir !== null;
}

function nameOf(place: Place): string {
  if (place.gitDir === null) return 'folder';
  return place.gitDir === place.commonDir ? 'main' : `worktree:${basename(place.gitDir)}`;
}

/** Two calls must not share the private index; the second waits for the first, failed or not. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    // The caller gets the failure; here it must not count as unhandled.
    last = mine.catch(() => {});
    return mine;
  };
}
