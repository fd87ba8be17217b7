/**
 * The branches, tags and stashes of a repository, read from git's files without a process: a removed one is
 * only a name less, and its commit can be had again for as long as somebody knows its id.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '../core/index.ts';
import type { Place } from './place.ts';

export interface Refs {
  /** Commit id (or tag object id) by full name, `refs/heads/…` and `refs/tags/…`. */
  names: Record<string, string>;
  /** Ids of the stash entries, oldest first, each with its words. */
  stash: { oid: string; text: string }[];
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** More is no project's; it is then not looked at. */
const MOST_REFS = 5_000;
const MOST_BYTES = 8 * 1024 * 1024;

/** null: no repository, or one whose refs lie in another way than in files (reftable), or too many. */
export function readRefs({ commonDir }: Pick<Place, 'commonDir'>): Refs | null {
  if (commonDir === null || existsSync(join(commonDir, 'reftable'))) return null;
  const names: Record<string, string> = {};
  for (const kind of ['heads', 'tags']) readLoose(commonDir, `refs/${kind}`, names);
  // Afterwards: git packs a loose one before it takes it away, so that none is missed in between.
  for (const line of textOf(join(commonDir, 'packed-refs')).split('\n')) {
    const match = /^([0-9a-f]{40,64}) (refs\/(?:heads|tags)\/\S+)$/.exec(line);
    if (match !== null) names[match[2]!] ??= match[1]!;
  }
  if (Object.keys(names).length > MOST_REFS) return null;
  return { names, stash: stashOf(commonDir) };
}

/** The commit of each branch by its full name; null where files do not tell them. */
export function branchTips(place: Pick<Place, 'commonDir'>): Record<string, string> | null {
  const names = readRefs(place)?.names;
  if (names === undefined) return null;
  return Object.fromEntries(Object.entries(names).filter(([name]) => name.startsWith('refs/heads/')));
}

function readLoose(commonDir: string, folder: string, names: Record<string, string>): void {
  for (const entry of entriesOf(join(commonDir, folder))) {
    const name = `${folder}/${entry.name}`;
    if (Object.keys(names).length > MOST_REFS) return;
    if (entry.isDirectory()) readLoose(commonDir, name, names);
    else if (entry.isFile() && !name.endsWith('.lock')) {
      const oid = textOf(join(commonDir, name)).trim();
      if (OBJECT_ID.test(oid)) names[name] = oid;
    }
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return statSync(file).size > MOST_BYTES ? '' : readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** `<old> <new> <who> <time> <zone>\\t<text>`, one line an entry; the last is `stash@{0}`. */
function stashOf(commonDir: string): Refs['stash'] {
  return textOf(join(commonDir, 'logs/refs/stash'))
    .split('\n')
    .flatMap((line) => {
      const [ids = '', text = ''] = line.split('\t', 2);
      const oid = ids.split(' ')[1] ?? '';
      return OBJECT_ID.test(oid) ? [{ oid, text }] : [];
    });
}

/** The branches that name another commit than they did: `<full name> <was> <is>`. */
export function movedBranches(before: Refs, now: Refs): string[] {
  return Object.keys(before.names)
    .filter((name) => name.startsWith('refs/heads/'))
    .filter((name) => (now.names[name] ?? before.names[name]) !== before.names[name])
    .sort()
    .map((name) => `${name} ${before.names[name]} ${now.names[name]}`);
}

/** The command that brings back each branch, tag and stash entry that was there and is not any more. */
export function bringBack(before: Refs, now: Refs): string[] {
  const gone = Object.keys(before.names).filter((name) => now.names[name] === undefined);
  const refs = gone.sort().map((name) => {
    const [, kind, short] = /^refs\/(heads|tags)\/(.+)$/.exec(name)!;
    return `git ${kind === 'heads' ? 'branch' : 'tag'} ${shellWord(short!)} ${before.names[name]}`;
  });
  const left = new Set(now.stash.map(({ oid }) => oid));
  const stashes = before.stash.filter(({ oid }) => !left.has(oid));
  return [...refs, ...stashes.map(({ oid, text }) => `git stash store -m ${shellWord(text)} ${oid}`)];
}
