/** Sessions, one line each. */
import { type CostSource, costSource, type State } from '../core/index.ts';
import type { LiveInfo } from './next.ts';
import { type StatusDetail, statusDetail, tasksSummary } from './status.ts';
import { count, iso, oneLine, price } from './words.ts';

export interface SessionJson {
  session_id: string;
  objective: string;
  status_detail: StatusDetail;
  phase: string;
  /** A runner holds it now. */
  running: boolean;
  tasks: { done: number; total: number };
  iterations: number;
  open_questions: number;
  /** null: no agent reported a price. */
  cost_usd: number | null;
  /** `estimated`: part of it is tokens by the price table; `subscription`: all of it is paid by one; null: no price is known. */
  cost_source: CostSource;
  created_at: string | null;
  last_at: string | null;
  exit: { code: number; word: string; reason: string } | null;
}

export function sessionJson(state: State, live: LiveInfo): SessionJson {
  const { completed, total } = tasksSummary(state);
  return {
    session_id: state.session?.id ?? '',
    objective: state.session?.objective ?? '',
    status_detail: statusDetail(state),
    phase: state.phase,
    running: live.runner !== null,
    tasks: { done: completed, total },
    iterations: state.attempts.size,
    open_questions: state.openQuestions.size,
    cost_usd: state.costUsd,
    cost_source: costSource(state),
    created_at: state.session && iso(state.session.createdAt),
    last_at: state.seq === 0 ? null : iso(state.lastAt),
    exit: state.run?.stopped ?? null,
  };
}

export function sessionsText(sessions: readonly SessionJson[]): string {
  if (sessions.length === 0) return 'There is no session here; `ralph run` starts one.';
  return sessions
    .map((session) => {
      const { tasks, exit, running } = session;
      const word = running ? 'running' : session.status_detail.replace('_', ' ');
      // Aborted when no run was alive: how the last one ended before that says nothing.
      const stands = exit && !running && (exit.code === 9 || session.status_detail !== 'aborted');
      const left = stands ? ` · exit ${exit.code} ${exit.word}` : '';
      const asks = session.open_questions > 0 ? ` · ${session.open_questions} open` : '';
      return `${session.session_id} · ${word} · ${tasks.done} of ${count(tasks.total, 'task')} · ${count(session.iterations, 'iteration')} · ${price(session.cost_usd, session.cost_source)}${asks}${left} · ${oneLine(session.objective, 80) || 'task list'}`;
    })
    .join('\n');
}
