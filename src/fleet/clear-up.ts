/**
 * Landings that were killed, cleared up before the next one: what their git left half done in the main checkout, and in
 * the work tree of the loop that is to land now. What the registry was told before each step says what it can be.
 */
import type { Integration } from '../repo/index.ts';
import { readLoops } from '../store/index.ts';
import { type LandRequest, reflog } from './landing.ts';
import { quietTree } from './turn.ts';

/** null: nothing is left; else what is in the way. Nobody lands meanwhile. */
export async function clearUp(request: LandRequest, git: Integration): Promise<string | null> {
  for (const { id, branch, onto, worktree, candidate, landing } of readLoops(request.mainDir)) {
    if (candidate !== null && id === request.loop) {
      const left = { ref: branch, to: candidate.to, since: candidate.at, why: mergedForGates(id) };
      const held = await git.mend(worktree, left);
      if (held !== null) return held;
    }
    if (landing === null) continue;
    for (const { root } of git.checkouts(onto)) {
      const hold = await quietTree(request, root);
      if (hold?.kind === 'not_now') return hold.why;
      try {
        const held = await git.mend(root, { ref: onto, to: landing.to, since: landing.at, why: reflog(id) });
        if (held !== null) return held;
      } finally {
        await hold?.release();
      }
    }
  }
  return null;
}

/** What the reflog of the loop's own branch says of a merge that its gates look at. */
export const mergedForGates = (loop: string): string => `ralph: loop ${loop} merged for its gates`;
