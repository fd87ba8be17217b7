/**
 * What the project journal tells of a loop, and how it is read back. Anything may stand in that file by now: what
 * would name no work tree, branch or commit of ours is no news of a loop, and goes where damaged lines go.
 */
import { isAbsolute } from 'node:path';
import type { Runner } from '../core/index.ts';
import type { ProjectRecord } from './project.ts';

/** What happened to a loop, in the words of the project journal. */
export type LoopNews = { loop: string } & (
  | {
      type: 'loop.created';
      /** Our own branch, `refs/heads/ralph/<loop>`, and the branch its work is to land on. */
      branch: string;
      onto: string;
      /** The commit both begin at. */
      base: string;
      /** Absolute. */
      worktree: string;
    }
  | { type: 'loop.session'; session: string }
  /** Its work is done and waits for its turn to land; `by`: the process that waits and will land it. */
  | { type: 'loop.queued'; head: string; by?: Runner }
  /**
   * Told before an agent is hired for the conflict of `from` and `head`, and once more when it is known in which
   * session it works. `draft`: the merge with the conflict's marks in its files, which it begins with.
   */
  | {
      type: 'loop.hired';
      agent: string;
      from: string;
      head: string;
      draft: string;
      files: string[];
      session?: string;
    }
  /** What it made of the conflict has passed everything, and is the merge that lands. */
  | { type: 'loop.settled'; commit: string }
  /** A merge was made and is looked at in the loop's work tree; said before its files are entered there. */
  | { type: 'loop.candidate'; to: string }
  /** Said before the integration branch is moved, so that a crash in between is understood. */
  | { type: 'loop.landing'; from: string; to: string }
  /** `unfinished`: it has tasks that are open, and goes on. */
  | { type: 'loop.landed'; commit: string; unfinished?: true }
  /** A person must look: why, the files it is about, and how to go on. */
  | { type: 'loop.parked'; why: string; files: string[]; next?: string }
  /** A command of the user's took the branch over (`land: { command }`). */
  | { type: 'loop.handed_over'; head: string }
  | { type: 'loop.discarded'; keptAs: string | null }
  /** Its work tree and branch are gone; only said of what had landed or was discarded. */
  | { type: 'loop.removed' }
);

/** A record as the news it is; null for any other, and for one that was edited into something else. */
export function readNews(record: ProjectRecord): (LoopNews & { at: number }) | null {
  const shape = SHAPES[record.type as LoopNews['type']];
  if (shape === undefined || !isName(record.loop)) return null;
  if (!Object.entries(shape).every(([key, isWhole]) => isWhole(record[key]))) return null;
  if (record.type === 'loop.created' && record.branch !== `refs/heads/ralph/${record.loop}`) return null;
  return record as unknown as LoopNews & { at: number };
}

/** False for news of a loop that was edited into something else. */
export function isWholeNews(record: ProjectRecord): boolean {
  return !Object.hasOwn(SHAPES, record.type) || readNews(record) !== null;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '';
/** It is also a folder, and of a loop also a branch. */
const isName: Check = (value) => typeof value === 'string' && /^[A-Za-z0-9][\w.-]*$/.test(value);
const isBranch: Check = (value) => typeof value === 'string' && /^refs\/heads\/[^\s]+$/.test(value);
const isCommit: Check = (value) => typeof value === 'string' && /^[0-9a-f]{40,64}$/.test(value);
const isPath: Check = (value) => typeof value === 'string' && isAbsolute(value);
const isTexts: Check = (value) => Array.isArray(value) && value.every((one) => typeof one === 'string');
const isRunner: Check = (value) => {
  const { pid, startTime, host, boot } = (value ?? {}) as Partial<Runner>;
  return Number.isSafeInteger(pid) && [startTime, host, boot].every((one) => typeof one === 'string');
};
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const SHAPES: Record<LoopNews['type'], Record<string, Check>> = {
  'loop.created': { branch: isBranch, onto: isBranch, base: isCommit, worktree: isPath },
  'loop.session': { session: isName },
  'loop.queued': { head: isCommit, by: maybe(isRunner) },
  'loop.hired': {
    agent: isText,
    from: isCommit,
    head: isCommit,
    draft: isCommit,
    files: isTexts,
    session: maybe(isText),
  },
  'loop.settled': { commit: isCommit },
  'loop.candidate': { to: isCommit },
  'loop.landing': { from: isCommit, to: isCommit },
  'loop.landed': { commit: isCommit, unfinished: maybe((value) => value === true) },
  'loop.parked': { why: isText, files: isTexts, next: maybe((value) => typeof value === 'string') },
  'loop.handed_over': { head: isCommit },
  'loop.discarded': { keptAs: (value) => value === null || isText(value) },
  'loop.removed': {},
};
