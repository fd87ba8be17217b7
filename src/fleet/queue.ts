/**
 * The merge queue: brings the branch of a loop whose work is done into its integration branch. Loops land one after
 * another. Each step is told in the project journal before it is taken, and what became of it is read from the
 * refs, so that a landing that was broken off anywhere is taken up by whoever lands next. Whatever does not fit
 * is parked for a person: nothing is moved then, and nothing is ever removed.
 */
import { isHeldBy, type LandedWork, pathWords, shellWord } from '../core/index.ts';
import { ownIdentity } from '../process/index.ts';
import { type Checkout, type Integration, openIntegration } from '../repo/index.ts';
import { type Loop, type LoopNews, readLoops, tellLoop } from '../store/index.ts';
import { heldAstray } from './astray.ts';
import { candidateOf } from './candidate.ts';
import { clearUp } from './clear-up.ts';
import { LARGEST_BYTES, unfitToLand } from './fit.ts';
import { type Landed, type Landing, type LandRequest, parked, reflog, shortName } from './landing.ts';
import { landingMarker, ownTurn, quietTree } from './turn.ts';

/** How often the integration branch may move under a landing. */
const MOST_TRIES = 5;

/** Lands a loop that the registry knows. */
export async function landLoop(request: LandRequest): Promise<Landing> {
  const { mainDir, commonDir, env, loop: id } = request;
  const loop = loopOf(mainDir, id);
  const had = [request.lastHead, loop.head].filter((commit) => commit !== null);
  const git = openIntegration({ commonDir, cwd: loop.worktree, env, marker: landingMarker(mainDir) });
  const again = `\`ralph loops merge ${id}\``;
  const head = await git.tip(loop.branch);
  if (head === null) {
    const name = shortName(loop.branch);
    const next = `\`git reflog\` in ${loop.worktree} shows where it was: git branch ${name} COMMIT, then ${again}.`;
    return close(request, parked(`its branch ${name} is gone`, next));
  }
  await tell(request, {
    type: 'loop.queued',
    loop: id,
    head,
    ...(request.wait ? { by: ownIdentity() } : {}),
  });
  const turn = await ownTurn(request);
  if (turn.kind === 'not_now') return close(request, queued(turn.why, again));
  try {
    const inTheWay = await clearUp(request, git);
    if (inTheWay !== null) return await close(request, queued(inTheWay, again));
    return await close(request, await landed({ request, git, loop: loopOf(mainDir, id), had, again }));
  } finally {
    await turn.release();
  }
}

function loopOf(mainDir: string, id: string): Loop {
  const loop = readLoops(mainDir).find((one) => one.id === id);
  if (loop === undefined) throw new Error(`there is no loop ${id} in ${mainDir}`);
  return loop;
}

const tell = ({ mainDir }: LandRequest, news: LoopNews): Promise<void> => tellLoop(mainDir, Date.now(), news);

async function close(request: LandRequest, landing: Landing): Promise<Landing> {
  const { loop, isDone } = request;
  // This process sees to it no more, and those that were done later need not wait for it.
  if (landing.kind === 'queued' && request.wait)
    await tell(request, { type: 'loop.queued', loop, head: loopOf(request.mainDir, loop).head! });
  if (landing.kind === 'landed') {
    const more = isDone ? {} : { unfinished: true as const };
    await tell(request, { type: 'loop.landed', loop, commit: landing.commit, ...more });
  }
  if (landing.kind === 'parked') {
    const { why, files, next } = landing;
    await tell(request, { type: 'loop.parked', loop, why, files, next });
  }
  return landing;
}

export const queued = (why: string, again: string): Landing => ({
  kind: 'queued',
  why,
  next: `It lands with ${again} when that is over, or at the end of the next run in the main checkout.`,
});

async function landed(landing: Landed): Promise<Landing> {
  const { loop, again } = landing;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const outcome = await attempt(landing);
    if (outcome !== 'moved') return outcome;
  }
  const onto = shortName(loop.onto);
  return parked(`${onto} moved ${MOST_TRIES} times while it was landing`, `Let ${onto} rest, then ${again}.`);
}

/** `moved`: the integration branch is not where this began, so it begins again. */
async function attempt(landing: Landed): Promise<Landing | 'moved'> {
  const { git, loop, again } = landing;
  const [tip, base] = [await git.tip(loop.branch), await git.tip(loop.onto)];
  const [branch, onto] = [shortName(loop.branch), shortName(loop.onto)];
  if (tip === null) return parked(`its branch ${branch} is gone`, `Make it again, then ${again}.`);
  if (base === null)
    return parked(
      `${onto}, which it was to land on, is gone`,
      `Make that branch again, then ${again}; or merge ${branch} yourself where it belongs.`,
    );
  const astray = await heldAstray(landing);
  if (astray !== null) return astray;
  const unready = await unreadyTree(landing);
  if (unready !== null) return unready;
  const entering = await git.entering(base, tip, LARGEST_BYTES);
  if (typeof entering === 'string')
    return parked(entering, `Merge it yourself: git merge ${branch}. Then ${again}.`);
  const undone = await undoneWork(landing, { base, tip, ids: entering.commits.map(({ id }) => id) });
  if (undone !== null) return undone;
  if (entering.commits.length === 0) return (await emptied(landing, base)) ?? already(landing, base);
  // A commit that the loop began at and that is no more in the branch was taken out of it.
  if (entering.commits.some(({ id }) => id === loop.base))
    return parked(
      `${onto} does not hold the commit any more that the loop began at (${loop.base.slice(0, 12)}), so that merging would bring back what was taken out`,
      `In ${loop.worktree}: git rebase --onto ${shellWord(onto)} ${loop.base.slice(0, 12)}. Then ${again}.`,
    );
  const unfit = await unfitToLand({ landing, entering, base, tip });
  if (unfit !== null) return unfit;
  const isForward = entering.commits.some(({ parents }) => parents.includes(base));
  const candidate = await candidateOf(landing, { base, tip, isForward });
  if (typeof candidate !== 'string') return candidate;
  if ((await git.tip(loop.onto)) !== base) return 'moved';
  const places = git.checkouts(loop.onto);
  const step = { from: base, to: candidate, merged: !isForward };
  return places.length === 0 ? moveRef(landing, step) : forward(landing, step, places[0]!);
}

/** What lies in the loop's own work tree and in no commit; a work tree that is gone holds nothing up. */
async function unreadyTree({ request, git, loop, again }: Landed): Promise<Landing | null> {
  const there = await git.standing(loop.worktree);
  if (there === null) return null;
  const branch = shortName(loop.branch);
  if (there.unfinished !== null)
    return parked(
      `a ${there.unfinished} is under way in ${loop.worktree}`,
      `Finish or abort it there, then ${again}.`,
    );
  if (there.branch !== branch)
    return parked(
      `${loop.worktree} is on ${there.branch ?? 'a detached HEAD'} and not on ${branch}`,
      `In it: git switch ${branch}; what was committed elsewhere belongs there first. Then ${again}.`,
    );
  const isOverlooked = (path: string) =>
    request.overlook.some((one) => path === one || path.startsWith(`${one}/`));
  const dirty = there.dirty.filter((path) => !isOverlooked(path));
  if (dirty.length === 0) return null;
  return parked(
    `${pathWords(dirty)} in ${loop.worktree} ${dirty.length === 1 ? 'is' : 'are'} in no commit`,
    `Commit what belongs to the work and remove or ignore the rest, then ${again}.`,
    dirty,
  );
}

/** A branch that brings nothing may have been set back: what it held once must be in the integration branch. */
async function emptied({ git, loop, had, again }: Landed, base: string): Promise<Landing | null> {
  for (const commit of had) {
    if (await git.isAncestor(commit, base)) continue;
    const id = commit.slice(0, 12);
    return parked(
      `its branch ${shortName(loop.branch)} does not hold commit ${id} any more, and ${shortName(loop.onto)} does not either`,
      `In ${loop.worktree}: git merge ${id}, then ${again}; or, if that work is elsewhere or not wanted: ralph loops discard ${loop.id}`,
    );
  }
  return null;
}

/**
 * Tasks count as done whose work is neither in the branch nor where it lands, under no name: somebody reset the
 * branch. One process at most where all is there.
 */
async function undoneWork(
  { request, git, loop, again }: Landed,
  { base, tip, ids }: { base: string; tip: string; ids: readonly string[] },
): Promise<Landing | null> {
  const enters = new Set(ids);
  const absent = request.work.filter(({ commit }) => !enters.has(commit));
  const lacking = new Set(
    await git.lacking(
      absent.map(({ commit }) => commit),
      [tip, base],
    ),
  );
  const gone: LandedWork[] = [];
  for (const work of absent)
    if (lacking.has(work.commit) && !(await isUnderOtherName(git, work, [tip, base]))) gone.push(work);
  if (gone.length === 0) return null;
  const back = gone.map(
    ({ commit }) => `git -C ${shellWord(loop.worktree)} merge --autostash ${commit.slice(0, 12)}`,
  );
  return parked(
    `its branch ${shortName(loop.branch)} no longer contains the work of ${pathWords(gone.map(({ task }) => task))}`,
    `${back.slice(0, 3).join(', ')}${back.length > 3 ? ` and ${back.length - 3} more` : ''} brings it back, then ${again}; or ralph run --worktree ${shellWord(loop.id)} does it anew; or, where the branch is as it should be, the same merge with -s ours says so.`,
  );
}

/** Amended or squashed: the message of a commit tells of it, or the files do. */
async function isUnderOtherName(git: Integration, work: LandedWork, tips: string[]): Promise<boolean> {
  for (const tip of tips) {
    const messages = (await git.messages(tip)).map((message) => new Set(message.split('\n')));
    if (messages.some((lines) => work.said.every((line) => lines.has(line)))) return true;
    if (isHeldBy(work, await git.blobs(tip, [...work.left.keys()]))) return true;
  }
  return false;
}

/** The branch has all of it: an earlier landing was broken off after its last step, or a person merged it. */
async function already({ git, loop }: Landed, base: string): Promise<Landing> {
  const to = loop.landing?.to ?? loop.landed ?? null;
  const isOurs = to !== null && (to === base || (await git.isAncestor(to, base)));
  return { kind: 'landed', commit: isOurs ? to : base, onto: loop.onto, merged: isOurs && to !== loop.head };
}

interface Step {
  from: string;
  to: string;
  merged: boolean;
}

async function moveRef(landing: Landed, { from, to, merged }: Step): Promise<Landing | 'moved'> {
  const { request, git, loop, again } = landing;
  await tell(request, { type: 'loop.landing', loop: loop.id, from, to });
  const moved = await git.move(loop.onto, { from, to, why: reflog(loop.id) });
  const now = await git.tip(loop.onto);
  if (now === to) return { kind: 'landed', commit: to, onto: loop.onto, merged };
  if (now !== from || moved.kind === 'moved') return 'moved';
  return parked(
    `git could not move ${shortName(loop.onto)}: ${moved.why}`,
    `Repair what git says, then ${again}.`,
  );
}

/** In the work tree that has the branch checked out, so that its files go along; never while a run works there. */
async function forward(
  landing: Landed,
  { from, to, merged }: Step,
  { root, unfinished }: Checkout,
): Promise<Landing | 'moved'> {
  const { request, git, loop, again } = landing;
  const onto = shortName(loop.onto);
  if (unfinished !== null)
    return parked(
      `a ${unfinished} is under way in ${root}, which has ${onto} checked out`,
      `Finish or abort it there, then ${again}.`,
    );
  const hold = await quietTree(request, root);
  if (hold !== null && hold.kind === 'not_now') return queued(hold.why, again);
  try {
    if ((await git.tip(loop.onto)) !== from || git.checkouts(loop.onto)[0]?.root !== root) return 'moved';
    await tell(request, { type: 'loop.landing', loop: loop.id, from, to });
    const moved = await git.forward(root, to, reflog(loop.id));
    const now = await git.tip(loop.onto);
    if (now === to) return { kind: 'landed', commit: to, onto: loop.onto, merged };
    if (now !== from || moved.kind === 'moved') return 'moved';
    const { files, why } = moved;
    if (files.length === 0)
      return parked(`git could not move ${onto} in ${root}: ${why}`, `Repair what git says, then ${again}.`);
    return parked(
      `${pathWords(files)} in ${root} hold${files.length === 1 ? 's' : ''} changes that are in no commit, and landing would overwrite them`,
      `Commit them or put them away, then ${again}.`,
      files,
    );
  } finally {
    await hold?.release();
  }
}
