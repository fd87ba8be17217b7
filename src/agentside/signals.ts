/**
 * `ralph tools signals`: what people have said to this attempt since its prompt was sealed. Reading is
 * acknowledging: the loop is told what was shown, and does not count it as undelivered any more.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Message, Mode, Question, SignalReply } from '../core/index.ts';
import { type Attempt, notLive } from './attempt.ts';
import { journalOf } from './journal.ts';
import { append } from './outbox.ts';
import type { Complaint, Told } from './say.ts';

/** How long a file in the mailbox may take to be taken in; the loop does it at once. */
const INTAKE_MS = 1_500;

interface Waiting {
  messages: Message[];
  replies: SignalReply[];
  completionWord: string | null;
}

/** Shows and acknowledges; what is too much for one look waits for the next. A problem where the attempt is not live. */
export async function signals(attempt: Attempt): Promise<Told | Complaint> {
  const refused = notLive(attempt, 'ralph.ack');
  if (refused !== null) return refused;
  await settled(attempt);
  const { firstOf, MODES, signalsText, wordsOf } = await import('../core/index.ts');
  const { messages, replies, completionWord } = waiting(attempt);
  const shown = firstOf(messages);
  if (shown.length + replies.length > 0) {
    const read = { messages: shown.map(({ id }) => id), questions: replies.map(({ id }) => id) };
    const failed = append(attempt.voice, 'ralph.ack', read);
    if (failed !== null) return failed;
  }
  const mode = (Object.keys(MODES) as Mode[]).find((one) => one === attempt.mode) ?? 'implement';
  const guidance = shown.map((message) => ({
    id: message.id,
    kind: message.type === 'INFO' ? ('note' as const) : ('steer' as const),
    from: message.from,
    at: new Date(message.createdAt).toISOString(),
    text: wordsOf(message),
  }));
  const more = messages.length - shown.length;
  return {
    text: signalsText({ guidance, replies, more }, { mode, completionWord }),
    data: { messages: guidance, answers: replies, more },
  };
}

/** What lies in the mailbox is known only once the loop has taken it in. */
async function settled({ sessionDir }: Attempt): Promise<void> {
  const inputs = join(sessionDir, 'signals', 'inputs');
  for (let waited = 0; waited < INTAKE_MS; waited += 100) {
    if (!holdsNews(inputs)) return;
    await sleep(100);
  }
}

/** Some kinds lie there for long; only what has just come is about to be taken in. */
function holdsNews(inputs: string): boolean {
  try {
    const since = Date.now() - 2 * INTAKE_MS;
    return readdirSync(inputs).some(
      (name) => /\.ya?ml$/i.test(name) && statSync(join(inputs, name)).mtimeMs > since,
    );
  } catch {
    // No mailbox, or it was taken in meanwhile.
    return false;
  }
}

/** What stood in no prompt of this role, and was shown to none of its attempts. */
function waiting(attempt: Attempt): Waiting {
  const { sessionDir, iteration, role, task } = attempt;
  const queued = new Map<string, Message>();
  const questions = new Map<string, Question>();
  const replies = new Map<string, SignalReply & { about: string }>();
  let completionWord: string | null = null;
  const roles = new Map<number, string>();
  // An earlier call of this attempt may not have been heard yet.
  const had: { iteration: number; ids: string[] }[] = [{ iteration, ids: acknowledged(attempt) }];
  const journal = journalOf(sessionDir, [
    'run.started',
    'message.received',
    'attempt.started',
    'guidance.reached',
    'question.asked',
    'question.answered',
    'question.expired',
  ]);
  for (const { fact } of journal.next()) {
    switch (fact.type) {
      case 'run.started':
        completionWord = fact.policy.completionWord;
        break;
      case 'message.received': {
        const { message, action } = fact;
        if (action === 'queued' && (message.type === 'STEER' || message.type === 'INFO'))
          queued.set(message.id, message);
        break;
      }
      case 'attempt.started':
        roles.set(fact.iteration, fact.item.role);
        had.push({ iteration: fact.iteration, ids: fact.delivered });
        break;
      case 'guidance.reached':
        had.push({ iteration: fact.iteration, ids: [...fact.messages, ...fact.questions] });
        break;
      case 'question.asked':
        questions.set(fact.question.id, fact.question);
        break;
      default: {
        const question = questions.get(fact.id);
        const stays = fact.type === 'question.expired' && fact.outcome === 'stop';
        if (question === undefined || stays) break;
        const by = fact.type === 'question.answered' ? fact.by : null;
        const { id, about, text } = question;
        replies.set(id, { id, about, question: text, answer: fact.text, by });
      }
    }
  }
  const mine = new Set(had.filter((one) => one.iteration === iteration).flatMap(({ ids }) => ids));
  const ofRole = new Set(had.filter((one) => roles.get(one.iteration) === role).flatMap(({ ids }) => ids));
  const told = new Set(had.flatMap(({ ids }) => ids));
  return {
    messages: [...queued.values()].filter((message) => {
      if (mine.has(message.id)) return false;
      if (message.task !== undefined && message.type === 'STEER') return message.task === task;
      if (message.target === 'orchestrator') return true;
      return (message.target === 'ALL' || message.target === role) && !ofRole.has(message.id);
    }),
    replies: [...replies.values()]
      .filter(({ id, about }) => !told.has(id) && (about === 'session' || about === task))
      .map(({ about: _, ...reply }) => reply),
    completionWord,
  };
}

/** What this attempt has said it read. */
function acknowledged({ voice }: Attempt): string[] {
  try {
    const lines = readFileSync(voice.outbox, 'utf8').split('\n');
    return lines.flatMap((line) => (line.includes('"ralph.ack"') ? idsIn(line) : []));
  } catch {
    return [];
  }
}

function idsIn(line: string): string[] {
  try {
    const { topic, payload } = JSON.parse(line) as { topic?: unknown; payload?: Record<string, unknown> };
    if (topic !== 'ralph.ack') return [];
    return [payload?.messages, payload?.questions].flatMap((ids) =>
      Array.isArray(ids) ? ids.map(String) : [],
    );
  } catch {
    return [];
  }
}
