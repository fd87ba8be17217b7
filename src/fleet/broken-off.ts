/**
 * Landings that were killed while git entered their files: what lies half entered in a checkout now. It is only looked
 * at here; the next landing clears it up (`clear-up.ts`).
 */

import { type Integration, openIntegration } from '../repo/index.ts';
import { readLoops } from '../store/index.ts';
import { isLandingNow } from './turn.ts';

export interface BrokenOff {
  loop: string;
  /** The root of the work tree. */
  checkout: string;
  /** Paths of the landing that lie there and that HEAD does not hold so; none where git left no more than its lock. */
  files: string[];
}

interface Where {
  mainDir: string;
  commonDir: string;
  env: NodeJS.ProcessEnv;
}

/** No process where no landing was broken off. */
export async function brokenOff({ mainDir, commonDir, env }: Where): Promise<BrokenOff[]> {
  const loops = readLoops(mainDir).filter(({ landing, candidate }) => landing !== null || candidate !== null);
  if (loops.length === 0 || (await isLandingNow(mainDir, loops))) return [];
  const git = openIntegration({ commonDir, cwd: mainDir, env });
  const found: BrokenOff[] = [];
  for (const { id, branch, onto, worktree, candidate, landing } of loops) {
    const places = [
      ...(candidate === null ? [] : [{ ref: branch, checkout: worktree, ...candidate }]),
      ...(landing === null
        ? []
        : git.checkouts(onto).map(({ root }) => ({ ref: onto, checkout: root, ...landing }))),
    ];
    for (const place of places) {
      const files = await halfEntered(git, place);
      if (files !== null) found.push({ loop: id, checkout: place.checkout, files });
    }
  }
  return found;
}

/** null: nothing is left there. */
async function halfEntered(
  git: Integration,
  { ref, checkout, to, at }: { ref: string; checkout: string; to: string; at: number },
): Promise<string[] | null> {
  const head = await git.tip(ref);
  // Git moves the branch last; one that has it, or that went elsewhere since, holds nothing half.
  if (head === null || head === to || !(await git.isAncestor(head, to))) return null;
  const entering = new Set((await git.differing(head, to)).map(({ path }) => path));
  const files = ((await git.standing(checkout))?.dirty ?? []).filter((path) => entering.has(path));
  return files.length > 0 || git.isLocked(checkout, at) ? files : null;
}
