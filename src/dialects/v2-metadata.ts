/** Ralph-v2's metadata files: mirrors of the journal, so they are only written. */
import { stringify } from 'yaml';
import type { Phase } from '../core/index.ts';
import { utc } from './summary.ts';

/** Seed 1's session status words. */
export type SessionStatus =
  | 'in_progress'
  | 'paused'
  | 'awaiting_approval'
  | 'awaiting_feedback'
  | 'blocked'
  | 'completed'
  | 'aborted';

/** What the session's `metadata.yaml` tells. Times are epoch ms. */
export interface SessionMetadata {
  /** Grows with every rewrite. */
  version: number;
  sessionId: string;
  createdAt: number;
  updatedAt: number;
  cycle: number;
  phase: Phase;
  wave: number;
  tasks: { total: number; completed: number; failed: number; pending: number; cancelled: number };
  status: SessionStatus;
  /** One sentence: why the session stands where it stands; empty for none. */
  detail: string;
  /** IANA name or offset the session's times were given in. */
  timezone: string;
}

/** What `iterations/<N>/metadata.yaml` tells. Times are epoch ms, null is not yet. */
export interface CycleMetadata {
  version: number;
  cycle: number;
  startedAt: number;
  planningCompletedAt: number | null;
  completedAt: number | null;
  /** Planning marker name to done. */
  planningTasks: Record<string, boolean>;
  tasksDefined: number;
}

const MIRROR = '# Drawn from journal.jsonl; edits are redrawn. To change the session use `ralph`.\n';

/** The text of the session's `metadata.yaml`. */
export function writeSessionMetadata(facts: SessionMetadata): string {
  return yaml({
    version: facts.version,
    session_id: facts.sessionId,
    created_at: utc(facts.createdAt),
    updated_at: utc(facts.updatedAt),
    iteration: facts.cycle,
    orchestrator: { state: facts.phase, current_wave: facts.wave },
    tasks: facts.tasks,
    status: facts.status,
    status_detail: facts.detail,
    timezone: facts.timezone,
  });
}

/** The text of a cycle's `metadata.yaml`. */
export function writeCycleMetadata(facts: CycleMetadata): string {
  return yaml({
    version: facts.version,
    iteration: facts.cycle,
    started_at: utc(facts.startedAt),
    planning_complete: facts.planningCompletedAt !== null,
    planning_completed_at: utcOrNull(facts.planningCompletedAt),
    completed_at: utcOrNull(facts.completedAt),
    planning_tasks: facts.planningTasks,
    tasks_defined: facts.tasksDefined,
  });
}

function utcOrNull(at: number | null): string | null {
  return at === null ? null : utc(at);
}

function yaml(value: object): string {
  return MIRROR + stringify(value, { lineWidth: 0 });
}
