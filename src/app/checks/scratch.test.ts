/** Which folders of killed checks go, and which stay. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeScratch, sweepScratch } from './scratch.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sweep-'));
  vi.stubEnv('TMPDIR', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const HOUR = 60 * 60_000;
function made(name: string, ageMs: number): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'file'), '');
  const then = new Date(Date.now() - ageMs);
  utimesSync(path, then, then);
  return path;
}

test('what a killed start left goes after a day; what is young, kept or somebody else’s stays', async () => {
  const old = [made('ralph-preflight-aB3dE6', 25 * HOUR), made('ralph-doctor-aB3dE6', 80 * HOUR)];
  const others = [
    made('ralph-preflight-young1', 23 * HOUR),
    made('ralph-doctor-kept-aB3dE6', 80 * HOUR),
    made('ralph-preflight-aB3dE6.bak', 80 * HOUR),
    made('elsewhere', 80 * HOUR),
    await makeScratch('preflight'),
  ];
  const link = join(folder, 'ralph-preflight-linked');
  symlinkSync(join(folder, 'elsewhere'), link);
  await sweepScratch(Date.now());
  expect(old.filter(existsSync)).toEqual([]);
  expect([...others, link].filter((path) => !existsSync(path))).toEqual([]);
  expect(existsSync(join(folder, 'elsewhere/file'))).toBe(true);
});

test.skipIf(process.getuid?.() !== 0)('another user’s folder stays (only root can make one)', async () => {
  const { chownSync } = await import('node:fs');
  const theirs = made('ralph-preflight-theirs', 80 * HOUR);
  chownSync(theirs, 12_345, 12_345);
  utimesSync(theirs, 1, 1);
  await sweepScratch(Date.now());
  expect(existsSync(theirs)).toBe(true);
});

test('a folder for temporary files that cannot be read is no reason to fail', async () => {
  vi.stubEnv('TMPDIR', join(folder, 'none'));
  await sweepScratch(Date.now());
});
