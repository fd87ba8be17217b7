/** How branches stand: what of each has not reached the branch it is for, and what its upstream has not got. */
import { type Beside, treeGit } from './tree.ts';

export interface BranchStanding {
  /** Its commit. */
  tip: string;
  /** Commits that the branch it is for has not; null: it is for none, or git cannot tell. */
  unmerged: number | null;
  /** Commits that its upstream has not; null: it has none. */
  unpushed: number | null;
}

/**
 * One git process for all, and one more for each branch that they are for; full names. `onto` null: it is for none.
 * Branches that are not there are missing in the answer.
 */
export async function branchStandings(
  beside: Beside,
  branches: readonly { ref: string; onto: string | null }[],
): Promise<Map<string, BranchStanding>> {
  const found = new Map<string, BranchStanding>();
  if (branches.length === 0) return found;
  const format = '--format=%(objectname)%00%(refname)%00%(upstream)%00%(upstream:track,nobracket)';
  const refs = branches.map(({ ref }) => ref);
  const { stdout } = await treeGit(beside, beside.root, ['for-each-ref', format, ...refs]);
  for (const line of stdout.toString('utf8').split('\n').filter(Boolean)) {
    const [tip = '', ref = '', upstream = '', track = ''] = line.split('\0');
    // A pattern also names what lies below it.
    if (!refs.includes(ref)) continue;
    const ahead = /ahead (\d+)/.exec(track)?.[1];
    const isKnown = upstream !== '' && track !== 'gone';
    found.set(ref, { tip, unmerged: null, unpushed: isKnown ? Number(ahead ?? 0) : null });
  }
  for (const onto of new Set(branches.map((branch) => branch.onto))) {
    if (onto === null) continue;
    const theirs = branches.flatMap(({ ref, onto: to }) => (to === onto ? (found.get(ref) ?? []) : []));
    await countUnmerged(beside, onto, theirs);
  }
  return found;
}

async function countUnmerged(beside: Beside, onto: string, branches: BranchStanding[]): Promise<void> {
  if (branches.length === 0) return;
  const tips = new Set(branches.map(({ tip }) => tip));
  const args = ['rev-list', '--parents', ...tips, `^${onto}`, '--'];
  const listed = await treeGit(beside, beside.root, args);
  if (listed.code !== 0) return;
  const parents = new Map(
    listed.stdout
      .toString('latin1')
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [commit = '', ...of] = line.split(' ');
        return [commit, of] as const;
      }),
  );
  for (const branch of branches) branch.unmerged = reachable(parents, branch.tip);
}

/** How many of these commits a tip's history holds. */
function reachable(parents: ReadonlyMap<string, readonly string[]>, tip: string): number {
  const seen = new Set<string>();
  const open = [tip];
  for (let commit = open.pop(); commit !== undefined; commit = open.pop()) {
    if (seen.has(commit) || !parents.has(commit)) continue;
    seen.add(commit);
    open.push(...parents.get(commit)!);
  }
  return seen.size;
}
