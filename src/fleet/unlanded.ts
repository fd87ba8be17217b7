/** What is done and has not reached everybody: loops whose commits their integration branch lacks, and what no remote has. */
import type { Integration } from '../repo/index.ts';
import type { Loop } from '../store/index.ts';
import { shortName } from './landing.ts';

export interface Unlanded {
  loops: { loop: string; branch: string; onto: string }[];
  /** Of the branch that the run worked for, against its upstream; null: it has none, or all of it is there. */
  unpushed: { branch: string; upstream: string; commits: number } | null;
  /** Submodules of that branch with commits that no remote of theirs has. */
  submodules: { path: string; commits: number }[];
}

/** One git process for each integration branch, one where the branch may have an upstream, and some for submodules. */
export async function unlanded(
  git: Integration,
  loops: readonly Loop[],
  branch: string | null,
): Promise<Unlanded> {
  const there = loops.filter(({ standing }) => standing !== 'removed' && standing !== 'discarded');
  const found: Unlanded['loops'] = [];
  for (const onto of new Set(there.map((loop) => loop.onto))) {
    const unmerged = new Set(await git.unmerged(onto, 'refs/heads/ralph/'));
    for (const loop of there)
      if (loop.onto === onto && unmerged.has(loop.branch))
        found.push({ loop: loop.id, branch: shortName(loop.branch), onto: shortName(onto) });
  }
  const ahead = branch === null ? null : await git.ahead(branch);
  return {
    loops: found,
    unpushed: ahead === null || branch === null ? null : { branch, ...ahead },
    submodules: branch === null ? [] : await git.unpushedLinks(branch),
  };
}
