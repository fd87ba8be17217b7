/**
 * What an attempt wrote into git's own rules (a filter, an ignore line that no commit holds) is put back
 * before anybody looks at its work: a snapshot through those rules would not show what they hide.
 */
import { relative } from 'node:path';
import {
  type AttemptState,
  commandFor,
  type Fact,
  type Mark,
  type MovedRef,
  pathWord,
  shellWord,
  type Trespass,
  type Usage,
} from '../../core/index.ts';
import { append, type House } from '../house.ts';
import type { RuleChange } from '../ports.ts';

export interface Moved {
  /** Full name. */
  ref: string;
  from: string;
  to: string;
}

export interface Ruled {
  trespass: Trespass[];
  facts: Fact[];
  /** Commands that bring back branches, tags and stashes that are gone. */
  removed: string[];
  /** Branches that name another commit than when it began; whose doing that was is not known yet. */
  moved: Moved[];
  /** Set where nothing more can be looked at: what is not there any more. */
  gone: string | null;
}

/** `until` (epoch ms): what was written later is not the attempt's; null where it has just ended. */
export async function putRulesBack(
  house: House,
  attempt: AttemptState,
  until: number | null = null,
): Promise<Ruled> {
  if (attempt.rules === null) return { trespass: [], facts: [], removed: [], moved: [], gone: null };
  const changes = await house.ground.restoreRules(attempt.rules, until);
  if (changes.some(({ outcome }) => outcome !== 'moved')) house.fresh = null;
  const theirs = changes.filter(({ outcome }) => outcome === 'restored' || outcome === 'stuck');
  const removed = changes.filter(({ outcome }) => outcome === 'removed').flatMap(({ what }) => what);
  return {
    trespass: theirs.map((change) => ({
      path: change.path,
      what: 'protected_changed',
      detail: detailOf(change),
      keptAs: keptAs(house, change),
    })),
    facts: changes.flatMap((change) => told(house, attempt, change)),
    removed: removed.slice(0, MOST_REMOVED),
    moved: changes.filter(({ outcome }) => outcome === 'moved').flatMap(movedIn),
    gone: goneIn(changes),
  };
}

/** How many are kept by their commands; the notice names the first few of them. */
const MOST_REMOVED = 200;

const REPOSITORY_GONE = 'the git repository is gone';

function goneIn(changes: readonly RuleChange[]): string | null {
  const change = changes.find(({ outcome }) => outcome === 'gone');
  if (change === undefined) return null;
  return change.what.includes('repository') ? REPOSITORY_GONE : 'its work tree is gone';
}

function movedIn({ what }: RuleChange): Moved[] {
  return what.map((line) => {
    const [ref = '', from = '', to = ''] = line.split(' ');
    return { ref, from, to };
  });
}

export interface Elsewhere {
  trespass: Trespass[];
  facts: Fact[];
  moved: MovedRef[];
}

/**
 * Branches other than the one it works on that name a commit which was made in the attempt now, or made for it: nobody
 * else had that commit. And those that were moved away from what they held: who did that cannot be told, and it is held against
 * nobody. Nothing is moved back; people may have built on it. `cut`: it was cut off, and somebody may have come since.
 */
export async function movedBy(
  house: House,
  attempt: Pick<AttemptState, 'iteration' | 'before' | 'rules'> & { after: Mark },
  { moved, commits, cut }: { moved: readonly Moved[]; commits: readonly string[]; cut: boolean },
): Promise<Elsewhere> {
  const { iteration, before, after } = attempt;
  // Who begins on no branch has none to commit to.
  const own = before.branch === null ? [] : [before.branch, after.branch].map((name) => `refs/heads/${name}`);
  const found: Elsewhere = { trespass: [], facts: [], moved: [] };
  for (const { ref, from, to } of moved) {
    const its = commits.includes(to) || (await wasForItAlone(house, attempt, to));
    if (own.includes(ref) || (!its && (await house.ground.isAncestor(from, to)))) continue;
    const text = movedText(iteration, { ref, from, to, its }, cut);
    found.moved.push({ ref, from, to, its });
    if (its && !cut) found.trespass.push({ path: ref, what: 'branch_moved', detail: text, keptAs: null });
    found.facts.push({ type: 'notice.given', level: its ? 'critical' : 'warning', text });
  }
  return found;
}

/** It began on no branch, at a commit that no branch and no tag held (the draft of a merge, say): only it had that. */
async function wasForItAlone(
  { ground }: House,
  { before: { branch, head }, rules }: Pick<AttemptState, 'before' | 'rules'>,
  commit: string,
): Promise<boolean> {
  if (branch !== null || head === null || rules === null) return false;
  return (await ground.isAncestor(commit, head)) && !(await ground.wasHeld(rules, commit));
}

function movedText(iteration: number, { ref, from, to, its }: MovedRef, cut: boolean): string {
  const branch = ref.slice('refs/heads/'.length);
  const [was, is] = [from.slice(0, 12), to.slice(0, 12)];
  const back = `Nothing was moved back; \`git update-ref ${shellWord(ref)} ${from} ${to}\` puts it back.`;
  const since = `Since iteration ${iteration} was begun, the branch ${branch} was moved from ${was} to ${is}`;
  if (!its) return `${since}, which does not hold what it held, by it or by somebody else. ${back}`;
  const made = `a commit that was made in iteration ${iteration} and is not judged`;
  if (cut) return `${since}, ${made}: by it before it was cut off, or by somebody since. ${back}`;
  return `The branch ${branch} was moved from ${was} to ${is}, ${made}. ${back}`;
}

function named({ what }: RuleChange): string {
  const more = what.length > 5 ? ` and ${what.length - 5} more` : '';
  return `${what.slice(0, 5).join(', ')}${more}`;
}

function detailOf(change: RuleChange): string {
  const undone = change.outcome === 'restored' ? 'was put back' : 'could not be put back';
  return `${pathWord(change.path)} tells git what to hide and what to run; it was changed (${named(change)}) and ${undone}.`;
}

function keptAs(house: House, change: RuleChange): string | null {
  return change.keptAs === null ? null : relative(house.sessionDir, change.keptAs);
}

/** Nothing may be built on a repository that hides things; and what a person wrote is left, and named. */
function told(house: House, attempt: AttemptState, change: RuleChange): Fact[] {
  const { iteration } = attempt;
  if (change.outcome === 'restored' || change.outcome === 'moved') return [];
  if (change.outcome === 'removed') return removedNotices(house, attempt, change.what);
  if (change.outcome === 'gone') return goneFacts(house, attempt, change.what);
  if (change.outcome === 'spared') {
    const text = `${pathWord(change.path)} was changed after iteration ${iteration} was cut off (${named(change)}); it is left as it is. Look at it if that was not you.`;
    return [{ type: 'notice.given', level: 'warning', text }];
  }
  const text = `Iteration ${iteration} changed ${pathWord(change.path)} (${named(change)}), by which git hides changes or runs programs, and it could not be put back. Put it right by hand, then \`${commandFor(house.state, 'ralph resume')}\`.`;
  return [
    { type: 'session.paused', at: house.clock.now(), text, by: 'engine' },
    { type: 'notice.given', level: 'critical', text },
  ];
}

/** How many get a line of their own. */
const NAMED = 10;

/** Who removed them cannot be told, and a task may have asked for it: it is said, and held against nobody. */
function removedNotices(house: House, { iteration }: AttemptState, commands: string[]): Fact[] {
  const said = commands.slice(0, NAMED).map((command) => {
    const [, kind, name] = /^git (branch|tag|stash)(?: store -m)? (.+) [0-9a-f]+$/.exec(command)!;
    const which = kind === 'stash' ? `the stash ${name}` : `the ${kind} ${name}`;
    return `Since iteration ${iteration} was begun, ${which} was removed. Bring it back with \`${command}\`.`;
  });
  const more = commands.length - said.length;
  if (more > 0)
    said.push(`And ${more} more: \`${commandFor(house.state, `ralph why ${iteration}`)}\` names each.`);
  return said.map((text) => ({ type: 'notice.given', level: 'warning', text }));
}

function goneFacts(house: House, { iteration, before }: AttemptState, what: readonly string[]): Fact[] {
  const since = `Since iteration ${iteration} was begun,`;
  const text = what.includes('repository')
    ? `${since} the git repository itself was removed, or a part that it cannot do without. Nothing can be proved or committed without it; the files and the journal are there. Put .git back from a backup or a clone, or begin one with \`git init && git add -A && git commit -m restored\`; then \`${commandFor(house.state, 'ralph resume')}\`.`
    : `${since} ${treeGone(house, { iteration, before }, what.includes('entry'))}`;
  return [
    { type: 'session.paused', at: house.clock.now(), text, by: 'engine' },
    { type: 'notice.given', level: 'critical', text },
  ];
}

/** A work tree beside the main checkout: its commits are in the repository, which is there. */
function treeGone(
  { ground, state, sessionId }: House,
  { iteration, before: { branch, head } }: Pick<AttemptState, 'iteration' | 'before'>,
  isEntry: boolean,
): string {
  const root = shellWord(ground.root);
  const kept = head === null ? '' : `, the last of them also as refs/ralph/${sessionId}/${iteration}`;
  const commits = branch === null ? '' : ` Its commits are on branch ${branch}${kept};`;
  const again = `\`${commandFor(state, 'ralph resume')}\``;
  const makes =
    state.policy?.loop === undefined
      ? `\`git worktree add ${shellWord(root)} ${shellWord(branch ?? 'COMMIT')}\` makes it again; then ${again} there.`
      : `${again} makes it again from there and goes on.`;
  return isEntry
    ? `git was made to forget the work tree ${ground.root}.${commits} its files are untouched, and git cannot tell any more what changed in them. \`git worktree repair ${root}\` in the main checkout may bring it back; else move it away (\`mv ${root} ${root}-mine\`), and ${makes}`
    : `the work tree ${ground.root} was removed.${commits} what was not committed in it is lost with it. ${makes[0]!.toUpperCase()}${makes.slice(1)}`;
}

/** What an attempt that was cut off had used, as its fact carries it. */
export type Bill = { usage?: Usage };

/** The end of an attempt that took the repository away, or its work tree: nothing of it can be looked at. */
export async function loseGround(
  house: House,
  { iteration, before }: AttemptState,
  { ruled, bill }: { ruled: Ruled; bill: Bill },
): Promise<void> {
  house.fresh = null;
  // The branch may have gone with the work tree.
  if (ruled.gone !== REPOSITORY_GONE && before.head !== null)
    await house.ground.keep(before.head, house.sessionId, iteration);
  await append(house, [
    { type: 'attempt.lost', iteration, reason: ruled.gone!, ended: [], after: null, changes: [], ...bill },
    ...ruled.facts,
  ]);
}
