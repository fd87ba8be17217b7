import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RunOptions } from './index.ts';
import { findByMarker, isAlive, processTable, run } from './index.ts';

const PROGRAMS = fileURLToPath(new URL('../../test/fixtures/programs/', import.meta.url));
const MIB = 1024 * 1024;
let folder: string;
let marker: { name: string; value: string };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'process-'));
  marker = { name: 'PROCESS_TEST', value: `${process.pid}-${Math.random()}` };
});

afterEach(() => {
  expect(findByMarker(marker)).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
});

function program(name: string, ...args: string[]): string[] {
  return [process.execPath, `${PROGRAMS}${name}.mjs`, ...args];
}

function start(command: RunOptions['command'], more: Partial<RunOptions> = {}) {
  const env = { PATH: process.env.PATH ?? '' };
  return run({ command, cwd: folder, env, wallMs: 20_000, idleMs: null, marker, ...more });
}

/** Runs to the end, with all lines. */
async function runWhole(command: RunOptions['command'], more: Partial<RunOptions> = {}) {
  const lines: string[] = [];
  const result = await start(command, { onLine: (line, from) => lines.push(`${from}: ${line}`), ...more })
    .done;
  return { ...result, lines };
}

/** A promise and what settles it. */
function promised<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function startOf(pid: number): string | undefined {
  return processTable().find((row) => row.pid === pid)?.startTime;
}

test('a child runs to its end and both streams arrive as lines', async () => {
  const result = await runWhole(program('say', 'one', '!two'));
  expect(result).toMatchObject({ ending: 'exited', exitCode: 0, signal: null, error: null, leftBehind: [] });
  expect(result.lines.sort()).toEqual(['stderr: two', 'stdout: one']);
  expect(result.stdout).toEqual({ head: 'one\n', tail: 'one\n', text: 'one\n', bytes: 4 });
  expect(result.stderrTail).toBe('two\n');
  expect(result.outputBytes).toBe(8);
});

test('the exit code of a failing child is told', async () => {
  expect(await runWhole(program('exit', '3'))).toMatchObject({ ending: 'exited', exitCode: 3 });
});

test('a shell line runs in the shell of the platform', async () => {
  expect(await runWhole({ shell: 'echo hi | cat; exit 4' })).toMatchObject({
    exitCode: 4,
    lines: ['stdout: hi'],
  });
});

test('the environment is the given one and the marker, nothing is inherited', async () => {
  const { stdout } = await runWhole(program('print-env'), { env: { ONLY: 'this' } });
  expect(JSON.parse(stdout.text)).toEqual({ ONLY: 'this', PROCESS_TEST: marker.value });
});

test('a child without input finds its stdin at the end', async () => {
  expect((await runWhole(program('count-input'))).lines).toEqual(['stdout: 0']);
});

test('a prompt of megabytes goes in by stdin', async () => {
  const { lines } = await runWhole(program('count-input'), { input: 'p'.repeat(3 * MIB) });
  expect(lines).toEqual([`stdout: ${3 * MIB}`]);
});

test('a child that closes its stdin unread still ends well', async () => {
  const result = await runWhole(program('close-stdin'), { input: 'p'.repeat(MIB) });
  expect(result).toMatchObject({ ending: 'exited', exitCode: 0, lines: ['stdout: done'] });
});

test('a kept-open stdin takes text until it is ended', async () => {
  const answered = promised<void>();
  const child = start(program('echo'), { input: 'keep-open', onLine: () => answered.resolve() });
  expect(child.write('hello\n')).toBe(true);
  await answered.promise;
  expect(child.write('again\n')).toBe(true);
  child.endInput();
  expect((await child.done).stdout.text).toBe('hello\nagain\n');
  expect(child.write('late\n')).toBe(false);
});

test('text for a stdin that was not kept open is refused', async () => {
  const child = start(program('say', 'x'));
  expect(child.write('x')).toBe(false);
  await child.done;
});

test.each([
  ['a program that is not there', ['no-such-program-here'], {}, /ENOENT/],
  ['a folder that is not there', ['ls'], { cwd: '/no/such/folder' }, /ENOENT.*no folder \/no\/such\/folder/],
  ['an argument beyond the system limit', ['ls', 'x'.repeat(200_000)], {}, /E2BIG/],
  ['an environment beyond the system limit', ['ls'], { env: { BIG: 'x'.repeat(200_000) } }, /E2BIG/],
  ['no command', [], {}, /./],
  ['a zero byte in an argument', ['ls', 'a\0b'], {}, /null bytes/],
  ['a zero byte in the folder', ['ls'], { cwd: '/tmp/\0' }, /null bytes/],
])('%s is told as a failed spawn', async (_, command, more, error) => {
  const child = start(command, more);
  expect(child.pid).toBeNull();
  await child.stop();
  expect(child.write('x')).toBe(false);
  const result = await child.done;
  expect(result).toMatchObject({ ending: 'spawn_failed', exitCode: null, pid: null });
  expect(result.error).toMatch(error);
});

test('a file that may not be executed is told as a failed spawn', async () => {
  const path = join(folder, 'plain.sh');
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, 0o644);
  expect((await runWhole([path])).error).toMatch(/EACCES/);
});

test('the spawn is told with pid and start time, and before the result', async () => {
  let told: [number, string] | null = null;
  const child = start(program('say', 'x'), {
    onSpawn: async (pid, startTime) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      told = [pid, startTime];
    },
  });
  const result = await child.done;
  expect(told).toEqual([child.pid, result.startTime]);
});

test('a child that runs too long is ended', async () => {
  const result = await runWhole(program('forever'), { wallMs: 700 });
  expect(result).toMatchObject({ ending: 'wall', exitCode: null, signal: 'SIGTERM' });
});

test('while its clocks stand still a child may be silent past both limits, and not after', async () => {
  const child = start(program('forever'), { wallMs: 700, idleMs: 500 });
  child.pauseClocks();
  const over = child.done.then(() => 'over');
  const later = new Promise((resolve) => setTimeout(() => resolve('alive'), 1200));
  expect(await Promise.race([over, later])).toBe('alive');
  child.resumeClocks();
  expect((await child.done).ending).toBe('idle');
});

test('a silent child is ended, a talking one is not', async () => {
  const idle = runWhole(program('forever'), {
    idleMs: 600,
    marker: { ...marker, value: `${marker.value}-b` },
  });
  const talking = runWhole(program('tick', '50', '30'), { idleMs: 1000 });
  expect(await idle).toMatchObject({ ending: 'idle', lines: ['stdout: ready'] });
  expect(await talking).toMatchObject({ ending: 'exited', exitCode: 0 });
});

test('a silent child with other signs of life gets its time again', async () => {
  const asked: number[] = [];
  const beforeIdle = async (sinceMs: number) => {
    asked.push(sinceMs);
    return asked.length < 3;
  };
  const before = Date.now();
  const result = await runWhole(program('forever'), { idleMs: 400, beforeIdle });
  expect(result.ending).toBe('idle');
  expect(asked).toHaveLength(3);
  expect(asked[0]).toBeGreaterThanOrEqual(before);
});

test('a question about signs of life that is never answered does not outlast the wall limit', async () => {
  const result = await runWhole(program('forever'), {
    idleMs: 100,
    wallMs: 1000,
    beforeIdle: () => new Promise(() => {}),
  });
  expect(result.ending).toBe('wall');
});

test('a child that ignores SIGTERM is killed after the grace', async () => {
  const result = await runWhole(program('ignore-term'), { wallMs: 800, graceMs: 300 });
  expect(result).toMatchObject({ ending: 'wall', signal: 'SIGKILL' });
  expect(result.lines).toContain('stdout: not now');
});

test('a second stop shortens the grace of the first', async () => {
  const ready = promised<void>();
  const child = start(program('ignore-term'), { onLine: () => ready.resolve() });
  await ready.promise;
  const first = child.stop(600_000);
  const second = child.stop(100);
  await Promise.all([first, second, child.stop(600_000)]);
  expect(await child.done).toMatchObject({ ending: 'stopped', signal: 'SIGKILL' });
});

test('a stop in the same moment as the spawn leaves nothing behind', async () => {
  const child = start(program('leave-group', 'wait'));
  await child.stop(0);
  expect((await child.done).ending).toBe('stopped');
  await child.stop();
});

test('a stop ends a whole tree with processes that left the group', async () => {
  const leaver = promised<number>();
  const child = start(program('leave-group', 'wait'), { onLine: (line) => leaver.resolve(Number(line)) });
  const pid = await leaver.promise;
  const startTime = startOf(pid)!;
  await child.stop();
  expect(isAlive(pid, startTime)).toBe(false);
});

test('a process left behind in its own session is ended and named', async () => {
  const result = await runWhole(program('leave-group'));
  const pid = Number(result.stdout.text);
  expect(result).toMatchObject({
    ending: 'exited',
    exitCode: 0,
    leftBehind: [{ pid, command: 'sleep 300' }],
  });
  expect(startOf(pid)).toBeUndefined();
});

test('a process that left the group and cleared its environment is known by its parent', async () => {
  const result = await runWhole(program('leave-group', 'bare', '1500'));
  const pid = Number(result.stdout.text);
  expect(result.leftBehind).toEqual([{ pid, command: 'sleep 300' }]);
  expect(startOf(pid)).toBeUndefined();
});

test('a background job of a shell is ended and named without any marker', async () => {
  const env = { PATH: process.env.PATH ?? '' };
  const result = await run({
    command: { shell: 'sleep 300 & echo $!' },
    cwd: folder,
    env,
    wallMs: 20_000,
    idleMs: null,
  }).done;
  expect(result.leftBehind).toEqual([{ pid: Number(result.stdout.text), command: 'sleep 300' }]);
});

test('the far end of a pipe that is just ending was not left behind', async () => {
  const result = await runWhole({ shell: '(sleep 0.15; echo late) & echo soon' });
  expect(result.leftBehind).toEqual([]);
});

test('a left-behind process that holds the pipe open holds up nobody', async () => {
  const result = await runWhole(program('keep-pipe-open'));
  expect(result.leftBehind).toHaveLength(1);
  expect(result.lines).toEqual([`stdout: ${result.leftBehind[0]!.pid}`]);
});

test('a left-behind process that floods the pipe holds up nobody', async () => {
  const result = await start(program('flooding-leftover'), { onLine: () => {} }).done;
  expect(result).toMatchObject({ ending: 'exited', exitCode: 0, leftBehind: [{ command: 'yes' }] });
});

test('a code point in two pieces is joined and invalid bytes are replaced', async () => {
  const { lines } = await runWhole(program('bad-utf8'));
  expect(lines).toEqual(['stdout: a€b', 'stdout: ��c']);
});

test('one line of 50 MB arrives bounded and marked', async () => {
  const lines: string[] = [];
  const result = await start(program('flood', '50', 'one-line'), { onLine: (line) => lines.push(line) }).done;
  expect(result.outputBytes).toBe(50 * MIB);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^x+ \[\.\.\. 51380224 bytes dropped\]$/);
});

test('200 MB of output go to the log whole while memory stays bounded', async () => {
  const logPath = join(folder, 'logs', 'raw.log');
  let lines = 0;
  let peakBytes = 0;
  const before = process.memoryUsage().rss;
  const result = await start(program('flood', '200'), {
    logPath,
    onLine: () => {
      lines += 1;
      if (lines % 5000 === 0) peakBytes = Math.max(peakBytes, process.memoryUsage().rss);
    },
  }).done;
  expect(result).toMatchObject({ ending: 'exited', outputBytes: 200 * MIB, error: null });
  expect(statSync(logPath).size).toBe(200 * MIB);
  expect(lines).toBe(Math.ceil((200 * MIB) / 100));
  expect(result.stdout.text.length).toBeLessThan(200_000);
  expect(peakBytes - before).toBeLessThan(100 * MIB);
});

test('the log is appended to', async () => {
  const logPath = join(folder, 'raw.log');
  await start(program('say', 'one'), { logPath }).done;
  await start(program('say', '!two'), { logPath }).done;
  expect(readFileSync(logPath, 'utf8')).toBe('one\ntwo\n');
});

test.each(['/proc/no/log', '/dev/full'])(
  'a log that cannot be written (%s) is told and the child goes on',
  async (logPath) => {
    const result = await runWhole(program('flood', '3'), { logPath });
    expect(result).toMatchObject({ ending: 'exited', exitCode: 0, outputBytes: 3 * MIB });
    expect(result.error).toMatch(/the log .* (?:was not written|is incomplete)/);
  },
);

test('a callback that throws ends the tree and is not swallowed', async () => {
  const child = start(program('forever'), {
    onLine: () => {
      throw new Error('a bug');
    },
  });
  await expect(child.done).rejects.toThrow('a bug');
  await child.stop();
});

test('a spawn that cannot be recorded ends the tree', async () => {
  const child = start(program('forever'), { onSpawn: () => Promise.reject(new Error('fenced')) });
  await expect(child.done).rejects.toThrow('fenced');
});
