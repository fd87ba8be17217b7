/** Every channel sits the one exam. */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { channelExam, type Person } from '../../test/exams/channel.ts';
import { SECRET, TOKEN, telegramStandin } from '../../test/standins/telegram.ts';
import { desktopChannel } from './desktop.ts';
import { telegramChannel } from './telegram.ts';
import { plainOf } from './telegram-text.ts';
import { webhookChannel } from './webhook.ts';
import { signatureOf } from './webhook-sign.ts';

channelExam({
  name: 'telegram',
  secrets: [SECRET],
  skips: {},
  async make(folder) {
    const server = await telegramStandin();
    const said: string[] = [];
    const channel = telegramChannel({
      token: TOKEN,
      apiUrl: server.url,
      allowedUsers: [1],
      stateFile: join(folder, 'telegram-state.json'),
      now: Date.now,
      say: (text) => said.push(text),
      waits: { retriesMs: [1, 2, 4], pollS: 5, backoffMs: { first: 5, most: 50 }, idleMs: 5 },
    });
    const asked = () => server.sentTo(1).findLast(({ text }) => text.includes('Question q1'))!;
    let there = true;
    const person: Person = {
      seen: async () =>
        server
          .sentTo(1)
          .map(({ text }) => text)
          .join('\n'),
      answer: async (text) => void server.write(text, { replyTo: asked().message_id }),
      choose: async (key) =>
        server.press(asked(), asked().buttons.find(({ text }) => text.startsWith(`${key})`))!.text),
      guide: async (text) => void server.write(text),
      async leave() {
        there = false;
        await server.down();
      },
      close: async () => (there ? server.close() : undefined),
    };
    return { channel, person, said };
  },
});

const WEBHOOK_SECRET = 'kept between us';

/** Every text in a value, however deep. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

channelExam({
  name: 'webhook',
  secrets: [WEBHOOK_SECRET, 'hidden-key'],
  skips: {},
  async make(folder) {
    const bodies: unknown[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        bodies.push(JSON.parse(body));
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as { port: number };
    const said: string[] = [];
    const channel = webhookChannel({
      url: `http://127.0.0.1:${port}/hook?key=hidden-key`,
      secret: WEBHOOK_SECRET,
      answers: true,
      stateFile: join(folder, 'webhook-state.json'),
      warn: (text) => said.push(text),
      delaysMs: [1, 2, 4],
    });
    // Whoever was never posted to knows no address of answers.
    const speak = async (word: object): Promise<void> => {
      if (bodies.length === 0)
        await channel.show({
          kind: 'progress',
          text: 'hello',
          context: { sessionId: 's', loop: 'main', iteration: null, role: null, task: null },
        });
      const { answer_url: url } = bodies.at(-1) as { answer_url: string };
      const body = JSON.stringify({ from: 'Ann', ...word });
      const timestamp = String(Math.floor(Date.now() / 1000));
      const headers = {
        'ralph-timestamp': timestamp,
        'ralph-signature': signatureOf(WEBHOOK_SECRET, timestamp, body),
      };
      await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
    };
    const shut = async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    };
    const person: Person = {
      seen: async () => textsIn(bodies).join('\n'),
      answer: (text) => speak({ question: 'q1', text }),
      choose: (option) => speak({ question: 'q1', option }),
      guide: (text) => speak({ type: 'STEER', text }),
      leave: shut,
      close: shut,
    };
    return { channel, person, said };
  },
});

if (process.platform !== 'win32')
  channelExam({
    name: 'desktop',
    secrets: [],
    skips: {
      'words back': 'a notice on a desktop takes no words',
      'every kind is shown': 'a desktop shows only what somebody has to come for',
    },
    async make(folder) {
      const program = join(folder, 'notify-send');
      const heard = join(folder, 'said');
      writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" >> "${heard}"\n`);
      chmodSync(program, 0o755);
      const said: string[] = [];
      const channel = desktopChannel({
        env: { PATH: `${folder}:/bin:/usr/bin` },
        platform: 'linux',
        warn: (text) => said.push(text),
      });
      const unsaid = async () => undefined;
      const person: Person = {
        // As a desktop draws it.
        seen: async () => (existsSync(heard) ? plainOf(readFileSync(heard, 'utf8')) : ''),
        answer: unsaid,
        choose: unsaid,
        guide: unsaid,
        leave: async () => rmSync(program, { force: true }),
        close: unsaid,
      };
      return { channel, person, said };
    },
  });
