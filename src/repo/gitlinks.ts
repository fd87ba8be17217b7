/**
 * Commits of submodules that a commit names. Whoever has that commit must be able to get them: one that lies only in a
 * work tree of ours goes with it, and one that nobody has cannot be checked out anywhere.
 */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { configEntries } from './config-text.ts';
import { textOf } from './file-text.ts';
import type { GitResult } from './git.ts';
import { type Gitlink, gitlinksOf, modulesIn, onlyFolder } from './modules.ts';
import { gitDirOf } from './project.ts';

/** `folder`: git's folder that holds it and no remote of which has it; null: no repository here has it at all. */
export interface Unreachable extends Gitlink {
  folder: string | null;
}

/** A work tree, and git's own folder of it; null: it has none any more. */
export interface Holder {
  root: string;
  gitDir: string | null;
}

export interface LinkSite {
  /** Runs git and says what came of it. */
  ask(args: string[]): Promise<GitResult>;
  /** The one that goes one day. */
  passing: Holder;
  /** Those that stay. */
  lasting: readonly Holder[];
}

/** The links of `tip` to one of these commits that would be gone with the work tree. */
export async function unreachable(
  site: LinkSite,
  tip: string,
  links: readonly string[],
): Promise<Unreachable[]> {
  if (links.length === 0) return [];
  const named = new Set(links);
  const held = (await linksIn(site, [], tip)).filter(({ commit }) => named.has(commit));
  return lostOf(site, held, { isTop: true });
}

async function lostOf(
  site: LinkSite,
  links: readonly Gitlink[],
  depth: { isTop: boolean },
): Promise<Unreachable[]> {
  const found: Unreachable[] = [];
  for (const link of links) found.push(...(await lost(site, link, depth)));
  return found;
}

async function lost(site: LinkSite, link: Gitlink, { isTop }: { isTop: boolean }): Promise<Unreachable[]> {
  const { path, commit } = link;
  if ((await folderWith(site, site.lasting, link)) !== null) return [];
  const folder = await folderWith(site, [site.passing], link);
  // Further down it may be an old one that nobody has fetched here; at the top it is new.
  if (folder === null) return isTop ? [{ ...link, folder }] : [];
  const newest = ['rev-list', '--max-count=1', commit, '--not', '--remotes'];
  const { code, stdout } = await site.ask([...onlyFolder(folder), ...newest]);
  if (code !== 0 || stdout.length > 0) return [{ ...link, folder }];
  const inner = await linksIn(site, onlyFolder(folder), commit);
  return lostOf(
    site,
    inner.map((one) => ({ ...one, path: join(path, one.path) })),
    { isTop: false },
  );
}

async function linksIn({ ask }: LinkSite, where: string[], commit: string): Promise<Gitlink[]> {
  const { stdout } = await ask([...where, 'ls-tree', '-r', '-z', '--full-tree', commit]);
  return gitlinksOf(stdout.toString('utf8'));
}

async function folderWith(
  { ask }: LinkSite,
  holders: readonly Holder[],
  { path, commit }: Gitlink,
): Promise<string | null> {
  for (const folder of new Set(holders.flatMap((holder) => repositories(holder, path)))) {
    const { code } = await ask([...onlyFolder(folder), 'cat-file', '-e', `${commit}^{commit}`]);
    if (code === 0) return folder;
  }
  return null;
}

/** The likeliest first: what is checked out at the path, then all that git keeps. */
function repositories({ root, gitDir }: Holder, path: string): string[] {
  const checkedOut = gitDirOf(join(root, path));
  return [...(checkedOut === null ? [] : [checkedOut]), ...(gitDir === null ? [] : keptIn(gitDir))];
}

function keptIn(gitDir: string): string[] {
  const modules = modulesIn(join(gitDir, 'modules')).map((folder) => realpathSync(folder));
  return modules.flatMap((folder) => [folder, ...keptIn(folder)]);
}

/** Submodules checked out below `root` whose commit in `branch` no remote of theirs has, with how many are missing there. */
export async function unpushedLinks(
  ask: LinkSite['ask'],
  root: string,
  branch: string,
): Promise<{ path: string; commits: number }[]> {
  const { entries } = configEntries(textOf(join(root, '.gitmodules')));
  const paths = entries.filter(({ name }) => /^submodule\..*\.path$/.test(name)).map(({ value }) => value);
  if (paths.length === 0) return [];
  const { stdout } = await ask(['ls-tree', '-z', '--full-tree', branch, '--', ...paths]);
  const found: { path: string; commits: number }[] = [];
  for (const { path, commit } of gitlinksOf(stdout.toString('utf8'))) {
    const folder = gitDirOf(join(root, path));
    if (folder === null) continue;
    const counted = await ask([...onlyFolder(folder), 'rev-list', '--count', commit, '--not', '--remotes']);
    const commits = Number(counted.stdout.toString('latin1'));
    if (counted.code === 0 && commits > 0) found.push({ path, commits });
  }
  return found;
}
