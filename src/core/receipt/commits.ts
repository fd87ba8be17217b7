/** The commits of a receipt: what an agent named as its commits, against those its attempts made. */
import type { Claim } from '../claim.ts';
import type { Change } from '../evidence.ts';

export interface ReceiptCommit {
  /** As it was named, in small letters. */
  commit: string;
  held: boolean;
  wrong: boolean;
  /** `made by this task`, or why it does not count. */
  why: string;
}

/**
 * Where a commit lies that no attempt of this task made. `before`: in the history the task began with.
 * `aside`: anywhere else, such as one that the agent amended since.
 */
export type CommitPlace = 'before' | 'aside';

/** What commits are held against. */
export interface KnownCommits {
  claim: Claim;
  /** Commits of this task's attempts, whole ids. */
  commits: readonly string[];
  changes: readonly Change[];
  /** Of the ids that `commitsToLookFor` names; those that the repository does not have are missing. */
  otherCommits: ReadonlyMap<string, CommitPlace>;
}

const MAX_COMMITS = 20;
const ID = /\b[0-9a-f]{7,64}\b/i;

/** The id in an entry of evidence; null for one that names none, such as `HEAD`. */
export function commitIn(value: string): string | null {
  return ID.exec(value)?.[0].toLowerCase() ?? null;
}

/** Ids that were named and that no attempt made: the repository has to say whether there are such commits. */
export function commitsToLookFor(known: Omit<KnownCommits, 'otherCommits'>): string[] {
  const ids = [...namedIn(known.claim), ...plainIn(known.claim)];
  return [...new Set(ids)].filter((id) => !isOwn(id, known)).slice(0, MAX_COMMITS);
}

/** Every commit that stands as evidence, with a criterion or without. */
export function commitLedger(known: KnownCommits): ReceiptCommit[] {
  const named = namedIn(known.claim);
  const told = (known.claim.told?.commits ?? []).filter(({ commit }) => !named.includes(commit));
  const prose = told.flatMap(({ commit, unsure }) => {
    const found = judgedCommit(commit, known);
    if (found.held) return [found];
    // Prose that names an older commit may speak of just that one; only what is nowhere is false.
    return unsure ? [] : [{ ...found, wrong: !known.otherCommits.has(commit) }];
  });
  return [...named.map((id) => judgedCommit(id, known)), ...prose].slice(0, MAX_COMMITS);
}

/** What became of one named commit. */
export function judgedCommit(id: string, known: KnownCommits): ReceiptCommit {
  if (isOwn(id, known)) return { commit: id, held: true, wrong: false, why: 'made by this task' };
  const place = known.otherCommits.get(id);
  const why =
    place === undefined
      ? 'the repository has no such commit'
      : place === 'before'
        ? 'it was there before this task began'
        : 'it is no commit of this task’s attempts';
  return { commit: id, held: false, wrong: place !== 'aside', why };
}

/** Those that prose says the agent made. */
function plainIn({ told }: Claim): string[] {
  return (told?.commits ?? []).filter(({ unsure }) => !unsure).map(({ commit }) => commit);
}

function namedIn({ result }: Claim): string[] {
  const ids = (result?.evidence ?? []).flatMap(({ kind, value }) =>
    kind === 'commit' ? (commitIn(value) ?? []) : [],
  );
  return [...new Set(ids)].slice(0, MAX_COMMITS);
}

/** Made by an attempt; or the new commit of a repository within this one, which is a change like any other. */
function isOwn(id: string, { commits, changes }: Pick<KnownCommits, 'commits' | 'changes'>): boolean {
  return (
    commits.some((commit) => commit.toLowerCase().startsWith(id)) ||
    changes.some(({ after }) => after?.startsWith(id) ?? false)
  );
}
