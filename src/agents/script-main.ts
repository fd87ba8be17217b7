/**
 * The scripted agent as a program of its own: `ralph __script-agent FILE`. It reads the prompt from
 * stdin like any other command agent, looks up its run by the RALPH_* environment, and plays it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem, problemText } from '../core/index.ts';
import { type Action, type Attempt, fillIn, parseScript, pickRun, type ScriptRun } from './script-file.ts';

const note = (text: string): void => void process.stderr.write(`script agent: ${text}\n`);

function attemptOf(env: NodeJS.ProcessEnv): Attempt {
  return {
    task: env.RALPH_TASK_ID ?? '',
    mode: env.RALPH_MODE ?? '',
    role: env.RALPH_ROLE ?? '',
    attempt: Number(env.RALPH_ATTEMPT ?? 1),
    iteration: Number(env.RALPH_ITERATION ?? 1),
    cycle: Number(env.RALPH_CYCLE ?? 1),
    category: env.RALPH_CATEGORY ?? '',
    session: env.RALPH_SESSION_DIR ?? '',
    topic: env.RALPH_TOPIC ?? '',
  };
}

/** stdout is a pipe: without waiting, an exit would cut off what is still queued. */
function print(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

function put(path: string, write: () => void): void {
  mkdirSync(dirname(path), { recursive: true });
  write();
}

function replaceIn(path: string, find: string, by: string): void {
  const text = readFileSync(path, 'utf8');
  if (!text.includes(find)) note(`${path} does not hold ${JSON.stringify(find)}`);
  else
    writeFileSync(
      path,
      text.replace(find, () => by),
    );
}

function runShell(line: string): void {
  const { status, signal } = spawnSync(line, { shell: true, stdio: ['ignore', 2, 2] });
  note(`ran ${JSON.stringify(line)}: ${signal ?? `exit code ${status}`}`);
}

function emit(topic: string, payload: unknown): void {
  const outbox = process.env.RALPH_OUTBOX;
  if (outbox === undefined || outbox === '') return note(`no RALPH_OUTBOX, so ${topic} was not published`);
  const line = JSON.stringify({ topic, payload, token: process.env.RALPH_RUN_TOKEN ?? '' });
  appendFileSync(outbox, `${line}\n`);
}

/** Plays one action; a number ends the program with that exit code. */
async function play(action: Action, attempt: Attempt): Promise<number | null> {
  const fill = (text: string): string => fillIn(text, attempt);
  if ('write' in action) {
    const path = fill(action.write.path);
    put(path, () => writeFileSync(path, fill(action.write.content)));
  } else if ('append' in action) {
    const path = fill(action.append.path);
    put(path, () => appendFileSync(path, fill(action.append.content)));
  } else if ('replace' in action) {
    replaceIn(fill(action.replace.path), fill(action.replace.find), fill(action.replace.with));
  } else if ('remove' in action) rmSync(fill(action.remove), { recursive: true, force: true });
  else if ('run' in action) runShell(fill(action.run));
  else if ('say' in action) await print(`${fill(action.say)}\n`);
  else if ('print' in action) await print(fill(action.print));
  else if ('emit' in action) emit(action.emit.topic, action.emit.payload);
  else if ('sleep_ms' in action) await sleep(action.sleep_ms);
  else if ('leave' in action)
    spawn(fill(action.leave), { shell: true, detached: true, stdio: 'inherit' }).unref();
  else if ('ignore_sigterm' in action) process.on('SIGTERM', () => note('ignored SIGTERM'));
  else if ('exit' in action) return action.exit;
  else await new Promise(() => setInterval(() => {}, 60_000));
  return null;
}

function readPrompt(): void {
  try {
    readFileSync(0);
  } catch {
    // No stdin at all: the prompt is not needed.
  }
}

function load(path: string, attempt: Attempt): ScriptRun {
  const run = pickRun(parseScript(readFileSync(path, 'utf8'), path), attempt);
  if (run !== null) return run;
  throw new Problem({
    code: 'agent.script_silent',
    what: 'The script has no run for this attempt.',
    why: `No "when" fits ${JSON.stringify(attempt)}.`,
    fix: 'Add a run for it, or one without "when" at the end of the list.',
    at: path,
  });
}

/**
 * Plays the script file named by the first argument and answers the exit code: 0, what the script's
 * `exit` says, or 1 when there is nothing to play (told on stderr).
 */
export async function main(args: string[]): Promise<number> {
  const attempt = attemptOf(process.env);
  try {
    readPrompt();
    for (const action of load(args[0] ?? '', attempt).do) {
      const code = await play(action, attempt);
      if (code !== null) return code;
    }
    return 0;
  } catch (error) {
    note(error instanceof Problem ? problemText(error.facts) : String(error));
    return 1;
  }
}
