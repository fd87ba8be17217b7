/** Questions over all loops of the project: which loop asks what, and whose question an answer is for. */
import { openQuestions, Problem, type State } from '../core/index.ts';
import { foldSession } from '../store/index.ts';
import { currentSession, isOpen, type KnownSession } from './choose.ts';
import { groundOf, type KnownLoop, knownLoops } from './known-loops.ts';
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
 * The session that words are for where none was named: that of this work tree, else the only loop that is open. Where
 * several are, the newest of them is meant by nobody.
 */
export async function heardSession(place: Place): Promise<KnownSession> {
  const current = await currentSession(place);
  if (isOwn(current, place)) return current;
  const open = (await knownLoops(place.mainDir)).filter(({ live, dir }) => live || isOpenIn(dir));
  if (open.length > 1) throw severalHear(open);
  return current;
}

const isOwn = ({ dir }: KnownSession, { ground }: Place): boolean => (groundOf(dir) ?? '.') === ground;

function isOpenIn(dir: string): boolean {
  try {
    return isOpen(foldSession(dir, null).state);
  } catch {
    return false;
  }
}

/**
 * The session that an answer is for, where none was named: that of this work tree if it asks, else the only loop that
 * does. `question`: the one that is answered; null: whatever is open.
 */
export async function answeredSession(place: Place, question: string | null): Promise<KnownSession> {
  const current = await currentSession(place);
  const asks = (state: State) =>
    openQuestions(state).some((open) => question === null || open.question.id === question);
  const isAsked = asks(foldSession(current.dir, null).state);
  if (isAsked && isOwn(current, place)) return current;
  // Elsewhere the newest session is one among the loops.
  const besides = isOwn(current, place) ? current.id : '';
  const others = (await askingLoops(place, besides)).filter(({ state }) => asks(state));
  if (others.length > 1) throw severalAsk(question, others);
  const [only] = others;
  return only === undefined ? current : currentSession(place, only.sessionId);
}

function severalHear(loops: KnownLoop[]): Problem {
  const names = loops.map(({ name }) => `@${name}`);
  return new Problem({
    code: 'session.several_loops',
    what: `${names.join(' and ')} are open, so it is not known which is meant; nothing was sent.`,
    why: 'This work tree has no session of its own that could be.',
    fix: `Name the loop: ${names.map((name) => `--session ${name}`).join(' or ')}.`,
  });
}

function severalAsk(question: string | null, loops: AskingLoop[]): Problem {
  const names = loops.map(({ name }) => `@${name}`);
  const ways = loops.map(
    ({ name }) => `\`ralph answer ${question ?? ''}${question === null ? '' : ' '}"…" --session @${name}\``,
  );
  return new Problem({
    code: 'question.several_loops',
    what: `${names.join(' and ')} ask${question === null ? '' : ` a question ${question}`}, so it is not known which is answered.`,
    why: 'Each loop counts its questions for itself.',
    fix: `Name the loop: ${ways.join(' or ')}. \`ralph inbox\` shows all of them.`,
  });
}
