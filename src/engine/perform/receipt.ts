/** Gathers what the claims of an attempt are held against, and holds them against it. */
import { relative } from 'node:path';
import {
  type AttemptState,
  type Change,
  type GateResult,
  type Known,
  MODES,
  makeReceipt,
  type Receipt,
  type TaskState,
  toLookFor,
} from '../../core/index.ts';
import { isBookkeeping, ownChanges } from '../changes.ts';
import type { House } from '../house.ts';
import { matchesAny } from '../match.ts';

export interface Claimed {
  attempt: AttemptState;
  task: TaskState | null;
  /** The net change of the task's own attempts since its last review. */
  own: readonly Change[];
  gates: readonly { run: string; result: GateResult }[];
}

/** The receipt of one ended attempt; null when nothing was claimed. */
export async function receiptOf(
  house: House,
  { attempt, task, own, gates }: Claimed,
): Promise<Receipt | null> {
  const { claim, report } = attempt;
  if (claim === null || report === null || report.ending === 'died') return null;
  if (!claim.told && claim.files.length === 0 && claim.result === null && report.toolFiles.length === 0)
    return null;
  const { ground, state } = house;
  const known: Omit<Known, 'present'> = {
    footing: { root: ground.root, cwd: relative(ground.root, ground.cwd) },
    owesCode: MODES[attempt.item.mode].owes === 'code',
    claim,
    toolFiles: report.toolFiles,
    commands: report.commands,
    changes: own,
    earlier: new Set(await beforeReview(house, task)),
    dirty: state.dirty,
    undone: new Set(attempt.trespass.map(({ path }) => path)),
    isBookkeeping: (path) => isBookkeeping(house, path),
    matches: (pattern, path) => matchesAny([pattern], path),
    gates,
    commits: (task?.attempts ?? [attempt.iteration]).flatMap((n) => state.attempts.get(n)?.commits ?? []),
    acceptance: task?.def.acceptance ?? [],
    needsNoChange: task?.def.changes === 'none',
  };
  const paths = toLookFor(known);
  const present = paths.length === 0 ? new Map() : await ground.whereabouts(paths);
  return makeReceipt({ ...known, present });
}

async function beforeReview(house: House, task: TaskState | null): Promise<string[]> {
  if (task === null || task.sinceReview === 0) return [];
  return (await ownChanges(house, task, 0)).map(({ path }) => path);
}
