/**
 * Branches that an agent moved to work that nobody accepted, its loop's or the one that the loop is for: nothing lands
 * on that, and nothing from it. Git moves no files along with such a move, so a work tree that is on the branch shows it
 * as changes that a person could commit, which would take back what the branch held.
 */
import { type MovedRef, shellWord } from '../core/index.ts';
import { readLoops } from '../store/index.ts';
import { type Landed, type Landing, parked, shortName } from './landing.ts';

/** A branch that was moved while an agent worked. */
export interface Astray extends MovedRef {
  session: string;
  /** By one that was hired for a landing; false: by an attempt of the loop. */
  hired: boolean;
}

/** The landing that is refused as long as a branch of it is where it was moved to; null: it may go on. */
export async function heldAstray(landing: Landed): Promise<Landing | null> {
  const found: Astray[] = [];
  for (const ref of [landing.loop.onto, landing.loop.branch]) {
    const tip = await landing.git.tip(ref);
    const moved = tip === null ? null : await astray(landing, ref, tip);
    if (moved !== null) found.push(moved);
  }
  if (found.length === 0) return null;
  return parked(found.map(movedWhy).join(', and '), `${backWords(landing, found)} Then ${landing.again}.`);
}

async function astray(landing: Landed, ref: string, tip: string): Promise<Astray | null> {
  const { request, loop, git } = landing;
  const drafted = await atDraft(landing, ref, tip);
  const moved = drafted ?? request.moved().findLast((one) => one.ref === ref && one.to === tip) ?? null;
  if (moved === null) return null;
  // What an attempt made and the loop's branch holds was accepted with it.
  const isIn = !moved.hired && (await git.isAncestor(tip, loop.branch));
  return (moved.its && !isIn) || (await showsIn(landing, moved)) ? moved : null;
}

/** One that was killed has told nothing of what it moved; but nobody else has the draft that it was given. */
async function atDraft({ request, loop, git }: Landed, ref: string, tip: string): Promise<Astray | null> {
  const hired = readLoops(request.mainDir).find(({ id }) => id === loop.id)?.hired ?? null;
  if (hired === null || hired.session === null || hired.settled !== null) return null;
  const from = ref === loop.onto ? hired.from : hired.head;
  if (tip === from || !(await git.isAncestor(hired.draft, tip))) return null;
  return { ref, from, to: tip, its: true, session: hired.session, hired: true };
}

/** A work tree that is on the branch shows the move as changes: its files did not go along. */
async function showsIn({ git }: Landed, { ref, from, to }: Astray): Promise<boolean> {
  const moved = new Set((await git.differing(from, to)).map(({ path }) => path));
  for (const { root } of git.checkouts(ref))
    if ((await git.standing(root))?.dirty.some((path) => moved.has(path))) return true;
  return false;
}

/** A sentence without its stop. */
export function movedWhy({ ref, from, to, its, session }: Astray): string {
  const [was, is] = [from.slice(0, 12), to.slice(0, 12)];
  const what = its
    ? 'to a commit that was made there and that nobody accepted'
    : 'which does not hold what it held';
  return `${shortName(ref)} was moved from ${was} to ${is} in session ${session}, ${what}`;
}

/** What a person does first. */
export function backWords({ git }: Pick<Landed, 'git'>, moved: readonly Astray[]): string {
  return moved
    .map(({ ref, from, to }) => {
      const trees = git.checkouts(ref).map(({ root }) => root);
      const still =
        trees.length === 0
          ? ''
          : ` Until then commit nothing in ${trees.join(' and ')}, where that move shows as changes.`;
      return `Put ${shortName(ref)} back: \`git update-ref ${shellWord(ref)} ${from} ${to}\`.${still}`;
    })
    .join(' ');
}
