/**
 * The Bot API as this room uses it: every call answers a value, and no word that comes out of here holds
 * the token. The addresses that are called contain it, and so do the errors of the libraries below; that
 * is why no foreign error leaves this file.
 *
 * grammY gives the calls and their types. Its own polling is not used: it confirms updates by their being
 * handled in memory, and ours may be confirmed only once they lie in the mailbox.
 */
import type { Api } from 'grammy';
import { Problem } from '../core/index.ts';
import { proxyAgent } from './telegram-proxy.ts';

type Raw = Api['raw'];
type Method =
  | 'getUpdates'
  | 'sendMessage'
  | 'editMessageText'
  | 'answerCallbackQuery'
  | 'setMessageReaction'
  | 'setMyCommands'
  | 'getFile';
type Payload<M extends Method> = Parameters<Raw[M]>[0];
type Result<M extends Method> = Awaited<ReturnType<Raw[M]>>;
type Signal = Parameters<Raw['getFile']>[1];

/** What became of a call. `code`: of the Bot API; null where it was not reached. */
export type Answer<T> =
  | { ok: true; result: T }
  | { ok: false; code: number | null; why: string; retryAfterS: number | null };

export interface Bot {
  id: number;
  /** Without the `@`. */
  username: string;
}

export interface Telegram {
  /** The number before the colon of the token: it names the bot and is no secret. */
  readonly botId: number;
  /** One try. Never rejects. `timeoutMs`: default 15 s. */
  ask<M extends Method>(
    method: M,
    payload: Payload<M>,
    options?: { signal?: AbortSignal; timeoutMs?: number },
  ): Promise<Answer<Result<M>>>;
  getMe(signal?: AbortSignal): Promise<Answer<Bot>>;
  /** Where a file of `getFile` lies; holds the token, so it is for fetching only. */
  fileUrl(path: string): string;
  /** Takes the token out of a text. */
  redact(text: string): string;
  /** For calls past grammY; undefined: none is needed. */
  readonly agent: ReturnType<typeof proxyAgent>;
}

export interface TelegramAccess {
  /** Secret: never shown, logged or written anywhere. */
  token: string;
  /** `https://api.telegram.org`, or a server of one's own. */
  apiUrl: string;
  /** Where proxies are named. */
  env?: NodeJS.ProcessEnv;
}

const CALL_MS = 15_000;

/** Opens the Bot API without calling it. Throws a Problem for what cannot be a token. */
export async function openTelegram({ token, apiUrl, env = {} }: TelegramAccess): Promise<Telegram> {
  const botId = /^(\d{1,20}):[\w-]{3,200}$/.exec(token)?.[1];
  if (botId === undefined) throw malformedToken();
  const root = apiUrl.replace(/\/+$/, '');
  const agent = proxyAgent(root, env);
  const { Api } = await import('grammy');
  const { raw } = new Api(token, {
    apiRoot: root,
    // Every call has an end of its own, below.
    timeoutSeconds: 120,
    ...(agent === undefined ? {} : { baseFetchConfig: { agent, compress: true } }),
  });
  const secret = token.slice(botId.length + 1);
  const redact = (text: string) => text.replaceAll(secret, '<token>');
  const answered = async <T>(
    call: (signal: Signal) => Promise<T>,
    { signal, timeoutMs = CALL_MS }: { signal?: AbortSignal | undefined; timeoutMs?: number } = {},
  ): Promise<Answer<T>> => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    try {
      // grammY's type of a signal is that of a package for old Nodes; it uses what both have.
      return { ok: true, result: await call(either as unknown as Signal) };
    } catch (error) {
      if (timeout.aborted) return failed(null, `no answer within ${Math.round(timeoutMs / 1000)} s`);
      const { code, why, retryAfterS } = told(error);
      return failed(code, redact(why).slice(0, 300), retryAfterS);
    }
  };
  return {
    botId: Number(botId),
    ask: (method, payload, options) =>
      answered((signal) => {
        const call = raw[method] as (payload: unknown, signal: Signal) => Promise<Result<typeof method>>;
        return call(payload, signal);
      }, options),
    getMe: (signal) =>
      answered(
        async (own) => {
          const { id, username } = await raw.getMe(own);
          if (!Number.isSafeInteger(id) || typeof username !== 'string' || username === '') throw NO_BOT;
          return { id, username };
        },
        { signal },
      ),
    fileUrl: (path) => `${root}/file/bot${token}/${path}`,
    redact,
    agent,
  };
}

function failed(code: number | null, why: string, retryAfterS: number | null = null): Answer<never> {
  return { ok: false, code, why, retryAfterS };
}

/** What an error of grammY or of the network says, in words that were chosen here where they could hold a secret. */
function told(error: unknown): { code: number | null; why: string; retryAfterS: number | null } {
  const of = error as {
    error_code?: unknown;
    description?: unknown;
    parameters?: { retry_after?: unknown };
    error?: { code?: unknown; type?: unknown; name?: unknown };
  } | null;
  if (typeof of?.error_code === 'number') {
    const after = of.parameters?.retry_after;
    return {
      code: of.error_code,
      why: String(of.description ?? 'no reason given'),
      retryAfterS: typeof after === 'number' && after >= 0 ? after : null,
    };
  }
  const inner = of?.error;
  const sign = [inner?.code, inner?.type, inner?.name].find((one) => typeof one === 'string');
  return {
    code: null,
    why: WORDS[String(sign)] ?? `the connection failed (${String(sign ?? 'unknown')})`,
    retryAfterS: null,
  };
}

/** An answer in the right form that names no bot. */
const NO_BOT = { error: { type: 'invalid-json' } };

const WORDS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens at its address',
  ENOTFOUND: 'its name is not known to the network',
  EAI_AGAIN: 'the network does not know names now',
  ECONNRESET: 'the connection was cut',
  AbortError: 'the call was ended',
  'invalid-json': 'what answered does not speak the Bot API',
};

function malformedToken(): Problem {
  return new Problem({
    code: 'telegram.token',
    what: 'The Telegram bot token is not one: it has not the form 123456:letters.',
    why: 'Without the token that @BotFather gave, no message can be sent or heard.',
    fix: 'Copy it anew from @BotFather into RALPH_TELEGRAM_BOT_TOKEN.',
  });
}
