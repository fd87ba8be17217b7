/**
 * The loops of a project: what its journal tells of work trees that a loop of ours was given, and of what became
 * of their work. One work tree, one branch of our own, one line in the registry; it is a view of the journal like
 * every other, so a loop that was killed is as well known as one that ended.
 */
import type { Runner } from '../core/index.ts';
import { type LoopNews, readNews } from './loop-news.ts';
import { appendProject, type ProjectRecord, readProject, readProjectLine } from './project.ts';
import { projectText } from './project-tail.ts';

/**
 * `open`: works or may go on. `queued`: done and not landed yet. `needs_review`: parked for a person. `handed_over`:
 * a command of the user's lands it; whether it has is for git to say.
 */
export type LoopStanding =
  | 'open'
  | 'queued'
  | 'landed'
  | 'handed_over'
  | 'needs_review'
  | 'discarded'
  | 'removed';

/** One hiring for the conflict of a landing. */
export interface Hired {
  agent: string;
  from: string;
  head: string;
  draft: string;
  files: string[];
  /** null: it had not begun. */
  session: string | null;
  /** The merge that was made of its work; null: none, or not yet. */
  settled: string | null;
}

export interface Loop {
  id: string;
  session: string | null;
  branch: string;
  onto: string;
  base: string;
  worktree: string;
  /** Epoch ms. */
  createdAt: number;
  standing: LoopStanding;
  /** The tip of its branch that is to land; null before it was done. */
  head: string | null;
  /** Epoch ms, and the process that said it would land it; null before it was done. */
  queued: { at: number; by: Runner | null } | null;
  /** The agent that was hired for this landing, or for the last one that was parked; null: none was. */
  hired: Hired | null;
  /** The sessions of all that were ever hired for it. */
  hirings: string[];
  /** The tip for which an agent was hired that did not settle its conflict; null: none was. */
  unsettled: string | null;
  /** Said before its own branch moved to a merge, and nothing since; `at`: epoch ms. */
  candidate: { to: string; at: number } | null;
  /** Said before the integration branch moved, and nothing since. */
  landing: { from: string; to: string; at: number } | null;
  /** The integration commit that holds its work. */
  landed: string | null;
  parked: { why: string; files: string[]; next: string | null } | null;
}

/** Tells the project journal, durably and at once; news that bring their own time keep it. */
export async function tellLoop(mainDir: string, at: number, ...news: LoopNews[]): Promise<void> {
  await appendProject(mainDir, ...news.map((one) => ({ at, ...one })));
}

/** Every loop of the project, oldest first, those that are gone included. */
export function readLoops(mainDir: string): Loop[] {
  return loopsOf(readProject(mainDir, undefined, { compressed: true }).records);
}

/** The registry that these records of a project journal tell. */
export function loopsOf(records: readonly ProjectRecord[]): Loop[] {
  const loops = new Map<string, Loop>();
  for (const record of records) register(loops, record);
  return [...loops.values()];
}

/** The same for who looks again and again: what was read is not read again. */
export function followLoops(mainDir: string): () => Loop[] {
  const grown = projectText(mainDir, { compressed: true });
  const loops = new Map<string, Loop>();
  return () => {
    const { text, anew } = grown();
    if (anew) loops.clear();
    for (const line of text.split('\n')) {
      // Most lines are about money and agents.
      const record = line.includes('"loop.') ? readProjectLine(line) : null;
      if (record !== null) register(loops, record);
    }
    return [...loops.values()];
  };
}

function register(loops: Map<string, Loop>, record: ProjectRecord): void {
  const news = readNews(record);
  if (news === null) return;
  const known = loops.get(news.loop);
  if (news.type === 'loop.created') loops.set(news.loop, created(news));
  else if (known !== undefined) tell(known, news);
}

function created({
  loop,
  at,
  branch,
  onto,
  base,
  worktree,
}: Extract<LoopNews, { type: 'loop.created' }> & { at: number }): Loop {
  const where = { branch, onto, base, worktree };
  const undone = { queued: null, candidate: null, landing: null, landed: null, parked: null };
  const nothing = { session: null, head: null, ...undone };
  return {
    id: loop,
    ...where,
    ...nothing,
    hired: null,
    hirings: [],
    unsettled: null,
    createdAt: at,
    standing: 'open',
  };
}

/** A landing that was broken off is still the same one; what comes after its end is another. */
function begunAnew(loop: Loop): void {
  if (loop.standing !== 'queued' && loop.standing !== 'open') loop.hired = null;
}

/** Nothing of a landing is under way. */
const RESOLVED = { candidate: null, landing: null };

function tell(loop: Loop, news: Exclude<LoopNews, { type: 'loop.created' }> & { at: number }): void {
  switch (news.type) {
    case 'loop.session':
      begunAnew(loop);
      loop.session = news.session;
      loop.standing = 'open';
      return;
    case 'loop.queued':
      // What was said of a landing stands until it is known what became of it.
      loop.queued = { at: news.at, by: news.by ?? null };
      begunAnew(loop);
      Object.assign(loop, { head: news.head, standing: 'queued', parked: null });
      return;
    case 'loop.hired': {
      const { agent, from, head, draft, files, session } = news;
      loop.hired = { agent, from, head, draft, files, session: session ?? null, settled: null };
      if (session !== undefined && !loop.hirings.includes(session)) loop.hirings.push(session);
      return;
    }
    case 'loop.settled':
      if (loop.hired !== null) loop.hired.settled = news.commit;
      return;
    case 'loop.candidate':
      loop.candidate = { to: news.to, at: news.at };
      return;
    case 'loop.landing':
      loop.landing = { from: news.from, to: news.to, at: news.at };
      return;
    case 'loop.landed':
      Object.assign(loop, { landed: news.commit, standing: 'landed', parked: null, ...RESOLVED });
      if (news.unfinished) Object.assign(loop, { standing: 'open', hired: null });
      return;
    case 'loop.parked':
      if (loop.hired?.settled === null) loop.unsettled = loop.hired.head;
      Object.assign(loop, {
        parked: { why: news.why, files: news.files, next: news.next ?? null },
        standing: 'needs_review',
        ...RESOLVED,
      });
      return;
    case 'loop.handed_over':
      Object.assign(loop, { head: news.head, standing: 'handed_over', parked: null, ...RESOLVED });
      return;
    case 'loop.discarded':
      loop.standing = 'discarded';
      return;
    case 'loop.removed':
      loop.standing = 'removed';
  }
}
