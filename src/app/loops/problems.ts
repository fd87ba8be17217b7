/** What can keep a loop from being made, gone on with or taken away, in a person's words. */
import { resolve } from 'node:path';
import { Problem, pathWord, pathWords, shellWord } from '../../core/index.ts';
import { type Apart, type NamedCommit, onlyFolder } from '../../repo/index.ts';
import type { Loop } from '../../store/index.ts';
import { count, oneLine } from '../../views/index.ts';

const short = (ref: string): string => ref.replace(/^refs\/heads\//, '');

export const noGit = (dir: string, wanted: boolean): Problem =>
  new Problem({
    code: 'loop.no_git',
    what: wanted
      ? `${dir} is in no git repository, so a loop can have no work tree of its own.`
      : '--worktree and --no-git exclude each other.',
    why: 'A loop works on a branch of its own in a git work tree, and lands by a merge.',
    fix: wanted
      ? 'git init && git add -A && git commit -m "Begin", then run again. Or leave --worktree away.'
      : 'Leave one of them away.',
  });

export const separateGit = (root: string, commonDir: string): Problem =>
  new Problem({
    code: 'loop.separate_git',
    what: `The repository of ${root} lies in ${commonDir}, and loops need it in a folder called .git in the main checkout.`,
    why: 'From a work tree beside it the main checkout is found by that name, and a loop that cannot find it cannot land.',
    fix: 'Clone it (`git clone`) and run the loop from the clone, or leave --worktree away.',
  });

export const noCommit = (dir: string): Problem =>
  new Problem({
    code: 'loop.no_commit',
    what: `${dir} has no commit yet.`,
    why: 'A work tree begins at a commit.',
    fix: 'git add -A && git commit -m "Begin", then run again.',
  });

/** `unfinished`: the operation that is under way there. */
export const detached = (root: string, unfinished: string | null): Problem =>
  new Problem({
    code: 'loop.detached',
    what: `${root} is on no branch (${unfinished === null ? 'detached HEAD' : `a ${unfinished} is under way`}).`,
    why: 'A new loop begins at the branch of the checkout where you stand, and lands on it. A loop that is known goes on all the same.',
    fix:
      unfinished === null
        ? `git -C ${shellWord(root)} switch BRANCH, then run again.`
        : `Finish the ${unfinished} or end it (git -C ${shellWord(root)} status says how), then run again.`,
  });

export const beingMade = (name: string): Problem =>
  new Problem({
    code: 'loop.being_made',
    what: `Another start is making loop ${name} right now.`,
    why: 'One loop of a name works at a time.',
    fix: `Name another one with --worktree NAME, or look at it: ralph loops`,
  });

export const onlyCase = (name: string, other: string): Problem =>
  new Problem({
    code: 'loop.name',
    what: `There is a loop ${other} already, which differs from ${name} in upper and lower case only.`,
    why: 'On some file systems both would be one folder and one branch.',
    fix: `--worktree ${other} to go on with it, or another name.`,
  });

export function branchTaken(name: string, taken: string): Problem {
  // Below a branch called `ralph` there is no name that would do.
  const [branch, other] =
    taken === '' ? ['ralph', ''] : [`ralph/${taken}`, 'Name the loop differently, or rename that branch: '];
  const rename = `git branch -m ${shellWord(branch)} ${shellWord(`${branch.replaceAll('/', '-')}-mine`)}`;
  return new Problem({
    code: 'loop.branch_taken',
    what: `There is a branch ${branch} already, and no loop of ours made it.`,
    why:
      taken === name
        ? 'A loop works on a branch of its own and touches no other.'
        : `Git cannot have a branch ralph/${name} beside it.`,
    fix: `${other}${rename}`,
  });
}

export const notMade = (id: string, why: string): Problem =>
  new Problem({
    code: 'loop.not_made',
    what: `The work tree of loop ${id} could not be made.`,
    why,
    fix: 'Mend what git says, or free disk space, and run again; nothing was left behind.',
  });

/** Commits with their subjects, for a sentence. */
export function commitWords(commits: readonly NamedCommit[]): string {
  const named = commits.slice(0, 3).map(({ id, subject }) => `${id.slice(0, 7)} ${oneLine(subject, 60)}`);
  return `${named.join(', ')}${commits.length > 3 ? ` and ${commits.length - 3} more` : ''}`;
}

export const madeAfterLanding = ({ id, branch, onto }: Loop, commits: readonly NamedCommit[]): Problem =>
  new Problem({
    code: 'loop.after_landing',
    what: `${short(branch)} holds ${count(commits.length, 'commit')} of after its landing: ${commitWords(commits)}.`,
    why: `Loop ${id} has landed on ${short(onto)}, so its name means a new loop, and that would take the place of what is not in ${short(onto)}.`,
    fix: `ralph loops merge ${id} brings them in; ralph loops discard ${id} puts them aside under a name of ours. Then run again, or name the new loop differently.`,
  });

export const branchStays = ({ id, branch }: Loop): Problem =>
  new Problem({
    code: 'loop.branch_stays',
    what: `Branch ${short(branch)} of the former loop ${id} could not be taken away.`,
    why: 'It was moved in this very moment, or is checked out somewhere.',
    fix: `Switch away from it, or name the new loop differently.`,
  });

export const branchGone = ({ id, branch }: Loop, last: string | null): Problem =>
  new Problem({
    code: 'loop.branch_gone',
    what: `Branch ${short(branch)} of loop ${id} is gone.`,
    why: 'Somebody deleted it; the work of the loop is in its commits.',
    fix:
      last === null
        ? `Give the loop up: ralph loops discard ${id} --yes`
        : `Bring it back: git branch ${short(branch)} ${last}. Or give the loop up: ralph loops discard ${id} --yes`,
  });

export const otherBranch = ({ id, branch, worktree }: Loop, on: string | null): Problem =>
  new Problem({
    code: 'loop.other_branch',
    what: `The work tree of loop ${id} is on ${on === null ? 'no branch' : `branch ${on}`}, and not on ${short(branch)}.`,
    why: 'Somebody switched it; the loop commits on its own branch only.',
    fix: `git -C ${shellWord(worktree)} switch ${short(branch)}`,
  });

export const moved = ({ id, branch, worktree }: Loop, root: string): Problem =>
  new Problem({
    code: 'loop.moved',
    what: `The work tree of loop ${id} is not at ${worktree} any more; its branch ${short(branch)} is checked out in ${root}.`,
    why: 'A loop and its sessions are known by the place of their work tree.',
    fix: `git worktree move ${shellWord(root)} ${shellWord(worktree)}`,
  });

/** `ralph loops` lists it, and nothing shows that it is ours. */
export const stray = ({ id, why, next }: { id: string; why: string; next: string }): Problem =>
  new Problem({
    code: 'loop.unknown',
    what: `${id} is no loop that is known: ${why}.`,
    why: 'What may be a person’s own branch or work tree is touched by no command.',
    fix: `${next}.`,
  });

export const treeHeld = ({ id, worktree }: Loop, reason: string): Problem =>
  new Problem({
    code: 'loop.locked',
    what: `The work tree of loop ${id} is locked in git${reason === '' ? '' : `: ${oneLine(reason, 200)}`}.`,
    why: 'Somebody wants it to stay as it is, or it lies on a disk that is not always there.',
    fix: `git worktree unlock ${shellWord(worktree)}, when it may go.`,
  });

export const branchInUse = ({ id, branch }: Loop, root: string): Problem =>
  new Problem({
    code: 'loop.branch_in_use',
    what: `${short(branch)}, the branch of loop ${id}, is checked out in ${root}.`,
    why: 'A branch is for one checkout at a time, and that one would stand on nothing without it.',
    fix: `Switch to another branch there: git -C ${shellWord(root)} switch BRANCH`,
  });

/** Each repository with what it holds. */
export function apartWords(apart: readonly Apart[]): string {
  const named = apart.slice(0, 3).map(({ path, holds }) => `${pathWord(path)} (${heldWords(holds)})`);
  return `${named.join(', ')}${apart.length > 3 ? ` and ${apart.length - 3} more` : ''}`;
}

function heldWords(holds: Apart['holds']): string {
  if (holds.kind === 'unreadable') return 'git cannot read it';
  if (holds.kind === 'commits')
    return `commits that no remote of it has, such as ${holds.newest.slice(0, 7)}`;
  return `uncommitted: ${pathWords(holds.files, 3)}`;
}

export function heldApart({ id, worktree }: Loop, apart: readonly Apart[]): Problem {
  const several = apart.length > 1;
  return new Problem({
    code: 'loop.inner_repository',
    what: `Loop ${id} holds ${several ? 'repositories of their own' : 'a repository of its own'} with what is nowhere else: ${apartWords(apart)}.`,
    why: 'It is in no commit of the loop, and would be gone with the work tree.',
    fix: `${wayOut(worktree, apart[0]!)} What nobody needs can be deleted there. Then run this again.`,
  });
}

/** How what the first of them holds is brought to safety. */
function wayOut(worktree: string, { path, gitDir, holds }: Apart): string {
  if (holds.kind === 'unreadable' || gitDir === null)
    return `Move ${shellWord(resolve(worktree, path))} away.`;
  if (holds.kind === 'uncommitted')
    return `Commit and push it in ${shellWord(resolve(worktree, path))}, or move it out of there.`;
  const git = ['git', ...onlyFolder(gitDir).map(shellWord)].join(' ');
  return `Push them: ${git} push origin ${holds.newest.slice(0, 12)}:refs/heads/BRANCH (all: ${git} log --all --reflog --not --remotes), or move ${shellWord(gitDir)} away.`;
}

export const noTree = ({ id, worktree }: Loop, mainDir: string): Problem =>
  new Problem({
    code: 'loop.no_tree',
    what: `What lies at ${worktree} is not the work tree of loop ${id} any more.`,
    why: "Its .git file, which leads to the project's repository, is gone or another one; what else lies there is not ours to take away.",
    fix: `git -C ${shellWord(mainDir)} worktree repair. Where git cannot, move it away: mv ${shellWord(worktree)} ${shellWord(`${worktree}-mine`)}; the loop's commits are on its branch.`,
  });

export const notKept = ({ id }: Loop, ref: string): Problem =>
  new Problem({
    code: 'loop.not_kept',
    what: `The work of loop ${id} could not be kept as ${ref}.`,
    why: 'Git could not write that name; nothing was taken away.',
    fix: 'Free disk space or repair the repository (`git fsck`), then try again.',
  });
