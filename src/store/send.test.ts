/** Sending under a name of its own: for senders that cannot know whether their last word arrived. */
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sentBefore, writeSignal } from './send.ts';
import { timeOfName } from './signal-time.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ralph-send-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const say = (once: string) => writeSignal(dir, { type: 'STEER', message: 'use bar' }, { once });

test('a word sent again under the same name is the one that lies there', async () => {
  const name = await say('telegram-1-20260208');
  expect(await say('telegram-1-20260208')).toBe(name);
  expect(await say('telegram-1-20260209')).not.toBe(name);
  expect(readdirSync(join(dir, 'signals', 'inputs'))).toHaveLength(2);
  expect(timeOfName(name, 'UTC')).toBeNull();
});

test('a word is found in the mailbox of whatever session it was put into', async () => {
  const [older, newer] = ['260208-143000', '260208-150000'].map((id) => join(dir, '.ralph-sessions', id)) as [
    string,
    string,
  ];
  for (const folder of [older, newer]) await mkdir(folder, { recursive: true });
  const name = await writeSignal(older, { type: 'STEER', message: 'use bar' }, { once: 'telegram-1-2' });
  expect(await sentBefore(dir, 'telegram-1-2')).toBe(name);
  expect(await sentBefore(dir, 'telegram-1-3')).toBeNull();
});

test('also once it was handled, or refused', async () => {
  for (const folder of ['processed', 'rejected']) {
    const name = await say(folder);
    await mkdir(join(dir, 'signals', folder));
    renameSync(join(dir, 'signals', 'inputs', name), join(dir, 'signals', folder, name));
    expect(await say(folder)).toBe(name);
    expect(readdirSync(join(dir, 'signals', 'inputs'))).toEqual([]);
  }
});
