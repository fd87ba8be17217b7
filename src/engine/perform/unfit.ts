/**
 * What no commit of the engine's may hold: a key somebody could use, and a file that no server takes. A person who
 * wants it there commits it, and the task has landed.
 */
import { commandFor, pathWord, secretsIn } from '../../core/index.ts';
import type { House } from '../house.ts';

/** Servers warn of larger files, and refuse those of twice the size. */
const MOST_MIB = 50;

/** Why these paths may not be committed as they lie, for a person; null where they may. */
export async function unfit(house: House, paths: string[]): Promise<string | null> {
  for (const [path, { bytes, text }] of await house.ground.texts(paths)) {
    const isLarge = bytes > MOST_MIB * 1024 * 1024;
    const found = secretsIn(text ?? '');
    if (!isLarge && found.length === 0) continue;
    // What HEAD has, a person or an earlier commit brought there.
    if ((await house.ground.uncommitted([path])).length === 0) continue;
    if (isLarge)
      return `${pathWord(path)} has ${Math.round(bytes / 1024 / 1024)} MiB, and servers refuse files that large: ignore or remove it, or commit it yourself; then \`${commandFor(house.state, 'ralph run')}\``;
    const known = await inHead(house, path);
    const secret = found.find(({ match }) => !known.includes(match));
    if (secret !== undefined)
      return `${pathWord(path)}, line ${secret.line}, holds what looks like ${secret.what}: take it out, or commit it yourself if it opens nothing; then \`${commandFor(house.state, 'ralph run')}\``;
  }
  return null;
}

async function inHead({ ground }: House, path: string): Promise<string> {
  const { head } = await ground.head();
  const blob = (await ground.committed(head, [path])).get(path);
  const content = blob === undefined ? null : await ground.read(blob);
  return content === null ? '' : Buffer.from(content).toString('utf8');
}
