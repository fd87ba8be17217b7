/**
 * Whether an attempt threw a person's uncommitted work away: it deleted the file, set it back to the last
 * commit, or wrote it anew without the lines that the person had added.
 */
import type { Change } from '../core/index.ts';
import type { House } from './house.ts';

/** More changed paths of a person than this are only looked at whole. */
const READ_MOST = 50;

/** Those of the changes that undid what stood uncommitted in a person's path; `head`: before the attempt. */
export async function undone(house: House, head: string | null, changes: Change[]): Promise<Change[]> {
  const theirs = changes.filter((change) => house.state.dirty.has(change.path) && change.before !== null);
  if (theirs.length === 0) return [];
  const still = new Set(await house.ground.uncommitted(theirs.map((change) => change.path)));
  const gone = (change: Change) => change.after === null || !still.has(change.path);
  const lost = theirs.filter(gone);
  const edited = theirs.filter((change) => !gone(change));
  if (edited.length === 0 || edited.length > READ_MOST) return lost;
  const committed = await house.ground.committed(
    head,
    edited.map((change) => change.path),
  );
  for (const change of edited) {
    if (await lacksLines(house, change, committed.get(change.path) ?? null)) lost.push(change);
  }
  return lost;
}

async function lacksLines(house: House, { before, after }: Change, committed: string | null) {
  const [base, theirs, now] = await Promise.all([committed, before, after].map((blob) => lines(house, blob)));
  if (!base || !theirs || !now) return false;
  const added = [...theirs].filter((line) => !base.has(line));
  if (added.length > 0) return added.some((line) => !now.has(line));
  // They had only taken lines away: all of those are back.
  const removed = [...base].filter((line) => !theirs.has(line));
  return removed.length > 0 && removed.every((line) => now.has(line));
}

/** The lines of a text without their indentation; null where it is none or cannot be read. */
async function lines(house: House, blob: string | null): Promise<Set<string> | null> {
  if (blob === null) return new Set();
  const bytes = await house.ground.read(blob);
  if (bytes === null || bytes.includes(0)) return null;
  const text = Buffer.from(bytes).toString('utf8');
  return new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  );
}
