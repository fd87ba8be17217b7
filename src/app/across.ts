/** Questions over all loops of the project: which loop asks what, and whose question an answer is for. */
import { openQuestions, Problem, type State } from '../core/index.ts';
import { foldSession } from '../store/index.ts';
import { currentSession, isOpen, type KnownSession } from './choose.ts';
import { type KnownLoop, knownLoops } from './known-loops.ts';
import { findPlace, type Place } from './place.ts';

/** A loop that waits for a person. */
export interface AskingLoop extends KnownLoop {
  state: State;
}

/** The loops that ask, but for the one of this session; those that run come first. */
export async function askingLoops({ mainDir }: Place, besides: string): Promise<AskingLoop[]> {
  const others = (await knownLoops(mainDir)).filter(({ sessionId }) => sessionId !== besides);
  const asking = others.flatMap((loop) => {
    try {
      const { state } = foldSession(loop.dir, null);
      const asks = state.openQuestions.size > 0 && (loop.live || isOpen(state));
      return asks ? [{ ...loop, state }] : [];
    } catch {
      // A damaged journal is told by its own windows.
      return [];
    }
  });
  return asking.sort((a, b) => Number(b.live) - Number(a.live));
}

/** What the loops beside the current session ask, and what that session's own loop is called. */
export async function questionsBeside(
  cwd: string,
  session: string,
): Promise<{ own: string; others: AskingLoop[] }> {
  const place = await findPlace(cwd);
  const own = (await knownLoops(place.mainDir)).find(({ sessionId }) => sessionId === session);
  return { own: own?.name ?? session, others: await askingLoops(place, session) };
}

/**
 * The session that an answer is for, where none was named: the current one if it asks, else the only other loop that
 * does. `question`: the one that is answered; null: whatever is open.
 */
export async function answeredSession(place: Place, question: string | null): Promise<KnownSession> {
  const current = await currentSession(place);
  const asks = (state: State) =>
    openQuestions(state).some((open) => question === null || open.question.id === question);
  if (asks(foldSession(current.dir, null).state)) return current;
  const others = (await askingLoops(place, current.id)).filter(({ state }) => asks(state));
  if (others.length > 1) throw severalAsk(question, others);
  const [only] = others;
  return only === undefined ? current : currentSession(place, only.sessionId);
}

function severalAsk(question: string | null, loops: AskingLoop[]): Problem {
  const names = loops.map(({ name }) => `@${name}`);
  return new Problem({
    code: 'question.several_loops',
    what: `${names.join(' and ')} ask${question === null ? '' : ` a question ${question}`}, so it is not known which is answered.`,
    why: 'Each loop counts its questions for itself.',
    fix: `Name the loop: --session ${names[0]}. \`ralph inbox\` shows all of them.`,
  });
}
