/**
 * `ask_human`: asks a person and waits for the answer within the turn. The question goes through the outbox as
 * every other; what becomes of it is read in the journal, so nothing is lost when the wait ends first.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Question } from '../core/index.ts';
import type { Attempt } from './attempt.ts';
import { type JournalReader, journalOf } from './journal.ts';
import { append } from './outbox.ts';
import type { Complaint, Told } from './say.ts';

export interface Asked {
  text: string;
  options: { key: string; text: string }[];
  default: string | null;
  kind: string | null;
  hold: string | null;
  /** At most a day; 0 asks and does not wait. */
  waitSeconds: number;
}

export interface Wait {
  /** The client gave the call up. */
  signal: AbortSignal;
  /** Called about every ten seconds, so that the client sees a sign of life. */
  stillWaiting(seconds: number): void;
}

/** The longest wait, in seconds, and the usual one. */
export const MAX_WAIT_S = 86_400;
export const WAIT_S = 1_800;

const EVERY_MS = 100;
const SIGN_MS = 10_000;
/** How long the loop may take to ask what lies in the outbox; it looks once a second. */
const TAKEN_MS = 15_000;

const KINDS = ['question.asked', 'question.answered', 'question.expired', 'question.closed'] as const;

/** Asks once: the same words in one iteration are one question, and an answer that is there is told at once. */
export async function askHuman(attempt: Attempt, asked: Asked, wait: Wait): Promise<Told | Complaint> {
  const { readQuestionText } = await import('../core/index.ts');
  const { waitSeconds, ...question } = asked;
  const payload = { ...question, wait_seconds: waitSeconds };
  const { text } = readQuestionText(question);
  if (text.trim() === '') {
    return {
      what: 'Nothing was asked.',
      why: 'The text is empty.',
      fix: 'Give the decision in one sentence, two or three options, and what you do when nobody answers.',
    };
  }
  const fate = followQuestion(attempt, text);
  if (fate.look() === null || waitSeconds > 0) {
    const failed = append(attempt.voice, 'human.interact', payload);
    if (failed !== null) return failed;
  }
  const begun = Date.now();
  let sign = begun;
  for (;;) {
    const now = fate.look();
    if (now !== null && now.state !== 'open') return outcome(attempt, now);
    const waited = Date.now() - begun;
    if (now === null && waited > TAKEN_MS) return untaken();
    if (wait.signal.aborted || (now !== null && waited >= waitSeconds * 1000)) {
      // The loop's clocks of this attempt go on again.
      if (waited < waitSeconds * 1000)
        append(attempt.voice, 'human.interact', { ...payload, wait_seconds: 0 });
      return stillOpen(now?.question.id ?? null);
    }
    if (Date.now() - sign >= SIGN_MS) {
      sign = Date.now();
      wait.stillWaiting(Math.round(waited / 1000));
    }
    await sleep(EVERY_MS);
  }
}

interface Fate {
  question: Question;
  state: 'open' | 'answered' | 'expired' | 'closed';
  /** The answer, what silence means, or why it was closed. */
  text: string;
  option: string | null;
  by: string;
  /** What silence meant; null: it was not silence. */
  silence: string | null;
}

/** The newest question of these words in this iteration, with what became of it; null: not asked yet. */
function followQuestion({ sessionDir, iteration }: Attempt, text: string): { look(): Fate | null } {
  const journal: JournalReader<(typeof KINDS)[number]> = journalOf(sessionDir, KINDS);
  let fate: Fate | null = null;
  return {
    look() {
      for (const { fact } of journal.next()) {
        if (fact.type === 'question.asked') {
          const { question } = fact;
          if (question.iteration === iteration && question.text === text)
            fate = { question, state: 'open', text: '', option: null, by: '', silence: null };
        } else if (fate !== null && fact.id === fate.question.id) {
          if (fact.type === 'question.answered')
            fate = { ...fate, state: 'answered', text: fact.text, option: fact.option, by: fact.by };
          else if (fact.type === 'question.expired')
            fate = { ...fate, state: 'expired', text: fact.text, silence: fact.outcome };
          else fate = { ...fate, state: 'closed', text: fact.why };
        }
      }
      return fate;
    },
  };
}

/** Tells it, and tells the loop that it was told: the next prompt need not say it again as news. */
async function outcome({ voice }: Attempt, fate: Fate): Promise<Told> {
  const { replyText } = await import('../core/index.ts');
  const { question, state, text, option, by, silence } = fate;
  const { id } = question;
  const data = { question: id, state, answer: text, option, by: by === '' ? null : by, silence };
  if (state !== 'closed' && silence !== 'stop') append(voice, 'ralph.ack', { messages: [], questions: [id] });
  const tell = (words: string): Told => ({ text: `${id}: ${words}`, data });
  if (state === 'closed') return tell(`closed without an answer (${text}). Decide yourself.`);
  if (silence === 'stop')
    return tell(
      'nobody answered in time, and the run stops for a person. End this turn now and say where you stand.',
    );
  const guided = { mode: 'implement' as const, completionWord: null };
  const reply = replyText({ answer: text, by: state === 'answered' ? by : null }, guided);
  return tell(option === null ? reply : `option ${option}. ${reply}`);
}

function stillOpen(id: string | null): Told {
  const name = id ?? 'The question';
  return {
    text: `${name} is open still. End this turn; the answer, or silence, stands in your next prompt, and \`check_signals\` shows it as soon as it is there.`,
    data: { question: id, state: 'open' },
  };
}

function untaken(): Complaint {
  return {
    what: 'The loop has not taken the question up.',
    why: `Nothing of it stands in the journal after ${TAKEN_MS / 1000} seconds; the loop may be gone.`,
    fix: 'End this turn: the question lies in the outbox and is asked when the loop goes on.',
  };
}
