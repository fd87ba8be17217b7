/**
 * `.ralph/telegram-state.json`: what must not be forgotten between two runs. Which updates were handled,
 * so that nothing is handled twice; which message in a mailbox came from which message in the chat, so that
 * its tick finds it. Only the loop that hears writes it; the others read there what came of their messages.
 *
 * It is one small file, replaced as a whole. Losing it loses no word: what Telegram was not told to forget
 * comes again, and the mailbox knows the key of what lies in it already.
 */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** How much is remembered of each kind; the oldest goes first. */
const KEPT = 500;
/** Epoch ms. Telegram may begin anew with lower numbers after a week without updates; an older offset would hide them. */
const OFFSET_MS = 6 * 24 * 3_600_000;

/** A message of ours that shows a question. */
export interface ShownQuestion {
  chat: number;
  message: number;
  session: string;
  question: string;
  /** The last part of the text: it carries the buttons, and what became of the question. */
  last: boolean;
}

/** A person's message that lies in a mailbox. */
export interface SpokenMessage {
  /** In the mailbox. */
  id: string;
  chat: number;
  message: number;
  /** Words that are guidance get ticks; control gets words. */
  guidance: boolean;
}

interface Kept {
  version: 1;
  /** Message and update numbers are one bot's own. */
  bot: number;
  /** The chats that are heard and told, for people who look here. */
  chats: number[];
  /** The next update to ask for; null: whatever Telegram still has. */
  offset: number | null;
  /** Epoch ms of the offset. */
  offset_at: number;
  handled: number[];
  /** Of older versions; now each session keeps its own. */
  questions: ShownQuestion[];
  spoken: SpokenMessage[];
}

export interface TelegramState {
  /** What to ask `getUpdates` from; undefined: from what it still has. */
  offset(now: number): number | undefined;
  wasHandled(update: number): boolean;
  /** The update needs nothing more; on disk when this returns. `spoken`: what it put into the mailbox. */
  handled(update: number, now: number, spoken?: SpokenMessage): void;
  /** Not to be handled when it comes; those before it still are. */
  skip(update: number): void;
  /** This update and all before it need nothing more. */
  passed(update: number, now: number): void;
  /** What was shown before sessions kept that themselves. */
  readonly earlier: readonly ShownQuestion[];
  spokenAs(id: string): SpokenMessage | null;
  /** Reads anew what another loop may have written. */
  refresh(): void;
}

/** Reads the state of this bot; a file that cannot be read, or of another bot, is begun anew (`fresh` says why). */
export function openTelegramState(
  file: string,
  { bot, chats }: { bot: number; chats: number[] },
): { state: TelegramState; fresh: string | null } {
  const { kept: found, fresh } = readKept(file, bot);
  let kept = { ...found, chats };
  const save = () => replaceWhole(file, `${JSON.stringify(kept, null, 1)}\n`);
  const forward = (update: number, now: number): boolean => {
    const stale = kept.offset === null || now - kept.offset_at > OFFSET_MS;
    if (!stale && kept.offset! > update) return false;
    kept.offset = update + 1;
    kept.offset_at = now;
    return true;
  };
  const state: TelegramState = {
    offset: (now) => (kept.offset === null || now - kept.offset_at > OFFSET_MS ? undefined : kept.offset),
    wasHandled: (update) => kept.handled.includes(update),
    handled(update, now, spoken) {
      keep(kept.handled, update);
      if (spoken !== undefined) keep(kept.spoken, spoken);
      forward(update, now);
      save();
    },
    skip(update) {
      keep(kept.handled, update);
      save();
    },
    passed(update, now) {
      if (forward(update, now)) save();
    },
    get earlier() {
      return kept.questions;
    },
    spokenAs: (id) => kept.spoken.findLast((one) => one.id === id) ?? null,
    refresh() {
      const read = readKept(file, bot);
      if (read.fresh === null) kept = { ...read.kept, chats };
    },
  };
  return { state, fresh };
}

/** Adds it to a list of which the newest are kept. */
export function keep<T>(list: T[], one: T): void {
  list.push(one);
  if (list.length > KEPT) list.splice(0, list.length - KEPT);
}

function readKept(file: string, bot: number): { kept: Kept; fresh: string | null } {
  const anew: Kept = {
    version: 1,
    bot,
    chats: [],
    offset: null,
    offset_at: 0,
    handled: [],
    questions: [],
    spoken: [],
  };
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const missing = (error as { code?: string }).code === 'ENOENT';
    return { kept: anew, fresh: missing ? null : 'it could not be read' };
  }
  const kept = parsed(text);
  if (kept === null) return { kept: anew, fresh: 'it is damaged' };
  return kept.bot === bot ? { kept, fresh: null } : { kept: anew, fresh: 'it is of another bot' };
}

function parsed(text: string): Kept | null {
  try {
    const raw = JSON.parse(text) as Partial<Kept> | null;
    if (raw === null || raw.version !== 1 || typeof raw.bot !== 'number') return null;
    return {
      version: 1,
      bot: raw.bot,
      chats: [],
      offset: Number.isSafeInteger(raw.offset) ? raw.offset! : null,
      offset_at: Number(raw.offset_at ?? 0) || 0,
      handled: Array.isArray(raw.handled) ? raw.handled.filter((one) => Number.isSafeInteger(one)) : [],
      questions: shownIn(raw.questions),
      spoken: listIn<SpokenMessage>(raw.spoken, (one) => typeof one.id === 'string'),
    };
  } catch {
    return null;
  }
}

function listIn<T>(value: unknown, fits: (one: T) => boolean): T[] {
  return Array.isArray(value)
    ? (value as T[]).filter((one) => typeof one === 'object' && one !== null && fits(one))
    : [];
}

/** The shown questions of a list that was read from a file. */
export function shownIn(value: unknown): ShownQuestion[] {
  return listIn<ShownQuestion>(value, (one) => typeof one.question === 'string');
}

/** A reader sees the old content or the new; only the user may read it, because it names people's chats. */
export function replaceWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const descriptor = openSync(temporary, 'w', 0o600);
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    chmodSync(temporary, 0o600);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
