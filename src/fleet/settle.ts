/**
 * A conflict that an agent is hired for. It works in a work tree of its own on a draft of the merge that holds git's
 * marks, and evidence is the judge of what it made: only what stood between the marks may be new, none of them may be
 * left, nothing that no landing may bring in, and the gates have to pass. All of it becomes one merge commit, to which
 * the loop's own branch goes forward before it lands; whatever fails leaves the conflict to a person.
 *
 * It is hired once for each time that the loop is queued. Told before is that, and for what: after a crash the one
 * that was hired goes on in its session, or the conflict is parked.
 */
import { conflictPrompt, pathWord, pathWords } from '../core/index.ts';
import type { Draft } from '../repo/index.ts';
import { type Hired, readLoops, tellLoop } from '../store/index.ts';
import { type Astray, backWords, movedWhy } from './astray.ts';
import { LARGEST_BYTES, unfitToLand } from './fit.ts';
import { type Conflicted, readConflicted, unsettled } from './hunks.ts';
import { type Ends, type Landed, type Landing, type Settler, type Settling, shortName } from './landing.ts';
import { conflict, failed, gitWords, interrupted, mergeOf, objection } from './merge.ts';

interface Work {
  landing: Landed;
  settler: Settler;
  ends: Ends;
  draft: Draft;
  files: string[];
  /** Each file that does not fit, by its path. */
  conflicted: Map<string, Conflicted>;
}

/** The merge that lands; a landing where it cannot be had. */
export async function settle(landing: Landed, ends: Ends, files: string[]): Promise<string | Landing> {
  const settler = landing.request.settler!;
  const barred = barredBy(landing, ends, files);
  if (barred !== null) {
    const kept = await settler.done(true);
    const besides = `, and ${settler.agent} was not hired for it: ${barred}`;
    return conflict(landing, files, { besides, more: madeWords(kept) });
  }
  const draft = await landing.git.drafted(ends.base, ends.tip);
  const conflicted =
    draft === null ? 'git could not draft the merge' : await conflictedIn(landing, ends, draft);
  if (draft === null || typeof conflicted === 'string')
    return conflict(landing, files, {
      besides: `, and ${settler.agent} was not hired for it: ${conflicted}`,
    });
  const work = { landing, settler, ends, draft, files, conflicted };
  const hired = await hire(work);
  if ('kind' in hired) return hired;
  const onto = shortName(landing.loop.onto);
  landing.request.say(
    `${settler.agent} is hired: loop ${landing.loop.id} and ${onto} change the same places of ${pathWords(files)}.`,
  );
  const ended = await settler.work({
    draft: hired.draft,
    prompt: await promptOf(work),
    session: hired.session,
    begun: (session) => tellHired(landing, { ...hired, session }),
  });
  // Whatever it made beside that: who moves branches is not heard.
  const moved = await movedBy(landing);
  const judged =
    moved.length > 0 && ended.kind !== 'interrupted'
      ? { kind: 'failed' as const, why: `did more than that: ${moved.map(movedWhy).join(', and ')}` }
      : ended.kind === 'done'
        ? await judge(work, hired.draft, ended)
        : ended;
  if (judged.kind === 'interrupted') return interrupted(landing.again);
  const merge = judged.kind === 'fits' ? await adopt(work, judged.merge) : judged;
  const kept = await settler.done(typeof merge !== 'string');
  if (typeof merge === 'string') return merge;
  return refused(work, {
    ...merge,
    kept,
    first: moved.length === 0 ? '' : `${backWords(landing, moved)} Then: `,
  });
}

/** Branches that the one who was hired moved to a commit of its own, and that are still there. */
async function movedBy(landing: Landed): Promise<Astray[]> {
  const session = hiredNow(landing)?.session ?? null;
  const found: Astray[] = [];
  for (const moved of landing.request.moved())
    if (moved.its && moved.session === session && (await landing.git.tip(moved.ref)) === moved.to)
      found.push(moved);
  return found;
}

/** Why nobody may be hired; a run that starts again and again does not hire each time. */
function barredBy({ request, loop }: Landed, { tip }: Ends, files: readonly string[]): string | null {
  const { asked, settler } = request;
  const orders = files.filter((path) => settler!.isOrder(path));
  if (orders.length > 0)
    return `${pathWords(orders)} ${orders.length === 1 ? 'is a file' : 'are files'} by which agents are told what to do or judged, and such a one only a person settles`;
  if (!asked && loop.unsettled === tip && loop.hired === null)
    return 'one was before and did not settle it, and only a person has that tried again';
  return settler!.barred;
}

/** Every file with its conflicts; why there is nothing in it for an agent to write between. */
async function conflictedIn(
  { git }: Landed,
  ends: Ends,
  { tree, files, beyond }: Draft,
): Promise<Map<string, Conflicted> | string> {
  const found = new Map<string, Conflicted>();
  for (const { path, modes } of files) {
    const isPlain = modes[2]?.startsWith('100') && modes[2] === modes[3];
    const text = isPlain ? await git.text(tree, path) : null;
    const conflicted = text === null ? null : readConflicted(text, ends);
    if (conflicted === null)
      return `that of ${pathWord(path)} is no conflict of lines that an agent could read`;
    found.set(path, conflicted);
  }
  return beyond.length === 0 ? found : `it is about more than lines: ${gitWords(beyond).replace(/\.$/, '')}`;
}

const hiredNow = ({ request, loop }: Landed): Hired | null =>
  readLoops(request.mainDir).find(({ id }) => id === loop.id)?.hired ?? null;

/** Tells that it is hired, or finds that it was before a crash; a landing where it cannot be. */
async function hire({ landing, settler, ends, draft, files }: Work): Promise<Hired | Landing> {
  const { base: from, tip: head } = ends;
  const known = hiredNow(landing);
  if (known?.from === from && known.head === head) return known;
  if (known !== null) {
    const kept = await settler.done(true);
    return conflict(landing, files, {
      besides: `, and ${known.agent} was hired before one of them changed, which is done once for a landing`,
      more: madeWords(kept),
    });
  }
  const made = await landing.git.commit(draft.tree, [from, head], 'Draft of a merge, with its conflicts\n');
  if ('failed' in made) return failed(landing, made.failed);
  const hired = { agent: settler.agent, from, head, draft: made.commit, files, session: null, settled: null };
  await tellHired(landing, hired);
  return hired;
}

async function tellHired({ request, loop }: Landed, hired: Hired): Promise<void> {
  const { agent, from, head, draft, files, session } = hired;
  const news = { agent, from, head, draft, files, ...(session === null ? {} : { session }) };
  await tellLoop(request.mainDir, Date.now(), { type: 'loop.hired', loop: loop.id, ...news });
}

async function promptOf({ landing, settler, ends, files }: Work): Promise<string> {
  const { git, loop, request } = landing;
  const { base, tip } = ends;
  const [ours, theirs] = [await git.subjects(base, tip, files), await git.subjects(tip, base, files)];
  const { intents, gates } = settler;
  return conflictPrompt({
    ...{ loop: `loop ${loop.id}`, onto: shortName(loop.onto), files, base, tip, theirs, gates },
    ours: [request.title.split('\n')[0]!, ...intents, ...ours].filter((text) => text.trim() !== ''),
  });
}

type Judged = { kind: 'fits'; merge: string } | Refused | { kind: 'interrupted' };

/** `why`: the end of a sentence about the agent. */
interface Refused {
  kind: 'failed';
  why: string;
}

const FAULTS: Record<NonNullable<ReturnType<typeof unsettled>>, (path: string) => string> = {
  gone: (path) => `removed ${pathWord(path)}, or made it no text, or more than any server takes`,
  marks: (path) => `left marks of the conflict in ${pathWord(path)}`,
  outside: (path) => `changed ${pathWord(path)} outside of the conflict`,
};

/** What it made, held against all that a merge has to be. */
async function judge(
  { landing, ends, conflicted }: Work,
  draft: string,
  { tree, given, head }: Extract<Settling, { kind: 'done' }>,
): Promise<Judged> {
  const { git } = landing;
  const refuse = (why: string): Refused => ({ kind: 'failed', why });
  const there = await git.standing(tree);
  if (there === null || there.unfinished !== null)
    return refuse(there === null ? 'left no work tree' : `left a ${there.unfinished} under way`);
  const left = there.dirty.filter((path) => !given.includes(path));
  if (left.length > 0) return refuse(`left ${pathWords(left)} in no commit`);
  const changed = await git.differing(draft, head);
  const strange = changed.map(({ path }) => path).filter((path) => !conflicted.has(path));
  if (strange.length > 0)
    return refuse(
      `changed ${pathWords(strange)}, which ${strange.length === 1 ? 'is' : 'are'} not in conflict`,
    );
  for (const [path, parts] of conflicted) {
    const fault = unsettled(parts, await git.text(head, path));
    if (fault !== null) return refuse(FAULTS[fault](path));
  }
  const odd = changed.find(({ sameMode }) => !sameMode);
  if (odd !== undefined) return refuse(`made ${pathWord(odd.path)} another kind of file`);
  const more = [`Ralph-Conflict-Settled-By: ${landing.request.settler!.agent}`];
  const made = await mergeOf(landing, ends, { tree: `${head}^{tree}`, root: tree, more });
  if ('kind' in made)
    return made.kind === 'parked' ? refuse(`settled it, but ${made.why}`) : { kind: 'interrupted' };
  if ('failed' in made) return refuse(`made a merge that git could not commit: ${made.failed}`);
  const entering = await git.entering(ends.base, made.commit, LARGEST_BYTES);
  const unfit =
    typeof entering === 'string'
      ? entering
      : await unfitToLand({ landing, entering, base: ends.base, tip: made.commit });
  if (unfit !== null)
    return refuse(
      `made a merge that may not land: ${typeof unfit === 'string' ? unfit : 'why' in unfit ? unfit.why : ''}`,
    );
  const said = await objection(landing, tree);
  if (said === 'interrupted') return { kind: 'interrupted' };
  return said === null ? { kind: 'fits', merge: made.commit } : refuse(`settled it so that ${said}`);
}

/** From here on it is as if a person had merged: the loop's own branch holds the merge, and only has to land. */
async function adopt({ landing, settler, ends }: Work, merge: string): Promise<string | Refused> {
  const { git, loop, request } = landing;
  await tellLoop(request.mainDir, Date.now(), { type: 'loop.settled', loop: loop.id, commit: merge });
  const why = `ralph: conflict of loop ${loop.id} settled by ${settler.agent}`;
  const isThere = (await git.standing(loop.worktree)) !== null;
  const moved = isThere
    ? await git.forward(loop.worktree, merge, why)
    : await git.move(loop.branch, { from: ends.tip, to: merge, why });
  if (moved.kind === 'moved') return merge;
  const where = isThere ? ` in ${loop.worktree}` : '';
  return {
    kind: 'failed',
    why: `settled it, but git could not move ${shortName(loop.branch)}${where}: ${moved.why}`,
  };
}

const madeWords = (kept: string | null): string => (kept === null ? '' : ` What it made: ${kept}.`);

/** Parked as any conflict; what was made and paid for stays. */
function refused(
  { landing, files }: Work,
  { why, kept, first }: Refused & { kept: string | null; first: string },
): Landing {
  const { agent, session } = hiredNow(landing)!;
  const told = session === null ? '' : ` What it did: \`ralph why --session ${session}\`.`;
  return conflict(landing, files, {
    besides: `, and ${agent}, which was hired to settle that, ${why}`,
    first,
    more: `${told}${madeWords(kept)}`,
  });
}
