/** What came of a loop's work: where it lies now, or why a person must look and how it goes on then. */
import type { LandedWork } from '../core/index.ts';
import type { Integration } from '../repo/index.ts';
import type { Loop } from '../store/index.ts';
import type { Astray } from './astray.ts';
import type { Waiting } from './turn.ts';

export interface LandRequest extends Waiting {
  commonDir: string;
  env: NodeJS.ProcessEnv;
  /** False: a person has it land before its tasks are done, and it goes on. */
  isDone: boolean;
  /** What the loop was to do; its first line stands in the message of a merge. */
  title: string;
  trailers: readonly string[];
  /** Uncommitted paths in the loop's work tree that are nobody's work, from its top; a folder with all below it. */
  overlook: readonly string[];
  gates: LandingGates;
  /** Who is hired for a conflict; null: nobody. */
  settler: Settler | null;
  /** Branches that attempts of the loop moved, or agents that were hired for this or another one, as their sessions tell it by now. */
  moved(): readonly Astray[];
  /** A person asks for this landing: who was hired in vain for this work may be hired again. */
  asked: boolean;
  /** The commit that its session saw last on its branch; null: none is known. */
  lastHead: string | null;
  /** What landed on its branch for tasks that count as done. */
  work: readonly LandedWork[];
}

/** The gates that must hold before anything lands. */
export interface LandingGates {
  /** Names, in their order. */
  required: readonly string[];
  /** The commit on which all of them have passed; null where that is not known. */
  passedOn: string | null;
  /** Runs one in the loop's work tree, or in another one; null: it passed, else what it said at its end. */
  run(name: string, tree?: string): Promise<string | null>;
}

/** Hires an agent for the conflict of a landing, as any other attempt, in a work tree of its own. */
export interface Settler {
  agent: string;
  /** What the loop was about: titles of its tasks. */
  intents: readonly string[];
  /** The command of each required gate, for the agent to try. */
  gates: readonly { name: string; run: string }[];
  /** True for a file that agents are given their orders by or judged by: what stands in it is a person's to settle. */
  isOrder(path: string): boolean;
  /** Why nobody may be hired now, as a sentence without its stop; null: somebody may. */
  barred: string | null;
  /** Sees it through to its end; one that was broken off goes on in its session. */
  work(job: SettlingJob): Promise<Settling>;
  /**
   * Ends what is left of it, and takes its work tree away. With `keep` all that it made, committed or not, stays; where:
   * a ref, or the work tree itself. null: there was nothing.
   */
  done(keep: boolean): Promise<string | null>;
}

export interface SettlingJob {
  /** The commit that is checked out for it. */
  draft: string;
  prompt: string;
  /** Where it was begun already; null: nowhere. */
  session: string | null;
  /** Told before the agent starts. */
  begun(session: string): Promise<void>;
}

export type Settling =
  /** Its work was accepted: where it lies, with what was uncommitted there before, and the commit that holds it. */
  | { kind: 'done'; tree: string; given: readonly string[]; head: string }
  /** `why`: the end of a sentence about the agent. */
  | { kind: 'failed'; why: string }
  | { kind: 'interrupted' };

/** One landing under way. */
export interface Landed {
  request: LandRequest;
  git: Integration;
  loop: Loop;
  /** Commits that its branch held before. */
  had: readonly string[];
  /** How a person has it land later: a command. */
  again: string;
}

/** What is put together. */
export interface Ends {
  base: string;
  tip: string;
  /** The integration branch lies in the tip's history. */
  isForward: boolean;
}

export type Landing =
  /** `commit` is the integration branch's that holds the work. */
  | { kind: 'landed'; commit: string; onto: string; merged: boolean }
  /** A person must look; nothing was moved and nothing is gone. */
  | { kind: 'parked'; why: string; files: string[]; next: string }
  /** `land: branch`: it is done, and stays where it is. */
  | { kind: 'on_branch' }
  /** `land: { command }`: a command of the user's took it over. */
  | { kind: 'handed_over' }
  /** Done and not landed: something is in the way that ends by itself. */
  | { kind: 'queued'; why: string; next: string };

/** `refs/heads/main` → `main`. */
export function shortName(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}

/** What the reflog of the integration branch says of it. */
export const reflog = (loop: string): string => `ralph: loop ${loop} landed`;

export function parked(why: string, next: string, files: readonly string[] = []): Landing {
  return { kind: 'parked', why, next, files: [...files] };
}
