/** The commit that is to land: the loop's own tip, or a merge of it; and the gates' word on it. */
import { shellWord } from '../core/index.ts';
import type { MergedTrees } from '../repo/index.ts';
import { tellLoop } from '../store/index.ts';
import { mergedForGates } from './clear-up.ts';
import { type Ends, type Landed, type Landing, parked, shortName } from './landing.ts';
import { apart, conflict, failed, interrupted, mergeOf, messageOf, objection } from './merge.ts';
import { settle } from './settle.ts';

type Conflict = Extract<MergedTrees, { kind: 'conflict' }>;

/** The commit id; a landing where there can be none, or where a gate objects. */
export async function candidateOf(landing: Landed, ends: Ends): Promise<string | Landing> {
  const { gates } = landing.request;
  const made = ends.isForward
    ? ends.tip
    : ((await madeBefore(landing, ends)) ?? (await merged(landing, ends)));
  if (typeof made !== 'string' && made.kind === 'conflict') {
    const { files, beyond } = made;
    if (files.length === 0) return apart(landing, beyond);
    return landing.request.settler === null ? conflict(landing, files) : settle(landing, ends, files);
  }
  if (typeof made !== 'string') return made;
  if (gates.required.length === 0 || gates.passedOn === made) return made;
  return (await gated(landing, made, ends)) ?? made;
}

/** A landing that was killed has made it already. */
async function madeBefore({ git, loop }: Landed, { base, tip }: Ends): Promise<string | null> {
  for (const told of [loop.landing, loop.candidate])
    if (told !== null && `${await git.parents(told.to)}` === `${base},${tip}`) return told.to;
  return null;
}

/**
 * Made from trees alone; an old git can only merge in a work tree, and the loop's own one is nobody else's. Or where
 * the two do not fit.
 */
async function merged(
  landing: Landed,
  { base, tip }: Pick<Ends, 'base' | 'tip'>,
): Promise<string | Conflict | Landing> {
  const { git, loop } = landing;
  const message = messageOf(landing);
  const trees = await git.mergeTrees(base, tip);
  const made = trees.kind === 'old_git' ? await git.mergeIn(loop.worktree, base, message) : trees;
  if (made.kind === 'conflict') return made;
  if (made.kind !== 'tree') return failed(landing, made.kind === 'failed' ? made.why : 'git is too old');
  if (trees.kind === 'old_git') return made.id;
  const commit = await mergeOf(landing, { base, tip }, { tree: made.id, root: loop.worktree });
  if ('kind' in commit) return commit;
  return 'commit' in commit ? commit.commit : failed(landing, commit.failed);
}

/**
 * Gates run in the loop's work tree, where its packages and caches are. A merge has the loop's tip as a parent, so
 * our own branch only goes forward to it.
 */
async function gated(landing: Landed, candidate: string, { tip }: Ends): Promise<Landing | null> {
  const { git, loop, again } = landing;
  if ((await git.standing(loop.worktree)) === null)
    return parked(
      `its work tree ${loop.worktree} is gone, and the gates run there`,
      `git worktree add ${shellWord(loop.worktree)} ${shortName(loop.branch)}. Then ${again}.`,
    );
  if (candidate !== tip && (await git.tip(loop.branch)) !== candidate) {
    await tellLoop(landing.request.mainDir, Date.now(), {
      type: 'loop.candidate',
      loop: loop.id,
      to: candidate,
    });
    const moved = await git.forward(loop.worktree, candidate, mergedForGates(loop.id));
    if (moved.kind === 'failed')
      return parked(`git could not check the merge out in ${loop.worktree}: ${moved.why}`, `Then ${again}.`);
  }
  const said = await objection(landing);
  if (said === null) return null;
  return said === 'interrupted'
    ? interrupted(again)
    : parked(said, `Repair it in ${loop.worktree}, commit, then ${again}.`);
}
