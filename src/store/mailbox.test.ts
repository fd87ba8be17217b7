import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Incoming } from '../engine/index.ts';
import { type OpenedMailbox, openMailbox } from './mailbox.ts';
import { writeSignal } from './send.ts';
import { senderName, signingKey } from './signing.ts';

let root: string;
let session: string;
let inputs: string;
let warnings: string[];
let mailbox: OpenedMailbox;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ralph-mail-'));
  session = join(root, '260208-143000');
  inputs = join(session, 'signals', 'inputs');
  mkdirSync(inputs, { recursive: true });
  warnings = [];
  mailbox = openMailbox(session, { timezone: 'UTC', key: null, warn: (text) => warnings.push(text) });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Writes the file where it lies, as an editor does. */
const drop = (name: string, text: string): void => writeFileSync(join(inputs, name), text);

/** Writes the file elsewhere, and renames it in a moment later. */
async function move(name: string, text: string): Promise<void> {
  const elsewhere = join(session, 'made');
  writeFileSync(elsewhere, text);
  const before = Date.now() / 1000 - 0.1;
  utimesSync(elsewhere, before, before);
  renameSync(elsewhere, join(inputs, name));
}

const soon = (): number => Date.now() + 250;
const names = (incoming: Incoming[]): string[] => incoming.map(({ name }) => name);
const handling = {
  handledBy: 'ralph',
  handledAt: Date.UTC(2026, 1, 8, 14, 30, 5),
  actionTaken: 'Updated: "bar" # yes',
};
const processed = (name: string): string => readFileSync(join(session, 'signals', 'processed', name), 'utf8');
const rejected = (name: string): string => readFileSync(join(session, 'signals', 'rejected', name), 'utf8');

describe('reading the mailbox', () => {
  it('a file that was renamed into place is read at once', async () => {
    await move('a.yaml', 'type: PAUSE');
    expect(names(await mailbox.poll(Date.now()))).toEqual(['a.yaml']);
  });

  it('a file written in place is read once it has rested for 200 ms', async () => {
    const now = Date.now();
    drop('a.yaml', 'type: STEER\nmessage: Use J');
    expect(await mailbox.poll(now)).toEqual([]);
    drop('a.yaml', 'type: STEER\nmessage: Use JWT everywhere');
    expect(await mailbox.poll(now + 150)).toEqual([]);
    expect(await mailbox.poll(now + 1000)).toMatchObject([{ message: { text: 'Use JWT everywhere' } }]);
  });

  it('a file that was there before the start is read at once', async () => {
    drop('a.yaml', 'type: PAUSE');
    expect(names(await mailbox.poll(Date.now() + 3_600_000))).toEqual(['a.yaml']);
  });

  it('only yaml files count, and no hidden, backup or half-written names', async () => {
    for (const name of [
      '.a.yaml',
      'a.yaml~',
      'a.yaml.tmp',
      '.a.yaml.swp',
      '#a.yaml#',
      'a.txt',
      'b.YML',
      'c.yaml',
    ]) {
      await move(name, 'type: PAUSE');
    }
    expect(names(await mailbox.poll(soon()))).toEqual(['b.YML', 'c.yaml']);
  });

  it('links, folders and pipes are passed by with one warning each', async () => {
    writeFileSync(join(root, 'secret.yaml'), 'type: ABORT');
    symlinkSync(join(root, 'secret.yaml'), join(inputs, 'link.yaml'));
    mkdirSync(join(inputs, 'folder.yaml'));
    execFileSync('mkfifo', [join(inputs, 'pipe.yaml')]);
    for (let n = 0; n < 3; n++) expect(await mailbox.poll(soon())).toEqual([]);
    expect(warnings).toHaveLength(3);
    expect(existsSync(join(inputs, 'link.yaml'))).toBe(true);
  });

  it('what cannot be parsed is tried for ten seconds, stops nothing, and is then rejected with the line', async () => {
    const now = Date.now();
    await move('bad.yaml', 'type: STEER\nmessage: "half');
    await move('good.yaml', 'type: INFO\nmessage: x');
    expect(names(await mailbox.poll(now + 1000))).toEqual(['good.yaml']);
    expect(names(await mailbox.poll(now + 9000))).toEqual(['good.yaml']);
    const [bad] = await mailbox.poll(now + 11_000);
    expect(bad).toMatchObject({ kind: 'rejected', name: 'bad.yaml' });
    expect((bad as { reason: string }).reason).toContain('line 2');
  });

  it('what was half-written and is mended within ten seconds is read', async () => {
    const now = Date.now();
    await move('a.yaml', 'type: STEER\nmessage: "half');
    expect(await mailbox.poll(now + 1000)).toEqual([]);
    await move('a.yaml', 'type: STEER\nmessage: "whole"');
    expect(await mailbox.poll(now + 2000)).toMatchObject([{ message: { text: 'whole' } }]);
  });

  it('an unknown type stays for a day with one warning, then it is rejected', async () => {
    const now = Date.now();
    await move('a.yaml', 'type: DANCE');
    for (const later of [1000, 60_000, 23 * 3_600_000]) expect(await mailbox.poll(now + later)).toEqual([]);
    expect(warnings).toHaveLength(1);
    expect(await mailbox.poll(now + 25 * 3_600_000)).toMatchObject([{ kind: 'rejected', name: 'a.yaml' }]);
  });

  it('ABORT comes before PAUSE, both before the rest, and the rest by its time', async () => {
    await move('d.yaml', 'type: INFO\nmessage: 2\ncreated_at: 2026-02-08T14:00:02Z');
    await move('c.yaml', 'type: INFO\nmessage: 1\ncreated_at: 2026-02-08T14:00:01Z');
    await move('signal.260208-140000-b.yaml', 'type: STEER\nmessage: 0b');
    await move('signal.260208-140000-a.yaml', 'type: STEER\nmessage: 0a');
    await move('y.yaml', 'type: PAUSE');
    await move('z.yaml', '{"type": "stop"}');
    expect(names(await mailbox.poll(soon()))).toEqual([
      'z.yaml',
      'y.yaml',
      'signal.260208-140000-a.yaml',
      'signal.260208-140000-b.yaml',
      'c.yaml',
      'd.yaml',
    ]);
  });

  it('a file larger than any message is rejected unread', async () => {
    await move('a.yaml', `type: STEER\nmessage: ${'x'.repeat(1024 * 1024)}`);
    expect(await mailbox.poll(soon())).toMatchObject([{ kind: 'rejected' }]);
  });

  it('a deleted mailbox is made again', async () => {
    rmSync(join(session, 'signals'), { recursive: true });
    expect(await mailbox.poll(soon())).toEqual([]);
    await move('a.yaml', 'type: PAUSE');
    expect(await mailbox.poll(soon())).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  it('a mailbox that cannot be made is told once, and the loop goes on', async () => {
    rmSync(inputs, { recursive: true });
    writeFileSync(inputs, 'a file');
    for (let n = 0; n < 3; n++) expect(await mailbox.poll(soon())).toEqual([]);
    expect(warnings).toHaveLength(1);
  });

  it('tells when a file came to lie there, whatever its words and times say', async () => {
    const before = Date.now() - 50;
    await move('a.yaml', 'type: PAUSE\ncreated_at: 2020-01-01T00:00:00Z');
    utimesSync(join(inputs, 'a.yaml'), 1, 1);
    const [incoming] = await mailbox.poll(soon());
    expect((incoming as { arrivedAt: number }).arrivedAt).toBeGreaterThan(before);
  });
});

describe('a flood', () => {
  it('is read a hundred at a time, ABORT first, until all is read', async () => {
    for (let n = 0; n < 1000; n++)
      await move(
        `n${String(n).padStart(4, '0')}.yaml`,
        `type: INFO\nmessage: "${n}"\ncreated_at: 2026-02-08T14:00:00Z`,
      );
    await move('zz.yaml', 'message: stop it\ntype: ABORT');
    const seen: string[] = [];
    for (;;) {
      const incoming = await mailbox.poll(soon());
      expect(incoming.length).toBeLessThanOrEqual(100);
      for (const { name } of incoming) await mailbox.settle(name, 'processed', handling);
      seen.push(...names(incoming));
      if (incoming.length < 100) break;
    }
    expect(seen[0]).toBe('zz.yaml');
    expect(seen).toHaveLength(1001);
    expect(seen.slice(1)).toEqual([...seen.slice(1)].sort());
    expect(readdirSync(inputs)).toEqual([]);
  }, 60_000);

  it('of messages nobody can use yet hides no other, and its reader comes to an end', async () => {
    for (let n = 0; n < 250; n++) await move(`a${n}.yaml`, 'type: APPROVE');
    const seen = new Set<string>();
    let polls = 0;
    for (let size = 100; size === 100; polls++) {
      const incoming = await mailbox.poll(soon());
      size = incoming.length;
      for (const { name } of incoming) seen.add(name);
    }
    expect(seen.size).toBe(250);
    expect(polls).toBeLessThan(10);
    await move('z.yaml', 'type: STEER\nmessage: hello');
    expect(names(await mailbox.poll(soon()))).toContain('z.yaml');
  });
});

describe('settling', () => {
  it('keeps the text and its unknown keys, and adds what was done', async () => {
    const text = '# from me\ntype: STEER\nmessage: Use bar\nmood: good # really';
    await move('a.yaml', text);
    await mailbox.poll(soon());
    await mailbox.settle('a.yaml', 'processed', handling);
    expect(readdirSync(inputs)).toEqual([]);
    expect(processed('a.yaml').startsWith(`${text}\n`)).toBe(true);
    expect(parse(processed('a.yaml'))).toMatchObject({
      type: 'STEER',
      mood: 'good',
      handling_metadata: {
        handled_by: 'ralph',
        handled_at: '2026-02-08T14:30:05.000Z',
        action_taken: 'Updated: "bar" # yes',
        deliveries: [],
      },
    });
    expect(await mailbox.delivered('a.yaml', { to: 'executor', iteration: 7, at: 0 })).toBe(true);
    expect(parse(processed('a.yaml')).handling_metadata.deliveries).toEqual([
      { to: 'executor', iteration: 7, at: '1970-01-01T00:00:00.000Z' },
    ]);
    expect(await mailbox.delivered('a.yaml', { to: 'reviewer', iteration: 8, at: 1 })).toBe(true);
    expect(parse(processed('a.yaml')).handling_metadata).toMatchObject({
      deliveries: [{ iteration: 7 }, { to: 'reviewer', iteration: 8 }],
      sha256: expect.any(String),
    });
    expect(processed('a.yaml').startsWith(`${text}\n`)).toBe(true);
  });

  it.each([
    ['in braces', '{type: PAUSE, mood: good}', { mood: 'good' }],
    ['of two documents', 'type: PAUSE\n---\ntype: ABORT\n', {}],
    ['that was taken back out of processed/', 'type: PAUSE\nhandling_metadata:\n  handled_by: me\n', {}],
    ['with CRLF', 'type: PAUSE\r\nmood: good\r\n', { mood: 'good' }],
  ])('a file %s gives a readable copy', async (_name, text, kept) => {
    await move('a.yaml', text);
    await mailbox.settle('a.yaml', 'processed', handling);
    expect(parse(processed('a.yaml'))).toMatchObject({
      type: 'PAUSE',
      handling_metadata: { handled_by: 'ralph' },
      ...kept,
    });
  });

  it('never overwrites: another file of the same name gets a number, and is another message', async () => {
    for (const [text, id] of [
      ['type: PAUSE', 'a.yaml'],
      ['type: RESUME', 'a-2.yaml'],
      ['type: HALT', 'a-3.yaml'],
    ]) {
      await move('a.yaml', text!);
      expect(await mailbox.poll(soon())).toMatchObject([{ name: 'a.yaml', message: { id } }]);
      await mailbox.settle('a.yaml', 'processed', handling);
    }
    expect(readdirSync(join(session, 'signals', 'processed')).sort()).toEqual([
      'a-2.yaml',
      'a-3.yaml',
      'a.yaml',
    ]);
    expect(warnings).toEqual([]);
  });

  it('the same file again is the same message, and its copy is dropped with a note', async () => {
    for (let n = 0; n < 2; n++) {
      await move('a.yaml', 'type: PAUSE');
      expect(await mailbox.poll(soon())).toMatchObject([{ message: { id: 'a.yaml' } }]);
      await mailbox.settle('a.yaml', 'processed', handling);
    }
    expect(readdirSync(join(session, 'signals', 'processed'))).toEqual(['a.yaml']);
    expect(readdirSync(inputs)).toEqual([]);
    expect(warnings).toHaveLength(1);
  });

  it('rejects with the reason beside the file', async () => {
    await move('a.yaml', 'nonsense');
    await mailbox.settle('a.yaml', 'rejected', { ...handling, reason: 'Not a signal.' });
    expect(rejected('a.yaml')).toBe('nonsense');
    expect(rejected('a.yaml.reason.txt')).toMatch(/^Not a signal\.\nTo try again, /);
    expect(readdirSync(inputs)).toEqual([]);
  });

  it('a file that somebody took away meanwhile is no trouble', async () => {
    await mailbox.settle('gone.yaml', 'processed', handling);
    await mailbox.settle('gone.yaml', 'rejected', handling);
  });

  it('works across file systems', async (context) => {
    const away = join(session, 'signals', 'rejected');
    mkdirSync(away, { recursive: true });
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', away], { stdio: 'ignore' });
    } catch {
      context.skip('mounting another file system is not permitted here');
    }
    try {
      await move('a.yaml', 'nonsense');
      await mailbox.settle('a.yaml', 'rejected', handling);
      expect(rejected('a.yaml')).toBe('nonsense');
      expect(readdirSync(inputs)).toEqual([]);
    } finally {
      execFileSync('umount', [away]);
    }
  });
});

describe('sending', () => {
  it('drops a whole file under a name of its own, which is read at once', async () => {
    const name = await writeSignal(
      session,
      { type: 'STEER', message: 'Use "JWT":\n- now', from: 'ada' },
      { now: Date.UTC(2026, 1, 8, 14, 30, 0, 42), timezone: 'Europe/Berlin' },
    );
    expect(name).toMatch(/^signal\.260208-153000-042-[a-z][a-z0-9]{3}\.yaml$/);
    expect(readdirSync(inputs)).toEqual([name]);
    expect(await mailbox.poll(Date.now())).toMatchObject([
      {
        name,
        message: {
          type: 'STEER',
          text: 'Use "JWT":\n- now',
          from: 'ada',
          createdAt: Date.UTC(2026, 1, 8, 14, 30, 0, 42),
          confirmed: false,
        },
      },
    ]);
  });

  it('takes the time zone that the session recorded', async () => {
    writeFileSync(
      join(session, 'journal.jsonl'),
      '{"facts":[{"type":"session.created","id":"x","objective":"y","timezone":"Asia/Tokyo","product":"z"}]}\n',
    );
    expect(await writeSignal(session, { type: 'PAUSE' }, { now: Date.UTC(2026, 1, 8, 14) })).toMatch(
      /^signal\.260208-230000-000-/,
    );
  });

  it('to a session that is not there is a problem a person can fix', async () => {
    await expect(writeSignal(join(root, 'nowhere'), { type: 'PAUSE' })).rejects.toMatchObject({
      facts: { code: 'session.missing' },
    });
    expect(existsSync(join(root, 'nowhere'))).toBe(false);
  });

  it('signed with the key of the user names the person; copied or altered it names nobody', async () => {
    const env = { XDG_STATE_HOME: join(root, 'state') };
    expect(await signingKey({ env })).toBeNull();
    const key = (await signingKey({ create: true, env }))!;
    expect(await signingKey({ create: true, env })).toBe(key);
    expect(statSync(join(root, 'state', 'ralph', 'key')).mode & 0o777).toBe(0o600);
    const verifying = openMailbox(session, { timezone: 'UTC', key, warn: (text) => warnings.push(text) });

    const name = await writeSignal(
      session,
      { type: 'APPROVE', message: 'línea 1\n\nlínea 2 ', from: senderName(), files: ['a', 'b'] },
      { key },
    );
    expect(await verifying.poll(Date.now())).toMatchObject([
      { message: { confirmed: true, from: senderName(), text: 'línea 1\n\nlínea 2 ' } },
    ]);
    const text = readFileSync(join(inputs, name), 'utf8');
    await verifying.settle(name, 'processed', handling);

    await move('copy.yaml', text);
    await move(name.replace('signal', 'signaL'), text.replace('APPROVE', 'SKIP'));
    const forged = await verifying.poll(soon());
    expect(forged).toHaveLength(2);
    for (const one of forged) expect(one).toMatchObject({ message: { confirmed: false } });
    expect(warnings).toHaveLength(2);

    const other = join(root, '260208-150000');
    mkdirSync(join(other, 'signals', 'inputs'), { recursive: true });
    writeFileSync(join(other, 'signals', 'inputs', name), text);
    const elsewhere = openMailbox(other, { timezone: 'UTC', key });
    expect(await elsewhere.poll(Date.now() + 1000)).toMatchObject([{ message: { confirmed: false } }]);
  });
});

describe('watching', () => {
  const until = async (done: () => boolean): Promise<void> => {
    for (let n = 0; n < 600 && !done(); n++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(done()).toBe(true);
  };

  it('calls when a file arrives, also in a mailbox that was deleted and made again', async () => {
    let calls = 0;
    const stop = mailbox.watch(() => calls++);
    await writeSignal(session, { type: 'PAUSE' });
    await until(() => calls > 0);
    rmSync(inputs, { recursive: true });
    mkdirSync(inputs);
    await until(() => calls > 1);
    calls = 0;
    await writeSignal(session, { type: 'PAUSE' });
    await until(() => calls > 0);
    stop();
    calls = 0;
    await writeSignal(session, { type: 'PAUSE' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(calls).toBe(0);
  });

  it('calls again for a file that has yet to rest', async () => {
    drop('a.yaml', 'type: PAUSE');
    let read: Incoming[] = [];
    const stop = mailbox.watch(
      () => void mailbox.poll(Date.now()).then((incoming) => (read = [...read, ...incoming])),
    );
    expect(await mailbox.poll(Date.now())).toEqual([]);
    await until(() => read.length > 0);
    stop();
  });
});

it('a file that may not be read is passed by with a warning', async (context) => {
  if (process.getuid?.() === 0) context.skip('root may read everything');
  await move('a.yaml', 'type: PAUSE');
  chmodSync(join(inputs, 'a.yaml'), 0);
  expect(await mailbox.poll(soon())).toEqual([]);
  expect(warnings).toHaveLength(1);
});
