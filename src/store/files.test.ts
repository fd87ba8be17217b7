import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDesk } from './desk.ts';
import { atomicWrite, numbered, StoreFull } from './disk.ts';
import {
  appendProject,
  projectBytes,
  projectFiles,
  projectJournal,
  readProject,
  tidyProject,
} from './project.ts';
import { createSession, ensureProjectFolder, isSessionId, listSessions } from './sessions.ts';
import { openWorks } from './works.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ralph-files-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));
const text = (...path: string[]): string => readFileSync(join(root, ...path), 'utf8');

describe('an atomic write', () => {
  it('makes the folders, keeps the rights a file has, and leaves nothing else behind', async () => {
    await atomicWrite(join(root, 'a', 'b.txt'), 'one');
    chmodSync(join(root, 'a', 'b.txt'), 0o640);
    await atomicWrite(join(root, 'a', 'b.txt'), 'two');
    expect(text('a', 'b.txt')).toBe('two');
    expect(statSync(join(root, 'a', 'b.txt')).mode & 0o777).toBe(0o640);
    await atomicWrite(join(root, 'a', 'b.txt'), 'three', { mode: 0o600 });
    expect(statSync(join(root, 'a', 'b.txt')).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(root, 'a'))).toEqual(['b.txt']);
  });

  it('through a link leaves the link a link', async () => {
    writeFileSync(join(root, 'real'), 'one');
    symlinkSync('real', join(root, 'link'));
    await atomicWrite(join(root, 'link'), 'two');
    expect(text('real')).toBe('two');
    expect(lstatSync(join(root, 'link')).isSymbolicLink()).toBe(true);
  });

  it('to a full disk keeps the old file', async (context) => {
    const small = join(root, 'small');
    mkdirSync(small);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small], { stdio: 'ignore' });
    } catch {
      context.skip('mounting a small file system is not permitted here');
    }
    try {
      await atomicWrite(join(small, 'a'), 'old');
      await expect(atomicWrite(join(small, 'a'), 'x'.repeat(100_000))).rejects.toBeInstanceOf(StoreFull);
      expect(readdirSync(small)).toEqual(['a']);
      expect(text('small', 'a')).toBe('old');
    } finally {
      execFileSync('umount', [small]);
    }
  });

  it('numbers names before their ending', () => {
    expect([numbered('a.yaml', 1), numbered('a.b.yaml', 2), numbered('a', 3)]).toEqual([
      'a.yaml',
      'a.b-2.yaml',
      'a-3',
    ]);
  });
});

describe('works', () => {
  it('are found by their hash, however often they are put', async () => {
    const works = openWorks(root);
    const ref = await works.put('iterations/1/plan.md', 'größer\n');
    expect(await works.put('elsewhere.md', Buffer.from('größer\n'))).toEqual({
      path: 'elsewhere.md',
      sha256: ref.sha256,
    });
    expect(Buffer.from((await works.get(ref.sha256))!).toString()).toBe('größer\n');
    expect(existsSync(join(root, 'works', ref.sha256.slice(0, 2), ref.sha256))).toBe(true);
    expect(await works.get('0'.repeat(64))).toBeNull();
    expect(await works.get('../../etc/passwd')).toBeNull();
  });

  it('that were damaged are not handed out, and a cut one is made whole by the next put', async () => {
    const works = openWorks(root);
    const { sha256 } = await works.put('a', 'content');
    const file = join(root, 'works', sha256.slice(0, 2), sha256);
    writeFileSync(file, 'cont');
    expect(await works.get(sha256)).toBeNull();
    await Promise.all([works.put('a', 'content'), works.put('b', 'content')]);
    expect(await works.get(sha256)).not.toBeNull();
  });

  it('of an attempt lie under its number, which grows beyond three digits', async () => {
    const works = openWorks(root);
    expect(await works.attemptFile(7, 'evidence.json', '{}')).toBe('attempts/007/evidence.json');
    expect(await works.attemptFile(1234, 'tasks.json', '{}')).toBe('attempts/1234/tasks.json');
    expect(works.logPath(12)).toBe(join(root, 'logs', 'iteration-012.log'));
    await expect(works.attemptFile(1, '../lock', '')).rejects.toThrow('not a plain file name');
    const outbox = await works.outboxPath(7);
    expect(outbox).toBe(join(root, 'attempts', '007', 'outbox.jsonl'));
    writeFileSync(outbox, 'said');
    await works.outboxPath(7);
    expect(text('attempts', '007', 'outbox.jsonl')).toBe('said');
  });

  it('keep a prompt as a file and by its hash', async () => {
    const works = openWorks(root);
    const ref = await works.writePrompt(3, 'Do it.');
    expect(text('logs', 'iteration-003.prompt.md')).toBe('Do it.');
    expect(Buffer.from((await works.get(ref.sha256))!).toString()).toBe('Do it.');
  });
});

describe('the desk', () => {
  const session = (): string => join(root, '.ralph-sessions', '260208-143000');

  it('holds whole files, tells their hash and time, and is empty when empty', async () => {
    const desk = openDesk(root, session());
    expect(await desk.read('decide.txt')).toBeNull();
    const sha256 = await desk.write('decide.txt', '## Question\n');
    expect(await desk.read('decide.txt')).toMatchObject({ text: '## Question\n', sha256 });
    await desk.remove('decide.txt');
    await desk.remove('decide.txt');
    expect(await desk.read('decide.txt')).toBeNull();
    mkdirSync(join(root, 'ralph', 'blocked.txt'));
    await expect(desk.read('blocked.txt')).rejects.toMatchObject({ facts: { code: 'desk.folder' } });
  });

  it('archives an answered file with its session, and never over another', async () => {
    const desk = openDesk(root, session());
    expect(await desk.archive('decide.txt', 7)).toBeNull();
    for (const path of ['desk/007-decide.txt', 'desk/007-decide-2.txt']) {
      await desk.write('decide.txt', path);
      expect(await desk.archive('decide.txt', 7)).toBe(path);
      expect(readFileSync(join(session(), path), 'utf8')).toBe(path);
      expect(await desk.read('decide.txt')).toBeNull();
    }
  });

  it('links to the logs of the session that runs, and leaves what is not its link', async () => {
    expect(await openDesk(root, session()).linkLogs()).toBe(true);
    expect(readlinkSync(join(root, 'ralph', 'logs'))).toBe('../.ralph-sessions/260208-143000/logs');
    const next = join(root, '.ralph-sessions', '260208-150000');
    rmSync(session(), { recursive: true });
    expect(await openDesk(root, next).linkLogs()).toBe(true);
    expect(await openDesk(root, next).linkLogs()).toBe(true);
    writeFileSync(join(next, 'logs', 'iteration-001.log'), 'x');
    expect(text('ralph', 'logs', 'iteration-001.log')).toBe('x');

    rmSync(join(root, 'ralph', 'logs'));
    symlinkSync('/var/log', join(root, 'ralph', 'logs'));
    expect(await openDesk(root, next).linkLogs()).toBe(false);
    rmSync(join(root, 'ralph', 'logs'));
    mkdirSync(join(root, 'ralph', 'logs'));
    expect(await openDesk(root, next).linkLogs()).toBe(false);
    expect(readdirSync(join(root, 'ralph'))).toEqual(['logs']);
  });
});

describe('a session folder', () => {
  it('is named by local time, keeps itself out of git, and two in one second differ', async () => {
    const at = { mainRoot: root, now: Date.UTC(2026, 11, 31, 23, 59, 59), timezone: 'UTC' };
    const made = await Promise.all([createSession(at), createSession(at), createSession(at)]);
    expect(made.map(({ id }) => id).sort()).toEqual(['261231-235959', '270101-000000', '270101-000001']);
    expect(text('.ralph-sessions', '.gitignore')).toBe('*\n');
    expect(existsSync(join(made[0]!.dir, 'signals', 'inputs'))).toBe(true);
    expect((await createSession({ ...at, timezone: 'Asia/Kolkata' })).id).toBe('270101-052959');
  });

  it('stays visible to git where the project wants to track it', async () => {
    await createSession({ mainRoot: root, now: 0, timezone: 'UTC', track: true });
    expect(readdirSync(join(root, '.ralph-sessions'))).toEqual(['700101-000000']);
  });

  it.each(['260208-143000', '20260208-143000', '240229-000000'])('may be called %s', (id) => {
    expect(isSessionId(id)).toBe(true);
  });

  it.each([
    '260231-250000',
    '260231-120000',
    '230229-000000',
    '260208-146000',
    '260208',
    '../260208-143000',
    '260208-143000/..',
    '260208-143000.x',
    '2602081-143000',
    '',
  ])('may not be called %j', (id) => {
    expect(isSessionId(id)).toBe(false);
  });

  it('is listed by its time among the others, oldest first', async () => {
    expect(await listSessions(root)).toEqual([]);
    for (const id of ['260208-143000', '20250101-000000', '260208-142959', 'notes', '260231-000000']) {
      mkdirSync(join(root, '.ralph-sessions', id), { recursive: true });
    }
    writeFileSync(join(root, '.ralph-sessions', '260208-143000.instructions.md'), '');
    writeFileSync(join(root, '.ralph-sessions', '260208-143000', 'journal.jsonl'), '');
    expect((await listSessions(root)).map(({ id, hasJournal }) => [id, hasJournal])).toEqual([
      ['20250101-000000', false],
      ['260208-142959', false],
      ['260208-143000', true],
    ]);
  });
});

describe('the project folder', () => {
  it('hides all but task files and the configuration from git, itself included', async () => {
    execFileSync('git', ['init', '-q', root]);
    await ensureProjectFolder(root);
    for (const name of ['journal.jsonl', 'loop.lock', 'ralph.toml', 'prd.json', 'PRD.md', 'memories.md']) {
      writeFileSync(join(root, '.ralph', name), '');
    }
    const untracked = execFileSync('git', ['-C', root, 'ls-files', '-o', '--exclude-standard'], {
      encoding: 'utf8',
    });
    expect(untracked.trim().split('\n').sort()).toEqual([
      '.ralph/PRD.md',
      '.ralph/prd.json',
      '.ralph/ralph.toml',
    ]);
  });

  it('keeps an ignore file that a person changed', async () => {
    mkdirSync(join(root, '.ralph'));
    writeFileSync(join(root, '.ralph', '.gitignore'), '# mine\n');
    await ensureProjectFolder(root);
    expect(text('.ralph', '.gitignore')).toBe('# mine\n');
  });
});

describe('the project journal', () => {
  it('is written by many at once without a line lost or mixed', async () => {
    const long = 'x'.repeat(5000);
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => appendProject(root, { at: n, type: 'spend.counted', n, long })),
    );
    const { records, bad } = readProject(root);
    expect(bad).toEqual([]);
    expect(records.map(({ n }) => n).sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 50 }, (_, n) => n),
    );
    expect(statSync(projectJournal(root)).mode & 0o777).toBe(0o600);
  });

  it('goes on after a line that a crash cut', async () => {
    expect(readProject(root)).toEqual({ records: [], bad: [] });
    await appendProject(root, { at: 1, type: 'a.b' });
    writeFileSync(projectJournal(root), '{"v":1,"at":2,"ty', { flag: 'a' });
    await appendProject(root, { at: 3, type: 'a.c' });
    expect(readProject(root)).toMatchObject({
      records: [
        { v: 1, at: 1 },
        { at: 3, type: 'a.c' },
      ],
      bad: [{ place: 'journal.jsonl:2', bytes: Buffer.from('{"v":1,"at":2,"ty') }],
    });
  });
});

describe('a project journal that grows old', () => {
  const DAY = 86_400_000;
  const now = Date.UTC(2026, 5, 1);

  const touched = (file: string, at: number) => utimesSync(file, at / 1000, at / 1000);
  const names = () => readdirSync(join(root, '.ralph')).filter((name) => name.startsWith('journal'));

  it('is closed under a name of its own, and still read', async () => {
    await appendProject(root, { at: now - 40 * DAY, type: 'a.b' });
    touched(projectJournal(root), now - DAY);
    await tidyProject(root, { now, days: 30 });
    await appendProject(root, { at: now, type: 'a.c' });
    expect(names()).toEqual(['journal-20260601T000000Z.jsonl', 'journal.jsonl']);
    expect(readProject(root).records.map(({ type }) => type)).toEqual(['a.b', 'a.c']);
  });

  it('is left alone while it is young', async () => {
    await appendProject(root, { at: now - DAY, type: 'a.b' });
    await tidyProject(root, { now, days: 30 });
    expect(existsSync(projectJournal(root))).toBe(true);
  });

  it('is compressed once nothing was added to it for as long', async () => {
    await appendProject(root, { at: now - 90 * DAY, type: 'a.b' });
    touched(projectJournal(root), now - 50 * DAY);
    await tidyProject(root, { now: now - 50 * DAY, days: 30 });
    const closed = join(root, '.ralph', 'journal-20260412T000000Z.jsonl');
    expect(names()).toEqual([basename(closed)]);
    await tidyProject(root, { now, days: 30 });
    expect(names()).toEqual([`${basename(closed)}.gz`]);
    expect(gunzipSync(readFileSync(`${closed}.gz`)).toString('utf8')).toContain('"a.b"');
    expect(readProject(root).records).toEqual([]);
  });

  it('is closed and compressed at once where nobody worked for so long', async () => {
    await appendProject(root, { at: now - 41 * DAY, type: 'a.b' }, { at: now - 40 * DAY, type: 'a.c' });
    touched(projectJournal(root), now - 40 * DAY);
    await tidyProject(root, { now, days: 30 });
    expect(names()).toEqual(['journal-20260601T000000Z.jsonl.gz']);
  });

  it('loses nothing that another loop adds while it is closed and compressed', async () => {
    await appendProject(root, { at: now - 40 * DAY, type: 'first.written', n: -1 });
    touched(projectJournal(root), now - 40 * DAY);
    const adding = Array.from({ length: 40 }, (_, n) => appendProject(root, { at: now, type: 'a.c', n }));
    await Promise.all([...adding, tidyProject(root, { now: now + 40 * DAY, days: 30 })]);
    const all = [...projectFiles(root, { compressed: true })]
      .flatMap((file) => projectBytes(file)?.toString('utf8').trim().split('\n') ?? [])
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).n);
    expect([...new Set(all)].sort((a, b) => a - b)).toEqual(Array.from({ length: 41 }, (_, n) => n - 1));
  });

  it('is closed also where its first line cannot be read', async () => {
    mkdirSync(join(root, '.ralph'), { recursive: true });
    writeFileSync(projectJournal(root), 'torn\n');
    await appendProject(root, { at: now - 40 * DAY, type: 'a.b' });
    touched(projectJournal(root), now - DAY);
    await tidyProject(root, { now, days: 30 });
    expect(existsSync(projectJournal(root))).toBe(false);
    expect(readProject(root).bad.map(({ place }) => place)).toEqual(['journal-20260601T000000Z.jsonl:1']);
  });
});
