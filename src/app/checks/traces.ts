/**
 * What the doctor's own trials leave in the project. Gates and the agent run where a run would start them,
 * because permissions, ignored dependencies and caches hang on that folder; so whatever is other there
 * afterwards is told, file by file, and what was overwritten or removed is kept aside. Nothing is put back:
 * a person may have edited the same file meanwhile.
 */
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { ProblemFacts } from '../../core/index.ts';
import { shellWord } from '../../core/index.ts';
import type { Ground } from '../../engine/index.ts';
import { count, oneLine } from '../../views/index.ts';
import { type Row, rowsFrom } from './check.ts';

export interface TraceSubject {
  ground: Ground;
  /** Paths below the root, or absolute, that snapshots leave out: the task list and the desk. */
  aside: string[];
}

/** What is other than before. */
export interface Traces {
  added: string[];
  changed: string[];
  removed: string[];
  /** Where HEAD stood before, when it moved; null: it did not. */
  headBefore: { head: string | null } | null;
  /** A folder with the former content of what was changed or removed; null: nothing was. */
  kept: string | null;
}

/** Does the work and answers what it left behind. */
export async function tracesOf<Result>(
  { ground, aside }: TraceSubject,
  work: () => Promise<Result>,
): Promise<{ result: Result; traces: Traces }> {
  const before = await ground.snapshot();
  const asideBefore = await textsOf(ground, aside);
  const result = await work();
  const after = await ground.snapshot();
  const asideAfter = await textsOf(ground, aside);
  const traces: Traces = { added: [], changed: [], removed: [], headBefore: null, kept: null };
  const former = new Map<string, () => Promise<Uint8Array | null>>();
  const note = (path: string, was: boolean, is: boolean) =>
    (was ? (is ? traces.changed : traces.removed) : traces.added).push(path);
  for (const { path, before: was, after: is } of await ground.changes(before.tree, after.tree)) {
    note(path, was !== null, is !== null);
    if (was !== null) former.set(path, () => ground.read(was));
  }
  for (const path of aside) {
    const [was, is] = [asideBefore.get(path) ?? null, asideAfter.get(path) ?? null];
    if (was === null ? is === null : is !== null && was.equals(is)) continue;
    note(path, was !== null, is !== null);
    if (was !== null) former.set(path, () => Promise.resolve(was));
  }
  if (before.head !== after.head) traces.headBefore = { head: before.head };
  traces.kept = former.size === 0 ? null : await keep(former);
  return { result, traces };
}

async function textsOf(ground: Ground, aside: string[]): Promise<Map<string, Buffer>> {
  const texts = new Map<string, Buffer>();
  for (const path of aside) {
    const bytes = await readFile(resolve(ground.root, path)).catch(() => null);
    if (bytes !== null) texts.set(path, bytes);
  }
  return texts;
}

/** More than this is a tree that somebody emptied; git has what was committed. */
const MOST_KEPT = 500;

async function keep(former: Map<string, () => Promise<Uint8Array | null>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-doctor-kept-'));
  for (const [path, read] of [...former].slice(0, MOST_KEPT)) {
    const bytes = await read();
    if (bytes === null) continue;
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes);
  }
  return folder;
}

function isClean({ added, changed, removed, headBefore }: Traces): boolean {
  return added.length + changed.length + removed.length === 0 && headBefore === null;
}

/** Who left them, and whether they keep a run from starting. */
export interface Leaver {
  code: string;
  /** As the start of a sentence, e.g. `The gates`. */
  who: string;
  why: string;
  fails: boolean;
}

/** The row that names every trace; none where nothing was left. */
export function traceRows(traces: Traces, leaver: Leaver): Row[] {
  if (isClean(traces)) return [];
  const facts = traceFacts(traces, leaver);
  return rowsFrom('left behind', { what: '', [leaver.fails ? 'failures' : 'warnings']: [facts] }, 0);
}

function traceFacts(traces: Traces, { code, who, why }: Leaver): ProblemFacts {
  const { added, changed, removed, headBefore, kept } = traces;
  const left = [
    ...(added.length > 0 ? [`wrote ${named(added)}`] : []),
    ...(changed.length > 0 ? [`changed ${named(changed)}`] : []),
    ...(removed.length > 0 ? [`removed ${named(removed)}`] : []),
    ...(headBefore === null ? [] : ['made a commit or moved HEAD']),
  ];
  const fix = [
    ...(added.length > 0
      ? [`Remove what you do not want (rm ${shellNames(added)}), or add it to .gitignore if it always comes.`]
      : []),
    ...(kept === null
      ? []
      : [`What ${changed.concat(removed).length === 1 ? 'it' : 'they'} held before lies in ${kept}.`]),
    ...(headBefore === null
      ? []
      : [`HEAD was ${headBefore.head ?? 'unborn'} before; \`git log\` shows what came.`]),
  ];
  return { code, what: `${who} ${left.join(', ')}.`, why, fix: fix.join(' ') };
}

const MOST_NAMED = 8;

function named(paths: string[]): string {
  const told = paths.slice(0, MOST_NAMED).map((path) => oneLine(path));
  const more = paths.length - told.length;
  return `${told.join(', ')}${more > 0 ? ` and ${count(more, 'more file')}` : ''}`;
}

function shellNames(paths: string[]): string {
  return `${paths
    .slice(0, MOST_NAMED)
    .map((path) => shellWord(oneLine(path)))
    .join(' ')}${paths.length > MOST_NAMED ? ' …' : ''}`;
}
