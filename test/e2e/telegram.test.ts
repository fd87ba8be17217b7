/** Telegram with the whole loop: asked on the phone, answered while the loop was dead, and said once. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { removeFolder } from '../remove-folder.ts';
import { SECRET, type TelegramStandin, TOKEN, telegramStandin } from '../standins/telegram.ts';
import { facts, prompt, sessionDir, until } from './journal.ts';
import { DONE, makeProject, type Project, type ScriptedRun } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

/** A chat as the person in it sees it. Ann's user id, and so her chat's, is 1. */
interface Phone {
  url: string;
  write(text: string, replyTo?: number): Promise<unknown>;
  press(message: number, data: string): Promise<unknown>;
  /** What the bot sent first under each number, in order. */
  sent(): Promise<{ message: number; text: string; buttons: { text: string; callback_data: string }[] }[]>;
  close(): Promise<unknown>;
}

async function ownPhone(): Promise<Phone> {
  const server = await telegramStandin();
  const byNumber = (message: number) => server.messages.find((one) => one.message_id === message)!;
  return {
    url: server.url,
    write: async (text, replyTo) => server.write(text, replyTo === undefined ? {} : { replyTo }),
    press: async (message, data) => server.press(byNumber(message), data),
    sent: async () =>
      server.sentTo(1).map((one) => ({ message: one.message_id, text: one.text, buttons: one.buttons })),
    close: server.close,
  };
}

/** A server of somebody else: `node FILE --port 0 --port-file F`, people played by posts to `/__user` and `/__press`. */
async function otherPhone(file: string): Promise<Phone> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-bot-api-'));
  const portFile = join(folder, 'port');
  const child: ChildProcess = spawn(process.execPath, [file, '--port', '0', '--port-file', portFile], {
    stdio: 'ignore',
  });
  await until(() => existsSync(portFile) && readFileSync(portFile, 'utf8') !== '', 'the other server');
  const url = `http://127.0.0.1:${readFileSync(portFile, 'utf8').trim()}`;
  const post = async (path: string, body: object) =>
    (await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) })).json();
  return {
    url,
    write: (text, replyTo) =>
      post('/__user', { text, ...(replyTo === undefined ? {} : { reply_to: replyTo }) }),
    press: (message, data) => post('/__press', { message_id: message, data }),
    async sent() {
      const calls = (await (await fetch(`${url}/__sent`)).json()) as {
        method: string;
        message_id: number;
        params: {
          text: string;
          reply_markup?: { inline_keyboard: { text: string; callback_data: string }[][] };
        };
      }[];
      return calls
        .filter(({ method }) => method === 'sendMessage')
        .map(({ message_id, params }) => ({
          message: message_id,
          text: params.text,
          buttons: (params.reply_markup?.inline_keyboard ?? []).flat(),
        }));
    },
    async close() {
      child.kill('SIGKILL');
      removeFolder(folder);
    },
  };
}

const other = process.env.RALPH_TEST_TELEGRAM_SERVER;
const SERVERS: [string, () => Promise<Phone>][] = [['our own stand-in', ownPhone]];
if (other !== undefined && existsSync(other)) SERVERS.push(['another stand-in', () => otherPhone(other)]);

let project: Project;
let phone: Phone | null = null;
afterEach(async () => {
  project?.remove();
  await phone?.close();
  phone = null;
});

const CONFIG = 'RObot: { enabled: true, timeout_seconds: 600, telegram: { allowed_users: [1] } }\n';
const env = () => ({ RALPH_TELEGRAM_BOT_TOKEN: TOKEN, RALPH_TELEGRAM_API_URL: phone!.url });
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
const paints: ScriptedRun = {
  do: [{ write: { path: 'shed.txt', content: 'painted {{iteration}}\n' } }, { say: DONE }],
};

async function shown(text: string, after = 0) {
  const end = Date.now() + 20_000;
  for (;;) {
    const found = (await phone!.sent()).slice(after).find((one) => one.text.includes(text));
    if (found !== undefined) return found;
    if (Date.now() > end)
      throw new Error(`"${text}" was not sent; sent: ${JSON.stringify(await phone!.sent())}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
const count = (text: string, part: string): number => text.split(part).length - 1;

describe.each(SERVERS)('against %s', (_, open) => {
  beforeEach(async () => {
    phone = await open();
    project = makeProject({ runs: [asks, paints], config: CONFIG });
  });

  test('asked with buttons, killed, answered while down: the answer stands in the next prompt, once', async () => {
    const first = project.start(['run', 'paint'], { env: env() });
    const asked = await shown('Which colour?');
    expect(asked.buttons.map(({ text }) => text)).toEqual(['A) red', 'B) blue']);
    await until(() => facts(project, 'question.shown').length === 1, 'question.shown');
    first.child.kill('SIGKILL');
    await first.done;

    // The answer sets the loop going, so it comes last.
    await phone!.write('use the bar library');
    await phone!.press(asked.message, asked.buttons[1]!.callback_data);
    const second = await project.ralph(['run'], { env: env() });
    expect([second.code, second.err]).toEqual([0, expect.any(String)]);
    expect(facts(project, 'question.answered')).toMatchObject([
      { id: 'q1', option: 'B', by: 'telegram:1 (Ann)' },
    ]);
    expect(count(prompt(project, 2), 'blue')).toBeGreaterThan(0);
    expect(
      facts(project, 'message.received')
        .map(({ message }) => message.type)
        .sort(),
    ).toEqual(['ANSWER', 'STEER']);
    expect(count(prompt(project, 2), 'use the bar library')).toBe(1);
    await shown('The run ended: COMPLETE');
  });

  test('a reply in words answers, and the loop goes on at once', async () => {
    const run = project.start(['run', 'paint'], { env: env() });
    const asked = await shown('Which colour?');
    await phone!.write('green, please', asked.message);
    expect((await run.done).code).toBe(0);
    expect(facts(project, 'question.answered')).toMatchObject([
      { text: 'green, please', by: 'telegram:1 (Ann)' },
    ]);
    expect(prompt(project, 2)).toContain('green, please');
  });
});

test('killed as soon as a word lies in the mailbox, the next run has it once', async () => {
  const server = await telegramStandin();
  phone = { url: server.url, close: server.close } as Phone;
  project = makeProject({ runs: [asks, paints], config: CONFIG });
  const first = project.start(['run', 'paint'], { env: env() });
  await until(() => facts(project, 'question.shown').length === 1, 'question.shown');
  const lying = () =>
    ['inputs', 'processed'].flatMap((folder) =>
      readdirSync(join(sessionDir(project), 'signals', folder)).filter((name) => name.endsWith('.yaml')),
    );
  for (let n = 0; n < 5; n++) server.write(`use library ${n}`);
  while (lying().length === 0) await new Promise((done) => setImmediate(done));
  first.child.kill('SIGKILL');
  await first.done;
  server.press(server.sentTo(1).find(({ buttons }) => buttons.length > 0)!, 'B) blue');
  const { code, err } = await project.ralph(['run'], { env: env() });
  expect([code, err]).toEqual([0, expect.any(String)]);
  const texts = facts(project, 'message.received').map(({ message }) => message.text);
  expect(texts.toSorted()).toEqual(['blue', ...[0, 1, 2, 3, 4].map((n) => `use library ${n}`)]);
  for (let n = 0; n < 5; n++) expect(count(prompt(project, 2), `use library ${n}`)).toBe(1);
});

describe('pairing', () => {
  let server: TelegramStandin;
  beforeEach(async () => {
    server = await telegramStandin();
    phone = { url: server.url, close: server.close } as Phone;
    project = makeProject({
      runs: [asks, paints],
      config: 'RObot: { enabled: true, timeout_seconds: 600 }\n',
    });
  });

  /** Starts onboarding; answers it and the code it shows. */
  async function onboarding() {
    const started = project.start(['bot', 'onboard', '--json'], { env: env() });
    let out = '';
    started.child.stdout!.on('data', (text: string) => {
      out += text;
    });
    await until(() => out.includes('\n'), 'the code');
    await until(() => server.polls() > 1, 'listening');
    return { ...started, code: (JSON.parse(out.split('\n')[0]!) as { code: string }).code };
  }

  test('who sends the code is heard from then on; what others wrote before waits for the run', async () => {
    server.write('hello bot', { user: 9, name: 'Eve' });
    const { done, code } = await onboarding();
    server.write('/start AAAAA-AAAAA', { user: 9, name: 'Eve' });
    server.write(`/start ${code.toLowerCase()}`, { user: 42, name: 'Cora' });
    const { code: exit, out } = await done;
    expect([
      exit,
      out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { type: string }).type),
    ]).toEqual([0, ['code', 'paired']]);
    const status = await project.ralph(['bot', 'status', '--json'], { env: env() });
    expect(JSON.parse(status.out)).toMatchObject({
      token: 'RALPH_TELEGRAM_BOT_TOKEN',
      bot: { username: 'ralph_test_bot' },
      paired: [{ chat: 42, user: 42, name: 'Cora' }],
      reader: null,
    });
    const tested = await project.ralph(['bot', 'test'], { env: env() });
    expect([tested.code, tested.out]).toEqual([0, 'chat 42: arrived\n']);

    server.write('use the bar library', { user: 42, name: 'Cora' });
    const run = project.start(['run', 'paint'], { env: env() });
    await until(() => server.sentTo(42).some(({ text }) => text.includes('Which colour?')), 'the question');
    server.press(server.sentTo(42).find(({ buttons }) => buttons.length > 0)!, 'A) red', { name: 'Cora' });
    expect((await run.done).code).toBe(0);
    expect(facts(project, 'message.received').map(({ message }) => message.text)).toEqual([
      'use the bar library',
      'red',
    ]);
    expect(server.sentTo(9).filter(({ text }) => text.includes('belongs to somebody else'))).toHaveLength(1);
    const taken = await project.ralph(['bot', 'unpair', '42', '--json'], { env: env() });
    expect(JSON.parse(taken.out)).toEqual({ chat: 42, paired: [] });
  });

  test('five wrong codes end it, whoever sent them', async () => {
    const { done } = await onboarding();
    for (let n = 0; n < 5; n++) server.write(`AAAAA-AAAA${n}`, { user: 9 });
    const { code, err } = await done;
    expect([code, err]).toEqual([5, expect.stringContaining('Five wrong codes')]);
    expect((await project.ralph(['bot', 'test'], { env: env() })).err).toContain(
      'There is nobody to send to',
    );
  });

  test('a bot that a run reads is not read by onboarding as well', async () => {
    const run = project.start(['run', 'paint'], { env: env() });
    await until(() => server.polls() > 0, 'the run');
    const { code, err } = await project.ralph(['bot', 'onboard'], { env: env() });
    expect([code, err]).toEqual([
      5,
      expect.stringMatching(/The bot is being read by another ralph \(pid \d+/),
    ]);
    run.child.kill('SIGKILL');
    await run.done;
  });

  test('with nobody paired the run says so', async () => {
    const { err } = await project.ralph(['run', 'paint', '--no-wait'], { env: env() });
    expect(err).toContain('`ralph bot onboard` pairs your chat');
  });

  test('no token, and one that is none, are problems with what to do', async () => {
    const none = await project.ralph(['bot', 'test'], { env: { RALPH_CONFIG_ROBOT__ENABLED: 'false' } });
    expect([none.code, none.err]).toEqual([5, expect.stringContaining('fix: Set RALPH_TELEGRAM_BOT_TOKEN')]);
    const wrong = await project.ralph(['bot', 'test'], {
      env: { ...env(), RALPH_TELEGRAM_BOT_TOKEN: '5:hush-hush' },
    });
    expect(wrong.code).toBe(5);
    expect(wrong.err).not.toContain('hush-hush');
  });
});

test('the token is in no file, no output, no process list, and neither agents nor gates have it', async () => {
  phone = await ownPhone();
  project = makeProject({
    runs: [asks, paints],
    config: `${CONFIG}gates: [{ name: env, run: "env >> $HOME/seen.txt; cat /proc/[0-9]*/cmdline >> $HOME/seen.txt 2>/dev/null; true" }]\n`,
  });
  const run = project.start(['run', 'paint'], { env: { ...env(), DEBUG: '*' } });
  const asked = await shown('Which colour?');
  await phone.press(asked.message, asked.buttons[0]!.callback_data);
  const { code, out, err } = await run.done;
  expect(code).toBe(0);
  await phone.close();
  // Nobody listens any more: errors of the network name addresses, and those hold the token.
  const unreached = await project.ralph(['bot', 'test'], { env: { ...env(), DEBUG: '*' } });
  const status = await project.ralph(['bot', 'status'], { env: env() });
  expect(unreached.err).toContain('Telegram was not reached');
  for (const text of [out, err, unreached.out, unreached.err, status.out, status.err])
    expect(text).not.toContain(SECRET);
  const files = [project.dir, project.home].flatMap((root) =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name)),
  );
  expect(files.some((file) => file.endsWith('seen.txt'))).toBe(true);
  expect(files.filter((file) => readFileSync(file).includes(SECRET))).toEqual([]);
});
