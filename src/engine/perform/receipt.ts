/** Gathers what the claims of an attempt are held against, and holds them against it. */
import { relative } from 'node:path';
import {
  type AttemptState,
  type Change,
  type CommitPlace,
  commitsToLookFor,
  type GateResult,
  type Known,
  linesInDoubt,
  linesToCount,
  MODES,
  makeReceipt,
  type Receipt,
  type TaskState,
  toLookFor,
  withLines,
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
  const known: Omit<Known, 'present' | 'otherCommits'> = {
    footing: { root: ground.root, cwd: relative(ground.root, ground.cwd) },
    owesCode: MODES[attempt.item.mode].owes === 'code',
    claim,
    toolFiles: report.toolFiles,
    commands: report.commands,
    toolLog: report.toolCalls !== null && report.ending === 'ended' && report.commands.length < MAX_LOGGED,
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
  const ids = commitsToLookFor(known);
  const otherCommits: ReadonlyMap<string, CommitPlace> =
    ids.length === 0 ? new Map() : await ground.commitPlaces(ids, firstHead(house, { attempt, task }));
  const paths = toLookFor({ ...known, otherCommits });
  const present = paths.length === 0 ? new Map() : await ground.whereabouts(paths);
  const receipt = makeReceipt({ ...known, otherCommits, present });
  return receipt && linesChecked(house, receipt, own);
}

/** The commit that stood before the first attempt of the task. */
function firstHead({ state }: House, { attempt, task }: Pick<Claimed, 'attempt' | 'task'>): string | null {
  const first = state.attempts.get(task?.attempts[0] ?? attempt.iteration) ?? attempt;
  return first.before.head;
}

/** An agent’s stream notes so many commands at the least; with more, some may be missing. */
const MAX_LOGGED = 100;
/** How many former contents are counted for ranges that do not fit; each costs a call of git. */
const MAX_FORMER = 5;

async function linesChecked({ ground }: House, receipt: Receipt, own: readonly Change[]): Promise<Receipt> {
  const paths = linesToCount(receipt);
  if (paths.length === 0) return receipt;
  const now = new Map<string, number>();
  for (const [path, { text }] of await ground.texts(paths)) if (text !== null) now.set(path, linesOf(text));
  const former = new Map<string, number>();
  for (const path of linesInDoubt(receipt, now).slice(0, MAX_FORMER)) {
    const before = own.find((change) => change.path === path)?.before ?? null;
    if (before === null) continue;
    // Too large to be read, or gone: nobody knows what it had.
    const content = await ground.read(before).catch(() => null);
    former.set(path, content === null ? Number.POSITIVE_INFINITY : linesOf(decoded(content)));
  }
  return withLines(receipt, [now, former]);
}

const decoded = (content: Uint8Array): string => Buffer.from(content).toString('utf8');

/** A last line without its end counts. */
function linesOf(text: string): number {
  return text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0);
}

async function beforeReview(house: House, task: TaskState | null): Promise<string[]> {
  if (task === null || task.sinceReview === 0) return [];
  return (await ownChanges(house, task, 0)).map(({ path }) => path);
}
