/**
 * The one way to wait for a human. A question is durable, says what it holds up, how long it waits
 * and what silence means; whoever answers first, from anywhere, has answered.
 */
import type { OnTimeout } from './policy.ts';

export type QuestionKind =
  | 'decision'
  | 'blocker'
  | 'approval'
  | 'clarification'
  | 'credential'
  | 'permission';

export interface Option {
  key: string;
  text: string;
}

export interface Question {
  id: string;
  kind: QuestionKind;
  /** Task id, or `session`. */
  about: string;
  text: string;
  options: Option[];
  default: string | null;
  hold: 'task' | 'session';
  /** Epoch ms; null has no deadline. */
  deadline: number | null;
  onTimeout: OnTimeout;
  askedBy: string;
  iteration: number | null;
  /** Epoch ms. */
  askedAt: number;
  /** Asked with `human.interact`, so silence may be assumed where nobody can be shown it. */
  interact?: true;
  /** An agent at work stands still for it: what exactly it wants to do. */
  permission?: { wanted: string };
}

/** Exit code and word of a kind that is still open when the run ends. */
export const QUESTION_EXIT: Record<QuestionKind, 2 | 3 | 8> = {
  blocker: 2,
  decision: 3,
  clarification: 3,
  credential: 3,
  permission: 3,
  approval: 8,
};
