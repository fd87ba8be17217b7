/** The webhook with the whole loop: the guide's own receiver and sender, crashes, silence, secrets. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, json, prompt, until } from './journal.ts';
import { DONE, makeProject, type Project, result, type ScriptedRun } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
const SECRET = 'kept-between-us-3141';
let project: Project;
let receiver: ChildProcess | null = null;
/** What the guide's receiver printed, one body each. */
let got: Record<string, unknown>[];
afterEach(() => {
  receiver?.kill('SIGKILL');
  receiver = null;
  project?.remove();
});

const GUIDE = readFileSync(resolve(import.meta.dirname, '../../docs/guides/webhook.md'), 'utf8');
const block = (label: string) =>
  new RegExp(`<!-- ${label} -->\\n\`\`\`\\w+\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(GUIDE)![1]!;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

const asks: ScriptedRun = {
  when: { iteration: 1 },
  do: [
    { write: { path: 'half.txt', content: 'half\n' } },
    {
      emit: {
        topic: 'human.interact',
        payload: 'Which colour? Options: (A) red (B) blue Default if no response: A',
      },
    },
    { say: 'I asked.' },
  ],
};
const paints: ScriptedRun = { do: [{ write: { path: 'shed.txt', content: 'painted\n' } }, { say: DONE }] };

/** The guide's configuration and scripts, on free ports. */
async function withWebhook(more = '', runs = [asks, paints]): Promise<{ port: number }> {
  const [port, listen] = [await freePort(), await freePort()];
  const config = block('config: webhook')
    .replace('8786', String(port))
    .replace('8787', String(listen))
    .replace(/secret: .*/, `secret: ${SECRET}`);
  project = makeProject({ config: `${config}${more}`, runs });
  got = [];
  writeFileSync(
    join(project.home, 'receiver.mjs'),
    block('file: receiver.mjs').replace('8786', String(port)),
  );
  writeFileSync(join(project.home, 'answer.mjs'), block('file: answer.mjs'));
  return { port };
}

async function receive(): Promise<void> {
  receiver = spawn(process.execPath, [join(project.home, 'receiver.mjs')], {
    env: { WEBHOOK_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  receiver.stdout!.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    const lines = text.split('\n');
    text = lines.pop()!;
    got.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>));
  });
  await new Promise((done) => setTimeout(done, 300));
}

const kinds = () => got.map(({ kind }) => kind);
const question = () => got.find(({ kind }) => kind === 'question')!;
const answerUrl = () => String(question().answer_url);
const answerWith = (words: string, secret = SECRET) => {
  const args = [join(project.home, 'answer.mjs'), answerUrl(), 'q1', words];
  return spawnSync(process.execPath, args, { env: { WEBHOOK_SECRET: secret }, encoding: 'utf8' }).stdout;
};

/** A post as any program would sign it. */
async function say(word: Record<string, unknown>, timestamp = String(Math.floor(Date.now() / 1000))) {
  const body = JSON.stringify(word);
  const signature = `v1=${createHmac('sha256', SECRET).update(`${timestamp}.${body}`).digest('hex')}`;
  const headers = { 'Ralph-Timestamp': timestamp, 'Ralph-Signature': signature };
  return (await fetch(answerUrl(), { method: 'POST', headers, body })).status;
}

test('the guide: the receiver is told, its answer unblocks the loop, and each word is heard once', async () => {
  await withWebhook();
  await receive();
  const running = project.start(['run', 'paint the shed', '--json']);
  await until(() => kinds().includes('question'), 'the question at the receiver');
  expect(question()).toMatchObject({
    version: 1,
    text: 'Which colour?',
    iteration: 1,
    question: { id: 'q1', default: 'A', options: [{ key: 'A' }, { key: 'B' }] },
  });
  expect(answerWith('blue', 'a wrong key')).toMatch(/^401 /);
  const at = String(Math.floor(Date.now() / 1000));
  expect(await say({ type: 'STEER', text: 'use the wide brush', from: 'Ben' }, at)).toBe(202);
  expect(await say({ type: 'STEER', text: 'use the wide brush', from: 'Ben' }, at)).toBe(409);
  expect(answerWith('blue')).toMatch(/^202 /);
  expect(result(await running.done).exit.code).toBe(0);
  expect(facts(project, 'question.answered')).toMatchObject([{ text: 'blue', by: 'webhook (Ann)' }]);
  expect(prompt(project, 2)).toMatch(/Answer of webhook \(Ann\):\s+```text\s+blue/);
  expect(prompt(project, 2).match(/use the wide brush/g)).toHaveLength(1);
  await until(() => kinds().includes('ended'), 'the end at the receiver');
  expect(got.find(({ kind }) => kind === 'over')).toMatchObject({ how: 'answered', by: 'webhook (Ann)' });
  expect(got.find(({ kind }) => kind === 'delivered')).toMatchObject({ delivered_in: 2 });
  expect(got.at(-1)).toMatchObject({ kind: 'ended', exit: { code: 0 } });
});

test('kill -9 while it asks: the next run repeats the question, and what was said before is not said again', async () => {
  await withWebhook();
  await receive();
  const first = project.start(['run', 'paint the shed']);
  await until(() => kinds().includes('question'), 'the question');
  await until(() => facts(project, 'question.shown').length === 1, 'that it was shown');
  const at = String(Math.floor(Date.now() / 1000));
  expect(await say({ type: 'INFO', text: 'the shed is behind the house', from: 'Ann' }, at)).toBe(202);
  first.child.kill('SIGKILL');
  await first.done;
  await expect(fetch(answerUrl())).rejects.toThrow();
  const second = project.start(['run', '--json']);
  await until(() => got.some(({ repeat }) => repeat === true), 'the question again');
  expect(await say({ type: 'INFO', text: 'the shed is behind the house', from: 'Ann' }, at)).toBe(409);
  expect(answerWith('green')).toMatch(/^202 /);
  expect(result(await second.done).exit.code).toBe(0);
  expect(prompt(project, 2).match(/behind the house/g)).toHaveLength(1);
  expect(prompt(project, 2)).toContain('green');
});

test('a receiver that is away: after the first try and three more silence is at once what was said', async () => {
  await withWebhook('RObot: { timeout_seconds: 600, on_timeout: default }\n');
  const ran = await project.ralph(['run', 'paint the shed', '--json']);
  expect(result(ran).exit.code).toBe(0);
  expect(facts(project, 'question.shown')).toMatchObject([{ channel: 'webhook', reached: false }]);
  expect(facts(project, 'question.expired')).toMatchObject([{ outcome: 'default', text: 'red' }]);
  expect(prompt(project, 2)).toMatch(/your default stands:\s+```text\s+red/);
  expect(ran.err.match(/did not get the news/g)).toHaveLength(1);
});

test('pause, resume and abort through the webhook', async () => {
  await withWebhook();
  await receive();
  const running = project.start(['run', 'paint the shed', '--json']);
  await until(() => kinds().includes('question'), 'the question');
  expect(await say({ type: 'PAUSE', from: 'Ann' })).toBe(202);
  await until(() => kinds().includes('paused'), 'the pause told');
  expect(await say({ type: 'RESUME', from: 'Ann' })).toBe(202);
  await until(() => kinds().includes('resumed'), 'the way on told');
  expect(await say({ type: 'ABORT', text: 'wrong shed', from: 'Ann' })).toBe(202);
  expect(result(await running.done).exit.code).toBe(9);
});

test('the secret and the address are in no file, no output and no process list', async () => {
  const { port } = await withWebhook('', [asks, paints]);
  await receive();
  const running = project.start(['run', 'paint the shed']);
  await until(() => kinds().includes('question'), 'the question');
  const list = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout;
  expect(list).not.toContain(SECRET);
  expect(answerWith('blue')).toMatch(/^202 /);
  const ran = await running.done;
  expect(ran.out + ran.err).not.toContain(SECRET);
  const shown = await project.ralph(['config', '--origin']);
  expect(shown.out).not.toContain(SECRET);
  const files = ['.ralph', '.ralph-sessions', 'ralph'].flatMap((folder) => below(join(project.dir, folder)));
  const holding = files.filter((file) => {
    const text = readFileSync(file, 'latin1');
    return text.includes(SECRET) || text.includes(`:${port}/ralph`);
  });
  expect(holding).toEqual([]);
  expect(files.some((file) => file.endsWith('webhook-state.json'))).toBe(true);
});

function below(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test('answers without a secret are refused before anything runs', async () => {
  project = makeProject({
    config: 'channels:\n  webhook: { url: "https://chat.example.org/hook", answers: true }\n',
  });
  const refused = await project.ralph(['run', 'paint the shed']);
  expect([refused.code, refused.err]).toEqual([
    5,
    expect.stringMatching(/ralph\.yml:\d+: channels\.webhook\.secret is missing/),
  ]);
  expect(existsSync(join(project.dir, '.ralph-sessions'))).toBe(false);
});

test('a metadata address gets nothing, and the run says why and goes on without it', async () => {
  project = makeProject({
    config: 'channels:\n  webhook: { url: "http://169.254.169.254/latest/hidden-key" }\n',
    runs: [paints],
  });
  const ran = await project.ralph(['run', 'paint the shed']);
  expect([ran.code, ran.err]).toEqual([0, expect.stringMatching(/webhook cannot be used.*link-local/)]);
  expect(ran.err + ran.out).not.toContain('hidden-key');
});

test('the desktop is told by its own program, and its absence is a warning', async () => {
  project = makeProject({ config: 'channels: { desktop: true }\n', runs: [paints] });
  const bare = await project.ralph(['run', 'paint the shed'], { env: { PATH: cutPath() } });
  expect([bare.code, bare.err]).toEqual([0, expect.stringMatching(/desktop/)]);
  expect(json(await project.ralph(['status', '--json']))).toMatchObject({ exit: { code: 0 } });
});

/** The path without a desktop's program, should this machine have one. */
function cutPath(): string {
  const names = ['notify-send', 'osascript'];
  const folders = (process.env.PATH ?? '').split(':');
  return folders.filter((folder) => !names.some((name) => existsSync(join(folder, name)))).join(':');
}
