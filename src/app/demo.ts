/**
 * The main job on a small example: real git, real child processes, a scripted agent. A task list is
 * worked off, a false "done" is caught, a failing gate is caught, a question is asked and answered.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeFact } from '../views/index.ts';
import type { Audience } from './audience.ts';
import { summaryOf } from './ending.ts';
import { type RunOutcome, runLoop } from './run.ts';
import { send } from './send.ts';

const run = promisify(execFile);

/** Plays the demo in a new temporary folder; answers the exit code of its last run. */
export async function demo({ json }: { json: boolean }): Promise<number> {
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  const folder = await exampleRepository();
  say(`\nA small repository with three open tasks, in ${folder}\n`);
  const audience = plainAudience(json);
  const env = { ...process.env };
  let outcome = await start(folder, env, audience);
  if (outcome.exit.code === 3) {
    const [question] = outcome.state.openQuestions;
    say(`\nThe run stopped with a question. A person answers it: ralph answer ${question} --option B\n`);
    await send({ cwd: folder, env, draft: { type: 'ANSWER', question: question ?? '', option: 'B' } });
    outcome = await start(folder, env, audience);
  }
  const { text, data } = summaryOf(outcome);
  if (json)
    process.stdout.write(
      `${JSON.stringify({ type: 'result', folder, session_id: outcome.sessionId, ...data })}\n`,
    );
  else process.stdout.write(`\n${text}`);
  say(
    `\nLook around in ${folder}:\n  git log --stat            what landed\n  ralph why greet           how the false "done" was caught\n  ralph logs 1              what the agent said`,
  );
  return outcome.exit.code;
}

async function exampleRepository(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-demo-'));
  await cp(join(packageRoot(), 'examples', 'demo'), folder, { recursive: true });
  const git = (...args: string[]) => run('git', args, { cwd: folder });
  await git('init', '-q', '-b', 'main');
  await git('config', 'user.name', 'Ralph Demo');
  await git('config', 'user.email', 'demo@example.invalid');
  await git('config', 'commit.gpgsign', 'false');
  await git('add', '-A');
  await git('commit', '-q', '-m', 'A tiny library');
  return folder;
}

/** The folder that holds package.json, from the bundle as well as from the sources. */
function packageRoot(): string {
  let at = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(at, 'examples', 'demo')) && dirname(at) !== at) at = dirname(at);
  return at;
}

function start(cwd: string, env: NodeJS.ProcessEnv, audience: Audience): Promise<RunOutcome> {
  return runLoop({
    cwd,
    env,
    flags: { noWait: true },
    objective: null,
    session: null,
    fresh: false,
    loop: null,
    reopen: false,
    force: false,
    allowDetached: false,
    interactive: false,
    resume: false,
    audience,
  });
}

function plainAudience(json: boolean): Audience {
  return {
    record(record, state) {
      for (const fact of record.facts) {
        const line = json
          ? JSON.stringify({ seq: record.seq, ...fact })
          : describeFact(fact, record.at, state);
        if (line !== null) process.stdout.write(`${line}\n`);
      }
    },
    event: () => undefined,
    say: (text) => void process.stderr.write(`${text}\n`),
  };
}
