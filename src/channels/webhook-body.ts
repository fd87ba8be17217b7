/** What a webhook is sent: one JSON object for each piece of news, in a shape with a version. */
import type { Question } from '../core/index.ts';
import type { News } from '../engine/index.ts';

/** Raised when a field changes its meaning or goes away; new fields come without. */
export const BODY_VERSION = 1;

export interface BodyFrame {
  id: string;
  /** Epoch ms. */
  at: number;
  /** Where answers are taken; null where they are not. */
  answerUrl: string | null;
}

/** The body of one piece of news. `text` is always there, for receivers that only show words. */
export function bodyOf(news: News, { id, at, answerUrl }: BodyFrame): Record<string, unknown> {
  const { kind, context } = news;
  const { sessionId, loop, iteration, role, task } = context;
  return {
    version: BODY_VERSION,
    id,
    at: new Date(at).toISOString(),
    kind,
    loop,
    session: sessionId,
    iteration,
    role,
    task,
    ...partsOf(news),
    ...(answerUrl === null ? {} : { answer_url: answerUrl }),
  };
}

function partsOf(news: News): Record<string, unknown> {
  switch (news.kind) {
    case 'question':
      return { text: news.question.text, question: questionPart(news.question), repeat: news.repeat };
    case 'over':
      return { text: news.text, question: questionPart(news.question), how: news.how, by: news.by };
    case 'notice':
      return { text: news.text, level: news.level };
    case 'progress':
      return { text: news.text };
    case 'delivered': {
      const { id, type, text, from } = news.message;
      return { text, message: { id, type, from }, delivered_in: news.iteration, live: news.live };
    }
    case 'handled':
      return { text: news.text, message: { id: news.id }, refused: news.refused };
    case 'paused':
    case 'resumed':
      return { text: news.text, by: news.by };
    case 'ended': {
      const { code, word, reason } = news.exit;
      return { text: reason, exit: { code, word, reason } };
    }
  }
}

function questionPart(question: Question): Record<string, unknown> {
  const { id, kind, about, text, options, hold, deadline, onTimeout } = question;
  return {
    id,
    kind,
    about,
    text,
    options,
    default: question.default,
    hold,
    deadline: deadline === null ? null : new Date(deadline).toISOString(),
    on_timeout: onTimeout,
  };
}
