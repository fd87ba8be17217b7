/** Through a proxy: which one is used, and that it sees only where it leads to. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTls, get } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { proxyAgent } from './telegram-proxy.ts';

const API = 'https://api.telegram.org';

describe('which proxy', () => {
  test('none is used where none is named, for a plain address, or where the host is exempt', () => {
    const proxy = 'http://proxy.example:3128';
    expect(proxyAgent(API, {})).toBeUndefined();
    expect(proxyAgent('http://127.0.0.1:1', { HTTPS_PROXY: proxy })).toBeUndefined();
    for (const NO_PROXY of ['*', 'api.telegram.org', '.telegram.org', 'x, telegram.org:443'])
      expect(proxyAgent(API, { HTTPS_PROXY: proxy, NO_PROXY })).toBeUndefined();
    for (const socks of ['socks5://proxy.example', 'https://proxy.example', 'http://['])
      expect(proxyAgent(API, { HTTPS_PROXY: socks })).toBeUndefined();
  });

  test('one that is named in any of the usual ways is used', () => {
    for (const env of [
      { HTTPS_PROXY: 'http://proxy.example:3128' },
      { https_proxy: 'proxy.example:3128' },
      { ALL_PROXY: 'http://ann:secret@proxy.example', NO_PROXY: 'notelegram.org' },
    ])
      expect(proxyAgent(API, env)).toBeDefined();
  });
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

describe.skipIf(!hasOpenssl)('the tunnel', () => {
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  const listening = (
    server: ReturnType<typeof createServer> | ReturnType<typeof createTls>,
  ): Promise<number> =>
    new Promise((done) => {
      ends.push(() => {
        server.closeAllConnections();
        server.close();
      });
      server.listen(0, '127.0.0.1', () => done((server.address() as { port: number }).port));
    });

  /** A server for `localhost` with a certificate of its own making. */
  async function secureServer(): Promise<{ port: number; ca: string }> {
    const folder = mkdtempSync(join(tmpdir(), 'ralph-tls-'));
    ends.push(() => rmSync(folder, { recursive: true, force: true }));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
        '-keyout',
        key,
        '-out',
        cert,
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=DNS:localhost',
      ],
      { stdio: 'ignore' },
    );
    const ca = readFileSync(cert, 'utf8');
    const server = createTls({ key: readFileSync(key), cert: ca }, (request, response) =>
      response.end(`you asked for ${request.url}`),
    );
    return { port: await listening(server), ca };
  }

  test('the proxy is asked for the host, with its login, and sees nothing of what goes through', async () => {
    const { port, ca } = await secureServer();
    const seen: string[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, socket) => {
      seen.push(String(request.url), String(request.headers['proxy-authorization']));
      const through = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.on('data', (bytes) => seen.push(bytes.toString('latin1')));
        socket.pipe(through).pipe(socket);
      });
      socket.on('error', () => through.destroy());
      through.on('error', () => socket.destroy());
      ends.push(
        () => through.destroy(),
        () => socket.destroy(),
      );
    });
    const proxyPort = await listening(proxy);
    const agent = proxyAgent(`https://localhost:${port}`, {
      HTTPS_PROXY: `http://ann:p%40ss@127.0.0.1:${proxyPort}`,
    });
    const body = await new Promise<string>((done, failed) => {
      get(`https://localhost:${port}/bot777:secret/getMe`, { agent, ca }, (response) => {
        response.setEncoding('utf8').on('data', done);
      }).on('error', failed);
    });
    agent!.destroy();
    expect(body).toBe('you asked for /bot777:secret/getMe');
    expect(seen.slice(0, 2)).toEqual([
      `localhost:${port}`,
      `Basic ${Buffer.from('ann:p@ss').toString('base64')}`,
    ]);
    expect(seen.join('\n')).not.toContain('777:secret');
  });

  test('a proxy that refuses is an error with a code, and no address in its words', async () => {
    const proxy = createServer();
    proxy.on('connect', (_, socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'));
    const proxyPort = await listening(proxy);
    const agent = proxyAgent('https://localhost:9', { HTTPS_PROXY: `http://127.0.0.1:${proxyPort}` });
    const error = await new Promise<NodeJS.ErrnoException>((done) => {
      get('https://localhost:9/bot777:secret/getMe', { agent }, () => undefined).on('error', done);
    });
    agent!.destroy();
    expect([error.code, error.message]).toEqual(['EPROXY', 'the proxy did not connect']);
  });
});
