/** What other sessions have spent today, read from a project journal on disk as it grows. */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { liveSpending } from './live-spending.ts';
import { appendProject, projectJournal, tidyProject } from './project.ts';
import { otherSpending } from './spending.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ralph-spending-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const NOON = new Date(2026, 10, 29, 12).getTime();
const bill = (session: string, iteration: number, usd: number, at = NOON) => ({
  at,
  type: 'cost.spent',
  session,
  iteration,
  agent: 'a',
  usd,
});

it('counts the day of the others, each bill once, and nothing of its own session or of yesterday', async () => {
  const spending = otherSpending(dir, () => 'mine');
  expect(spending.othersToday(NOON).usd).toBe(0);
  await appendProject(
    dir,
    bill('mine', 1, 4),
    bill('b', 1, 1),
    bill('b', 1, 1),
    bill('c', 1, 2, NOON - 86_400_000),
  );
  expect(spending.othersToday(NOON).usd).toBe(1);
  await appendProject(dir, { at: NOON, type: 'agent.failed', agent: 'a' }, bill('b', 2, 0.5));
  expect(spending.othersToday(NOON).usd).toBe(1.5);
  expect(spending.othersToday(NOON + 86_400_000).usd).toBe(0);
});

it('waits for the rest of a line that another loop is writing', async () => {
  const spending = otherSpending(dir, () => 'mine');
  await appendProject(dir, bill('b', 1, 1));
  const line = JSON.stringify({ v: 1, ...bill('b', 2, 2) });
  appendFileSync(projectJournal(dir), line.slice(0, 40));
  expect(spending.othersToday(NOON).usd).toBe(1);
  appendFileSync(projectJournal(dir), `${line.slice(40)}\n`);
  expect(spending.othersToday(NOON).usd).toBe(3);
});

it('still knows the day when the journal was closed and begins anew', async () => {
  const spending = otherSpending(dir, () => 'mine');
  await appendProject(dir, { at: NOON - 40 * 86_400_000, type: 'old' }, bill('b', 1, 1));
  expect(spending.othersToday(NOON).usd).toBe(1);
  await tidyProject(dir, { now: NOON, days: 30 });
  await appendProject(dir, bill('b', 2, 2));
  expect(spending.othersToday(NOON).usd).toBe(3);
});

it('counts what others have at work until their bill stands in the journal, and nothing of yesterday', async () => {
  const now = Date.now();
  const spending = otherSpending(dir, () => 'mine');
  const other = liveSpending(dir, 'b');
  liveSpending(dir, 'mine').tell(1, 7);
  other.tell(1, 1.5);
  expect(spending.othersToday(now).usd).toBe(1.5);
  expect(spending.othersToday(now + 86_400_000).usd).toBe(0);
  // A runner that is killed leaves what it had told; the bill of its resume is the last word on it.
  const later = otherSpending(dir, () => 'mine');
  await appendProject(dir, bill('b', 1, 2, now));
  expect(later.othersToday(now).usd).toBe(2);
  other.over(1);
  expect([spending, later].map((each) => each.othersToday(now).usd)).toEqual([2, 2]);
});

it('a file there that nobody of us wrote says nothing', () => {
  const spending = otherSpending(dir, () => 'mine');
  mkdirSync(join(dir, '.ralph', 'spending'), { recursive: true });
  for (const [name, text] of [
    ['x.json', 'torn'],
    ['y.json', '{"at":1,"bills":null}'],
    ['z.txt', '9'],
    ['v.json', `{"at":${Date.now()},"bills":{"1":1e999,"2":-5,"3":1e308,"4":"7","5":null}}`],
    ['w.json', '{"at":1e999,"bills":{"1":2}}'],
  ] as const)
    writeFileSync(join(dir, '.ralph', 'spending', name), text);
  expect(spending.othersToday(Date.now()).usd).toBe(0);
});
