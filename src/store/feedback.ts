/**
 * Feedback batches: `iterations/<N+1>/feedbacks/<stamp>/feedbacks.md`, written by people for the next
 * cycle. A batch is known by its words, so an edited one is news again. What lies beside it is listed by
 * name and never read.
 */
import { createHash } from 'node:crypto';
import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { qualifyIssues, readFeedback } from '../dialects/index.ts';
import type { FeedbackSource } from '../engine/index.ts';
import { feedbackSignature, SIGNATURE, signingKey } from './signing.ts';
import { readBounded, type Sight, sight } from './swap.ts';

/** Longest feedback file that is taken in whole. Bytes. */
export const FEEDBACK_BYTES = 64 * 1024;
const BATCHES_MOST = 100;
const ATTACHMENTS_MOST = 50;
/** A file younger than this may still be on its way to the disk. */
const SETTLED_MS = 200;

/** One batch as it lies there. */
export interface FeedbackBatch {
  /** `feedback-<sha256 of its words>`. */
  id: string;
  /** Relative to the session's folder. */
  folder: string;
  text: string;
  /** What an agent is told beside its words. */
  notes: string[];
  reading: ReturnType<typeof readFeedback>;
  /** When its words came there, epoch ms. */
  writtenAt: number;
  /** A person's own command line signed these words. */
  signed: boolean;
  /** By what several are put in order: the time it tells, else that of its file. Epoch ms. */
  at: number;
}

/** The batches of a session's next cycle in which somebody has written something, oldest first. */
export function feedbackSource(sessionDir: string): FeedbackSource {
  const cache: Cache = new Map();
  return {
    async poll(nextCycle) {
      const found = (await batchesFor(sessionDir, nextCycle, cache)).filter(
        ({ reading }) => !reading.untouched,
      );
      const issues = qualifyIssues(
        found.map(({ folder, text, reading }) => {
          const said = text.toUpperCase();
          // An id that was made up stands nowhere, so nobody can mix it up.
          const issues = reading.issues.filter(({ id }) => said.includes(id));
          return { batch: nameOf(folder), issues };
        }),
      );
      return found.map(({ id, folder, text, notes, writtenAt, signed }) => {
        const batch = nameOf(folder);
        const twice = issues.flatMap((issue) =>
          issue.batch === batch && issue.id.startsWith(`${batch}/`) ? [issue.id] : [],
        );
        const named =
          twice.length === 0 ? [] : [`Other batches use these ids too, so name them: ${twice.join(', ')}`];
        return { id, folder, writtenAt, signed, text: [text, ...named, ...notes].join('\n\n') };
      });
    },
  };
}

type Cache = Map<string, { identity: string; batch: FeedbackBatch | null }>;

/** Every batch that lies there for a cycle, also a form that nobody has filled in; oldest first. */
export async function batchesFor(
  sessionDir: string,
  cycle: number,
  cache: Cache = new Map(),
): Promise<FeedbackBatch[]> {
  const folder = join(sessionDir, 'iterations', String(cycle), 'feedbacks');
  const found: FeedbackBatch[] = [];
  for (const name of foldersIn(folder).slice(-BATCHES_MOST)) {
    const batch = await batchIn(join(folder, name), `iterations/${cycle}/feedbacks/${name}`, cache);
    if (batch !== null) found.push(batch);
  }
  return found.sort((a, b) => a.at - b.at);
}

/** What lies among the batches of a cycle and is none, each with why. */
export function oddBatches(sessionDir: string, cycle: number): string[] {
  const shown = `iterations/${cycle}/feedbacks`;
  return entriesIn(join(sessionDir, shown)).flatMap((entry) => {
    const path = `${shown}/${entry.name}`;
    if (entry.name.startsWith('.')) return [];
    if (entry.isSymbolicLink()) return [`${path} is a link, which is not followed; copy what it leads to`];
    if (!entry.isDirectory())
      return [`${path} lies in no folder of its own; \`ralph feedback FILE\` puts it into one`];
    const inside = entriesIn(join(sessionDir, path)).find(({ name }) => name === 'feedbacks.md');
    if (inside?.isFile()) return [];
    const what = inside === undefined ? 'has no feedbacks.md' : 'has a feedbacks.md that is no file';
    return [`${path} ${what}, so nobody reads it`];
  });
}

async function batchIn(folder: string, shown: string, cache: Cache): Promise<FeedbackBatch | null> {
  const file = join(folder, 'feedbacks.md');
  const seen = await settled(file);
  if (seen.kind !== 'file') return null;
  const attachments = attachmentsIn(folder);
  const identity = [seen.identity, ...attachments].join('\n');
  const known = cache.get(file);
  if (known?.identity === identity) return known.batch;
  const bytes = await readBounded(file, FEEDBACK_BYTES);
  const { size, mtimeMs, ctimeMs } = seen;
  const signature = await readBounded(join(folder, SIGNATURE), 100);
  const key = signature === null ? null : await signingKey();
  const batch =
    bytes === null
      ? null
      : batchOf(bytes, { cut: size > FEEDBACK_BYTES, shown, attachments, mtimeMs, writtenAt: ctimeMs });
  if (batch !== null && key !== null)
    batch.signed =
      signature!.toString('utf8').trim() === feedbackSignature(key, shown, bytes!.toString('utf8'));
  cache.set(file, { identity, batch });
  return batch;
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('/') + 1);
}

function foldersIn(folder: string): string[] {
  const entries = entriesIn(folder);
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}

/** What lies there, once nobody has written it for a moment. */
async function settled(file: string): Promise<Sight> {
  const missing: Sight = { kind: 'missing' };
  const seen = await sight(file).catch(() => missing);
  if (seen.kind !== 'file') return seen;
  const age = Date.now() - seen.mtimeMs;
  if (age < 0 || age >= SETTLED_MS) return seen;
  await sleep(SETTLED_MS - age);
  return sight(file).catch(() => missing);
}

function attachmentsIn(folder: string): string[] {
  const entries = entriesIn(folder);
  const names = entries
    .filter(({ name }) => name !== 'feedbacks.md' && !name.startsWith('.'))
    .map((entry) => {
      const name = entry.name.replace(/[\u0000-\u001f\u007f]/g, '?');
      if (entry.isSymbolicLink()) return `${name} (a link, not followed)`;
      return entry.isDirectory() ? `${name}/` : name;
    })
    .sort();
  const more = names.length - ATTACHMENTS_MOST;
  return more > 0 ? [...names.slice(0, ATTACHMENTS_MOST), `and ${more} more`] : names;
}

interface Reading {
  cut: boolean;
  shown: string;
  attachments: string[];
  mtimeMs: number;
  writtenAt: number;
}

function batchOf(
  bytes: Buffer,
  { cut, shown, attachments, mtimeMs, writtenAt }: Reading,
): FeedbackBatch | null {
  if (bytes.includes(0)) return null;
  const text = new TextDecoder().decode(bytes).replace(/\r\n?/g, '\n').trim();
  const reading = readFeedback(shown, text, attachments);
  const notes: string[] = [];
  if (cut) notes.push(`(${shown}/feedbacks.md is longer; the rest was left out)`);
  if (attachments.length > 0)
    notes.push(
      `Files beside it, in ${shown}/ of the session (not shown here):\n\n${attachments.map((name) => `- ${name}`).join('\n')}`,
    );
  const id = `feedback-${createHash('sha256').update(text).digest('hex')}`;
  return { id, folder: shown, text, notes, reading, writtenAt, signed: false, at: reading.at ?? mtimeMs };
}

function entriesIn(folder: string): Dirent[] {
  // Mostly nobody has written any, and an error costs ten times the look.
  if (!existsSync(folder)) return [];
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // a file, or gone meanwhile
  }
}
