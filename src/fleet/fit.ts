/**
 * What no landing may bring into an integration branch: a key somebody could use, and a file that no server takes.
 * Commits of the engine were held against the same; those that an agent made itself were not.
 */
import { secretsIn } from '../core/index.ts';
import type { Entering, Integration } from '../repo/index.ts';
import { type Landing, parked, some } from './landing.ts';

const MIB = 1024 * 1024;
/** Servers warn of larger files, and refuse those of twice the size. */
export const LARGEST_BYTES = 50 * MIB;

/** The landing that is refused for what its commits hold; null where they may land. The key itself is in no word. */
export async function unfitToLand(
  git: Integration,
  entering: Entering,
  { base, branch, again }: { base: string; branch: string; again: string },
): Promise<Landing | null> {
  const way = `Rewrite the commit without it (\`git rebase -i\` in the loop's work tree), or, if it is meant to be there, merge it yourself: git merge ${branch}. Then ${again}.`;
  const [large] = entering.large;
  if (large !== undefined) {
    const size = `${Math.round(large.bytes / MIB)} MiB`;
    const paths = entering.large.map(({ path }) => path);
    return parked(`${some(paths)} has ${size}, and servers refuse files that large`, way, paths);
  }
  const known = new Set<string>();
  for (const { commit, path, line, text } of entering.added) {
    const [secret] = secretsIn(text);
    if (secret === undefined) continue;
    // Every key of a kind begins with the same line, so its first line says nothing of which one it is.
    const isNamed = !secret.match.startsWith('-----BEGIN');
    if (isNamed && known.has(secret.match)) continue;
    known.add(secret.match);
    // What the branch has already, a person or an earlier landing brought there.
    if (isNamed && (await git.holds(base, secret.match))) continue;
    const where = `${path}, line ${line}, in commit ${commit.slice(0, 12)}`;
    return parked(`${where}, holds what looks like ${secret.what}`, way, [`${path}:${line}`]);
  }
  return null;
}
