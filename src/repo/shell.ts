/**
 * A shell that stays for the next time. A process that is started from here costs a copy of our page
 * tables, twice what a short git command takes by itself; a shell has a handful of pages. It is told what to
 * do over its input and ends when that ends, so with us, in whatever way we end.
 */
import { Buffer } from 'node:buffer';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { shellWord } from '../core/index.ts';

export interface ShellResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

export interface Shell {
  /**
   * Runs the lines in the shell's folder, in a subshell that `exit` leaves, with nothing to read. Null: the
   * shell is gone, or did not answer within ten minutes or 512 MiB; nothing it started is left then.
   */
  run(lines: string[]): Promise<ShellResult | null>;
}

const TIMEOUT_MS = 10 * 60_000;
const MOST_BYTES = 512 * 1024 * 1024;

/** The shell is started by the first `run`. */
export function openShell(call: { cwd: string; env: Record<string, string> }): Shell {
  let child: ChildProcessWithoutNullStreams | null = null;
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(lines) {
      child ??= start(call);
      const used = child;
      const next = last.then(() => ask(used, [`cd ${shellWord(call.cwd)} || exit 2`, ...lines]));
      last = next;
      return next;
    },
  };
}

function start(call: { cwd: string; env: Record<string, string> }): ChildProcessWithoutNullStreams {
  // A group of its own: Ctrl-C is not for it, and what it started ends with it.
  const child = spawn('/bin/sh', [], { cwd: call.cwd, env: call.env, detached: true });
  child.on('error', () => {});
  // EPIPE: it is gone, which is seen by its output.
  child.stdin.on('error', () => {});
  child.unref();
  for (const pipe of pipesOf(child)) pipe.unref();
  return child;
}

/** While it has nothing to do, it keeps nobody from ending. */
function pipesOf(child: ChildProcessWithoutNullStreams): { ref(): unknown; unref(): unknown }[] {
  return [child.stdin, child.stdout, child.stderr] as unknown as { ref(): unknown; unref(): unknown }[];
}

function ask(child: ChildProcessWithoutNullStreams, lines: string[]): Promise<ShellResult | null> {
  const mark = randomBytes(12).toString('hex');
  const end = new RegExp(`\\n${mark} (\\d+)\\n$`);
  return new Promise((resolve) => {
    const out: Buffer[] = [];
    let [bytes, errors] = [0, ''];
    const settle = (result: ShellResult | null) => {
      clearTimeout(clock);
      child.stdout.off('data', onOut);
      child.stderr.off('data', onError);
      child.off('close', gone);
      for (const pipe of pipesOf(child)) pipe.unref();
      resolve(result);
    };
    const gone = () => settle(null);
    const stop = () => {
      endGroup(child);
      settle(null);
    };
    const onOut = (chunk: Buffer) => {
      bytes += chunk.length;
      out.push(chunk);
      if (bytes > MOST_BYTES) stop();
      else look();
    };
    const onError = (chunk: Buffer) => {
      errors = (errors + chunk.toString('utf8')).slice(-64 * 1024);
      look();
    };
    const look = () => {
      if (!errors.endsWith(mark)) return;
      const tail = Buffer.concat(out.slice(-2))
        .toString('latin1')
        .slice(-mark.length - 8);
      const found = end.exec(tail);
      if (found === null) return;
      const stdout = Buffer.concat(out).subarray(0, bytes - found[0].length);
      settle({ code: Number(found[1]), stdout, stderr: errors.slice(0, -mark.length) });
    };
    const clock = setTimeout(stop, TIMEOUT_MS);
    child.stdout.on('data', onOut);
    child.stderr.on('data', onError);
    child.on('close', gone);
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return gone();
    for (const pipe of pipesOf(child)) pipe.ref();
    const script = `(\n${lines.join('\n')}\n) </dev/null; printf '\\n%s %d\\n' ${mark} $?; printf %s ${mark} >&2\n`;
    child.stdin.write(script);
  });
}

function endGroup(child: ChildProcessWithoutNullStreams): void {
  try {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It went by itself.
  }
}
