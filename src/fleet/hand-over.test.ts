/** `land: { command }`: what a person ends is no failure of the command, and what was ended before is not begun. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { redactorOf } from '../core/index.ts';
import { testEnv } from '../repo/test-ground.ts';
import { handOver } from './index.ts';
import { openFleet, type TestFleet } from './test-fleet.ts';

let fleet: TestFleet;
beforeEach(() => {
  fleet = openFleet();
});
afterEach(() => fleet.remove());

async function handed(command: string, signal: AbortSignal) {
  const worktree = await fleet.loop('one');
  const env = testEnv() as Record<string, string>;
  const where = { mainDir: fleet.root, below: '', commonDir: join(fleet.root, '.git'), marker: fleet.root };
  const landing = handOver({ ...where, loop: 'one', command, env, signal, redactor: redactorOf([]) });
  return { worktree, landing };
}

test('a command that a person ended was interrupted and is no reason for a review', async () => {
  const ending = new AbortController();
  const { worktree, landing } = await handed('echo $$ > ran; sleep 600', ending.signal);
  const ran = join(worktree, 'ran');
  await expect.poll(() => existsSync(ran) && readFileSync(ran, 'utf8')).toMatch(/\d\n/);
  ending.abort();
  expect(await landing).toMatchObject({ kind: 'queued', why: 'it was interrupted' });
  expect(() => process.kill(Number(readFileSync(ran, 'utf8')), 0)).toThrow();
  expect(fleet.known('one').standing).toBe('open');
});

test('a landing that was ended before its command began begins none', async () => {
  const { worktree, landing } = await handed('touch ran', AbortSignal.abort());
  expect(await landing).toMatchObject({ kind: 'queued' });
  expect(existsSync(join(worktree, 'ran'))).toBe(false);
});
