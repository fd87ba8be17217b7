/** What the engine is to do next, as data; and what each exit code means. */
import type { Fact } from './event.ts';
import type { Item } from './role.ts';

export type Step =
  /** Attempts that a crash left open: end their processes, keep their work. */
  | { do: 'recover'; iterations: number[] }
  | { do: 'abort' }
  | { do: 'judge'; iteration: number }
  | { do: 'land'; task: string }
  /** The work of the loop as a whole goes to the branch it is for. */
  | { do: 'bring_in' }
  /** Set this task's uncommitted work aside, so that another can be worked on. */
  | { do: 'set_aside'; task: string }
  | { do: 'take_up'; task: string }
  /** Open a wave with these items. */
  | { do: 'open'; wave: number; items: { iteration: number; item: Item }[] }
  /** Start the open wave's waiting items and see their agents through. */
  | { do: 'run'; iterations: number[] }
  | { do: 'close' }
  | { do: 'expire'; question: string }
  /** Facts that follow from the state alone. */
  | { do: 'record'; facts: Fact[] }
  | { do: 'wait'; until: number | null; for: 'answer' | 'resume' | 'backoff' | 'provider' | 'host' }
  | { do: 'stop'; code: number; word: string; reason: string };

/** Every exit code with the word that is printed and written to the journal. */
export const EXITS: Record<number, { word: string; meaning: string }> = {
  0: { word: 'COMPLETE', meaning: 'every task is done and landed' },
  1: { word: 'LIMIT', meaning: 'a limit was reached: iterations, time, money or tokens' },
  2: { word: 'BLOCKED', meaning: 'a person has to remove a blocker' },
  3: { word: 'DECIDE', meaning: 'a person has to decide' },
  4: { word: 'STUCK', meaning: 'no progress, or no task can go on' },
  5: { word: 'PROBLEM', meaning: 'usage, configuration, preflight or lock' },
  6: { word: 'AGENT_FAILURE', meaning: 'the agent or its provider failed' },
  7: { word: 'STOPPED', meaning: 'paused or stopped by a person' },
  8: { word: 'AWAITING', meaning: 'approval, feedback or a landing is awaited' },
  9: { word: 'ABORTED', meaning: 'aborted by a person' },
  70: { word: 'BUG', meaning: 'a defect of the product, or the disk refused to write' },
  130: { word: 'INTERRUPTED', meaning: 'SIGINT' },
  143: { word: 'TERMINATED', meaning: 'SIGTERM, or its terminal was closed' },
};

/** Stands in the reason of an exit before what a person has to do. */
export const TO_DO = 'What to do: ';

export interface Exit {
  code: number;
  word: string;
  reason: string;
}

/** The exit with this code and its word. */
export function exitOf(code: number, reason: string): Exit {
  return { code, word: EXITS[code]?.word ?? 'BUG', reason };
}

export function stop(code: number, reason: string): Step {
  return { do: 'stop', ...exitOf(code, reason) };
}
