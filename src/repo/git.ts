/**
 * One git child process: bounded output, no terminal, no prompt, none of the variables that a hook or a
 * caller's git left in our environment.
 */
import { Buffer } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { endOf, Problem, refusalIn, refusalOf } from '../core/index.ts';

export interface GitCall {
  args: string[];
  cwd: string;
  env: Record<string, string>;
  input?: Uint8Array;
  /** Bytes of stdout kept; more ends the child and is a Problem. Default 512 MiB. */
  maxBytes?: number;
  /** Default 10 minutes. */
  timeoutMs?: number;
  /** Set where hooks or signing programs run: an own session without a terminal, killed as a group. */
  runsForeignCode?: boolean;
  /** Ends git, and with `runsForeignCode` all it started; the result has code -1. */
  signal?: AbortSignal | undefined;
}

export interface GitResult {
  /** -1 when the time ran out, when it was aborted and when a signal ended it. */
  code: number;
  /** Process id when git died without a chance to take its lock files away; else null. */
  killed: number | null;
  stdout: Buffer;
  /** Last 64 KiB. */
  stderr: string;
}

const DEFAULT_MAX_BYTES = 512 * 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 10 * 60_000;
const STDERR_BYTES = 64 * 1024;
/** SIGTERM lets git take its lock files away. */
const KILL_GRACE_MS = 2_000;
/** After SIGKILL only a zombie that nobody collects is left to wait for. */
const GONE_GRACE_MS = 500;
const GONE_POLL_MS = 20;
/** A daemon that a hook left behind may hold our pipes open for ever. */
const PIPE_GRACE_MS = 2_000;

/** Who commits and which configuration counts are the user's; every other GIT_* speaks of another call. */
const KEPT =
  /^GIT_(?:(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|SSH|SSH_COMMAND|SSH_VARIANT|EXEC_PATH)$/;

/** The environment for any git child: the given one without a foreign call's variables, and mute. */
export function gitEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || name === 'GPG_TTY') continue;
    if (name.startsWith('GIT_') && !KEPT.test(name)) continue;
    clean[name] = value;
  }
  return {
    ...clean,
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    GIT_SEQUENCE_EDITOR: 'true',
    GIT_PAGER: 'cat',
  };
}

/** Runs git to its end. Any exit code is a value; a missing git or too much output is a Problem. */
export function git(call: GitCall): Promise<GitResult> {
  if (call.signal?.aborted) return Promise.resolve({ ...UNSTARTED });
  return new Promise((resolve, reject) => {
    const child = spawn('git', call.args, {
      cwd: call.cwd,
      env: call.env,
      stdio: [call.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: call.runsForeignCode === true,
    });
    const stdout: Buffer[] = [];
    let bytes = 0;
    let stderr = Buffer.alloc(0);
    let failure: Error | null = null;
    let cut: string | null = null;
    let ending: Promise<void> | null = null;
    const end = (why: string) => {
      cut ??= why;
      ending ??= stop(child, call);
    };
    const abort = () => end('git was interrupted');
    const clock = setTimeout(
      () => end('git did not end in time and was stopped'),
      call.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    );
    call.signal?.addEventListener('abort', abort, { once: true });
    const settle = async (code: number | null) => {
      clearTimeout(clock);
      call.signal?.removeEventListener('abort', abort);
      // Git may be gone while a hook of its group still works.
      await ending;
      if (failure !== null) return reject(failure);
      const text = cut === null ? String(stderr) : `${stderr}\n${cut}`;
      const killed = TIDIES.has(child.signalCode) ? null : (child.pid ?? null);
      resolve({
        code: cut === null ? (code ?? -1) : -1,
        killed,
        stdout: Buffer.concat(stdout),
        stderr: text,
      });
    };
    child.on('error', (error) => {
      failure = spawnProblem(error, call.cwd);
      void settle(null);
    });
    child.stdout!.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= (call.maxBytes ?? DEFAULT_MAX_BYTES)) stdout.push(chunk);
      else if (failure === null) {
        failure = tooMuch(call);
        end('git gave too much output');
      }
    });
    child.stderr!.on('data', (chunk: Buffer) => {
      stderr = Buffer.concat([stderr, chunk]).subarray(-STDERR_BYTES);
    });
    child.on('close', (code) => void settle(code));
    if (call.runsForeignCode === true) letPipesGo(child);
    // EPIPE: git ended before it read everything; its exit code says why.
    child.stdin?.on('error', () => {});
    child.stdin?.end(call.input);
  });
}

/** How git can end and take its locks away first: by itself, or by a signal that it hears. */
const TIDIES: ReadonlySet<NodeJS.Signals | null> = new Set([
  null,
  'SIGINT',
  'SIGHUP',
  'SIGTERM',
  'SIGQUIT',
  'SIGPIPE',
]);

const UNSTARTED: GitResult = {
  code: -1,
  killed: null,
  stdout: Buffer.alloc(0),
  stderr: 'git was interrupted',
};

/** SIGTERM, then SIGKILL to whoever is left; comes back when git, or its whole group, is gone. */
async function stop(child: ChildProcess, call: GitCall): Promise<void> {
  signal(child, call, 'SIGTERM');
  if (await isGone(child, call, KILL_GRACE_MS)) return;
  signal(child, call, 'SIGKILL');
  await isGone(child, call, GONE_GRACE_MS);
}

async function isGone(child: ChildProcess, call: GitCall, withinMs: number): Promise<boolean> {
  for (let waited = 0; signal(child, call, 0); waited += GONE_POLL_MS) {
    if (waited >= withinMs) return false;
    await sleep(GONE_POLL_MS);
  }
  return true;
}

/** False when nobody was there to get it. */
function signal(child: ChildProcess, call: GitCall, name: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  if (child.pid === undefined) return false;
  const grouped = call.runsForeignCode === true;
  if (!grouped && (child.exitCode !== null || child.signalCode !== null)) return false;
  try {
    return process.kill(grouped ? -child.pid : child.pid, name);
  } catch {
    return false;
  }
}

function letPipesGo(child: ChildProcess): void {
  child.on('exit', () => {
    const streams: (Readable | null)[] = [child.stdout, child.stderr];
    setTimeout(() => {
      for (const stream of streams) stream?.destroy();
    }, PIPE_GRACE_MS).unref();
  });
}

function spawnProblem(error: NodeJS.ErrnoException, cwd: string): Problem {
  if (error.code === 'ENOENT' && !existsSync(cwd)) {
    return new Problem({
      code: 'ground.gone',
      what: `The folder ${cwd} is gone.`,
      why: 'git was to run there, and the folder was moved or removed.',
      fix: 'Put the folder back, or start again from where the project lies now.',
    });
  }
  return noGit(error.code === 'ENOENT' ? undefined : error.message);
}

/** The Problem of a machine without git. */
export function noGit(why = 'No program named git is in PATH.'): Problem {
  return new Problem({
    code: 'git.missing',
    what: 'git could not be started.',
    why,
    fix: 'Install git 2.30 or newer and make sure that `git --version` works in this terminal.',
  });
}

function commandOf({ args }: GitCall): string {
  return args.find((arg) => !arg.includes('=') && !arg.startsWith('-')) ?? '';
}

function tooMuch(call: GitCall): Problem {
  return new Problem({
    code: 'git.output_too_large',
    what: `git ${commandOf(call)} gave too much output.`,
    why: `More than ${call.maxBytes ?? DEFAULT_MAX_BYTES} bytes came; the rest was not read.`,
    fix: 'Add large generated files to .gitignore.',
  });
}

/** The Problem for a git call that had to succeed. */
export function gitProblem(doing: string, result: Pick<GitResult, 'code' | 'stderr'>): Problem {
  const why = endOf(result.stderr.trim(), 2_000) || `git ended with code ${result.code}.`;
  const code = refusalIn(why);
  const refusal = code === null ? null : refusalOf(code);
  const facts = {
    code: 'git.failed',
    what: `git could not ${doing}.`,
    why: refusal === null ? why : `${refusal.why} git says: ${why}`,
    fix: refusal?.fix ?? fixFor(why),
  };
  return new Problem(facts, refusal?.disk === true ? 70 : 5);
}

function fixFor(why: string): string {
  if (/dubious ownership/.test(why)) return 'Run `git config --global --add safe.directory <this folder>`.';
  if (/corrupt|bad object|missing|unable to read|invalid object/i.test(why)) {
    return 'Run `git fsck --full` in the project and repair what it names.';
  }
  return 'Run the same in a terminal (`git status`), repair what it says, then start again.';
}
