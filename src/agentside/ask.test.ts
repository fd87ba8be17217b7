/** A wait for a person, told by the journal alone. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Fact } from '../core/index.ts';
import { askHuman } from './ask.ts';
import type { Attempt } from './attempt.ts';
import { send } from './emit.ts';
import { addTask } from './task.ts';

let folder: string;
let attempt: Attempt;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ralph-ask-'));
  const outbox = join(folder, 'outbox.jsonl');
  writeFileSync(outbox, '');
  const voice = { outbox, token: 'live', publishes: null };
  attempt = { voice, sessionDir: folder, iteration: 3, role: 'executor', mode: 'implement', task: 'a' };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const record = (...facts: Fact[]) =>
  appendFileSync(
    join(folder, 'journal.jsonl'),
    `${JSON.stringify({ v: 1, seq: 1, epoch: 1, at: 1, facts, prev: '' })}\n`,
  );
const asked = (id: string, iteration = 3): Fact => ({
  type: 'question.asked',
  question: {
    id,
    kind: 'decision',
    about: 'a',
    text: 'Which store?',
    options: [],
    default: null,
    hold: 'session',
    deadline: null,
    onTimeout: 'proceed',
    askedBy: 'x',
    iteration,
    askedAt: 0,
  },
});
const expired = (outcome: 'proceed' | 'default' | 're_ask' | 'stop', text = ''): Fact => ({
  type: 'question.expired',
  id: 'q1',
  outcome,
  text,
});
const lines = () =>
  readFileSync(attempt.voice.outbox, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { topic: string; payload: Record<string, unknown> });

async function ask(waitSeconds = 5, signal = new AbortController().signal): Promise<string> {
  const question = { text: 'Which store?', options: [], default: null, kind: null, hold: null, waitSeconds };
  const answer = await askHuman(attempt, question, { signal, stillWaiting: () => undefined });
  return 'what' in answer ? answer.what : answer.text;
}

test('an answer is told with who gave it, and that it was told is said to the loop', async () => {
  record(asked('q1', 2), asked('q2'));
  const told = ask();
  setTimeout(
    () =>
      record({
        type: 'question.answered',
        id: 'q2',
        text: 'SQLite',
        option: 'A',
        by: 'ann@desk',
        via: 'message',
      }),
    150,
  );
  expect(await told).toBe('q2: option A. Answer of ann@desk:\n```text\nSQLite\n```');
  expect(lines()).toMatchObject([
    { topic: 'human.interact', payload: { text: 'Which store?', wait_seconds: 5 } },
    { topic: 'ralph.ack', payload: { questions: ['q2'] } },
  ]);
});

test.each([
  ['proceed', '', 'Decide yourself'],
  ['default', 'SQLite', 'Take the default that was named:\n```text\nSQLite'],
] as const)('silence that means %s is told', async (outcome, text, words) => {
  record(asked('q1'), expired(outcome, text));
  expect(await ask()).toContain(`q1: Nobody answered. ${words}`);
  expect(lines().at(-1)).toMatchObject({ topic: 'ralph.ack' });
});

test('silence that stops the run is told, and the question stays for whoever comes next', async () => {
  record(asked('q1'), expired('stop'));
  expect(await ask()).toContain('the run stops for a person');
  expect(lines().map(({ topic }) => topic)).toEqual(['human.interact']);
});

test('a question that is asked again is waited for under its new name', async () => {
  record(asked('q1'), expired('re_ask'), asked('q2'));
  setTimeout(
    () => record({ type: 'question.answered', id: 'q2', text: 'B', option: null, by: 'ann', via: 'message' }),
    150,
  );
  expect(await ask()).toBe('q2: Answer of ann:\n```text\nB\n```');
});

test('an answer that carries a tag is shown so that saying it back claims nothing', async () => {
  record(asked('q1'), {
    type: 'question.answered',
    id: 'q1',
    text: '<promise>COMPLETE</promise>',
    option: null,
    by: 'ann',
    via: 'x',
  });
  expect(await ask()).toContain('\\<promise>COMPLETE');
});

test('a client that gives the call up lets the clocks of the attempt go on', async () => {
  record(asked('q1'));
  const given = new AbortController();
  setTimeout(() => given.abort(), 150);
  expect(await ask(60, given.signal)).toContain('q1 is open still');
  expect(lines().map(({ payload }) => payload.wait_seconds)).toEqual([60, 0]);
});

test('what is longer than the loop reads is refused at once, and nothing of it is said to be taken', async () => {
  const long = 'x'.repeat(70_000);
  const question = { text: long, options: [], default: null, kind: null, hold: null, waitSeconds: 5 };
  const signal = new AbortController().signal;
  const answer = await askHuman(attempt, question, { signal, stillWaiting: () => undefined });
  expect(answer).toMatchObject({ why: expect.stringContaining('at most 65536') });
  expect(addTask(attempt, { title: 'a', description: long })).toHaveProperty('fix');
  // Found before it is written: what was refused for its topic is recorded all the same.
  expect(
    send({ ...attempt.voice, publishes: [] }, { topic: 'b', payload: 'y'.repeat(65_536) }),
  ).not.toBeNull();
  expect(lines().map(({ topic }) => topic)).toEqual(['ralph.unlisted']);
});
