/** Control and answers from any terminal: `pause`, `stop`, `abort`, `answer`, and what changes a task. */
import type { Command } from 'commander';
import type { SendRequest } from '../app/index.ts';
import { answer, type Common, common, folderOf } from './io.ts';

type Draft = SendRequest['draft'];

export function controlCommands(program: Command, done: (code: number) => void): void {
  const say = (options: Common & { session?: string }, draft: Draft) =>
    tell(options, draft).then(() => done(0));
  const message = (name: string, about: string, type: Draft['type'], example: string) =>
    common(program.command(name).argument('[text...]', 'why').description(about), example)
      .option('--session <id>', 'the session; default: the open one')
      .action((words: string[], options: Common) => say(options, { type, message: words.join(' ') }));
  message(
    'pause',
    'start nothing new and end what runs, uncharged; `ralph resume` goes on',
    'PAUSE',
    'ralph pause "meeting until two"',
  );
  message('stop', 'stop at the next boundary: live agents finish and are judged', 'HALT', 'ralph stop');
  message('abort', 'end now and for good; nothing is reverted', 'ABORT', 'ralph abort "wrong direction"');

  common(
    program
      .command('answer')
      .argument('[question-or-text]', 'the question, or the answer when only one is open')
      .argument('[text...]', 'the answer')
      .description('answer an open question'),
    'ralph answer q1 "use polling"',
  )
    .option('--option <key>', 'choose one of its options')
    .option('--session <id>', 'the session; default: the open one')
    .action((first: string | undefined, words: string[], options: Common & { option?: string }) =>
      say(options, answerDraft(first, words, options.option)),
    );
  common(
    program
      .command('unblock')
      .argument('<task>')
      .description('give a task its attempts back and set it to todo'),
    'ralph unblock t3',
  )
    .option('--reason <text>', 'recorded with it')
    .option('--session <id>', 'the session; default: the open one')
    .action((task: string, options: Common & { reason?: string }) =>
      say(options, {
        type: 'UNBLOCK',
        task,
        ...(options.reason === undefined ? {} : { reason: options.reason }),
      }),
    );
}

function answerDraft(first: string | undefined, words: string[], option: string | undefined): Draft {
  const isQuestion = first !== undefined && /^q\d+$/.test(first);
  const text = (isQuestion ? words : [first ?? '', ...words]).join(' ').trim();
  return {
    type: 'ANSWER',
    message: text,
    ...(isQuestion ? { question: first } : {}),
    ...(option === undefined ? {} : { option }),
  };
}

/** Sends and says what became of it. */
export async function tell(options: Common & { session?: string }, draft: Draft): Promise<void> {
  const app = await import('../app/index.ts');
  const request: SendRequest = { cwd: folderOf(options), env: process.env, draft };
  if (options.session !== undefined) request.session = options.session;
  const { sessionId, message, outcome } = await app.send(request);
  const text =
    outcome === 'queued'
      ? `Sent to session ${sessionId}; its runner reads it within a second.`
      : `Session ${sessionId}: ${outcome}.`;
  answer(options, { session_id: sessionId, message, outcome }, text);
}
