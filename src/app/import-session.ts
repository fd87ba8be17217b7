/**
 * A session's folder without a journal, left by another tool: its files become the first facts of a journal, once.
 * The files themselves stay as they are; what the engine draws anew is kept beside itself first.
 */

import { constants } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { emptyState, evolve, type Fact, type State } from '../core/index.ts';
import { type ForeignSession, readForeignSession } from '../dialects/index.ts';
import { foreignFiles, localZone } from '../store/index.ts';
import { PRODUCT } from './product.ts';

export interface ImportedSession {
  facts: Fact[];
  /** As the facts leave it. */
  state: State;
}

/** null: the folder holds nothing of a session. */
export async function importedSession(
  session: { id: string; dir: string },
  ground: string,
): Promise<ImportedSession | null> {
  const foreign = readForeignSession(await foreignFiles(session.dir));
  if (foreign === null) return null;
  const facts = factsOf(foreign, session.id, ground);
  const state = evolve(emptyState(), { seq: 0, at: foreign.createdAt ?? Date.now(), facts });
  return { facts, state };
}

function factsOf(foreign: ForeignSession, id: string, ground: string): Fact[] {
  const { cycles, phase, notes, objective, createdAt, startedAt } = foreign;
  const current = cycles.at(-1)!;
  const facts: Fact[] = [
    { type: 'session.created', id, objective, timezone: localZone(), product: PRODUCT, ground },
  ];
  const source = { kind: 'objective' as const, path: null, dialect: 'ralph-v2', reviewed: false };
  const unfinished = new Set<string>();
  for (const { cycle, tasks } of cycles) {
    if (cycle === current.cycle && phase === 'REPLANNING') facts.push({ type: 'phase.entered', phase });
    if (cycle > 1) facts.push({ type: 'cycle.started', cycle });
    const set = tasks.map(({ def }) => def);
    // A breakdown that left an unfinished task out has given it up.
    const gone = [...unfinished].filter((id) => set.every((def) => def.id !== id));
    if (set.length > 0) facts.push({ type: 'tasks.read', source, sha256: '', set, gone, by: 'engine' });
    if (set.length > 0) unfinished.clear();
    for (const { def, status } of tasks)
      if (status !== 'done' && status !== 'cancelled') unfinished.add(def.id);
    for (const { def, status, runs, feedback } of tasks) {
      // What is marked as done counts as landed: nobody here knows what belongs to it.
      const reason = `as progress.md of cycle ${cycle} said when the session was imported`;
      if (status !== 'todo')
        facts.push({ type: 'task.moved', task: def.id, to: status, reason, by: 'person' });
      else if (feedback !== null && runs > 0)
        facts.push({
          type: 'review.recorded',
          task: def.id,
          iteration: 0,
          verdict: 'Failed',
          feedback,
          count: runs,
        });
    }
  }
  const { done, review, tasks } = current;
  const runs = Object.fromEntries(tasks.flatMap(({ def, runs: n }) => (n > 0 ? [[def.id, n]] : [])));
  facts.push({
    type: 'session.imported',
    done,
    review,
    runs,
    cycle: current.cycle,
    createdAt,
    startedAt,
    notes,
  });
  if (phase !== 'INITIALIZING' && phase !== 'REPLANNING') facts.push({ type: 'phase.entered', phase });
  facts.push({ type: 'notice.given', level: 'info', text: toldOf(foreign, id) });
  for (const text of notes.slice(0, NOTES_MOST)) facts.push({ type: 'notice.given', level: 'warning', text });
  if (notes.length > NOTES_MOST)
    facts.push({
      type: 'notice.given',
      level: 'warning',
      text: `and ${notes.length - NOTES_MOST} more of that kind`,
    });
  return facts;
}

const NOTES_MOST = 20;

function toldOf({ cycles, phase }: ForeignSession, id: string): string {
  const { cycle, tasks } = cycles.at(-1)!;
  const count = (status: string) => tasks.filter((task) => task.status === status).length;
  return `Session ${id} of another tool was imported: cycle ${cycle}, ${phase}, ${tasks.length} tasks, of which ${count('done')} are marked [x] and count as done and landed, ${count('review')} wait for a review. Its files stay; metadata.yaml and progress.md as they were are kept beside as *.imported.`;
}

/** Before anything is drawn: the files that will be, once. */
export async function keepOriginals(dir: string, cycles: number): Promise<void> {
  const names = ['metadata.yaml'];
  for (let cycle = 1; cycle <= cycles; cycle++)
    names.push(`iterations/${cycle}/metadata.yaml`, `iterations/${cycle}/progress.md`);
  for (const name of names) {
    const file = join(dir, name);
    await copyFile(file, `${file}.imported`, constants.COPYFILE_EXCL).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
      },
    );
  }
}
