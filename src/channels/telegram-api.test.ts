/** The Bot API against a server of our own that answers what it likes. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openTelegram } from './telegram-api.ts';

test.each(['{}', '{"id":5}', '{"id":5,"username":null}', '{"id":"x","username":"a_bot"}'])(
  'a server that answers with %s is no Bot API, and its bot is never called "undefined"',
  async (result) => {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(`{"ok":true,"result":${result}}`);
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const telegram = await openTelegram({ token: '5:abcdef', apiUrl });
      expect(await telegram.getMe()).toMatchObject({
        ok: false,
        why: 'what answered does not speak the Bot API',
      });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  },
);
