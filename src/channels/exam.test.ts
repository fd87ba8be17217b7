/** The webhook and the desktop sit the exam of every channel. */
import { createHmac } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe } from 'vitest';
import { channelExam, type Person } from '../../test/exams/channel.ts';
import { desktopChannel } from './desktop.ts';
import { webhookChannel } from './webhook.ts';

const SECRET = 'exam-secret-2718';

/** A receiver that shows what it is sent, and a person who posts back, signed. */
async function receiver(answerUrl: string): Promise<{ port: number; person: Person }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  const say = async (word: Record<string, string>) => {
    const body = JSON.stringify({ ...word, from: 'Ann' });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = `v1=${createHmac('sha256', SECRET).update(`${timestamp}.${body}`).digest('hex')}`;
    const headers = { 'ralph-timestamp': timestamp, 'ralph-signature': signature };
    await (await fetch(answerUrl, { method: 'POST', headers, body })).text();
  };
  const last = () => String(bodies.map((body) => JSON.parse(body).question?.id).findLast(Boolean));
  return {
    port: (server.address() as { port: number }).port,
    person: {
      seen: () =>
        Promise.resolve(
          bodies
            .map((body) => JSON.parse(body))
            .map(({ text, question }) => `${text} ${JSON.stringify([question?.id, question?.options])}`)
            .join('\n'),
        ),
      answer: (text) => say({ question: last(), text }),
      choose: (option) => say({ question: last(), option }),
      guide: (text) => say({ type: 'STEER', text }),
      leave: close,
      close,
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

channelExam({
  name: 'webhook',
  secrets: [SECRET, 'hidden-path'],
  skips: {},
  async make(folder) {
    const said: string[] = [];
    const listen = `127.0.0.1:${await freePort()}`;
    const { port, person } = await receiver(`http://${listen}/answer`);
    const channel = webhookChannel({
      url: `http://127.0.0.1:${port}/hidden-path`,
      secret: SECRET,
      answers: true,
      listen,
      stateFile: join(folder, 'webhook-state.json'),
      warn: (text) => said.push(text),
      delaysMs: [1, 2, 4],
    });
    return { channel, person, said };
  },
});

describe.skipIf(process.platform === 'win32')('the desktop', () => {
  channelExam({
    name: 'desktop',
    secrets: [],
    skips: {
      'words back': 'nobody can answer on a desktop',
      'every kind is shown': 'questions, critical notices and the end only',
    },
    make(folder) {
      const said: string[] = [];
      const bin = join(folder, 'bin');
      const shown = join(folder, 'shown');
      const place = (script: string) => {
        mkdirSync(bin, { recursive: true });
        writeFileSync(join(bin, 'notify-send'), `#!/bin/sh\n${script}\n`);
        chmodSync(join(bin, 'notify-send'), 0o755);
      };
      place(`printf '%s\\n' "$@" >> "${shown}"`);
      const never = () => Promise.reject(new Error('nobody can speak here'));
      const person: Person = {
        // As a desktop draws it: its body is markup.
        seen: () =>
          Promise.resolve(
            (existsSync(shown) ? readFileSync(shown, 'utf8') : '')
              .replaceAll('&lt;', '<')
              .replaceAll('&gt;', '>')
              .replaceAll('&amp;', '&'),
          ),
        answer: never,
        choose: never,
        guide: never,
        leave: async () => place('exit 1'),
        close: async () => undefined,
      };
      const env = { PATH: `${bin}:/bin:/usr/bin` };
      const channel = desktopChannel({ env, platform: 'linux', warn: (text) => said.push(text) });
      return Promise.resolve({ channel, person, said });
    },
  });
});
