/**
 * The works of a session's cycles as files: `iterations/<N>/plan.md`, `tasks/`, `questions/`, `reports/`,
 * `review.md` and `knowledge/`. Agents write them, dialects read them; what lies there is known by content,
 * so that a change nobody may make can be undone exactly. Feedback is people's and no work.
 */
import { type BigIntStats, type Dirent, lstatSync, readdirSync, rmSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CycleWorks, TaskDef, TaskState } from '../core/index.ts';
import {
  carryKnowledge,
  type KnowledgeNote,
  keepPartOne,
  knowledgeFaults,
  markForged,
  planFaults,
  questionFaults,
  readQuestions,
  readReport,
  readReview,
  readTaskFolder,
  splitFrontMatter,
  writeMinimalReview,
  writeReport,
  writeTaskFile,
} from '../dialects/index.ts';
import type { CycleCall, CycleFiles, ReportFacts, Works } from '../engine/index.ts';
import { atomicWrite, hasLink } from './disk.ts';
import { promoteNotes } from './promote.ts';
import { readBounded } from './swap.ts';

/** A larger work is none: nobody reads it, and its content is not kept. Bytes. */
const WORK_BYTES = 4 * 1024 * 1024;
/** Files of one session that are looked at; more is a mistake of somebody's. */
const WORKS_MOST = 20_000;
const KINDS = ['tasks', 'questions', 'reports', 'knowledge'];
const SINGLE = ['plan.md', 'review.md'];

interface CycleFilesOptions {
  sessionDir: string;
  works: Works;
  /** Epoch ms. */
  now(): number;
}

/** The works of one session. */
export function openCycleFiles({ sessionDir, works, now }: CycleFilesOptions): CycleFiles {
  const known = new Map<string, { stat: Stats; sha256: string }>();
  const entriesIn = openFolders(now);
  const defined = { entries: [] as readonly Dirent[], ids: new Set<string>() };
  const at = (path: string) => join(sessionDir, path);
  const write = (path: string, content: string | Uint8Array) =>
    atomicWrite(at(path), content, { within: sessionDir });

  /** What lies there, and its content's hash where it is the file of before. Hundreds are asked at every call. */
  function look(path: string): { stat: Stats; sha256: string | null } | null {
    const stat = statOrNull(`${sessionDir}/${path}`);
    if (stat === null || !stat.isFile() || stat.size > WORK_BYTES) return null;
    const before = known.get(path);
    return { stat, sha256: before !== undefined && isSame(before.stat, stat) ? before.sha256 : null };
  }

  async function hashOf(path: string, stat: Stats): Promise<string | null> {
    const bytes = await readBounded(at(path), WORK_BYTES);
    if (bytes === null) return null;
    const { sha256: hash } = await works.put(path, bytes);
    known.set(path, { stat, sha256: hash });
    return hash;
  }

  async function text(path: string): Promise<string | null> {
    const bytes = await readBounded(at(path), WORK_BYTES);
    return bytes === null ? null : bytes.toString('utf8');
  }

  return {
    async guardrails() {
      const bytes = await readBounded(`${sessionDir}.instructions.md`, WORK_BYTES);
      return bytes === null ? '' : splitFrontMatter(bytes.toString('utf8')).body.trim();
    },
    async marks() {
      const marks: Record<string, string> = {};
      for (const path of worksIn(sessionDir, entriesIn)) {
        const seen = look(path);
        const hash = seen === null ? null : (seen.sha256 ?? (await hashOf(path, seen.stat)));
        if (hash !== null) marks[path] = hash;
      }
      return marks;
    },
    async put(path, hash) {
      if (hash === null) {
        // Only what is really below the session: through a link it would be somebody else's.
        if (!hasLink(sessionDir, dirname(at(path)))) rmSync(at(path), { recursive: true, force: true });
        return;
      }
      const bytes = await works.get(hash);
      if (bytes === null) throw new Error(`the content ${hash} of ${path} is not in the store`);
      await write(path, bytes);
    },
    read: (call) => readCall({ call, sessionDir, text, works }),
    async defined(cycle) {
      const entries = entriesIn(join(sessionDir, `iterations/${cycle}/tasks`));
      if (entries !== defined.entries) {
        const names = entries.filter((entry) => entry.isFile());
        defined.entries = entries;
        defined.ids = new Set(names.map(({ name }) => name.replace(/\.(?:md|markdown)$/i, '')));
      }
      return defined.ids;
    },
    async keepPartOne(path, before) {
      const [was, is] = [await works.get(before), await text(path)];
      if (was === null || is === null) return false;
      const kept = keepPartOne(Buffer.from(was).toString('utf8'), is);
      if (kept.changed) await write(path, kept.text);
      return kept.changed;
    },
    async report(path, facts) {
      const there = await text(path);
      const wanted = reportText(there, facts);
      if (wanted !== there) await write(path, wanted);
    },
    async begin(cycle, { tasks, notes, most }) {
      const [folder, last] = [`iterations/${cycle}`, `iterations/${cycle - 1}`];
      const there = new Set(worksIn(sessionDir));
      const carry = async (path: string, content: string) => {
        if (!there.has(`${folder}/${path}`)) await write(`${folder}/${path}`, content);
      };
      for (const def of tasks) {
        const old = await text(`${last}/tasks/${def.id}.md`);
        await carry(`tasks/${def.id}.md`, carriedTask(def, { old, cycle, at: now() }));
      }
      const staged: KnowledgeNote[] = [];
      for (const path of notes) staged.push({ path, text: (await text(`${last}/${path}`)) ?? '' });
      for (const note of carryKnowledge(staged, { cycle, most, at: now() }).carried)
        await carry(note.path, note.text);
      await carry('plan.md', (await text(`${last}/plan.md`)) ?? '');
    },
    async promote(cycle, staged, docs) {
      const notes: KnowledgeNote[] = [];
      for (const path of staged) {
        const content = await text(`iterations/${cycle}/${path}`);
        if (content !== null) notes.push({ path, text: content });
      }
      return promoteNotes(notes, docs);
    },
    async review(cycle, tasks) {
      const path = `iterations/${cycle}/review.md`;
      if ((await text(path)) === null) await write(path, minimalReview(cycle, tasks, now()));
    },
  };
}

/** Paths of all works, relative to the session's folder, without links and hidden files. */
function worksIn(sessionDir: string, entriesIn: Entries = readEntries): string[] {
  const found: string[] = [];
  const cycles = join(sessionDir, 'iterations');
  for (const { name } of entriesIn(cycles).filter(
    (entry) => entry.isDirectory() && /^\d+$/.test(entry.name),
  )) {
    const folder = `iterations/${name}`;
    for (const entry of entriesIn(join(sessionDir, folder)))
      if (entry.isFile() && SINGLE.includes(entry.name)) found.push(`${folder}/${entry.name}`);
    for (const kind of KINDS) filesBelow(entriesIn, { sessionDir, folder: `${folder}/${kind}`, found });
  }
  return found.slice(0, WORKS_MOST);
}

interface Below {
  sessionDir: string;
  folder: string;
  found: string[];
}

function filesBelow(entriesIn: Entries, { sessionDir, folder, found }: Below): void {
  const { files, folders } = partsOf(entriesIn(join(sessionDir, folder)), folder);
  for (const file of files) if (found.length <= WORKS_MOST) found.push(file);
  for (const below of folders) filesBelow(entriesIn, { sessionDir, folder: below, found });
}

interface Parts {
  files: string[];
  folders: string[];
}

/** Of entries that are handed out again and again, as those of a folder that has not changed. */
const parts = new WeakMap<readonly Dirent[], Parts>();

function partsOf(entries: readonly Dirent[], folder: string): Parts {
  const known = parts.get(entries);
  if (known !== undefined) return known;
  const shown = entries.filter(({ name }) => !name.startsWith('.'));
  const paths = (of: Dirent[]) => of.map(({ name }) => `${folder}/${name}`);
  const made = {
    files: paths(shown.filter((entry) => entry.isFile())),
    folders: paths(shown.filter((entry) => entry.isDirectory())),
  };
  parts.set(entries, made);
  return made;
}

type Entries = (folder: string) => readonly Dirent[];

/** Younger changes of a folder may not be its last: file systems tell times no finer than some milliseconds. */
const SETTLED_MS = 100;

/** The entries of folders, read again only where a folder has changed since. */
function openFolders(now: () => number): Entries {
  const known = new Map<string, { identity: string; entries: readonly Dirent[] }>();
  return (folder) => {
    const stat = statFolder(folder);
    const identity = stat === null ? '' : `${stat.dev}:${stat.ino}:${stat.mtimeNs}:${stat.ctimeNs}`;
    const before = known.get(folder);
    if (stat !== null && before?.identity === identity) return before.entries;
    const entries = readEntries(folder);
    const settled = stat !== null && now() - Number(stat.mtimeMs) > SETTLED_MS;
    if (settled) known.set(folder, { identity, entries });
    else known.delete(folder);
    return entries;
  };
}

function statFolder(folder: string): BigIntStats | null {
  try {
    const stat = lstatSync(folder, { bigint: true, throwIfNoEntry: false });
    return stat?.isDirectory() === true ? stat : null;
  } catch {
    return null;
  }
}

function statOrNull(file: string): Stats | null {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/** The same file, not written to since: nobody sets the time of its last change. */
function isSame(one: Stats, other: Stats): boolean {
  return (
    one.ctimeMs === other.ctimeMs &&
    one.mtimeMs === other.mtimeMs &&
    one.size === other.size &&
    one.ino === other.ino &&
    one.dev === other.dev
  );
}

function readEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

interface Reading {
  call: CycleCall;
  sessionDir: string;
  text(path: string): Promise<string | null>;
  works: Works;
}

async function readCall(reading: Reading): Promise<CycleWorks> {
  const { call, text } = reading;
  const folder = `iterations/${call.cycle}`;
  const none: CycleWorks = { written: [], faults: [] };
  switch (call.item.mode) {
    case 'INITIALIZE':
    case 'UPDATE': {
      const plan = await text(`${folder}/plan.md`);
      // That it is missing is said of every work that is owed.
      return { ...none, faults: plan === null ? [] : planFaults(plan, call.cycle) };
    }
    case 'TASK_BREAKDOWN':
    case 'REBREAKDOWN':
    case 'SPLIT_TASK':
      return { ...none, ...(await tasksOf(reading)) };
    case 'brainstorm':
    case 'research':
    case 'feedback-analysis':
      return { ...none, ...(await questionsOf(reading)) };
    case 'SESSION_REVIEW': {
      const { assessment, gaps } = readReview((await text(`${folder}/review.md`)) ?? '');
      return assessment === null ? none : { ...none, review: { value: assessment, gaps } };
    }
    case 'STAGE':
      return { ...none, ...(await stagedIn(reading)) };
    default:
      return none;
  }
}

async function tasksOf({ call, sessionDir, text }: Reading): Promise<Pick<CycleWorks, 'tasks' | 'faults'>> {
  const folder = `iterations/${call.cycle}/`;
  const paths = call.cut?.paths ?? worksIn(sessionDir).filter((path) => path.startsWith(`${folder}tasks/`));
  const files = await Promise.all(
    paths.map(async (path) => ({ path: path.slice(folder.length), text: (await text(path)) ?? '' })),
  );
  const finished = [...call.finished].map((id) => ({ id, dependsOn: [] }));
  const { tasks, faults } = readTaskFolder(files, call.cut?.around ?? finished);
  const again = tasks
    .filter(({ id }) => call.taken.has(id))
    .map(({ id }) => `tasks/${id}.md: ${id} is finished already; give the new task another id`);
  return { tasks, faults: [...again, ...faults] };
}

async function questionsOf({
  call,
  sessionDir,
  text,
  works,
}: Reading): Promise<Pick<CycleWorks, 'questions' | 'faults'>> {
  const folder = `iterations/${call.cycle}/questions/`;
  const asked = (content: string) => readQuestions(content).rounds.flatMap(({ questions }) => questions);
  let [open, all, earlier] = [0, 0, 0];
  const faults: string[] = [];
  for (const path of worksIn(sessionDir).filter((one) => one.startsWith(folder))) {
    const content = (await text(path)) ?? '';
    const questions = asked(content);
    all += questions.length;
    open += questions.filter(({ answer }) => answer === null).length;
    const name = `questions/${path.slice(folder.length)}`;
    const before = call.before[path];
    const was = before === undefined ? null : await works.get(before);
    const old = was === null ? '' : Buffer.from(was).toString('utf8');
    if (was !== null) earlier += asked(old).length;
    // What another call left is for that call to put right.
    if (content !== old) faults.push(...questionFaults(content).map((fault) => `${name}: ${fault}`));
  }
  return { questions: { open, fresh: Math.max(0, all - earlier) }, faults };
}

/** Notes, without the list of them; what the librarian should put right names each file. */
async function stagedIn({ call, sessionDir, text }: Reading): Promise<Pick<CycleWorks, 'staged' | 'faults'>> {
  const folder = `iterations/${call.cycle}/`;
  const staged = worksIn(sessionDir)
    .filter((path) => path.startsWith(`${folder}knowledge/`) && /\.(?:md|markdown)$/i.test(path))
    .map((path) => path.slice(folder.length))
    .filter((path) => path !== 'knowledge/index.md');
  const notes: KnowledgeNote[] = [];
  for (const path of staged) notes.push({ path, text: (await text(folder + path)) ?? '' });
  // One that is broken is refused when it is promoted, and holds up no other.
  const broken = notes.filter((note) => knowledgeFaults([note]).length > 0);
  return { staged, faults: broken.length < notes.length ? [] : knowledgeFaults(notes) };
}

/** Part 1 where there is none, part 2 where a review is given and none is there. */
function reportText(there: string | null, facts: ReportFacts): string {
  const base =
    there !== null && there.trim() !== ''
      ? there
      : writeReport({
          task: facts.task.id,
          title: facts.task.title,
          cycle: facts.cycle,
          attempt: facts.attempt,
          files: facts.files,
          at: facts.at,
          summary: facts.summary,
          evidence: [],
          gates: facts.gates.map(({ name, outcome }) => `${name}: ${outcome}`),
        });
  if (facts.review === undefined) return markForged(base);
  // What somebody else wrote there does not count for the reviewer's word.
  if (readReport(base).recommendation === facts.review.verdict) return base;
  const { verdict, feedback } = facts.review;
  const said = feedback.trim() === '' ? 'None' : feedback.trim().replace(/^(#+)/gm, '\\$1');
  return `${base.trimEnd()}\n\n## PART 2: Review Report\n\n### Recommendation\n\nStatus: ${verdict}\n\n### Feedback for Next Attempt\n\n${said}\n`;
}

function carriedTask(
  def: TaskDef,
  { old, cycle, at }: { old: string | null; cycle: number; at: number },
): string {
  const carried = `carried_from: ${cycle - 1}`;
  if (old !== null) {
    const head = /^(\ufeff?---\r?\n)/.exec(old);
    if (head !== null && !/^carried_from:/m.test(old))
      return old.replace(head[0], `${head[0]}${carried}\n`).replace(/^iteration:.*$/m, `iteration: ${cycle}`);
    return old;
  }
  return writeTaskFile(def, { cycle, createdAt: at, updatedAt: at, references: [], notes: carried });
}

function minimalReview(cycle: number, tasks: readonly TaskState[], at: number): string {
  const failed = tasks.filter(({ status }) => status === 'failed');
  return writeMinimalReview({
    cycle,
    at,
    reason: 'nobody could review this session, so this is what the loop itself knows of it.',
    tasks: tasks.map(({ def, status }) => ({ id: def.id, title: def.title, outcome: status })),
    gaps: failed.map(({ def, reason }) => `${def.id} failed: ${reason}`),
  });
}
