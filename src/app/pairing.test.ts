/** Which chats are paired, as the project journal tells it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appendProject } from '../store/index.ts';
import { pairedChats, recordPaired } from './pairing.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ralph-pairing-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('a chat whose record has no name is told by its user, and never as "undefined"', async () => {
  await appendProject(dir, { at: 1, type: 'chat.paired', chat: 5, user: 7 });
  await appendProject(dir, { at: 2, type: 'chat.paired', chat: 6, user: 8, name: null });
  await recordPaired(dir, { chat: 9, user: 10, name: 'Ada' });
  expect(pairedChats(dir).map(({ name }) => name)).toEqual(['Ada', 'user 8', 'user 7']);
});
