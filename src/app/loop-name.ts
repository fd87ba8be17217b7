/** What a loop is called by people: the registry's name of its work tree, or one made of the work tree's own. */
import { basename, dirname } from 'node:path';
import type { Loop } from '../store/index.ts';

/** The loop of the main checkout. */
export const MAIN_LOOP = 'main';

/** `ground`: the work tree's root as it stands in facts. The name fits behind an `@`. */
export function loopName(ground: string, registry: readonly Loop[]): string {
  if (ground === '.') return MAIN_LOOP;
  const known = registry.findLast(({ worktree }) => worktree === ground);
  if (known !== undefined) return known.id;
  const name = nameLike(basename(ground));
  return name === MAIN_LOOP ? `${nameLike(basename(dirname(ground)))}-${MAIN_LOOP}` : name;
}

function nameLike(text: string): string {
  return text.replace(/[^\w-]+/g, '-').replace(/^-+|-+$/g, '') || 'tree';
}
