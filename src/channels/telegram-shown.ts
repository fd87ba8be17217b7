/**
 * `<session>/telegram.json`: which message in which chat shows which question of the session. Its own loop writes it
 * and nobody else; whichever loop hears reads it, because the replies to all loops' questions come to that one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ChannelInbox, LoopInbox } from '../engine/index.ts';
import { keep, replaceWhole, type ShownQuestion, shownIn } from './telegram-state.ts';
import { asksSo } from './telegram-words.ts';

/** So many sessions are looked through for a message, the newest first. */
const MOST_SESSIONS = 100;

export interface ShownQuestions {
  /** Of this session. */
  readonly file: string;
  /** On disk when this returns. */
  shown(question: ShownQuestion): void;
  /** What this message asks, whichever loop sent it; null: it asks nothing. */
  questionOf(chat: number, message: number): ShownQuestion | null;
  /** Messages that show this question, in the order they were sent. */
  messagesOf(session: string, question: string): ShownQuestion[];
}

/** `earlier`: what was remembered elsewhere before. */
export function openShown(
  sessionDir: string,
  { bot, earlier }: { bot: number; earlier: readonly ShownQuestion[] },
): ShownQuestions {
  const file = join(sessionDir, 'telegram.json');
  const own = readShown(file, bot);
  const known = () => [...earlier, ...own];
  return {
    file,
    shown(question) {
      keep(own, question);
      replaceWhole(file, `${JSON.stringify({ version: 1, bot, questions: own }, null, 1)}\n`);
    },
    questionOf(chat, message) {
      const asks = (one: ShownQuestion) => one.chat === chat && one.message === message;
      const here = known().findLast(asks);
      if (here !== undefined) return here;
      for (const dir of sessionsBeside(sessionDir)) {
        const there = readShown(join(dir, 'telegram.json'), bot).findLast(asks);
        if (there !== undefined) return there;
      }
      return null;
    },
    messagesOf: (session, question) =>
      known().filter((one) => one.session === session && one.question === question),
  };
}

/**
 * The open question that a message of ours asks by its words: a loop may be killed after its message arrived and
 * before it could write down which one that was. null: none asks so, or more than one.
 */
export async function questionInWords(
  inbox: ChannelInbox,
  text: string,
): Promise<Pick<ShownQuestion, 'session' | 'question'> | null> {
  const found = [inbox, ...(await inbox.others())].flatMap((loop) =>
    openIn(loop)
      .filter((question) => asksSo(text, question, loop.context))
      .map(({ id }) => ({ session: loop.context.sessionId, question: id })),
  );
  return found.length === 1 ? found[0]! : null;
}

/** A journal that cannot be read asks nothing. */
function openIn(loop: LoopInbox): ReturnType<LoopInbox['open']> {
  try {
    return loop.open();
  } catch {
    return [];
  }
}

/** None where the file is missing, damaged or of another bot: a reply is then told that it is not understood. */
function readShown(file: string, bot: number): ShownQuestion[] {
  try {
    const raw = JSON.parse(readFileSync(file, 'utf8')) as { bot?: unknown; questions?: unknown } | null;
    return raw?.bot === bot ? shownIn(raw.questions) : [];
  } catch {
    return [];
  }
}

function sessionsBeside(sessionDir: string): string[] {
  const all = dirname(sessionDir);
  try {
    const names = readdirSync(all).filter((name) => /^\d{6,8}-\d{6}$/.test(name));
    return names
      .sort()
      .reverse()
      .slice(0, MOST_SESSIONS)
      .map((name) => join(all, name));
  } catch {
    return [];
  }
}
