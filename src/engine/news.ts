/**
 * What of a record people are told on their channels. Everything that a person asked, or must decide, or would
 * rather hear in the evening than find in the morning; nothing that only says that work goes on.
 */
import type { Fact, JournalRecord, Message, State } from '../core/index.ts';
import type { News, NewsContext } from './ports-channel.ts';

/** `where`: the loop's part of the context. `state`: as it is after the record. */
export function newsOf(record: JournalRecord, state: State, where: LoopName): News[] {
  return record.facts.flatMap((fact) => newsOfFact(fact, state, where));
}

export type LoopName = Pick<NewsContext, 'sessionId' | 'loop'>;

/** Where in the loop something happened; `iteration` null: in no iteration. */
export function contextOf(state: State, where: LoopName, iteration: number | null): NewsContext {
  const item = iteration === null ? undefined : state.attempts.get(iteration)?.item;
  return { ...where, iteration, role: item?.role ?? null, task: item?.task ?? null };
}

function newsOfFact(fact: Fact, state: State, where: LoopName): News[] {
  const context = contextOf(state, where, null);
  switch (fact.type) {
    case 'question.asked':
      return [questionNews(state, where, fact.question.id, false)].flatMap((news) => news ?? []);
    case 'question.answered':
      return over(state, where, { id: fact.id, how: 'answered', text: fact.text, by: fact.by });
    case 'question.expired':
      return fact.outcome === 'stop'
        ? []
        : over(state, where, { id: fact.id, how: 'expired', text: silenceText(fact), by: null });
    case 'question.closed':
      return over(state, where, { id: fact.id, how: 'closed', text: fact.why, by: null });
    case 'notice.given':
      return [{ kind: 'notice', level: fact.level, text: fact.text, context }];
    case 'message.received':
      return [{ kind: 'handled', id: fact.message.id, refused: false, text: fact.action, context }];
    case 'message.rejected':
      return [{ kind: 'handled', id: fact.id, refused: true, text: fact.reason, context }];
    case 'attempt.started':
      return delivered(state, where, { iteration: fact.iteration, ids: fact.delivered, live: false });
    case 'guidance.reached':
      return delivered(state, where, { iteration: fact.iteration, ids: fact.messages, live: true });
    case 'session.paused':
      return [{ kind: 'paused', text: fact.text, by: fact.by, context }];
    case 'session.resumed':
      return [{ kind: 'resumed', text: fact.text, by: fact.by, context }];
    case 'run.stopped':
      return [{ kind: 'ended', exit: { code: fact.code, word: fact.word, reason: fact.reason }, context }];
    default:
      return [];
  }
}

/** null: nobody asks it any more. */
export function questionNews(state: State, where: LoopName, id: string, repeat: boolean): News | null {
  const open = state.questions.get(id);
  if (open?.state !== 'open') return null;
  const { question } = open;
  return { kind: 'question', question, repeat, context: contextOf(state, where, question.iteration) };
}

interface Over {
  id: string;
  how: 'answered' | 'expired' | 'closed';
  text: string;
  by: string | null;
}

function over(state: State, where: LoopName, { id, ...rest }: Over): News[] {
  const question = state.questions.get(id)?.question;
  if (question === undefined) return [];
  return [{ kind: 'over', question, ...rest, context: contextOf(state, where, question.iteration) }];
}

const SILENCE: Record<string, string> = {
  proceed: 'nobody answered; the agent decides itself',
  default: 'nobody answered; the default is taken',
  re_ask: 'nobody answered; it is asked again',
  carry: 'nobody answered; it is carried to the next cycle',
};

function silenceText({ outcome, text }: Extract<Fact, { type: 'question.expired' }>): string {
  return text === '' ? (SILENCE[outcome] ?? '') : `${SILENCE[outcome]}: ${text}`;
}

function delivered(
  state: State,
  where: LoopName,
  { iteration, ids, live }: { iteration: number; ids: string[]; live: boolean },
): News[] {
  const known = new Map<string, Message>(state.guidance.map(({ message }) => [message.id, message]));
  return ids.flatMap((id) => {
    const message = known.get(id);
    if (message === undefined) return [];
    return [{ kind: 'delivered', message, iteration, live, context: contextOf(state, where, iteration) }];
  });
}
