/**
 * `HTTPS_PROXY` for the Bot API: a tunnel (CONNECT) through the proxy, then TLS to the server inside it, so
 * that the proxy sees neither the token nor the words. A server at an http address is called directly.
 */
import { request } from 'node:http';
import { Agent } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';

const CONNECT_MS = 10_000;

/** An agent that goes through the proxy which the environment names; undefined: straight on. */
export function proxyAgent(apiUrl: string, env: NodeJS.ProcessEnv): Agent | undefined {
  const target = new URL(apiUrl);
  const named = env.HTTPS_PROXY || env.https_proxy || env.ALL_PROXY || env.all_proxy;
  if (target.protocol !== 'https:' || !named || isExempt(target.hostname, env.NO_PROXY || env.no_proxy))
    return undefined;
  const proxy = proxyAddress(named);
  return proxy === null ? undefined : new TunnelAgent(proxy);
}

// Other kinds (socks) cannot be spoken here; the guide says so.
function proxyAddress(named: string): URL | null {
  try {
    const url = new URL(named.includes('://') ? named : `http://${named}`);
    return url.protocol === 'http:' ? url : null;
  } catch {
    return null;
  }
}

function isExempt(host: string, list: string | undefined): boolean {
  return (list ?? '')
    .split(/[\s,]+/)
    .map((one) =>
      one
        .replace(/:\d+$/, '')
        .replace(/^\*?\./, '')
        .toLowerCase(),
    )
    .some((one) => one !== '' && (one === '*' || host === one || host.endsWith(`.${one}`)));
}

type Connected = (error: Error | null, socket?: TLSSocket) => void;

class TunnelAgent extends Agent {
  readonly #proxy: URL;

  constructor(proxy: URL) {
    super({ keepAlive: true });
    this.#proxy = proxy;
  }

  // Node calls it for each new connection; the answer may come later, through `connected`.
  override createConnection(options: unknown, connected: unknown): undefined {
    const { host, port } = options as { host: string; port: number };
    const done = connected as Connected;
    const { hostname, port: proxyPort, username, password } = this.#proxy;
    const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    const asked = request({
      host: hostname,
      port: Number(proxyPort || 80),
      method: 'CONNECT',
      path: `${host}:${port}`,
      timeout: CONNECT_MS,
      headers: {
        host: `${host}:${port}`,
        ...(username === '' ? {} : { 'proxy-authorization': `Basic ${login.toString('base64')}` }),
      },
    });
    asked.once('connect', (response, socket) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        done(coded('EPROXY'));
        return;
      }
      // What else was asked of the connection (certificates and the like) holds inside the tunnel.
      const secure = connect({ ...(options as object), socket, servername: host }, () => {
        secure.off('error', done);
        done(null, secure);
      });
      secure.once('error', done);
    });
    asked.once('timeout', () => asked.destroy(coded('EPROXY')));
    asked.once('error', done);
    asked.end();
    return undefined;
  }
}

function coded(code: string): Error {
  return Object.assign(new Error('the proxy did not connect'), { code });
}
