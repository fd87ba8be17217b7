/** The notes of a session's cycle and those in `.docs/`, read for the windows that show them. */
import { join } from 'node:path';
import { nearest, openQuestions, Problem, type State } from '../core/index.ts';
import {
  type KnowledgeNote,
  knowledgeFaults,
  promotions,
  readKnowledge,
  type StandingDoc,
} from '../dialects/index.ts';
import { stagedNotes, standingDocs } from '../store/index.ts';
import type { DocNote, Knowledge, StagedNote } from '../views/index.ts';
import { findPlace } from './place.ts';
import { lineDiff } from './setup/line-diff.ts';
import { openState } from './windows.ts';

interface Read extends Knowledge {
  notes: KnowledgeNote[];
  standing: StandingDoc[];
}

/** What a session has staged and what lies in `.docs/`. */
export async function openKnowledge(
  cwd: string,
  session?: string,
): Promise<{ state: State; knowledge: Knowledge }> {
  const { session: known, state } = await openState(cwd, session);
  return { state, knowledge: await read(cwd, known.dir, state.cycle) };
}

/** The notes that an open approval is about; none where nothing waits for one. */
export async function askedNotes(cwd: string, dir: string, state: State): Promise<StagedNote[]> {
  const { approval, staged } = state.cycleWork;
  if (!openQuestions(state).some(({ question }) => question.id === approval)) return [];
  const all = await read(cwd, dir, state.cycle);
  return all.staged.filter(({ path }) => staged.includes(path));
}

export interface ShownNote {
  path: string;
  title: string;
  text: string;
  /** For a note that is staged. */
  staged?: StagedNote;
}

/** The one note that a name means, also by a part of its path; those of the cycle come first. */
export async function findNote(cwd: string, name: string, session?: string): Promise<ShownNote> {
  const { session: known, state } = await openState(cwd, session);
  const { staged, docs, notes, standing } = await read(cwd, known.dir, state.cycle);
  const all: ShownNote[] = [
    ...staged.map((note) => ({
      path: note.path,
      title: note.title,
      text: textAt(notes, note.path),
      staged: note,
    })),
    ...docs.map(({ path, title }) => ({ path, title, text: textAt(standing, path) })),
  ];
  const fits = (how: (path: string) => boolean) => all.filter(({ path }) => how(path.toLowerCase()));
  const wanted = name.trim().replaceAll('\\', '/').toLowerCase();
  for (const how of [
    (path: string) => path === wanted,
    (path: string) => path.endsWith(`/${wanted}`) || path.endsWith(`/${wanted}.md`),
    (path: string) => wanted !== '' && path.includes(wanted),
  ]) {
    const [first, second] = fits(how);
    // A note and what became of it in .docs/ have one name: the staged one is meant.
    if (first !== undefined && (second === undefined || (first.staged && !second.staged))) return first;
    if (first !== undefined) throw several(name, fits(how));
  }
  throw noNote(name, all);
}

function textAt(notes: readonly { path: string; text: string }[], path: string): string {
  return notes.find((note) => note.path === path)?.text ?? '';
}

function several(name: string, found: readonly ShownNote[]): Problem {
  return new Problem({
    code: 'knowledge.several',
    what: `Several notes are called ${name}.`,
    why: `They are ${namesOf(found)}.`,
    fix: 'Name one of them by its path.',
  });
}

function noNote(name: string, all: readonly ShownNote[]): Problem {
  const near = nearest(
    name,
    all.map(({ path }) => path.replace(/^.*\//, '').replace(/\.md$/i, '')),
  );
  return new Problem({
    code: 'knowledge.unknown',
    what: `There is no note ${name}.${near === null ? '' : ` Did you mean ${near}?`}`,
    why:
      all.length === 0
        ? 'Nothing is staged, and none lies in .docs/.'
        : `There ${all.length === 1 ? 'is only' : 'are'} ${namesOf(all)}.`,
    fix: 'See `ralph knowledge`.',
  });
}

function namesOf(notes: readonly ShownNote[]): string {
  const more = notes.length > 8 ? ` and ${notes.length - 8} more` : '';
  return notes
    .slice(0, 8)
    .map(({ path }) => path)
    .join(', ')
    .concat(more);
}

async function read(cwd: string, sessionDir: string, cycle: number): Promise<Read> {
  const { dir } = await findPlace(cwd);
  const notes = await stagedNotes(sessionDir, cycle);
  const standing = await standingDocs(join(dir, '.docs'));
  return { notes, standing, staged: heldAgainst(notes, standing), docs: ofSessions(standing) };
}

function heldAgainst(notes: readonly KnowledgeNote[], standing: readonly StandingDoc[]): StagedNote[] {
  const planned = new Map(promotions(notes, standing).map((plan) => [plan.from, plan]));
  return notes.flatMap((note) => {
    const plan = planned.get(note.path);
    if (plan === undefined) return [];
    const { facts, title } = readKnowledge(note);
    const faults = knowledgeFaults([note]);
    const there = plan.conflict === null ? undefined : standingAt(plan.to, standing);
    const against = faults.length > 0 ? 'unread' : plan.there ? 'same' : there ? 'different' : 'new';
    return {
      path: note.path,
      title,
      category: facts.category,
      stagedAt: facts.stagedAt,
      carriedFrom: facts.carriedFrom,
      target: plan.to,
      against,
      changes: there === undefined ? [] : lineDiff(words(there), words(note)),
      faults,
    } satisfies StagedNote;
  });
}

/** Where it comes from is another thing each time, and nothing to decide on. */
function words(note: KnowledgeNote): string {
  return readKnowledge(note).body.trim();
}

/** What stands where a note would have gone, if it goes beside it. */
function standingAt(incoming: string, standing: readonly StandingDoc[]): StandingDoc | undefined {
  const names = [/(?:-\d+)?\.incoming\.md$/i, /\.incoming\.md$/i].map((end) =>
    incoming.replace(end, '.md').toLowerCase(),
  );
  return standing.find(({ path }) => names.includes(path.toLowerCase()));
}

/** Only what says which session it comes from; the other files there are people's. */
function ofSessions(standing: readonly StandingDoc[]): DocNote[] {
  return standing
    .filter(({ path }) => /\.md$/i.test(path))
    .flatMap(({ path, text }) => {
      const { facts, title } = readKnowledge({ path, text });
      if (facts.sourceSession === null) return [];
      return [{ path, title, session: facts.sourceSession, incoming: /\.incoming\.md$/i.test(path) }];
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}
