import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { build } from 'tsdown';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ownIdentity } from '../process/index.ts';
import { type HeldLock, type LockAnswer, readLock, takeLock } from './lock.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ralph-lock-'));
  file = join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const me = ownIdentity();
const request = { identity: me, sessionId: '260208-143000', now: Date.UTC(2026, 1, 8) };
const take = (more: object = {}): Promise<LockAnswer> => takeLock({ file, ...request, ...more });

function taken(answer: LockAnswer): HeldLock {
  expect(answer.kind).toBe('taken');
  return answer as HeldLock;
}

/** A process that has ended: its pid and start time name nobody. */
function deadIdentity(): typeof me {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  return { ...me, pid, startTime: '1' };
}

it('a free lock is taken and shows who has it', async () => {
  const lock = taken(await take());
  expect(lock).toMatchObject({ epoch: 1, takenOverFrom: null });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    pid: me.pid,
    start_time: me.startTime,
    started_at: '2026-02-08T00:00:00.000Z',
    host: me.host,
    boot: me.boot,
    session_id: '260208-143000',
    epoch: 1,
  });
  expect(await readLock(file)).toMatchObject({ pid: me.pid, alive: true, epoch: 1 });
  expect(lock.stillOurs()).toBe(true);
  await lock.release();
});

it('a living owner keeps it, and is named', async () => {
  const lock = taken(await take());
  expect(await take()).toMatchObject({ kind: 'held', heldBy: { pid: me.pid, sessionId: '260208-143000' } });
  expect(await take({ force: true })).toMatchObject({ kind: 'held' });
  await lock.release();
});

it('a released lock is free, and its number is never used again', async () => {
  for (const epoch of [1, 2, 3, 4]) {
    const lock = taken(await take());
    expect(lock).toMatchObject({ epoch, takenOverFrom: null });
    await lock.release();
    expect(existsSync(file)).toBe(false);
    expect(lock.stillOurs()).toBe(true); // nobody else has it
  }
  expect(await readLock(file)).toBeNull();
  expect(readdirSync(folder).sort()).toEqual(['.lock-3', '.lock-4']);
});

it('a dead owner is replaced, and the take-over names it', async () => {
  const dead = deadIdentity();
  const old = taken(await take({ identity: dead }));
  const lock = taken(await take());
  expect(lock).toMatchObject({ epoch: 2, takenOverFrom: { pid: dead.pid, host: me.host } });
  expect(old.stillOurs()).toBe(false);
  await old.release();
  expect(existsSync(file)).toBe(true);
  expect(lock.stillOurs()).toBe(true);
  await lock.release();
});

it('a pid that was used again by another process does not keep the lock', async () => {
  taken(await take({ identity: { ...me, startTime: 'long ago' } }));
  expect(taken(await take()).epoch).toBe(2);
});

it('an owner from before the last boot is dead, whoever has its pid now', async () => {
  taken(await take({ identity: { ...me, boot: 'an earlier boot' } }));
  expect(taken(await take()).takenOverFrom).toMatchObject({ boot: 'an earlier boot' });
});

it('an owner on another host counts by its heartbeat, and then a person decides', async () => {
  const away = { ...me, host: 'elsewhere' };
  taken(await take({ identity: away }));
  expect(await take()).toMatchObject({ kind: 'held', heldBy: { host: 'elsewhere' } });
  const sixMinutesAgo = new Date(Date.now() - 6 * 60_000);
  utimesSync(join(folder, '.lock-1'), sixMinutesAgo, sixMinutesAgo);
  expect(await take()).toMatchObject({ kind: 'foreign', heldBy: { host: 'elsewhere' } });
  expect(await readLock(file)).toMatchObject({ alive: null });
  expect(taken(await take({ force: true }))).toMatchObject({
    epoch: 2,
    takenOverFrom: { host: 'elsewhere' },
  });
});

it('a lock of another maker is honoured while its pid lives', async () => {
  const { host, boot } = me;
  const theirs = { started_at: '2026-02-08T00:00:00Z', host, boot, session_id: 'x' };
  writeFileSync(file, JSON.stringify({ pid: process.pid, ...theirs }));
  expect(await take()).toMatchObject({ kind: 'held', heldBy: { pid: process.pid, sessionId: 'x' } });
  writeFileSync(file, JSON.stringify({ pid: deadIdentity().pid, epoch: 41, ...theirs }));
  expect(taken(await take()).epoch).toBe(42);
});

it('a lock file of old garbage is no lock', async () => {
  writeFileSync(file, 'nonsense');
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(file, longAgo, longAgo);
  expect(taken(await take())).toMatchObject({ epoch: 1, takenOverFrom: null });
});

it('a deleted lock file frees nothing while its owner lives', async () => {
  const lock = taken(await take());
  rmSync(file);
  expect(await take()).toMatchObject({ kind: 'held' });
  expect(lock.stillOurs()).toBe(true);
});

it('of many takers in one process exactly one wins, round after round', async () => {
  const dead = deadIdentity();
  for (let round = 0; round < 10; round++) {
    const before = taken(await take({ identity: dead }));
    const answers = await Promise.all(Array.from({ length: 20 }, () => take()));
    const winners = answers.filter(({ kind }) => kind === 'taken') as HeldLock[];
    expect(winners).toHaveLength(1);
    expect(winners[0]!.epoch).toBe(before.epoch + 1);
    await winners[0]!.release();
  }
});

const TAKER = `
import { ownIdentity } from ${JSON.stringify(join(import.meta.dirname, '..', 'process', 'index.ts'))};
import { takeLock } from ${JSON.stringify(join(import.meta.dirname, 'lock.ts'))};
const identity = ownIdentity();
process.stdout.write('ready');
process.stdin.once('data', async (line) => {
  const goAt = Number(line);
  while (Date.now() < goAt);
  const answer = await takeLock({ file: process.argv[2], identity, sessionId: 's', now: goAt });
  process.stdout.write(answer.kind + ' ' + (answer.kind === 'taken' ? answer.epoch : answer.heldBy.epoch));
});
`;

const heard = (child: ChildProcessByStdio<Writable, Readable, null>): Promise<string> =>
  new Promise((resolve) => child.stdout.once('data', (bytes: Buffer) => resolve(String(bytes))));

it('of twenty processes that see the same dead owner exactly one takes over', {
  timeout: 120_000,
}, async () => {
  taken(await take({ identity: deadIdentity() }));
  writeFileSync(join(folder, 'taker.ts'), TAKER);
  await build({
    entry: join(folder, 'taker.ts'),
    outDir: folder,
    config: false,
    dts: false,
    clean: false,
    logLevel: 'silent',
  });
  const children = Array.from({ length: 20 }, () =>
    spawn(process.execPath, [join(folder, 'taker.mjs'), file], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  try {
    expect(new Set(await Promise.all(children.map(heard)))).toEqual(new Set(['ready']));
    const goAt = Date.now() + 300;
    const answers = children.map(heard);
    for (const child of children) child.stdin.write(`${goAt}\n`);
    const said = await Promise.all(answers);
    expect(said.filter((word) => word === 'taken 2')).toHaveLength(1);
    expect(said.filter((word) => word === 'held 2')).toHaveLength(19);
  } finally {
    const gone = children.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    for (const child of children) child.stdin.end();
    await Promise.all(gone);
  }
});
