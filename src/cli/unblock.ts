/** Blocked tasks: which they are and what may help, and the two commands that give them their attempts back. */
import type { Command } from 'commander';
import type { UnblockRequest } from '../app/index.ts';
import { Problem } from '../core/index.ts';
import { answer, type Common, common, folderOf, wholeNumber } from './io.ts';

interface BlockedOptions extends Common {
  session?: string;
  suggest?: boolean;
}

interface UnblockOptions extends Common {
  session?: string;
  filter?: string;
  timeout?: string;
  timeoutMultiplier?: string;
  reason?: string;
}

interface RetryOptions extends Common {
  session?: string;
  maxAttempts?: string;
  run?: boolean;
}

export function unblockCommands(program: Command, done: (code: number) => void): void {
  common(
    program.command('blocked').description('the tasks that go nowhere until somebody acts, and why'),
    'ralph blocked --suggest',
  )
    .option('--suggest', 'name for each what may help, from how its attempts ended, and what to type')
    .option('--session <id>', 'the session, or @loop; default: the open one')
    .action((options: BlockedOptions) => blocked(options).then(() => done(0)));
  common(
    program
      .command('unblock')
      .argument('[tasks...]', 'their ids, as in `ralph tasks`; or --filter')
      .description('give tasks their attempts back and set them to todo'),
    'ralph unblock t3',
  )
    .option('--filter <class>', 'all blocked tasks of this class; default: those that are named')
    .option(
      '--timeout <seconds>',
      'each next attempt gets so many seconds, beyond any bound; default: by class, mode and timeouts',
      wholeNumber('--timeout', 1),
    )
    .option(
      '--timeout-multiplier <factor>',
      'each next attempt gets so many times as long, within the bounds; default: 1',
      factor,
    )
    .option('--reason <text>', 'recorded with it; default: none')
    .option('--session <id>', 'the session, or @loop; default: the open one')
    .action((tasks: string[], options: UnblockOptions) => unblock(tasks, options).then(done));
  common(
    program.command('retry-blocked').description('give every blocked task its attempts back'),
    'ralph retry-blocked --max-attempts 1 --run',
  )
    .option(
      '--max-attempts <n>',
      'so many charged tries each, then it is blocked again; default: as the limits say',
      wholeNumber('--max-attempts', 1),
    )
    .option('--run', 'start the loop then, as `ralph run` does')
    .option('--session <id>', 'the session, or @loop; default: the open one')
    .action((options: RetryOptions) => retry(options).then(done));
}

async function blocked(options: BlockedOptions): Promise<void> {
  const [app, views] = await Promise.all([import('../app/index.ts'), import('../views/index.ts')]);
  const { state, others } = await app.blockedTasks({
    cwd: folderOf(options),
    env: process.env,
    session: options.session,
    suggest: options.suggest === true,
  });
  answer(options, views.blockedJson(state, { others }), views.blockedText(state, Date.now(), { others }));
}

/** 5 where a message was not taken, though the others were. */
async function unblock(tasks: string[], options: UnblockOptions): Promise<number> {
  const { filter, timeout, timeoutMultiplier, reason } = options;
  if (timeout !== undefined && timeoutMultiplier !== undefined) throw twoTimes();
  const { unblock: send } = await import('../app/index.ts');
  const { data, text } = await send({
    ...where(options),
    which: whichOf(tasks, filter),
    ...(timeout === undefined ? {} : { timeoutS: Number(timeout) }),
    ...(timeoutMultiplier === undefined ? {} : { timeoutMultiplier: Number(timeoutMultiplier) }),
    ...(reason === undefined ? {} : { reason }),
  });
  answer(options, data, text);
  return data.failed.length > 0 ? 5 : 0;
}

async function retry(options: RetryOptions): Promise<number> {
  const { maxAttempts, json, run } = options;
  const { unblock: send } = await import('../app/index.ts');
  const { data, text } = await send({
    ...where(options),
    which: 'all',
    reason: maxAttempts === undefined ? 'retry-blocked' : `retry-blocked --max-attempts ${maxAttempts}`,
    ...(maxAttempts === undefined ? {} : { maxAttempts: Number(maxAttempts) }),
  });
  const none = data.unblocked.length + data.failed.length === 0;
  const told = none ? `No task is blocked in session ${data.session_id}: nothing is tried again.` : text;
  const starts = run === true && !none && !data.live;
  // Before a run this is one of its lines.
  if (starts && json === true) process.stdout.write(`${JSON.stringify({ type: 'retried', ...data })}\n`);
  else answer(options, data, told);
  if (!starts) return data.failed.length > 0 ? 5 : 0;
  const { play } = await import('./run.ts');
  return play('', { ...options, session: data.session_id }, { resume: false });
}

function where(options: Common & { session?: string }): Pick<UnblockRequest, 'cwd' | 'env' | 'session'> {
  const place = { cwd: folderOf(options), env: process.env };
  return options.session === undefined ? place : { ...place, session: options.session };
}

function whichOf(tasks: string[], filter: string | undefined): UnblockRequest['which'] {
  if (filter === undefined && tasks.length > 0) return { tasks };
  if (filter !== undefined && tasks.length === 0) return { filter };
  throw new Problem({
    code: 'usage.which',
    what: filter === undefined ? 'No task was named.' : 'Tasks and a class were named at once.',
    why: 'It takes the ids of tasks, or with --filter the class of blocked ones.',
    fix: 'ralph unblock ID, or ralph unblock --filter ui_heavy; `ralph blocked` lists them.',
  });
}

function factor(raw: string): string {
  if (/^\d{1,6}(\.\d{1,6})?$/.test(raw) && Number(raw) > 0) return raw;
  throw new Problem({
    code: 'usage.value',
    what: `--timeout-multiplier cannot be "${raw}".`,
    why: 'It is a number above 0, such as 3 or 1.5.',
    fix: 'Give such a number, or leave --timeout-multiplier away.',
  });
}

const twoTimes = (): Problem =>
  new Problem({
    code: 'usage.two_times',
    what: '--timeout and --timeout-multiplier were given at once.',
    why: 'Seconds take the place of the formula, so that a factor in it would mean nothing.',
    fix: 'Give one of them.',
  });
