/**
 * What no landing may bring into an integration branch: a key somebody could use, a file that no server takes, and a
 * submodule's commit that nobody else can get. Commits of the engine were held against the first two; those that an
 * agent made itself were not.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathWord, pathWords, secretsIn, shellWord } from '../core/index.ts';
import { type Entering, onlyFolder } from '../repo/index.ts';
import { type Landed, type Landing, parked, shortName } from './landing.ts';

const MIB = 1024 * 1024;
/** Servers warn of larger files, and refuse those of twice the size. */
export const LARGEST_BYTES = 50 * MIB;

interface Fitting {
  landing: Landed;
  entering: Entering;
  base: string;
  tip: string;
}

/** The landing that is refused for what its commits hold; null where they may land. The key itself is in no word. */
export async function unfitToLand(fitting: Fitting): Promise<Landing | null> {
  return tooLarge(fitting) ?? (await secretIn(fitting)) ?? (await withoutSubmodule(fitting));
}

const wayOut = ({ loop, again }: Landed): string =>
  `Rewrite the commit without it (\`git rebase -i\` in the loop's work tree), or, if it is meant to be there, merge it yourself: git merge ${shortName(loop.branch)}. Then ${again}.`;

function tooLarge({ landing, entering }: Fitting): Landing | null {
  const [large] = entering.large;
  if (large === undefined) return null;
  const size = `${Math.round(large.bytes / MIB)} MiB`;
  const paths = entering.large.map(({ path }) => path);
  return parked(
    `${pathWords(paths)} has ${size}, and servers refuse files that large`,
    wayOut(landing),
    paths,
  );
}

async function secretIn({ landing, entering, base }: Fitting): Promise<Landing | null> {
  const known = new Set<string>();
  for (const { commit, path, line, text } of entering.added) {
    const [secret] = secretsIn(text);
    if (secret === undefined) continue;
    // Every key of a kind begins with the same line, so its first line says nothing of which one it is.
    const isNamed = !secret.match.startsWith('-----BEGIN');
    if (isNamed && known.has(secret.match)) continue;
    known.add(secret.match);
    // What the branch has already, a person or an earlier landing brought there.
    if (isNamed && (await landing.git.holds(base, secret.match))) continue;
    const where = `${pathWord(path)}, line ${line}, in commit ${commit.slice(0, 12)}`;
    return parked(`${where}, holds what looks like ${secret.what}`, wayOut(landing), [`${path}:${line}`]);
  }
  return null;
}

async function withoutSubmodule({ landing, entering, tip }: Fitting): Promise<Landing | null> {
  const { git, loop, again } = landing;
  const from = { root: loop.worktree, onto: loop.onto };
  const [lost] = await git.unreachable(tip, entering.links, from);
  if (lost === undefined) return null;
  const { path, commit, folder } = lost;
  const names = `its commits name ${commit.slice(0, 12)} of the submodule ${pathWord(path)}`;
  if (folder === null)
    return parked(
      `${names}, which no repository here has, so that nothing shows that it can be checked out`,
      `In ${loop.worktree}: git submodule update --init ${shellWord(path)} fetches it, where its remote has it. Then ${again}.`,
      [path],
    );
  const place = join(loop.worktree, path);
  const there = existsSync(join(place, '.git')) ? ['-C', place] : onlyFolder(folder);
  return parked(
    `${names}, which lies in the loop's work tree only, so that ${shortName(loop.onto)} would name a commit that nobody else can get`,
    `Push it: ${['git', ...there.map(shellWord)].join(' ')} push origin ${commit}:refs/heads/BRANCH, or fetch it into that submodule of your own checkout. Then ${again}.`,
    [path],
  );
}
