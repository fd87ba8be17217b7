/** The commit that is to land: the loop's own tip, or a merge of it; and the gates' word on it. */
import { type Landed, type Landing, parked, shortName, some } from './landing.ts';

interface Ends {
  base: string;
  tip: string;
  /** The integration branch lies in the tip's history. */
  isForward: boolean;
}

/** The commit id; a landing where there can be none, or where a gate objects. */
export async function candidateOf(landing: Landed, ends: Ends): Promise<string | Landing> {
  const { gates } = landing.request;
  const candidate = ends.isForward ? ends.tip : await merged(landing, ends);
  if (typeof candidate !== 'string') return candidate;
  if (gates.required.length === 0 || gates.passedOn === candidate) return candidate;
  return (await gated(landing, candidate, ends)) ?? candidate;
}

/** Made from trees alone; an old git can only merge in a work tree, and the loop's own one is nobody else's. */
async function merged(landing: Landed, { base, tip }: Ends): Promise<string | Landing> {
  const { git, loop } = landing;
  const message = messageOf(landing);
  const trees = await git.mergeTrees(base, tip);
  const made = trees.kind === 'old_git' ? await git.mergeIn(loop.worktree, base, message) : trees;
  if (made.kind === 'conflict') return conflict(landing, made.files);
  if (made.kind !== 'tree') return failed(landing, made.kind === 'failed' ? made.why : 'git is too old');
  if (trees.kind === 'old_git') return made.id;
  const commit = await git.commit(made.id, [base, tip], message);
  return 'commit' in commit ? commit.commit : failed(landing, commit.failed);
}

function messageOf({ loop, request: { title, trailers } }: Landed): string {
  const line = title.split('\n')[0]!.replace(/\s+/g, ' ').trim().slice(0, 64);
  const subject = `Merge loop ${loop.id}${line === '' ? '' : `: ${line}`}`;
  return `${subject}\n\n${[`Ralph-Loop: ${loop.id}`, ...trailers].join('\n')}\n`;
}

function conflict({ loop, again }: Landed, files: string[]): Landing {
  const onto = shortName(loop.onto);
  return parked(
    `it and ${onto} change the same places of ${some(files)}`,
    `In ${loop.worktree}: git merge ${onto}, settle the conflict and commit. Then ${again}.`,
    files,
  );
}

function failed({ loop, again }: Landed, why: string): Landing {
  const [branch, onto] = [shortName(loop.branch), shortName(loop.onto)];
  const next = `Repair what git says, or merge it yourself: git merge ${branch}. Then ${again}.`;
  return parked(`git could not merge it with ${onto}: ${why}`, next);
}

/**
 * Gates run in the loop's work tree, where its packages and caches are. A merge has the loop's tip as a parent, so
 * our own branch only goes forward to it.
 */
async function gated(landing: Landed, candidate: string, { tip }: Ends): Promise<Landing | null> {
  const { git, loop, again, request } = landing;
  if ((await git.standing(loop.worktree)) === null)
    return parked(
      `its work tree ${loop.worktree} is gone, and the gates run there`,
      `git worktree add ${loop.worktree} ${shortName(loop.branch)}. Then ${again}.`,
    );
  if (candidate !== tip && (await git.tip(loop.branch)) !== candidate) {
    const moved = await git.forward(loop.worktree, candidate, `ralph: loop ${loop.id} merged for its gates`);
    if (moved.kind === 'failed')
      return parked(`git could not check the merge out in ${loop.worktree}: ${moved.why}`, `Then ${again}.`);
  }
  for (const name of request.gates.required) {
    request.say(`Loop ${loop.id} lands: gate ${name} runs on what ${shortName(loop.onto)} would be.`);
    const said = await request.gates.run(name);
    if (request.signal?.aborted)
      return { kind: 'queued', why: 'it was interrupted', next: `${again} lands it.` };
    if (said === null) continue;
    const last = said.trim().split('\n').slice(-5).join('\n');
    return parked(
      `gate ${name} does not pass on what ${shortName(loop.onto)} would be${last === '' ? '' : `: ${last}`}`,
      `Repair it in ${loop.worktree}, commit, then ${again}.`,
    );
  }
  return null;
}
