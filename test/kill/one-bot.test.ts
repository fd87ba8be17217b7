/**
 * One bot and several loops that begin at the same moment, of which one is killed while people reply: one hears at a
 * time, another takes over, and each word is served once, also to the loop that was gone.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { facts, json, sessions } from '../e2e/journal.ts';
import { makeProject, type Project, type Started, story, taskList } from '../e2e/project.ts';
import { type ChatMessage, type TelegramStandin, TOKEN, telegramStandin } from '../standins/telegram.ts';
import { marked, until } from './killing.ts';

const LOOPS = ['one', 'two', 'three'];
const CONFIG = 'RObot: { enabled: true, timeout_seconds: 600, telegram: { allowed_users: [1] } }\n';
/** `paintMs`: how long the work takes that the answer was waited for. */
const runsOf = (paintMs: number) => [
  {
    when: { iteration: 1 },
    do: [{ emit: { topic: 'human.interact', payload: 'Which colour?' } }, { say: 'I asked.' }],
  },
  {
    do: [
      { sleep_ms: paintMs },
      { write: { path: '{{task}}.txt', content: 'painted\n' } },
      { say: '<promise>COMPLETE</promise>' },
    ],
  },
];

interface Played {
  project: Project;
  phone: TelegramStandin;
  runs: Map<string, Started>;
  start(name: string): void;
  /** The first message that asks for this loop. */
  asked(name: string): ChatMessage | undefined;
}

/** Three loops in work trees of their own, one process each. */
async function begun(phone: TelegramStandin, paintMs = 0): Promise<Played> {
  const lists = Object.fromEntries(LOOPS.map((name) => [`${name}.json`, taskList([story(name)])]));
  const project = makeProject({ files: lists, runs: runsOf(paintMs), config: CONFIG });
  onTestFinished(async () => {
    project.remove();
    await phone.close();
  });
  const env = { RALPH_TELEGRAM_BOT_TOKEN: TOKEN, RALPH_TELEGRAM_API_URL: phone.url };
  const runs = new Map<string, Started>();
  const start = (name: string) =>
    void runs.set(name, project.start(['run', '--worktree', name, '--tasks', `${name}.json`], { env }));
  for (const name of LOOPS) start(name);
  return { project, phone, runs, start, asked: (name) => questions(phone, name)[0] };
}

const questions = (phone: TelegramStandin, loop: string): ChatMessage[] =>
  phone.sentTo(1).filter(({ text }) => text.includes('Which colour?') && text.includes(`[loop ${loop} ·`));

/** The pid of the process that hears people; 0: none. */
function hearer({ dir }: Project): number {
  try {
    return (JSON.parse(readFileSync(join(dir, '.ralph/loop.lock'), 'utf8')) as { pid: number }).pid;
  } catch {
    return 0;
  }
}

/** Signals that lie in a mailbox of the project, taken in or not. */
function lying(project: Project): number {
  const folders = sessions(project).flatMap((id) =>
    ['inputs', 'processed'].map((name) => join(project.dir, '.ralph-sessions', id, 'signals', name)),
  );
  return folders
    .flatMap((folder) => (existsSync(folder) ? readdirSync(folder) : []))
    .filter((name) => /^signal\..*\.yaml$/.test(name)).length;
}

async function killed({ runs }: Played, name: string): Promise<void> {
  const { child, done } = runs.get(name)!;
  child.kill('SIGKILL');
  await done;
  expect(child.signalCode).toBe('SIGKILL');
}

/** Each loop ends well with its own answer, heard once and asked once. */
async function expectServed({ project, phone, runs }: Played): Promise<void> {
  for (const [name, { done }] of runs) {
    const { code, err } = await done;
    expect([name, code, err]).toEqual([name, 0, expect.any(String)]);
  }
  expect(phone.conflicts()).toBe(0);
  const served = sessions(project).map((id) => ({
    answers: facts(project, 'question.answered', id).map(({ text }) => text),
    words: facts(project, 'message.received', id).map(({ message }) => message.text),
    asked: facts(project, 'question.asked', id).length,
    ground: facts(project, 'session.created', id)[0]!.ground!.split('/').at(-1),
  }));
  const each = (ground: string) => ({
    ...{ ground, asked: 1 },
    ...{ answers: [`green ${ground}`], words: [`green ${ground}`] },
  });
  expect(served).toHaveLength(LOOPS.length);
  expect(served).toEqual(expect.arrayContaining(LOOPS.map(each)));
  const rows = json<{ state: string }[]>(await project.ralph(['loops', '--json']));
  expect(rows.map(({ state }) => state)).toEqual(LOOPS.map(() => 'landed'));
  expect(marked(project)).toEqual([]);
}

// Before the replies are fetched, while they are put into mailboxes, and about when they lie there.
test.each([0, 20, 60])(
  'the one that hears is killed %i ms after three replies: another hears, nothing is lost or asked again',
  async (delayMs) => {
    // Whoever was answered before the kill still works when the next one is to hear.
    const played = await begun(await telegramStandin(), 3000);
    const { project, phone, runs, asked, start } = played;
    await until('each asks', () => LOOPS.every((name) => asked(name) !== undefined));
    const first = hearer(project);
    const gone = LOOPS.find((name) => runs.get(name)!.child.pid === first)!;
    for (const name of LOOPS) phone.write(`green ${name}`, { replyTo: asked(name)!.message_id });
    if (delayMs > 0) await sleep(delayMs);
    await killed(played, gone);
    await until('another hears', () => ![0, first].includes(hearer(project)));
    await until('each reply lies in a mailbox', () => lying(project) === LOOPS.length);
    start(gone);
    await expectServed(played);
    expect(LOOPS.map((name) => questions(phone, name).length)).toEqual(LOOPS.map(() => 1));
  },
);

test('a loop that is killed and started again at once may ask again, and what was said to the first copy counts', async () => {
  const played = await begun(await telegramStandin());
  const { project, phone, runs, asked, start } = played;
  await until('each asks', () => LOOPS.every((name) => asked(name) !== undefined));
  const first = hearer(project);
  const gone = LOOPS.find((name) => runs.get(name)!.child.pid === first)!;
  for (const name of LOOPS) phone.write(`green ${name}`, { replyTo: asked(name)!.message_id });
  await killed(played, gone);
  start(gone);
  await expectServed(played);
  for (const name of LOOPS) expect(questions(phone, name).length).toBeLessThanOrEqual(name === gone ? 2 : 1);
});

test('a loop that is killed before it learns that its question arrived is answered by a reply to that message', async () => {
  const phone = await telegramStandin();
  phone.fault({ method: 'sendMessage', times: 1, kind: 'lost' });
  const played = await begun(phone);
  const { project, asked, start } = played;
  // Others may ask in the same moment; the first message is the one whose arrival its loop is not told of.
  await until('one asks', () => phone.sentTo(1).length > 0);
  const gone = LOOPS.find((name) => asked(name) === phone.sentTo(1)[0])!;
  await killed(played, gone);
  await until('each asks', () => LOOPS.every((name) => asked(name) !== undefined));
  for (const name of LOOPS) phone.write(`green ${name}`, { replyTo: asked(name)!.message_id });
  await until('each reply lies in a mailbox', () => lying(project) === LOOPS.length);
  start(gone);
  await expectServed(played);
  expect(LOOPS.map((name) => questions(phone, name).length)).toEqual(LOOPS.map(() => 1));
});
