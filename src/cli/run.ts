/** `ralph run` and `ralph resume`: the loop in the foreground, with a display and Ctrl-C. */
import type { Command } from 'commander';
import type { RunOutcome, RunRequest } from '../app/index.ts';
import type { Flags } from '../config/index.ts';
import { type JournalRecord, printable, type State } from '../core/index.ts';
import type { AgentEvent } from '../engine/index.ts';
import { type KeyOptions, keyFlags, keyOptions } from './flags.ts';
import { type Common, common, folderOf, printResult } from './io.ts';

interface RunOptions extends Common, KeyOptions {
  promptFile?: string;
  skipReview?: boolean;
  task?: string;
  new?: boolean;
  session?: string;
  worktree?: string | true;
  wait?: boolean;
  allowDirty?: boolean;
  allowDetached?: boolean;
  git?: boolean;
  dryRun?: boolean;
  reopen?: boolean;
  yes?: boolean;
  quiet?: boolean;
  force?: boolean;
}

export function runCommands(program: Command, done: (code: number) => void): void {
  const run = program
    .command('run')
    .argument('[objective...]', 'what you want; with a task list it is the context of every task')
    .description('start, or continue the open session of this work tree');
  withRunOptions(run, 'ralph run --tasks prd.json --gate "npm test" --max-cost 5').action(
    async (words: string[], options: RunOptions) =>
      done(await play(words.join(' '), options, { resume: false })),
  );
  const resume = program
    .command('resume')
    .argument('[session]', 'the session to go on with')
    .description('go on after a pause, a crash or a stop; tells a live runner to go on');
  withRunOptions(resume, 'ralph resume').action(async (session: string | undefined, options: RunOptions) => {
    const { resumeLive } = await import('../app/index.ts');
    const told = await resumeLive({
      cwd: folderOf(options),
      env: process.env,
      session,
      force: options.force === true,
    });
    if (told !== null) {
      process.stdout.write(
        options.json ? `${JSON.stringify(told)}\n` : `Session ${told.session_id} goes on: ${told.outcome}\n`,
      );
      return done(0);
    }
    done(await play('', { ...options, ...(session === undefined ? {} : { session }) }, { resume: true }));
  });
}

function withRunOptions(command: Command, example: string): Command {
  const spoken = common(command, example).option(
    '-p, --prompt-file <file>',
    'read the objective from this file; default: the words of the command line',
  );
  return keyOptions(spoken)
    .option('--skip-review', 'accept without a reviewer')
    .option('--task <id>', 'work on this task only; default: all of the list')
    .option('--new', 'begin a new session beside an open one')
    .option('--session <id>', 'go on with this session, or with that of @loop; default: the open one')
    .option(
      '--worktree [name]',
      'in a work tree and on a branch of its own, which lands when all is done; default name: a word',
    )
    .option('--wait', 'wait for people also where nobody sits at a terminal')
    .option('--no-wait', 'never wait for people or providers: stop instead')
    .option('--allow-dirty', 'start with uncommitted changes; Ralph commits none of them')
    .option('--allow-detached', 'start on a detached HEAD')
    .option('--no-git', 'work without git: nothing is committed')
    .option('--dry-run', 'check everything, say what would be done, and do nothing')
    .option('--reopen', 'take an aborted session up again')
    .option('--force', 'take over from an owner on another host')
    .option('--yes', 'ask nothing; what only a person can say stays a question')
    .option('--quiet', 'print the summary, and what is asked at a terminal, and nothing else');
}

function flagsOf(options: RunOptions, waitSet: boolean): Flags {
  const flags: Record<string, unknown> = {
    ...keyFlags(options),
    promptFile: options.promptFile,
    skipReview: options.skipReview,
    task: options.task,
    allowDirty: options.allowDirty,
    noGit: options.git === false ? true : undefined,
    wait: waitSet && options.wait === true ? true : undefined,
    noWait: waitSet && options.wait === false ? true : undefined,
  };
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as Flags;
}

/** The loop in the foreground; answers its exit code. */
export async function play(
  objective: string,
  options: RunOptions,
  { resume }: { resume: boolean },
): Promise<number> {
  const [app, { hearing, listen }] = await Promise.all([import('../app/index.ts'), import('./signals.ts')]);
  const waitSet = process.argv.includes('--wait') || process.argv.includes('--no-wait');
  const interactive = !options.json && process.stdin.isTTY === true && process.stdout.isTTY === true;
  const screen = await openScreen(options, interactive);
  const request: RunRequest = {
    cwd: folderOf(options),
    env: process.env,
    flags: flagsOf(options, waitSet),
    objective: objective === '' ? null : objective,
    session: options.session ?? null,
    fresh: options.new === true,
    loop: options.worktree === undefined ? null : options.worktree === true ? '' : options.worktree,
    reopen: options.reopen === true,
    force: options.force === true,
    allowDetached: options.allowDetached === true,
    interactive,
    resume,
    audience: screen,
    opened: listen,
    hearing,
  };
  if (options.dryRun) {
    const told = await app.dryRun(request).finally(() => screen.close());
    process.stdout.write(options.json ? `${JSON.stringify(told.data, null, 2)}\n` : told.text);
    return 0;
  }
  let outcome: RunOutcome;
  try {
    outcome = await app.runLoop(request);
    // Somebody in the chat asked for it: the same command, which takes the session up where it stands.
    for (let last = outcome; last.again === true; last = outcome)
      outcome = await app.runLoop({
        ...request,
        ...(last.loop === undefined ? {} : { loop: last.loop }),
        session: last.sessionId,
        fresh: false,
        reopen: false,
      });
  } finally {
    screen.close();
  }
  await conclude(outcome, options);
  return outcome.exit.code;
}

async function conclude(outcome: RunOutcome, options: RunOptions): Promise<void> {
  const app = await import('../app/index.ts');
  const summary = app.summaryOf(outcome);
  if (!options.json) {
    process.stdout.write(printable(`\n${summary.text}`));
    return;
  }
  process.stderr.write(printable(summary.text));
  printResult(outcome.exit, { session_id: outcome.sessionId, ...summary.data });
}

interface Screen {
  record(record: JournalRecord, state: State): void;
  event(iteration: number, event: AgentEvent): void;
  say(text: string): void;
  close(): void;
}

/** NDJSON for programs, a live view on a terminal, plain lines elsewhere; a person who sits there is asked. */
async function openScreen(options: RunOptions, interactive: boolean): Promise<Screen> {
  const say = (text: string) => process.stderr.write(`${printable(text)}\n`);
  if (options.json) {
    return {
      record: ({ seq, at, facts }) => {
        for (const fact of facts)
          process.stdout.write(`${JSON.stringify({ seq, at: new Date(at).toISOString(), ...fact })}\n`);
      },
      event: () => undefined,
      say,
      close: () => undefined,
    };
  }
  if (options.quiet && !interactive)
    return { record: () => undefined, event: () => undefined, say, close: () => undefined };
  const { askingDisplay, liveDisplay, plainDisplay } = await import('../tui/index.ts');
  const color = options.color === 'always' || options.color === 'never' ? options.color : 'auto';
  const now = () => Date.now();
  const display = options.quiet
    ? plainDisplay(() => undefined)
    : await liveDisplay({ out: process.stdout, env: process.env, now, color });
  if (!interactive) return { ...display, say };
  const { inForeground } = await import('./foreground.ts');
  const asking = askingDisplay({
    display,
    input: process.stdin,
    out: process.stdout,
    answer: (session, question, text) => sendAnswer(options, { session, question, text }),
    foreground: inForeground,
    interrupt: () => void process.kill(process.pid, 'SIGINT'),
    suspend: () => void process.kill(process.pid, 'SIGTSTP'),
    now,
  });
  return { ...asking, say: (text) => asking.aside(() => void say(text)) };
}

/** What a person typed below a question, sent as `ralph answer` would. */
async function sendAnswer(
  options: RunOptions,
  { session, question, text }: { session: string; question: string; text: string },
): Promise<string> {
  const { send } = await import('../app/index.ts');
  const draft = { type: 'ANSWER' as const, question, message: text };
  return (await send({ cwd: folderOf(options), env: process.env, session, draft })).message;
}
