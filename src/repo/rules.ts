/**
 * The files of the repository itself that tell git what to hide and what to run: its configuration, and the
 * attributes and ignore rules that no commit holds. What an attempt writes there can make a snapshot blind,
 * so they are kept by content before it and put back after it. Files are read; no process is started.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { RuleChange } from '../engine/index.ts';
import { type ConfigEntry, configEntries } from './config-text.ts';
import type { Place } from './place.ts';
import { bringBack, movedBranches, type Refs, readRefs } from './refs.ts';

/** The last two say which repository a work tree belongs to, as the file `.git` in it does; a main checkout has none. */
const NAMES = ['config', 'config.worktree', 'info/attributes', 'info/exclude', 'commondir', 'gitdir'];
/** A file that is larger is no rule file of git's; it is told, and not put back. */
const MOST_BYTES = 8 * 1024 * 1024;

interface RuleFile {
  /** Relative to the root where it lies below it, else absolute. */
  path: string;
  file: string;
}

function ruleFiles(place: Place): RuleFile[] {
  const folders = new Set([place.commonDir ?? place.privateGit, place.gitDir ?? place.privateGit]);
  const files = [...folders].flatMap((folder) => NAMES.map((name) => join(folder, name)));
  if (place.gitDir !== place.commonDir) files.push(join(place.root, '.git'));
  return files.map((file) => {
    const below = relative(place.root, file);
    return { file, path: below.startsWith('..') ? file : below };
  });
}

/** The sha256 of each of these files that is there; the content is kept in our own folder. */
export function readRules(place: Place): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { path, file } of ruleFiles(place)) {
    const bytes = contentOf(file);
    if (bytes === null) continue;
    found[path] = bytes === 'odd' ? 'odd' : keep(place, bytes);
  }
  const refs = readRefs(place);
  if (refs !== null) found[REFS] = keep(place, Buffer.from(JSON.stringify(refs)));
  return found;
}

/**
 * Puts back those files that hide or run something else than they did. A file written after `until` (epoch
 * ms; null: whenever) is somebody else's and stays. Harmless changes stay too, and are not answered.
 */
export function restoreRules(
  place: Place,
  before: Readonly<Record<string, string>>,
  until: number | null,
): RuleChange[] {
  // Nothing is put back into a repository that is gone: a bogus one would stand in the way of the real one.
  const lost = place.gitDir === null ? null : lostOf(place);
  if (lost !== null) return [{ path: '.git', what: [lost], outcome: 'gone', keptAs: null }];
  const changes: RuleChange[] = [];
  for (const { path, file } of ruleFiles(place)) {
    const change = restoreRule(place, { path, file, was: before[path] ?? null, until });
    if (change !== null) changes.push(change);
  }
  if (changes.length > 0) lookAgain(place);
  return [...changes, ...refChanges(place, before[REFS])];
}

/** Stands among the rules for what was kept of the refs. */
const REFS = '.git/refs';

/** What of it is gone, as a `RuleChange` says it; null: all is there. */
function lostOf({ root, gitDir, commonDir }: Place): 'repository' | 'work tree' | 'entry' | null {
  if (!existsSync(join(commonDir!, 'objects'))) return 'repository';
  const isLinked = gitDir !== commonDir;
  if (isLinked && !existsSync(join(root, '.git')) && !holdsFiles(root)) return 'work tree';
  if (existsSync(join(gitDir!, 'HEAD'))) return null;
  return isLinked ? 'entry' : 'repository';
}

/** Folders that we make anew in a work tree while a run goes on. */
const MADE_ANEW = ['.ralph', 'ralph'];

function holdsFiles(folder: string): boolean {
  if (!existsSync(folder)) return false;
  return readdirSync(folder, { withFileTypes: true }).some((entry) =>
    entry.isDirectory()
      ? !MADE_ANEW.includes(entry.name) && holdsFiles(join(folder, entry.name))
      : entry.isFile(),
  );
}

/** What branches and tags named when these rules were read; null where that is not known. */
export function tipsIn(place: Place, before: Readonly<Record<string, string>>): string[] | null {
  const refs = refsIn(place, before[REFS]);
  return refs === null ? null : Object.values(refs.names);
}

function refsIn(place: Place, sha: string | undefined): Refs | null {
  const bytes = sha === undefined ? null : kept(place, sha);
  return bytes === null ? null : (JSON.parse(bytes.toString('utf8')) as Refs);
}

/** Branches, tags and stashes that are gone, each with the command that brings it back; and branches that moved. */
function refChanges(place: Place, sha: string | undefined): RuleChange[] {
  const were = refsIn(place, sha);
  const now = were === null ? null : readRefs(place);
  if (were === null || now === null) return [];
  const change = (outcome: 'removed' | 'moved', what: string[]): RuleChange[] =>
    what.length === 0 ? [] : [{ path: REFS, what, outcome, keptAs: null }];
  return [...change('removed', bringBack(were, now)), ...change('moved', movedBranches(were, now))];
}

interface Wish extends RuleFile {
  was: string | null;
  until: number | null;
}

function restoreRule(place: Place, { path, file, was, until }: Wish): RuleChange | null {
  const now = contentOf(file);
  if (now !== 'odd' && (now === null ? null : shaOf(now)) === was) return null;
  if (now === 'odd' && was === 'odd') return null;
  const former = was === null ? Buffer.alloc(0) : kept(place, was);
  const what = former === null || now === 'odd' ? ['the whole file'] : differences(path, former, now);
  if (what.length === 0) return null;
  const keptAs = now === null || now === 'odd' ? null : join(keptFolder(place), keep(place, now));
  // The time of the last change of the file's entry is nobody's to choose, other than that of its content.
  const changedAt = statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0;
  if (until !== null && changedAt > until) return { path, what, outcome: 'spared', keptAs };
  const put = former !== null && now !== 'odd' && putBack(file, now, was === null ? null : former);
  return { path, what, outcome: put ? 'restored' : 'stuck', keptAs };
}

/** As git itself writes such a file: under its lock, and only over what was read. */
function putBack(file: string, now: Buffer | null, former: Buffer | null): boolean {
  let lock: string | null = null;
  try {
    const target = existsSync(file) ? realpathSync(file) : file;
    mkdirSync(dirname(target), { recursive: true });
    lock = `${target}.lock`;
    const handle = openSync(lock, 'wx', statSync(target, { throwIfNoEntry: false })?.mode ?? 0o644);
    try {
      if (former !== null) writeFileSync(handle, former);
    } finally {
      closeSync(handle);
    }
    const still = contentOf(file);
    const same = still === null || now === null ? still === now : still !== 'odd' && still.equals(now);
    if (!same || former === null) {
      if (same) rmSync(target, { force: true });
      rmSync(lock, { force: true });
      return same;
    }
    renameSync(lock, target);
    return true;
  } catch (error) {
    // A lock that is there already is another git's.
    if (lock !== null && (error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(lock, { force: true });
    return false;
  }
}

/**
 * What the indexes know of unchanged files may have been read through a rule that is gone. An index older than
 * every file makes git read them all again.
 */
function lookAgain(place: Place): void {
  const indexes = [place.indexFile, ...(place.gitDir === null ? [] : [join(place.gitDir, 'index')])];
  for (const index of indexes) if (existsSync(index)) utimesSync(index, 1, 1);
}

function contentOf(file: string): Buffer | 'odd' | null {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return null;
    return stat.isFile() && stat.size <= MOST_BYTES ? readFileSync(file) : 'odd';
  } catch {
    return 'odd';
  }
}

const shaOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const keptFolder = (place: Place): string => join(place.privateGit, 'rules');

/** They may hold a password in an address, so they are for their owner's eyes, and in no commit. */
function keep(place: Place, bytes: Buffer): string {
  const sha = shaOf(bytes);
  const folder = keptFolder(place);
  if (existsSync(join(folder, sha))) return sha;
  if (!existsSync(join(folder, '.gitignore'))) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, '.gitignore'), '*\n');
  }
  writeFileSync(join(folder, `${sha}.new`), bytes, { mode: 0o600 });
  renameSync(join(folder, `${sha}.new`), join(folder, sha));
  return sha;
}

function kept(place: Place, sha: string): Buffer | null {
  const bytes = contentOf(join(keptFolder(place), sha));
  return bytes === null || bytes === 'odd' || shaOf(bytes) !== sha ? null : bytes;
}

/** What the two say otherwise, in words for a person; empty where nothing of it hides or runs anything. */
function differences(path: string, former: Buffer, now: Buffer | null): string[] {
  const [was, is] = [former.toString('utf8'), now === null ? '' : now.toString('utf8')];
  if (now === null && was.trim() !== '') return ['removed'];
  return /[\\/]config(\.worktree)?$/.test(path) ? keysIn(was, is) : linesIn(was, is);
}

function keysIn(was: string, is: string): string[] {
  const [before, after] = [configEntries(was), configEntries(is)];
  if (!after.whole && before.whole) return ['git cannot read it any more'];
  const [old, now] = [before.entries.filter(matters), after.entries.filter(matters)];
  if (JSON.stringify(old) === JSON.stringify(now)) return [];
  const names = new Set([...old, ...now].map(({ name }) => name));
  const said = (entries: ConfigEntry[], name: string) =>
    JSON.stringify(entries.filter((entry) => entry.name === name));
  const changed = [...names].filter((name) => said(old, name) !== said(now, name));
  return changed.length > 0 ? changed : ['the order of its keys'];
}

function linesIn(was: string, is: string): string[] {
  const [old, now] = [was, is].map((text) =>
    text
      .split(/\r?\n/)
      .map((line) => line.trimEnd())
      .filter((line) => line !== '' && !line.startsWith('#') && !OURS.test(line)),
  );
  if (JSON.stringify(old) === JSON.stringify(now)) return [];
  const added = now!.filter((line) => !old!.includes(line)).map((line) => `"${line}" is new`);
  const gone = old!.filter((line) => !now!.includes(line)).map((line) => `"${line}" is gone`);
  return added.length + gone.length > 0 ? [...added, ...gone] : ['the order of its lines'];
}

/** What a start of ours in another work tree of this repository may add meanwhile. */
const OURS = /^\/(?:[^*?[\]\\]+\/)?ralph\/(?:blocked\.txt|decide\.txt|logs)$/;

/** Keys that make git hide a change or run a program; everything else is an agent's or a person's to set. */
const MATTERS = [
  /^(filter|include|includeif)\./,
  /^core\.(attributesfile|excludesfile|hookspath|fsmonitor|worktree|bare|sshcommand|gitproxy|askpass|editor|pager)$/,
  /^core\.(filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|trustctime|checkstat|ignorestat)$/,
  /^core\.(sparsecheckout|sparsecheckoutcone|untrackedcache|splitindex|alternaterefscommand)$/,
  /^extensions\./,
  /^diff\.(external|ignoresubmodules|.*\.(textconv|command))$/,
  /^merge\..*\.driver$/,
  /^(difftool|mergetool|man|browser|instaweb)\..*(cmd|path)$/,
  /^submodule\..*\.(ignore|update)$/,
  /^remote\..*\.(uploadpack|receivepack|vcs)$/,
  /^(credential(\..*)?\.helper|gpg(\..*)?\.(program|defaultkeycommand)|sequence\.editor|interactive\.difffilter)$/,
  /^(pager\..*|alias\..*)$/,
];

/** Values that many set, and that hide and run nothing of their own. */
const HARMLESS: readonly [RegExp, RegExp][] = [
  [/^core\.hookspath$/, /^\.husky(\/_)?$/],
  [/^filter\.lfs\.(clean|smudge|process)$/, /^git-lfs (clean|smudge|filter-process)( --skip)?( -- %f)?$/],
  [/^filter\.lfs\.required$/, /^true$/],
  [/^(core\.(editor|pager)|sequence\.editor|pager\..*)$/, /^(true|false|:|cat|less|vi|vim|nano|)$/],
  [/^alias\./, /^(?!\s*!)/],
  [/^submodule\..*\.update$/, /^(checkout|rebase|merge|none)$/],
];

function matters({ name, value }: ConfigEntry): boolean {
  return (
    MATTERS.some((pattern) => pattern.test(name)) &&
    !HARMLESS.some(([pattern, values]) => pattern.test(name) && values.test(value))
  );
}
