/** Control and answers from any terminal: `pause`, `stop`, `abort`, `answer`, and what changes a task. */
import type { Command } from 'commander';
import type { SendRequest } from '../app/index.ts';
import { commandFor, nearest, Problem } from '../core/index.ts';
import { answer, type Common, common, folderOf, refuseSurplus } from './io.ts';

type Draft = SendRequest['draft'];

export function controlCommands(program: Command, done: (code: number) => void): void {
  tasksCommand(program, done);
  const say = (options: Common & { session?: string }, draft: Draft) =>
    tell(options, draft).then(() => done(0));
  const message = (name: string, about: string, type: Draft['type'], example: string) =>
    common(
      program.command(name).argument('[text...]', 'why, for the record; may be left out').description(about),
      example,
    )
      .option('--session <id>', 'the session, or @loop; default: the open one')
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
    .option('--option <key>', 'choose the option with this key; default: your words are the answer')
    .option('--session <id>', 'the session, or @loop; default: the open one')
    .action((first: string | undefined, words: string[], options: Common & { option?: string }) =>
      say(options, answerDraft(first, words, options.option)),
    );
}

/** `ralph tasks`: the list as the loop sees it, and a person's word on one task. */
function tasksCommand(program: Command, done: (code: number) => void): void {
  common(
    program
      .command('tasks')
      .argument('[action]', 'list, done, cancel or reopen', 'list')
      .argument('[id]', 'the task it is about')
      .description('the task list as the loop sees it; call a task done, cancel or reopen it'),
    'ralph tasks reopen t3',
  )
    .option('--session <id>', 'the session, or @loop; default: the open one')
    .option('--tasks <file>', 'look into this task list, whatever was run; default: what a run would use')
    .option('--reason <text>', 'recorded with it; default: none')
    .action(async (action: string, id: string | undefined, options: TasksOptions) => {
      if (action === 'list') {
        refuseSurplus('tasks list', [id], 0);
        await listTasks(options);
      } else await tell(options, taskDraft(action, id, options.reason));
      done(0);
    });
}

type TasksOptions = Common & { session?: string; reason?: string; tasks?: string };

async function listTasks(options: TasksOptions): Promise<void> {
  const [app, views] = await Promise.all([import('../app/index.ts'), import('../views/index.ts')]);
  const { state, warnings } = await app.taskState({
    cwd: folderOf(options),
    env: process.env,
    session: options.session,
    tasks: options.tasks,
  });
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
  answer(options, views.tasksJson(state), views.tasksText(state));
}

function taskDraft(op: string, task: string | undefined, reason: string | undefined): Draft {
  const known = ['list', 'done', 'cancel', 'reopen'];
  if (!known.includes(op)) {
    const near = nearest(op, known);
    throw new Problem({
      code: 'usage.action',
      what: `There is no action "${op}" for tasks.${near === null ? '' : ` Did you mean ${near}?`}`,
      why: `It can ${known.join(', ')}.`,
      fix: 'See ralph tasks --help.',
    });
  }
  if (task === undefined) {
    throw new Problem({
      code: 'usage.task',
      what: `No task was named to ${op}.`,
      why: 'Only one task at a time is changed.',
      fix: `ralph tasks ${op} ID; the ids stand in \`ralph tasks\`.`,
    });
  }
  return { type: 'TASK', op, task, ...(reason === undefined ? {} : { reason }) };
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
  const { sessionId, message, outcome, read, state } = await app.send(request);
  const loop = state.policy?.loop?.loop;
  const who = loop === undefined ? `session ${sessionId}` : `session ${sessionId} of loop ${loop}`;
  const Who = who.replace('session', 'Session');
  const guides = draft.type === 'STEER' || draft.type === 'INFO';
  const text =
    outcome !== 'queued'
      ? `${Who}: ${outcome}.`
      : !read
        ? `Sent to ${who}; its runner reads it within a second${guides ? ', and it stands in the next prompt' : ''}.`
        : `${Who}: it stands in the next prompt; \`${commandFor(state, 'ralph run')}\` goes on.`;
  answer(
    options,
    { session_id: sessionId, ...(loop === undefined ? {} : { loop_id: loop }), message, outcome },
    text,
  );
}
