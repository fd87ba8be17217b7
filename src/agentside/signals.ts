/**
 * `ralph tools signals`: what people have said to this attempt since its prompt was sealed. Reading is
 * acknowledging: the loop is told what was shown, and does not count it as undelivered any more.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Message, Question } from '../core/index.ts';
import { type Attempt, notLive } from './attempt.ts';
import { journalOf } from './journal.ts';
import { append } from './outbox.ts';
import type { Complaint, Told } from './say.ts';

/** How long a file in the mailbox may take to be taken in; the loop does it at once. */
const INTAKE_MS = 1_500;

interface Reply {
  question: Question;
  /** Empty: silence. */
  answer: string;
  by: string;
}

/** Shows and acknowledges. A problem where the attempt is not live. */
export async function signals(attempt: Attempt): Promise<Told | Complaint> {
  const refused = notLive(attempt, 'ralph.ack');
  if (refused !== null) return refused;
  await settled(attempt);
  const { messages, replies } = waiting(attempt);
  if (messages.length + replies.length > 0) {
    const read = {
      messages: messages.map(({ id }) => id),
      questions: replies.map(({ question }) => question.id),
    };
    const failed = append(attempt.voice, 'ralph.ack', read);
    if (failed !== null) return failed;
  }
  return { text: words(messages, replies), data: asData(messages, replies) };
}

/** What lies in the mailbox is known only once the loop has taken it in. */
async function settled({ sessionDir }: Attempt): Promise<void> {
  const inputs = join(sessionDir, 'signals', 'inputs');
  for (let waited = 0; waited < INTAKE_MS; waited += 100) {
    let names: string[] = [];
    try {
      names = readdirSync(inputs);
    } catch {
      // No mailbox: nothing can lie in it.
    }
    if (!names.some((name) => /\.ya?ml$/i.test(name))) return;
    await sleep(100);
  }
}

/** What stood in no prompt of this role, and was shown to none of its attempts. */
function waiting(attempt: Attempt): { messages: Message[]; replies: Reply[] } {
  const { sessionDir, iteration, role, task } = attempt;
  const queued = new Map<string, Message>();
  const questions = new Map<string, Question>();
  const replies = new Map<string, Reply>();
  const roles = new Map<number, string>();
  // An earlier call of this attempt may not have been heard yet.
  const had: { iteration: number; ids: string[] }[] = [{ iteration, ids: acknowledged(attempt) }];
  const journal = journalOf(sessionDir, [
    'message.received',
    'attempt.started',
    'guidance.reached',
    'question.asked',
    'question.answered',
    'question.expired',
  ]);
  for (const { fact } of journal.next()) {
    switch (fact.type) {
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
        const by = fact.type === 'question.answered' ? fact.by : 'nobody';
        replies.set(fact.id, { question, answer: fact.text, by });
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
    replies: [...replies.values()].filter(
      ({ question: { id, about } }) => !told.has(id) && (about === 'session' || about === task),
    ),
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

function words(messages: Message[], replies: Reply[]): string {
  const lines = messages.map(({ type, from, createdAt, text }) => {
    const kind = type === 'INFO' ? 'a note' : 'changes your work';
    return `From ${from}, ${new Date(createdAt).toISOString()} (${kind}):\n${text}`;
  });
  for (const { question, answer, by } of replies) {
    const said =
      by === 'nobody'
        ? `Nobody answered. ${answer === '' ? 'Decide yourself.' : `Take: ${answer}`}`
        : `Answer of ${by}: ${answer}`;
    lines.push(`Question ${question.id}: ${question.text}\n${said}`);
  }
  return lines.length === 0 ? 'Nothing new. Go on.' : lines.join('\n\n');
}

function asData(messages: Message[], replies: Reply[]): unknown {
  return {
    messages: messages.map(({ id, type, from, createdAt, text }) => ({
      id,
      type,
      from,
      at: new Date(createdAt).toISOString(),
      text,
    })),
    answers: replies.map(({ question, answer, by }) => ({
      question: question.id,
      text: question.text,
      answer,
      by,
    })),
  };
}
