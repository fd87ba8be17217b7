import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fact, JournalRecord } from '../core/index.ts';
import { Problem } from '../core/index.ts';
import { type DiskIo, REAL_IO, StoreFull } from './disk.ts';
import { followJournal, readJournal, scanJournal } from './follow.ts';
import { openJournal } from './journal.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ralph-journal-'));
  file = join(folder, 'journal.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const fact = (text: string): Fact => ({ type: 'notice.given', level: 'info', text });

async function record(count: number): Promise<Buffer> {
  const { journal } = await openJournal({ file, epoch: 1 });
  for (let n = 1; n <= count; n++)
    await journal.append(n - 1, n, [fact(`Schritt ${n} – größer ✓`), fact('b\nc')]);
  await journal.close();
  return readFileSync(file);
}

async function problemOf(promise: Promise<unknown>): Promise<Problem> {
  const error = await promise.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
}

const fullDisk = (code: string): Error => Object.assign(new Error(code), { code });

describe('a journal', () => {
  it('is private, one JSON record a line, and reads back what was written', async () => {
    const bytes = await record(3);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const lines = bytes.toString().trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    const { records, tornBytes } = await readJournal(file);
    expect(tornBytes).toBe(0);
    expect(records).toEqual(lines.map((line) => JSON.parse(line)));
    expect(records.map(({ seq, epoch, v }) => [seq, epoch, v])).toEqual([
      [1, 1, 1],
      [2, 1, 1],
      [3, 1, 1],
    ]);
  });

  it('goes on with the epoch of its new owner', async () => {
    await record(2);
    const records: JournalRecord[] = [];
    const { journal } = await openJournal({ file, epoch: 2, record: (record) => records.push(record) });
    expect(records).toHaveLength(2);
    expect(journal.seq).toBe(2);
    expect(await journal.append(2, 9, [fact('c')])).toMatchObject({ seq: 3, epoch: 2, at: 9 });
    await journal.close();
    expect((await readJournal(file)).records).toHaveLength(3);
  });

  it('that others may read is made private again', async () => {
    await record(1);
    chmodSync(file, 0o644);
    await (await openJournal({ file, epoch: 1 })).journal.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('takes records that are queued together with one write and one sync', async () => {
    const calls: string[] = [];
    const io: DiskIo = {
      write(handle, bytes) {
        calls.push('write');
        return REAL_IO.write(handle, bytes);
      },
      fdatasync(handle) {
        calls.push('sync');
        return REAL_IO.fdatasync(handle);
      },
      truncate: REAL_IO.truncate,
    };
    const { journal } = await openJournal({ file, epoch: 1, io });
    const first = journal.append(journal.seq, 1, [fact('1')]);
    await Promise.resolve();
    const rest = [2, 3, 4, 5].map((n) => journal.append(journal.seq, n, [fact(String(n))]));
    const answers = await Promise.all([first, ...rest]);
    expect(answers.map((answer) => (answer === 'fenced' ? 0 : answer.seq))).toEqual([1, 2, 3, 4, 5]);
    expect(calls.length).toBeLessThanOrEqual(4);
    await journal.close();
    expect((await readJournal(file)).records).toHaveLength(5);
  });

  it('refuses an append after another record than its last: that is a bug', async () => {
    const { journal } = await openJournal({ file, epoch: 1 });
    await expect(journal.append(7, 1, [])).rejects.toThrow('append after 7, but the journal is at 0');
    expect(await journal.append(0, 1, [])).toMatchObject({ seq: 1 });
    await journal.close();
  });
});

describe('a cut journal', () => {
  it('opens at every byte it may be cut at, and loses only the record it was cut in', async () => {
    const whole = await record(2);
    const ends = [...whole.entries()].filter(([, byte]) => byte === 0x0a).map(([at]) => at + 1);
    for (let length = 0; length <= whole.length; length++) {
      writeFileSync(file, whole.subarray(0, length));
      const kept = ends.filter((end) => end <= length);
      const records: JournalRecord[] = [];
      const { journal, repaired } = await openJournal({
        file,
        epoch: 2,
        record: (record) => records.push(record),
      });
      await journal.close();
      expect(records).toHaveLength(kept.length);
      expect(statSync(file).size).toBe(kept.at(-1) ?? 0);
      const torn = length - (kept.at(-1) ?? 0);
      expect(repaired?.bytes ?? 0).toBe(torn);
      if (repaired === null) continue;
      expect(readFileSync(join(folder, repaired.keptAs))).toEqual(whole.subarray(length - torn, length));
      rmSync(join(folder, repaired.keptAs));
    }
  });

  it('reads at every byte it may be cut at', async () => {
    const whole = await record(5);
    const { records } = await readJournal(file);
    for (let length = 0; length <= whole.length; length++) {
      writeFileSync(file, whole.subarray(0, length));
      const read = await readJournal(file);
      const kept = whole.subarray(0, length).lastIndexOf(0x0a) + 1;
      expect(read.tornBytes).toBe(length - kept);
      expect(read.records).toEqual(records.slice(0, read.records.length));
    }
  });

  it('sets a last line of garbage aside and never overwrites what was set aside before', async () => {
    const whole = await record(2);
    for (const n of [1, 2]) {
      appendFileSync(file, '{"v":1,"se\0\0\n');
      const { journal, repaired } = await openJournal({ file, epoch: 2 });
      expect(repaired).toEqual({ bytes: 13, keptAs: `journal.torn-${n}` });
      await journal.close();
    }
    expect(readFileSync(file)).toEqual(whole);
  });

  it('is left alone by a reader, which says how much is cut', async () => {
    const whole = await record(2);
    appendFileSync(file, '{"v":1');
    expect(await readJournal(file)).toMatchObject({ records: [{ seq: 1 }, { seq: 2 }], tornBytes: 6 });
    expect(statSync(file).size).toBe(whole.length + 6);
    expect(scanJournal(join(folder, 'none'), () => {})).toBe(0);
  });

  it('reads as a prefix of the same records or stops with a Problem, whatever byte is changed', async () => {
    const whole = await record(3);
    const { records } = await readJournal(file);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), async (at, byte) => {
        const changed = Buffer.from(whole);
        changed[at] = byte;
        writeFileSync(file, changed);
        const read = await readJournal(file).catch((error: unknown) => error);
        if (read instanceof Problem) return;
        const { records: found } = read as { records: typeof records };
        // The last line has no successor that vouches for it, and without the newline before it the last
        // two are one cut end; the lines before that must be the same.
        expect(found.slice(0, 2)).toEqual(records.slice(0, Math.min(2, found.length)));
        expect(found.length).toBeGreaterThanOrEqual(whole[at] === 0x0a ? 1 : 2);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a damaged journal', () => {
  const edit = (change: (lines: string[]) => string[]) => {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    writeFileSync(file, `${change(lines).join('\n')}\n`);
  };

  it('stops at a changed line and names the next one, which does not fit it', async () => {
    await record(3);
    edit(([a, b, c]) => [a!, b!.replace('Schritt 2', 'Schritt 9'), c!]);
    const { facts } = await problemOf(openJournal({ file, epoch: 2 }));
    expect(facts).toMatchObject({ code: 'journal.damaged', at: `${file}:3` });
    expect(facts.why).toContain('line 2');
    expect(facts.fix).toContain('backup');
  });

  it.each<[string, (lines: string[]) => string[], number]>([
    ['bad JSON in the middle', ([a, b, c]) => [a!, b!.slice(0, 20), c!], 2],
    ['a missing line', ([a, , c]) => [a!, c!], 2],
    ['a line that stands twice', ([a, b, c]) => [a!, b!, b!, c!], 3],
    ['an empty line', ([a, b, c]) => [a!, '', b!, c!], 2],
    ['a line that is no record', ([a, b]) => [a!, '[]', b!], 2],
    ['a missing first line', ([, b, c]) => [b!, c!], 1],
  ])('stops at %s', async (_name, change, line) => {
    await record(3);
    edit(change);
    const before = readFileSync(file);
    expect((await problemOf(openJournal({ file, epoch: 2 }))).facts.at).toBe(`${file}:${line}`);
    expect((await problemOf(readJournal(file))).facts.at).toBe(`${file}:${line}`);
    expect(readFileSync(file)).toEqual(before);
  });

  it('of a newer version says so', async () => {
    await record(2);
    edit(([a, b]) => [a!, b!.replace('"v":1', '"v":2')]);
    const { facts } = await problemOf(openJournal({ file, epoch: 2 }));
    expect(facts.code).toBe('journal.newer');
    expect(facts.what).toContain('made by a newer version');
  });
});

describe('a disk that takes no more', () => {
  it.each(['ENOSPC', 'EIO', 'EDQUOT'])(
    'rejects the append with StoreFull on %s and leaves the file as it was',
    async (code) => {
      const whole = await record(2);
      let failing = true;
      const io: DiskIo = {
        ...REAL_IO,
        async write(handle, bytes) {
          if (!failing) return REAL_IO.write(handle, bytes);
          await REAL_IO.write(handle, bytes.subarray(0, bytes.length >> 1));
          throw fullDisk(code);
        },
      };
      const { journal } = await openJournal({ file, epoch: 2, io });
      const refused = await Promise.allSettled([
        journal.append(2, 1, [fact('x')]),
        journal.append(3, 1, [fact('y')]),
      ]);
      for (const one of refused)
        expect(one).toMatchObject({ status: 'rejected', reason: { name: 'StoreFull', code } });
      expect(readFileSync(file)).toEqual(whole);
      expect(journal.seq).toBe(2);
      failing = false;
      expect(await journal.append(2, 2, [fact('room again')])).toMatchObject({ seq: 3 });
      await journal.close();
      expect((await readJournal(file)).records).toHaveLength(3);
    },
  );

  it('takes a failed sync as a refusal', async () => {
    const whole = await record(1);
    const io: DiskIo = { ...REAL_IO, fdatasync: () => Promise.reject(fullDisk('EIO')) };
    const { journal } = await openJournal({ file, epoch: 2, io });
    await expect(journal.append(1, 1, [fact('x')])).rejects.toBeInstanceOf(StoreFull);
    await journal.close();
    expect(readFileSync(file)).toEqual(whole);
  });

  it('refuses everything further when even the cutting off failed, and the next open mends it', async () => {
    const whole = await record(1);
    const io: DiskIo = {
      async write(handle, bytes) {
        await REAL_IO.write(handle, bytes.subarray(0, 30));
        throw fullDisk('EIO');
      },
      fdatasync: REAL_IO.fdatasync,
      truncate: () => Promise.reject(fullDisk('EIO')),
    };
    const { journal } = await openJournal({ file, epoch: 2, io });
    await expect(journal.append(1, 1, [])).rejects.toBeInstanceOf(StoreFull);
    await expect(journal.append(1, 1, [])).rejects.toBeInstanceOf(StoreFull);
    await journal.close();
    const again = await openJournal({ file, epoch: 3 });
    expect(again.repaired?.bytes).toBe(30);
    await again.journal.close();
    expect(readFileSync(file)).toEqual(whole);
  });

  it('is survived for real on a file system of 64 KB', async (context) => {
    const small = join(folder, 'small');
    mkdirSync(small);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small], { stdio: 'ignore' });
    } catch {
      context.skip('mounting a small file system is not permitted here');
    }
    try {
      const there = join(small, 'journal.jsonl');
      const { journal } = await openJournal({ file: there, epoch: 1 });
      let error: unknown = null;
      for (let n = 0; error === null && n < 100; n++) {
        await journal.append(journal.seq, n, [fact('x'.repeat(3000))]).catch((caught: unknown) => {
          error = caught;
        });
      }
      expect(error).toMatchObject({ name: 'StoreFull', code: 'ENOSPC' });
      const { records, tornBytes } = await readJournal(there);
      expect(records.length).toBe(journal.seq);
      expect(records.length).toBeGreaterThan(10);
      expect(tornBytes).toBe(0);
      await journal.close();
    } finally {
      execFileSync('umount', [small]);
    }
  });
});

describe('an owner that was replaced', () => {
  it('is fenced by a lock of another epoch, and stays so', async () => {
    const { journal } = await openJournal({ file, epoch: 1 });
    writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: 1, epoch: 1 }));
    expect(await journal.append(0, 1, [])).toMatchObject({ seq: 1 });
    writeFileSync(join(folder, 'lock'), JSON.stringify({ pid: 1, epoch: 2 }));
    const length = statSync(file).size;
    expect(await journal.append(1, 1, [])).toBe('fenced');
    rmSync(join(folder, 'lock'));
    expect(await journal.append(1, 1, [])).toBe('fenced');
    expect(statSync(file).size).toBe(length);
    await journal.close();
  });

  it('is fenced when its lock says it is not ours any more', async () => {
    let ours = true;
    const { journal } = await openJournal({ file, epoch: 1, stillOurs: () => ours });
    expect(await journal.append(0, 1, [])).toMatchObject({ seq: 1 });
    ours = false;
    expect(await journal.append(1, 1, [])).toBe('fenced');
    await journal.close();
  });

  it.each([
    ['grew', () => appendFileSync(file, 'x')],
    ['was cut', () => truncateSync(file, 3)],
    ['was removed', () => rmSync(file)],
  ])('is fenced when the file %s behind its back', async (_name, meddle) => {
    await record(1);
    const { journal } = await openJournal({ file, epoch: 1 });
    meddle();
    expect(await Promise.all([journal.append(1, 1, []), journal.append(2, 1, [])])).toEqual([
      'fenced',
      'fenced',
    ]);
    await journal.close();
  });
});

describe('a follower', () => {
  const until = async (done: () => boolean): Promise<void> => {
    for (let n = 0; n < 500 && !done(); n++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(done()).toBe(true);
  };

  it('gets what is there and what comes, from before the file exists', async () => {
    const seen: number[] = [];
    const stop = followJournal(file, ({ seq }) => seen.push(seq));
    await record(3);
    await until(() => seen.length === 3);
    const { journal } = await openJournal({ file, epoch: 2 });
    await journal.append(3, 1, [fact('later')]);
    await until(() => seen.length === 4);
    stop();
    await journal.append(4, 1, [fact('unheard')]);
    await journal.close();
    expect(seen).toEqual([1, 2, 3, 4]);
  });

  it('skips what it knows, waits for the end of a cut line, and starts over when the journal is replaced', async () => {
    const whole = await record(3);
    const seen: number[] = [];
    let restarts = 0;
    writeFileSync(file, whole.subarray(0, whole.length - 5));
    const stop = followJournal(file, ({ seq }) => seen.push(seq), {
      afterSeq: 1,
      pollMs: 20,
      onRestart: () => restarts++,
    });
    await until(() => seen.length === 1);
    appendFileSync(file, whole.subarray(whole.length - 5));
    await until(() => seen.length === 2);
    rmSync(file);
    await until(() => restarts === 1);
    writeFileSync(file, whole);
    await until(() => seen.length === 4);
    stop();
    expect(seen).toEqual([2, 3, 2, 3]);
  });

  it('hears of damage once and stops', async () => {
    await record(2);
    const problems: unknown[] = [];
    const stop = followJournal(file, () => {}, {
      pollMs: 10,
      onProblem: (problem) => problems.push(problem),
    });
    appendFileSync(file, 'x\ny\n');
    await until(() => problems.length === 1);
    expect(problems[0]).toBeInstanceOf(Problem);
    stop();
  });
});

it('leaves no temporary files behind', async () => {
  await record(2);
  appendFileSync(file, 'torn');
  await (await openJournal({ file, epoch: 2 })).journal.close();
  expect(readdirSync(folder).sort()).toEqual(['journal.jsonl', 'journal.torn-1']);
});
