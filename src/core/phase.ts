/**
 * The phases of a session, the modes that wake each one, and where it leads. A phase with no hired
 * mode is walked through, so every team runs the same machine.
 */
import type { Mode } from './role.ts';

export const PHASE_NAMES = [
  'INITIALIZING',
  'PLANNING',
  'BATCHING',
  'EXECUTING_BATCH',
  'REVIEWING_BATCH',
  'SESSION_REVIEW',
  'KNOWLEDGE_EXTRACTION',
  'KNOWLEDGE_APPROVAL',
  'COMPLETE',
  'REPLANNING',
] as const;
export type Phase = (typeof PHASE_NAMES)[number];

export interface PhaseRow {
  /** Modes that do the phase's work; none hired: the phase is walked through. */
  modes: readonly Mode[];
  /** The phase that follows when its work is done. */
  next: Phase;
  /** Entering or leaving it does not count as a change of phase for the stuck counter. */
  inner: boolean;
}

export const PHASES: Record<Phase, PhaseRow> = {
  INITIALIZING: { modes: ['INITIALIZE'], next: 'PLANNING', inner: false },
  PLANNING: { modes: ['brainstorm', 'research', 'TASK_BREAKDOWN'], next: 'BATCHING', inner: false },
  BATCHING: { modes: ['implement'], next: 'EXECUTING_BATCH', inner: true },
  EXECUTING_BATCH: {
    modes: ['implement', 'review-fix', 'TIMEOUT_FAIL'],
    next: 'REVIEWING_BATCH',
    inner: true,
  },
  REVIEWING_BATCH: { modes: ['TASK_REVIEW'], next: 'BATCHING', inner: true },
  SESSION_REVIEW: { modes: ['SESSION_REVIEW'], next: 'KNOWLEDGE_EXTRACTION', inner: false },
  KNOWLEDGE_EXTRACTION: { modes: ['STAGE'], next: 'KNOWLEDGE_APPROVAL', inner: false },
  KNOWLEDGE_APPROVAL: { modes: ['PROMOTE'], next: 'COMPLETE', inner: false },
  COMPLETE: { modes: [], next: 'COMPLETE', inner: false },
  REPLANNING: {
    modes: ['feedback-analysis', 'research', 'UPDATE', 'REBREAKDOWN'],
    next: 'BATCHING',
    inner: false,
  },
};
