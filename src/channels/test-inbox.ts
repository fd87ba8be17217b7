/** A loop as a channel sees it, held in memory for tests of channels: questions, and what was said. */
import type { Question } from '../core/index.ts';
import type { ChannelInbox, NewsContext, Spoken } from '../engine/index.ts';

export const CONTEXT: NewsContext = {
  sessionId: '261128-090000',
  loop: 'main',
  iteration: 3,
  role: 'executor',
  task: 'a',
};

export const QUESTION: Question = {
  id: 'q1',
  kind: 'decision',
  about: 'a',
  text: 'Which colour?',
  options: [
    { key: 'A', text: 'red' },
    { key: 'B', text: 'blue' },
  ],
  default: 'blue',
  hold: 'session',
  deadline: Date.UTC(2026, 10, 28, 9, 5),
  onTimeout: 'default',
  askedBy: 'executor',
  iteration: 3,
  askedAt: Date.UTC(2026, 10, 28, 9, 0),
};

export interface TestInbox extends ChannelInbox {
  said: Spoken[];
  /** Who answered a question. */
  answered: Map<string, string>;
  /** While true, nothing can be put into the mailbox. */
  full: boolean;
}

/** An inbox with these questions; an answer closes its question at once. */
export function testInbox(questions: Question[] = [QUESTION]): TestInbox {
  const keys: string[] = [];
  const inbox: TestInbox = {
    said: [],
    answered: new Map(),
    full: false,
    send(spoken) {
      if (inbox.full) return Promise.reject(new Error('the disk takes no more'));
      const known = spoken.key === undefined ? -1 : keys.indexOf(spoken.key);
      if (known >= 0) return Promise.resolve(`signal.${known + 1}.yaml`);
      const { key, ...said } = spoken;
      keys.push(key ?? '');
      inbox.said.push(said);
      if (spoken.question !== undefined) inbox.answered.set(spoken.question, spoken.from);
      return Promise.resolve(`signal.${inbox.said.length}.yaml`);
    },
    open: () => questions.filter(({ id }) => !inbox.answered.has(id)),
    question(id) {
      const question = questions.find((one) => one.id === id);
      if (question === undefined) return null;
      const by = inbox.answered.get(id) ?? null;
      return { question, state: by === null ? 'open' : 'answered', by };
    },
    view: (window) => Promise.resolve(`the ${window}`),
    restart: () => Promise.resolve(),
    hears: () => true,
    others: () => Promise.resolve([]),
    sessionDir: '/nowhere',
    context: CONTEXT,
  };
  return inbox;
}
