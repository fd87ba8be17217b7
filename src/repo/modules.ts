/** Submodules as git keeps them: links in a tree, and a folder of each in the repository that holds it. */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Git's folders of submodules right below this one. A submodule's name may hold slashes. */
export function modulesIn(folder: string): string[] {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  if (existsSync(join(folder, 'HEAD')) && existsSync(join(folder, 'objects'))) return [folder];
  return readdirSync(folder).flatMap((name) => modulesIn(join(folder, name)));
}

/** For git to read a repository whose files, where it says they are, may be gone. */
export const onlyFolder = (gitDir: string): string[] => [`--git-dir=${gitDir}`, `--work-tree=${gitDir}`];

/** A link to a commit of another repository. */
export interface Gitlink {
  path: string;
  commit: string;
}

/** The links among the rows of `ls-files -s -z` or `ls-tree -z`. */
export function gitlinksOf(rows: string): Gitlink[] {
  return rows
    .split('\0')
    .filter((row) => row.startsWith('160000 '))
    .map((row) => ({
      path: row.slice(row.indexOf('\t') + 1),
      commit: /[0-9a-f]{40,64}/.exec(row)?.[0] ?? '',
    }));
}
