/** A deadline passed and no answer came, from anywhere: what silence means was said when it was asked. */
import type { Fact, OnTimeout, Question, QuestionState, State } from '../../core/index.ts';
import { append, type House } from '../house.ts';

export async function expire(house: House, id: string): Promise<void> {
  await append(house, (state) => expiryFacts(state, id, house.clock.now()));
}

function expiryFacts(state: State, id: string, now: number): Fact[] {
  const open = state.questions.get(id);
  if (open?.state !== 'open') return [];
  const { question } = open;
  const outcome = outcomeOf(question.onTimeout, question.default);
  const text = outcome === 'default' ? defaultOf(question) : '';
  const meaning = question.permission === undefined ? MEANING[outcome] : 'it is refused';
  const facts: Fact[] = [
    { type: 'question.expired', id, outcome, text },
    { type: 'notice.given', level: 'warning', text: `${silence(open, now)}: ${meaning}.` },
  ];
  if (outcome === 're_ask' && question.deadline !== null) {
    const deadline = now + (question.deadline - question.askedAt);
    const again = { ...question, id: `q${state.questions.size + 1}`, askedAt: now, deadline };
    facts.push({ type: 'question.asked', question: again });
  }
  return facts;
}

/** Silence, or nobody who could have heard. */
function silence({ question, shown }: QuestionState, now: number): string {
  if (question.deadline !== null && question.deadline <= now) return `Nobody answered ${question.id} in time`;
  return `${question.id} reached nobody (${Object.keys(shown).join(', ')} failed)`;
}

const MEANING: Record<OnTimeout, string> = {
  proceed: 'the agent is told and decides itself',
  default: 'the default is taken',
  carry: 'it is carried to the next cycle',
  re_ask: 'it is asked again',
  stop: 'the run stops',
};

/** The words of the default; where it names an option, the option's, as for an answer. */
function defaultOf({ default: fallback, options }: Question): string {
  const named = /^\(?([^()]*)\)?$/
    .exec(fallback ?? '')?.[1]
    ?.trim()
    .toLowerCase();
  return options.find(({ key }) => key.toLowerCase() === named)?.text ?? fallback ?? '';
}

/** A default that nobody gave is no default: the agent proceeds and is told. */
function outcomeOf(onTimeout: OnTimeout, fallback: string | null): OnTimeout {
  return onTimeout === 'default' && fallback === null ? 'proceed' : onTimeout;
}
