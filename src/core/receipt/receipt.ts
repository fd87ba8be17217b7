/**
 * The receipt of one attempt: what was claimed and what became of each claim when it was held against the
 * snapshot, the gates and the agent's own tool events. The snapshot is the ground truth: a claim adds
 * nothing to what changed, and what it adds beyond that is false.
 */
import type { Claim, ClaimedFile } from '../claim.ts';
import type { Change, GateResult, RunCommand } from '../evidence.ts';
import { commandLedger, judged, type ReceiptCommand } from './commands.ts';
import { type CommitPlace, commitLedger, type ReceiptCommit } from './commits.ts';
import { criteriaOf, type ReceiptCriterion } from './criteria.ts';
import type { LineCheck } from './lines.ts';
import { type Footing, placed } from './place.ts';
import { claimedPaths } from './told.ts';

/** Where a claim stands. `tool`: the agent's tool events, which are facts of what it asked for, not claims. */
export type ReceiptSource = 'tool' | 'outbox' | 'result' | 'prose';

export type FileStatus =
  | 'changed'
  | 'deleted'
  | 'unchanged'
  | 'absent'
  | 'outside'
  | 'ignored'
  | 'bookkeeping';

export interface ReceiptFile {
  /** Relative to the repository's root; as it was written where it lies outside or is a pattern. */
  path: string;
  /** As the agent wrote it, where that differs. */
  said?: string;
  from: ReceiptSource[];
  /** `10-40`, where lines were named. */
  lines: string | null;
  /** Whether the file has these lines; absent where none were named or the file did not change. */
  lineCheck?: LineCheck;
  status: FileStatus;
  /** It counts as evidence. */
  held: boolean;
  /** It was claimed and is not so. */
  wrong: boolean;
  /** Why it does not count; empty where it does. */
  why: string;
}

export interface Receipt {
  /** At most 50, the wrong ones kept first. */
  files: ReceiptFile[];
  /** At most 20. */
  commands: ReceiptCommand[];
  /** At most 20; absent where none was named, and in journals of older versions. */
  commits?: ReceiptCommit[];
  /** At most 50. */
  criteria: ReceiptCriterion[];
  /** How many entries were left out. */
  more: number;
}

/**
 * What lies at a path now. `ignored`: it is there, and no snapshot holds it. `inner`: neither, because it lies in a
 * repository of its own.
 */
export type Whereabouts = { kind: 'file' | 'folder' | 'ignored' | 'inner' | 'outside'; path: string };

/** What the claims are held against; gathered by the engine. */
export interface Known {
  footing: Footing;
  /** False for a mode that owes no change: its files are no claims. */
  owesCode: boolean;
  claim: Claim;
  toolFiles: readonly string[];
  commands: readonly RunCommand[];
  /** Every command that the agent ran stands in `commands`. */
  toolLog: boolean;
  /** The net change of this task's own attempts. */
  changes: readonly Change[];
  /** Paths this task changed before its last review. */
  earlier: ReadonlySet<string>;
  /** Paths a person had changed before the run: nobody's evidence. */
  dirty: ReadonlySet<string>;
  /** Changes of this attempt that were put back. */
  undone: ReadonlySet<string>;
  /** Of the paths that `toLookFor` names; those that are not there are missing. */
  present: ReadonlyMap<string, Whereabouts>;
  isBookkeeping: (path: string) => boolean;
  matches: (pattern: string, path: string) => boolean;
  gates: readonly { run: string; result: GateResult }[];
  /** Commits of this task's attempts. */
  commits: readonly string[];
  /** Of the commits that `commitsToLookFor` names; those that the repository does not have are missing. */
  otherCommits: ReadonlyMap<string, CommitPlace>;
  acceptance: readonly string[];
  needsNoChange: boolean;
}

const MAX_FILES = 50;
const MAX_COMMANDS = 20;
const MAX_CRITERIA = 50;
const MAX_LOOKS = 400;

type Unlooked = Omit<Known, 'present'>;

/** Paths whose present state the receipt needs to know; empty when there is nothing to ask. */
export function toLookFor(known: Unlooked): string[] {
  const changed = new Set(known.changes.map(({ path }) => path));
  const paths = new Set<string>();
  const said = known.owesCode ? claimsOf(known) : [];
  const mentioned = ({ deed, unsure }: FileClaim) => deed === 'named' && unsure;
  const behind = claimedPaths(known.claim).map((path) => ({ ...AS_EVIDENCE, path }));
  for (const claim of [...said.filter((one) => !mentioned(one)), ...behind]) {
    const place = placed(claim.path, known.footing);
    if (place.kind !== 'inside') continue;
    for (const one of place.paths) {
      if (one === '' || changed.has(one)) continue;
      paths.add(one);
      if (claim.deed === 'named') paths.add(topOf(one));
    }
  }
  return [...paths].slice(0, MAX_LOOKS);
}

/** Holds every claim against what is known; null when nothing was claimed and no tool wrote anything. */
export function makeReceipt(known: Known): Receipt | null {
  const ledger = fileLedger(known);
  const files = known.owesCode ? claimsOf(known).flatMap((claim) => ledger(claim) ?? []) : [];
  const merged = mergedFiles(files);
  const commands = commandLedger(known);
  const criteria = criteriaOf(known, {
    file: (path) => ledger({ ...AS_EVIDENCE, path }),
    commands,
    run: (command) => judged({ command, from: [], said: null }, known),
  });
  const commits = known.owesCode ? commitLedger(known) : [];
  if (merged.length + commands.length + criteria.length + commits.length === 0) return null;
  const kept = merged.length <= MAX_FILES ? merged : merged.toSorted((a, b) => rank(a) - rank(b));
  return {
    files: kept.slice(0, MAX_FILES),
    commands: commands.slice(0, MAX_COMMANDS),
    ...(commits.length === 0 ? {} : { commits }),
    criteria: criteria.slice(0, MAX_CRITERIA),
    more:
      Math.max(0, merged.length - MAX_FILES) +
      Math.max(0, commands.length - MAX_COMMANDS) +
      Math.max(0, criteria.length - MAX_CRITERIA),
  };
}

/** What a false claim is about. */
export type FalseClaim = 'file' | 'lines' | 'command' | 'commit' | 'criterion';

export interface WrongClaim {
  about: FalseClaim;
  /** What was claimed, and why it is not so. */
  text: string;
}

/** What was claimed and is not so, for a finding's sentence. */
export function wrongIn({ files, commands, commits = [], criteria }: Receipt): WrongClaim[] {
  const told: WrongClaim[] = [];
  for (const { path, why, lines, lineCheck } of files.filter(({ wrong }) => wrong)) {
    if (lineCheck === 'past_end') told.push({ about: 'lines', text: `${path} lines ${lines} (${why})` });
    else told.push({ about: 'file', text: `${path} (${why})` });
  }
  for (const { command, said, why } of commands.filter(({ wrong }) => wrong))
    told.push({
      about: 'command',
      text: `\`${command}\`${said === null ? '' : ` with exit ${said}`} (${why})`,
    });
  for (const { commit, why } of commits.filter(({ wrong }) => wrong))
    told.push({ about: 'commit', text: `commit ${commit} (${why})` });
  for (const { text, number, by } of criteria)
    for (const { value, seen, against } of by)
      if (against === true)
        told.push({
          about: 'criterion',
          text: `${number === null ? 'a criterion' : `criterion ${number}`}, ${text}, by \`${value}\` (${seen})`,
        });
  return told;
}

/** The claim by which it is looked what stands behind a criterion: it asserts nothing. */
const AS_EVIDENCE = { lines: null, deed: 'changed', via: 'result', unsure: false } as const;

const topOf = (path: string) => path.split('/')[0]!;

type FileClaim = Omit<ClaimedFile, 'via'> & { via: ReceiptSource };

function claimsOf({ claim, toolFiles }: Unlooked): FileClaim[] {
  const said: FileClaim[] = claim.told?.files ?? claim.files.map((path) => ({ ...AS_EVIDENCE, path }));
  const tools = toolFiles.map((path): FileClaim => ({ ...AS_EVIDENCE, path, via: 'tool' }));
  return [...said, ...tools];
}

const rank = ({ wrong, held, from }: ReceiptFile) =>
  wrong ? 0 : held && from.some((source) => source !== 'tool') ? 1 : held ? 2 : 3;

/** One entry for each path, whoever named it; what any of them says wrongly stays wrong. */
function mergedFiles(files: ReceiptFile[]): ReceiptFile[] {
  const byPath = new Map<string, ReceiptFile>();
  for (const file of files) {
    const known = byPath.get(file.path);
    if (known === undefined) {
      byPath.set(file.path, { ...file, from: [...file.from] });
      continue;
    }
    for (const source of file.from) if (!known.from.includes(source)) known.from.push(source);
    known.lines ??= file.lines;
    if (file.wrong && !known.wrong) Object.assign(known, { wrong: true, held: false, why: file.why });
  }
  return [...byPath.values()];
}

/** Answers what became of a claimed file; null for one that may have been none. */
function fileLedger(known: Known): (claim: FileClaim) => ReceiptFile | null {
  const changed = new Map(known.changes.map((change) => [change.path, change]));
  const folded = folding(known.changes);
  const written = new Set(
    known.toolFiles.flatMap((path) => {
      const place = placed(path, known.footing);
      return place.kind === 'inside' ? place.paths : [];
    }),
  );
  return (claim) => {
    const place = placed(claim.path, known.footing);
    const entry = (path: string, status: FileStatus, over: Partial<ReceiptFile> = {}): ReceiptFile => ({
      path,
      ...(path === claim.path ? {} : { said: claim.path }),
      from: [claim.via],
      lines: claim.lines,
      status,
      held: false,
      wrong: false,
      why: '',
      ...over,
    });
    const found = findChange(claim, { place, changed, folded: folded(), known });
    if (found !== null) return held(entry, found);
    if (claim.unsure) return null;
    if (place.kind === 'outside')
      return entry(claim.path, 'outside', { why: 'it lies outside the repository' });
    const asserted = claim.via !== 'tool';
    if (place.kind === 'pattern')
      return entry(claim.path, 'unchanged', { wrong: asserted, why: 'nothing that changed matches it' });
    return standstill(claim, { paths: place.paths, entry, known, asserted, written });
  };
}

type Entry = (path: string, status: FileStatus, over?: Partial<ReceiptFile>) => ReceiptFile;

/** A file that changed is true whatever word stood beside it: "removed" is often said of a part of it. */
function held(entry: Entry, { path, after }: Change): ReceiptFile {
  return entry(path, after === null ? 'deleted' : 'changed', { held: true });
}

interface Standing {
  paths: string[];
  entry: Entry;
  known: Known;
  asserted: boolean;
  written: ReadonlySet<string>;
}

/** A claimed file that this task did not change. */
function standstill(
  { deed }: FileClaim,
  { paths, entry, known, asserted, written }: Standing,
): ReceiptFile | null {
  const at = (test: (path: string) => boolean) => paths.find(test);
  const first = paths[0]!;
  const own = at(known.isBookkeeping);
  if (own !== undefined) return entry(own, 'bookkeeping', { why: 'task files, notes and logs are no work' });
  const undone = at((path) => known.undone.has(path));
  if (undone !== undefined) return entry(undone, 'unchanged', { why: 'the change was put back' });
  const dirty = at((path) => known.dirty.has(path));
  if (dirty !== undefined)
    return entry(dirty, 'unchanged', {
      why: 'a person had changed it before the run, so it counts for nobody',
    });
  const path = at((one) => known.present.has(one));
  if (deed === 'named') {
    // From another folder or another project the same name may be there.
    const near = at((one) => one.includes('/') && isFolder(topOf(one), known));
    return path === undefined && near !== undefined
      ? entry(near, 'absent', { wrong: asserted, why: 'there is no such file' })
      : null;
  }
  if (path === undefined) {
    if (deed === 'removed' || deed === 'moved')
      return entry(first, 'absent', { why: 'it was not there before, either' });
    const gone = paths.some((one) => written.has(one));
    return entry(first, 'absent', {
      wrong: asserted,
      why: gone ? 'it was written, and is gone again' : 'there is no such file',
    });
  }
  const { kind } = known.present.get(path)!;
  if (kind === 'outside') return entry(path, 'outside', { why: 'a link leads it out of the repository' });
  if (kind === 'inner')
    return entry(path, 'ignored', {
      why: 'it lies in a repository inside this one, of which only what is committed there counts',
    });
  if (kind === 'ignored')
    return entry(path, 'ignored', { why: 'git ignores it, so no snapshot can prove it' });
  if (deed === 'removed') return entry(path, 'unchanged', { wrong: asserted, why: 'it is still there' });
  if (known.earlier.has(path))
    return entry(path, 'unchanged', { why: 'it was changed before the last review' });
  return entry(path, 'unchanged', {
    wrong: asserted && !known.needsNoChange,
    why: kind === 'folder' ? 'nothing in it changed' : 'it is as it was before this task',
  });
}

function isFolder(name: string, { present, changes }: Known): boolean {
  return present.get(name)?.kind === 'folder' || changes.some(({ path }) => path.startsWith(`${name}/`));
}

interface Search {
  place: ReturnType<typeof placed>;
  changed: ReadonlyMap<string, Change>;
  folded: Folded;
  known: Known;
}

/** The change a claimed path means, if any: exact, below it, matching it, or named in short. */
function findChange(claim: FileClaim, { place, changed, folded, known }: Search): Change | null {
  if (place.kind === 'outside') return place.maybe === null ? null : (changed.get(place.maybe) ?? null);
  if (place.kind === 'pattern') {
    const { patterns } = place;
    const hit = known.changes.find(({ path }) => patterns.some((pattern) => known.matches(pattern, path)));
    return hit === undefined ? null : { ...hit, path: claim.path, after: hit.after ?? '' };
  }
  for (const path of place.paths) {
    const exact = changed.get(path) ?? changed.get(known.present.get(path)?.path ?? '');
    if (exact !== undefined) return exact;
    const inside = place.folder || known.present.get(path)?.kind === 'folder';
    const below = inside
      ? known.changes.find((change) => path === '' || change.path.startsWith(`${path}/`))
      : undefined;
    if (below !== undefined) return { ...below, path: path === '' ? '.' : path, after: below.after ?? '' };
  }
  for (const path of place.paths) {
    const parent = parents(path).find((one) => changed.has(one));
    // A nested repository is one entry of the snapshot.
    if (parent !== undefined) return { ...changed.get(parent)!, path };
  }
  const there = place.paths.some((path) => known.present.has(path));
  const short = !claim.path.includes('/') && !claim.path.includes('\\') && claim.via === 'prose';
  if (there && !short) return null;
  return (
    place.paths.map((path) => folded.anyCase(path) ?? folded.ending(path)).find((one) => one !== null) ?? null
  );
}

function parents(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

interface Folded {
  /** The change at this path in another case. */
  anyCase: (path: string) => Change | null;
  /** The change whose path ends in this one: `Chart.tsx` for `src/ui/Chart.tsx`. */
  ending: (path: string) => Change | null;
}

/** Looks changes up by less than their whole path; the index is made when it is first asked. */
function folding(changes: readonly Change[]): () => Folded {
  let made: Folded | null = null;
  return () => {
    made ??= fold(changes);
    return made;
  };
}

function fold(changes: readonly Change[]): Folded {
  let byName: Map<string, Change[]> | null = null;
  const named = (path: string): Change[] => {
    if (byName === null) {
      byName = new Map();
      for (const change of changes) {
        const alike = byName.get(nameOf(change.path));
        if (alike === undefined) byName.set(nameOf(change.path), [change]);
        else alike.push(change);
      }
    }
    return byName.get(nameOf(path)) ?? [];
  };
  return {
    anyCase: (path) => named(path).find((change) => change.path.toLowerCase() === path.toLowerCase()) ?? null,
    ending: (path) => named(path).find((change) => change.path.endsWith(`/${path}`)) ?? null,
  };
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase();
}
