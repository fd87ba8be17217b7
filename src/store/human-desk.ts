/**
 * The desk as the engine sees it: open questions out into `ralph/blocked.txt` and `ralph/decide.txt`,
 * news of them back. Blockers stand in the first file, everything else in the second. People edit these
 * files while we look, so nothing they wrote is ever overwritten: it is read, or carried over, and a copy
 * of the file as they left it goes into the session.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Question } from '../core/index.ts';
import { type DeskAnswer, type DeskEntry, readBlocked, readDecide } from '../dialects/index.ts';
import type { DeskFile, DeskNews, HumanDesk } from '../engine/index.ts';
import { sha256 } from './chain.ts';
import type { OpenedDesk } from './desk.ts';
import { DESK_FILES, type DeskMemory, openDeskMemory, type Shown, textOf } from './desk-memory.ts';
import { createWhole, numbered, padded } from './disk.ts';

const TRIES = 3;
/** Longest text that is carried over in the file; the copy in the session holds all of it. */
const KEPT_CHARS = 16_000;
const OURS_SHARE = 0.9;

type Paper = { text: string; sha256: string; writtenAt: number } | null;

interface OpenDesk {
  raw: OpenedDesk;
  memory: DeskMemory;
  /** When each file was last seen lying there. Epoch ms. */
  seenAt: Map<DeskFile, number>;
  /** The answers the engine has been told, by question. */
  told: Map<string, string>;
}

/** The desk of one session in its work tree. */
export function openHumanDesk(raw: OpenedDesk): HumanDesk {
  const desk: OpenDesk = {
    raw,
    memory: openDeskMemory(raw.sessionDir),
    seenAt: new Map(),
    told: new Map(),
  };
  return {
    async look(asked, written) {
      const news: DeskNews[] = [];
      for (const file of DESK_FILES) {
        const mine = standingIn(file, asked);
        if (mine.length > 0) news.push(...(await lookAt(desk, { file, mine, written: written.has(file) })));
      }
      return news;
    },
    async show(asked) {
      const changed: Changed[] = [];
      for (const file of DESK_FILES) {
        const mine = standingIn(file, asked);
        const change = mine.length === 0 ? await takeOff(desk, file) : await put(desk, file, mine);
        if (change !== null) changed.push(change);
      }
      return changed;
    },
    async archive(iteration) {
      await raw.archive('decide.txt', iteration);
    },
  };
}

interface Changed {
  file: DeskFile;
  sha256: string | null;
}

function standingIn(file: DeskFile, asked: readonly Question[]): Question[] {
  return asked.filter(({ kind }) => (kind === 'blocker') === (file === 'blocked.txt'));
}

function entryOf({ id, text, iteration, askedAt, options, default: fallback }: Question): DeskEntry {
  return { id, text, iteration, askedAt, options, default: fallback };
}

interface Look {
  file: DeskFile;
  mine: Question[];
  /** The journal knows that we wrote the file. */
  written: boolean;
}

async function lookAt(desk: OpenDesk, { file, mine, written }: Look): Promise<DeskNews[]> {
  const paper = await desk.raw.read(file);
  const states = desk.memory.of(file);
  if (paper === null) return written ? gone(desk, file, { mine, states }) : [];
  desk.seenAt.set(file, Date.now());
  const guess = written ? [{ entries: mine.map(entryOf), kept: '' }] : [];
  const shown = closest(file, states ?? guess, paper.text);
  // A file we never wrote may be anybody's: nothing in it answers a question of ours.
  if (shown === null) return [];
  const writtenAt = writtenBy(file, paper, states ?? []);
  const answers = readAnswers(file, paper.text, shown);
  return mine.flatMap(({ id }) => {
    const answer = answers.find((given) => given.id === id);
    return answer === undefined ? [] : newsOf(desk, answer, { file, writtenAt });
  });
}

/** The file is gone: that clears what stood in it, and says nothing about questions asked since. */
function gone(
  desk: OpenDesk,
  file: DeskFile,
  { mine, states }: { mine: Question[]; states: Shown[] | null },
): DeskNews[] {
  // Of two states the older one is sure to have lain there.
  const stood = states === null ? mine.map(({ id }) => id) : (states[0]?.entries ?? []).map(({ id }) => id);
  const seenAt = desk.seenAt.get(file);
  return mine
    .filter(({ id }) => stood.includes(id))
    .map(({ id }) => ({ id, kind: 'cleared', file, ...(seenAt === undefined ? {} : { seenAt }) }));
}

function newsOf(desk: OpenDesk, answer: DeskAnswer, at: { file: DeskFile; writtenAt: number }): DeskNews[] {
  const { id } = answer;
  const { file, writtenAt } = at;
  switch (answer.outcome) {
    case 'answered':
      desk.told.set(id, answer.text);
      return [{ id, kind: 'answered', text: answer.text, file, writtenAt }];
    case 'cleared':
      return [{ id, kind: 'cleared', file, seenAt: writtenAt }];
    case 'unclear':
      return [{ id, kind: 'unclear', file, reason: `the answer to ${id} is not clear: ${answer.reason}` }];
    case 'unanswered':
      return [];
  }
}

function readAnswers(file: DeskFile, text: string, { entries }: Shown): DeskAnswer[] {
  return (file === 'blocked.txt' ? readBlocked : readDecide)(text, entries);
}

/** Of the states we may have left, the one the text has most lines of. */
function closest(file: DeskFile, states: readonly Shown[], text: string): Shown | null {
  const lines = linesOf(text);
  let best: Shown | null = null;
  let most = -1;
  for (const shown of states) {
    const found = share(linesOf(textOf(file, shown)), lines);
    if (found >= most) [best, most] = [shown, found];
  }
  return best;
}

function share(wanted: ReadonlySet<string>, lines: ReadonlySet<string>): number {
  return [...wanted].filter((line) => lines.has(line)).length / Math.max(1, wanted.size);
}

function linesOf(text: string): Set<string> {
  const lines = text.split(/\r\n?|\n/).map((line) => line.trim());
  return new Set(lines.filter((line) => line !== ''));
}

/** Makes the file show exactly these questions; null where it does already. */
async function put(desk: OpenDesk, file: DeskFile, mine: Question[]): Promise<Changed | null> {
  for (let tries = 1; ; tries++) {
    const paper = await desk.raw.read(file);
    const states = desk.memory.of(file);
    if (paper !== null && states?.length === 1 && sameQuestions(states[0]!, mine)) return null;
    const entries = mine.map(entryOf);
    const found =
      paper === null
        ? { drafts: new Map<string, string>(), kept: states?.at(-1)?.kept ?? '' }
        : unread(desk, { file, paper, mine, states: states ?? guessed(file, paper.text, entries) });
    const next: Shown = {
      kept: found.kept,
      entries: entries.map((entry) => {
        const draft = found.drafts.get(entry.id);
        return draft === undefined ? entry : { ...entry, draft };
      }),
    };
    const now = await desk.raw.read(file);
    if (now?.sha256 !== paper?.sha256 && tries < TRIES) continue;
    return write(desk, { file, paper: now, next, drafted: found.drafts.size > 0 });
  }
}

function sameQuestions({ entries }: Shown, mine: Question[]): boolean {
  return entries.length === mine.length && mine.every(({ id }) => entries.some((entry) => entry.id === id));
}

/** Without notes: a file that holds nearly every line we would write is ours. */
function guessed(file: DeskFile, text: string, entries: DeskEntry[]): Shown[] {
  const shown = { entries, kept: '' };
  return share(linesOf(textOf(file, shown)), linesOf(text)) >= OURS_SHARE ? [shown] : [];
}

interface Writing {
  file: DeskFile;
  paper: Paper;
  next: Shown;
  /** Words of a person, not taken as an answer yet, are written again. */
  drafted: boolean;
}

async function write(desk: OpenDesk, { file, paper, next, drafted }: Writing): Promise<Changed> {
  const before = desk.memory.of(file) ?? [];
  // An answer written while an agent ran must not become one of now by being copied.
  if (drafted && paper !== null) next.draftedAt = writtenBy(file, paper, before);
  const text = textOf(file, next);
  if (paper !== null && !isOurs(file, paper.text, before)) await keepCopy(desk, file, paper.text, next);
  if (paper?.text !== text) {
    // Both states are noted until the file is there: a crash in between leaves either.
    await desk.memory.set(file, [...before.slice(-1), next]);
    await desk.raw.write(file, text);
  }
  await desk.memory.set(file, [next]);
  desk.seenAt.set(file, Date.now());
  return { file, sha256: sha256(text) };
}

function isOurs(file: DeskFile, text: string, states: readonly Shown[]): boolean {
  return text.trim() === '' || states.some((shown) => textOf(file, shown) === text);
}

/** When a person's words came into the file: with its last change, or, in a file as we wrote it, with theirs. */
function writtenBy(file: DeskFile, paper: NonNullable<Paper>, states: readonly Shown[]): number {
  const ours = states.find((shown) => textOf(file, shown) === paper.text);
  return ours?.draftedAt ?? paper.writtenAt;
}

async function keepCopy(desk: OpenDesk, file: DeskFile, text: string, shown: Shown): Promise<void> {
  const folder = join(desk.raw.sessionDir, 'desk');
  await mkdir(folder, { recursive: true });
  const iteration = Math.max(0, ...shown.entries.map((entry) => entry.iteration ?? 0));
  for (let n = 1; ; n++) {
    if (await createWhole(join(folder, numbered(`${padded(iteration)}-${file}`, n)), text)) return;
  }
}

interface Unread {
  /** What stands under Answer, by question. */
  drafts: Map<string, string>;
  kept: string;
}

interface Unreading {
  file: DeskFile;
  paper: NonNullable<Paper>;
  mine: Question[];
  states: Shown[];
}

/** What people wrote into the file that the engine has not been told, for a file that is written anew. */
function unread(desk: OpenDesk, { file, paper, mine, states }: Unreading): Unread {
  const drafts = new Map<string, string>();
  const shown = closest(file, states, paper.text);
  if (shown === null) return { drafts, kept: bounded(paper.text) };
  const open = new Set(mine.map(({ id }) => id));
  const kept: string[] = shown.kept === '' ? [] : [shown.kept];
  const known = linesOf(textOf(file, { ...shown, entries: shown.entries.map(withoutDraft) }));
  for (const answer of readAnswers(file, paper.text, shown)) {
    if (answer.outcome !== 'answered') continue;
    for (const line of linesOf(answer.text)) known.add(line);
    if (open.has(answer.id)) drafts.set(answer.id, answer.text);
    else if (desk.told.get(answer.id) !== answer.text) kept.push(`(to ${answer.id}) ${answer.text}`);
  }
  const rest = paper.text.split(/\r\n?|\n/).filter((line) => line.trim() !== '' && !known.has(line.trim()));
  if (rest.length > 0) kept.push(rest.join('\n'));
  return { drafts, kept: bounded(kept.join('\n')) };
}

function withoutDraft({ draft: _, ...entry }: DeskEntry): DeskEntry {
  return entry;
}

function bounded(text: string): string {
  return text.trim().slice(0, KEPT_CHARS);
}

/** No question is left for this file: it goes, unless it was never ours. */
async function takeOff(desk: OpenDesk, file: DeskFile): Promise<Changed | null> {
  const states = desk.memory.of(file);
  if (states === null || states.length === 0) return null;
  const paper = await desk.raw.read(file);
  if (paper !== null) {
    if (isOurs(file, paper.text, states)) await desk.raw.remove(file);
    else
      await desk.raw.archive(
        file,
        Math.max(0, ...states.at(-1)!.entries.map((entry) => entry.iteration ?? 0)),
      );
  }
  await desk.memory.set(file, []);
  desk.seenAt.delete(file);
  return { file, sha256: null };
}
