/**
 * What no commit of the engine's may hold: a key somebody could use, and a file that no server takes. Looked for in
 * what a task left, before it is committed; a person who wants it there commits it, and the task has landed.
 */
import { type Change, secretsIn } from '../../core/index.ts';
import type { House } from '../house.ts';

/** Servers warn of larger files, and refuse those of twice the size. */
const MOST_MIB = 50;

/** Why this may not be committed, for a person; null where it may. */
export async function unfit(house: House, stand: readonly Change[]): Promise<string | null> {
  const there = await house.ground.texts(stand.filter(({ after }) => after !== null).map(({ path }) => path));
  for (const change of stand) {
    const file = there.get(change.path);
    const reason = file === undefined ? null : await reasonOf(house, change, file);
    // What a person has committed meanwhile is theirs to answer for.
    if (reason !== null && (await house.ground.uncommitted([change.path])).length > 0) return reason;
  }
  return null;
}

async function reasonOf(
  house: House,
  { path, before }: Change,
  { bytes, text }: { bytes: number; text: string | null },
): Promise<string | null> {
  if (bytes > MOST_MIB * 1024 * 1024)
    return `${path} has ${Math.round(bytes / 1024 / 1024)} MiB, and servers refuse files that large: ignore or remove it, or commit it yourself; then \`ralph run\``;
  const found = secretsIn(text ?? '');
  if (found.length === 0) return null;
  const old = before === null ? null : await house.ground.read(before);
  const known = old === null ? '' : Buffer.from(old).toString('utf8');
  const secret = found.find(({ match }) => !known.includes(match));
  return secret === undefined
    ? null
    : `${path}, line ${secret.line}, holds what looks like ${secret.what}: take it out, or commit it yourself if it opens nothing; then \`ralph run\``;
}
