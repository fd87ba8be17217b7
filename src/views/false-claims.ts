/**
 * Tasks that are done although something their agent claimed is not so. A false claim beside real work rejects
 * nothing, but somebody who trusts the report should know of it when the run is over.
 */
import type { State } from '../core/index.ts';
import { oneLine, some } from './words.ts';

export interface FalseClaimJson {
  task_id: string;
  /** The attempt that was accepted. */
  iteration: number;
  /** What was claimed, and why it is not so. */
  detail: string;
}

/** Every done task whose accepted attempt claimed what is not so, in the list's order. */
export function falseClaims(state: State): FalseClaimJson[] {
  return [...state.tasks.values()].flatMap(({ def, status, attempts }) => {
    if (status !== 'done') return [];
    const last = attempts.findLast((n) => state.attempts.get(n)?.verdict?.value === 'accepted');
    const found = state.attempts
      .get(last ?? 0)
      ?.verdict?.findings.find(({ kind }) => kind === 'evidence_validation_failed');
    return found === undefined ? [] : [{ task_id: def.id, iteration: last!, detail: found.detail }];
  });
}

const MOST_SHOWN = 3;

/** `ralph`: a command as it means the session. Lines for a summary, the first few tasks in full; none where every claim held. */
export function falseClaimLines(
  claims: readonly FalseClaimJson[],
  ralph: (command: string) => string,
): string[] {
  if (claims.length === 0) return [];
  const shown = claims
    .slice(0, MOST_SHOWN)
    .flatMap(({ task_id, iteration, detail }) => [
      `  ${oneLine(task_id, 60)} (iteration ${iteration}): ${oneLine(detail, 240)}`,
      `    ${ralph(`ralph why ${oneLine(task_id, 60)}`)}`,
    ]);
  const rest = claims.slice(MOST_SHOWN).map(({ task_id }) => task_id);
  return [
    'Accepted on the change itself, though not all that was claimed is so:',
    ...shown,
    ...(rest.length === 0 ? [] : [`  and of ${some(rest, 20)}`]),
  ];
}
