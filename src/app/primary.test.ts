/** The primary among several loops: real processes that stand for it, race for it and are killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'tsdown';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { removeFolder } from '../../test/remove-folder.ts';
import { readLock } from '../store/index.ts';
import { primaryLock, standForPrimary } from './primary.ts';

vi.setConfig({ testTimeout: 60_000 });

let mainDir: string;
const loops: Loop[] = [];
beforeEach(() => {
  mainDir = mkdtempSync(join(tmpdir(), 'ralph-primary-'));
});
afterEach(async () => {
  for (const loop of loops.splice(0)) await loop.kill();
  removeFolder(mainDir);
});

interface Loop {
  pid: number;
  isPrimary(): boolean;
  kill(signal?: NodeJS.Signals): Promise<void>;
}

const LOOP = `
import { standForPrimary } from ${JSON.stringify(join(import.meta.dirname, 'primary.ts'))};
const primary = await standForPrimary({ mainDir: process.argv[2], sessionId: process.argv[3], everyMs: 20 });
let told = null;
setInterval(() => {
  const held = primary.held();
  if (held !== told) process.stdout.write((held ? 'primary' : 'beside') + '\\n');
  told = held;
}, 5);
process.once('SIGTERM', () => primary.close().then(() => process.exit(0)));
`;

async function buildLoop(): Promise<string> {
  const entry = join(mainDir, 'loop.ts');
  writeFileSync(entry, LOOP);
  await build({ entry, outDir: mainDir, config: false, dts: false, clean: false, logLevel: 'silent' });
  return join(mainDir, 'loop.mjs');
}

function startLoop(program: string, session: string): Loop {
  const child: ChildProcess = spawn(process.execPath, [program, mainDir, session], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let last = '';
  child.stdout!.on('data', (chunk: Buffer) => {
    last = chunk.toString().trim().split('\n').at(-1)!;
  });
  const gone = new Promise<void>((done) => child.once('exit', () => done()));
  const loop: Loop = {
    pid: child.pid!,
    isPrimary: () => child.exitCode === null && child.signalCode === null && last === 'primary',
    async kill(signal = 'SIGKILL') {
      child.kill(signal);
      await gone;
    },
  };
  loops.push(loop);
  return loop;
}

const onlyPrimary = (): Promise<Loop> =>
  vi.waitFor(
    () => {
      const primaries = loops.filter((loop) => loop.isPrimary());
      expect(primaries).toHaveLength(1);
      return primaries[0]!;
    },
    { timeout: 20_000, interval: 20 },
  );

test('of loops that begin at once one is the primary; killed, another takes it over; at its end it is given on', async () => {
  const program = await buildLoop();
  for (const session of ['a', 'b', 'c', 'd']) startLoop(program, session);
  const first = await onlyPrimary();
  await first.kill();
  const second = await onlyPrimary();
  expect(second.pid).not.toBe(first.pid);
  await second.kill('SIGTERM');
  const third = await onlyPrimary();
  expect([first.pid, second.pid]).not.toContain(third.pid);
  expect((await readLock(primaryLock(mainDir)))?.pid).toBe(third.pid);
});

test('a loop that stands beside a living primary is none, and is it soon after that one closed', async () => {
  const one = await standForPrimary({ mainDir, sessionId: 'a', everyMs: 10 });
  const other = await standForPrimary({ mainDir, sessionId: 'b', everyMs: 10 });
  expect([one.held(), other.held()]).toEqual([true, false]);
  expect(await readLock(primaryLock(mainDir))).toMatchObject({ sessionId: 'a', alive: true });
  await one.close();
  await vi.waitFor(() => expect([one.held(), other.held()]).toEqual([false, true]));
  await other.close();
  expect(await readLock(primaryLock(mainDir))).toBeNull();
});
