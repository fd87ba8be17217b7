/**
 * A small Bot API for tests, on loopback: chats, updates that are held until there is one, files, and the
 * faults that the real one has. People are played through the same object.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The token that this server takes; the words behind the colon are what must never be seen anywhere. */
export const TOKEN = '777:SECRET-of-the-bot-0123456789abcdefghij';
export const SECRET = TOKEN.slice(4);

export interface ChatMessage {
  message_id: number;
  chat: { id: number; type: string };
  from: { id: number; is_bot: boolean; first_name: string };
  date: number;
  text: string;
  buttons: { text: string; callback_data: string }[];
  reply_to?: number;
  /** Reactions that the bot set, the last one first in the list. */
  reactions: string[];
  silent: boolean;
}

export interface Call {
  method: string;
  params: Record<string, unknown>;
  /** Epoch ms. */
  at: number;
}

/** How the next calls of a method go wrong. */
export interface Fault {
  method?: string;
  times: number;
  /** `reset`: the connection is cut; `lost`: it is done, and then the connection is cut; `held`: no answer comes. */
  kind: number | 'reset' | 'lost' | 'garbage' | 'held';
  description?: string;
  retryAfter?: number;
}

export interface WriteOptions {
  chat?: number;
  user?: number;
  name?: string;
  replyTo?: number;
  /** Epoch s. */
  date?: number;
  document?: { name?: string; bytes: Uint8Array; size?: number };
  photo?: Uint8Array;
  more?: Record<string, unknown>;
}

export interface TelegramStandin {
  url: string;
  /** Every call but getUpdates, in order. */
  calls: Call[];
  polls(): number;
  /** How often somebody polled while another poll was held, which ends the other with 409. */
  conflicts(): number;
  /** Every message, of both sides. */
  messages: ChatMessage[];
  /** What the bot sent, still or anew, in a chat. */
  sentTo(chat: number): ChatMessage[];
  /** A person writes; answers the message. */
  write(text: string, options?: WriteOptions): ChatMessage;
  edit(message: ChatMessage, text: string): void;
  press(message: ChatMessage, button: string, by?: { user?: number; name?: string }): void;
  /** Puts any update there, as it is. */
  update(update: Record<string, unknown>): number;
  fault(fault: Fault): void;
  /** The server hands out updates although they were confirmed. */
  forgetful: boolean;
  /** Nobody answers at its address until `up`; what was written meanwhile is there then. */
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

class Refused extends Error {
  readonly code: number;
  readonly more: Record<string, unknown>;

  constructor(code: number, description: string, more: Record<string, unknown> = {}) {
    super(description);
    this.code = code;
    this.more = more;
  }
}

const BOT = { id: 777, is_bot: true, first_name: 'Ralph', username: 'ralph_test_bot' };

export async function telegramStandin(): Promise<TelegramStandin> {
  const updates: Record<string, unknown>[] = [];
  const files = new Map<string, Uint8Array>();
  const messages: ChatMessage[] = [];
  const calls: Call[] = [];
  const faults: Fault[] = [];
  let updateNumber = 5000;
  let polls = 0;
  let conflicts = 0;
  let wake: ((why: 'update' | 'conflict') => void) | null = null;

  const put = (update: Record<string, unknown>): number => {
    updateNumber++;
    updates.push({ update_id: updateNumber, ...update });
    wake?.('update');
    return updateNumber;
  };
  const now = () => Math.floor(Date.now() / 1000);
  const chatOf = (id: number) => ({ id, type: id < 0 ? 'group' : 'private' });
  const byNumber = (chat: unknown, id: unknown) =>
    messages.find((one) => one.message_id === Number(id) && one.chat.id === Number(chat));
  const keep = (more: Partial<ChatMessage> & Pick<ChatMessage, 'chat' | 'from' | 'text'>): ChatMessage => {
    const message = {
      message_id: messages.length + 1,
      date: now(),
      buttons: [],
      reactions: [],
      silent: false,
      ...more,
    };
    messages.push(message);
    return message;
  };
  /** As Telegram shows a message inside an update. */
  const shown = (message: ChatMessage) => {
    const { message_id, chat, from, date, text } = message;
    return { message_id, chat, from, date, text };
  };

  const methods: Record<string, (params: Record<string, unknown>, request: IncomingMessage) => unknown> = {
    getMe: () => BOT,
    setMyCommands: () => true,
    answerCallbackQuery: () => true,
    async getUpdates(params, request) {
      polls++;
      const offset = params.offset === undefined ? null : Number(params.offset);
      if (!api.forgetful && offset !== null)
        while (updates.length > 0 && Number(updates[0]!.update_id) < offset) updates.shift();
      if (wake !== null) conflicts++;
      wake?.('conflict');
      if (updates.length === 0) {
        let own: typeof wake = null;
        const why = await new Promise<string>((done) => {
          const timer = setTimeout(() => done('time'), Number(params.timeout ?? 0) * 1000);
          const end = (word: string) => {
            clearTimeout(timer);
            done(word);
          };
          own = end;
          wake = end;
          request.socket.once('close', () => end('gone'));
        });
        // Whoever ended this poll may have its own held by now.
        if (wake === own) wake = null;
        if (why === 'conflict')
          throw new Refused(
            409,
            'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
          );
      }
      return updates.slice(0, Number(params.limit ?? 100));
    },
    sendMessage(params) {
      const text = checked(params);
      const reply = params.reply_parameters as { message_id?: number } | undefined;
      const markup = params.reply_markup as
        | { inline_keyboard?: { text: string; callback_data: string }[][] }
        | undefined;
      return sentBack(
        keep({
          chat: chatOf(Number(params.chat_id)),
          from: BOT,
          text,
          buttons: (markup?.inline_keyboard ?? []).flat(),
          silent: params.disable_notification === true,
          ...(reply?.message_id === undefined ? {} : { reply_to: reply.message_id }),
        }),
      );
    },
    editMessageText(params) {
      const message = byNumber(params.chat_id, params.message_id);
      if (message === undefined) throw new Refused(400, 'Bad Request: message to edit not found');
      const text = checked(params);
      if (message.text === text && message.buttons.length === 0)
        throw new Refused(400, 'Bad Request: message is not modified');
      message.text = text;
      message.buttons = [];
      return sentBack(message);
    },
    setMessageReaction(params) {
      const [reaction] = params.reaction as { emoji: string }[];
      if (!['👍', '👀'].includes(reaction!.emoji)) throw new Refused(400, 'Bad Request: REACTION_INVALID');
      byNumber(params.chat_id, params.message_id)?.reactions.push(reaction!.emoji);
      return true;
    },
    getFile(params) {
      const id = String(params.file_id);
      if (!files.has(id)) throw new Refused(400, 'Bad Request: invalid file_id');
      return { file_id: id, file_unique_id: id, file_path: `documents/${id}.bin` };
    },
  };
  const sentBack = ({ message_id, chat, date, text }: ChatMessage) => ({
    message_id,
    chat,
    date,
    text,
    from: BOT,
  });

  const file = (bytes: Uint8Array): string => {
    const id = `file${files.size + 1}`;
    files.set(id, bytes);
    return id;
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = (status: number, value: unknown) => {
      if (response.destroyed) return;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    const refuse = (code: number, description: string, more = {}) =>
      answer(code, { ok: false, error_code: code, description, ...more });
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    const download = /^\/file\/bot([^/]+)\/documents\/(file\d+)\.bin$/.exec(path);
    if (download !== null) {
      const bytes = files.get(download[2]!);
      if (decodeURIComponent(download[1]!) !== TOKEN || bytes === undefined) return refuse(404, 'Not Found');
      response.end(bytes);
      return;
    }
    const [, token, method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
    if (token === undefined || decodeURIComponent(token) !== TOKEN) return refuse(401, 'Unauthorized');
    const params =
      chunks.length === 0
        ? {}
        : (JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>);
    if (method !== 'getUpdates') calls.push({ method, params, at: Date.now() });
    const found = faults.find((one) => one.times > 0 && (one.method ?? method) === method);
    if (found !== undefined) found.times--;
    if (found?.kind === 'reset') return void request.socket.destroy();
    if (found?.kind === 'held') return;
    if (found?.kind === 'garbage') return void response.end('<html>a gateway</html>');
    if (typeof found?.kind === 'number')
      return refuse(
        found.kind,
        found.description ?? (found.kind === 429 ? 'Too Many Requests' : 'as the test wishes'),
        found.retryAfter === undefined ? {} : { parameters: { retry_after: found.retryAfter } },
      );
    try {
      const carried = methods[method];
      if (carried === undefined) throw new Refused(404, 'Not Found: method not found');
      const result = await carried(params, request);
      if (found?.kind === 'lost') request.socket.destroy();
      else answer(200, { ok: true, result });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refuse(error.code, error.message, error.more);
    }
  }

  const open = () => {
    const server = createServer(
      (request, response) => void serve(request, response).catch(() => request.socket.destroy()),
    );
    return server;
  };
  let server = open();
  const listen = (port: number) => new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const shut = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });

  const api: TelegramStandin = {
    url: `http://127.0.0.1:${port}`,
    calls,
    polls: () => polls,
    conflicts: () => conflicts,
    messages,
    forgetful: false,
    sentTo: (chat) => messages.filter((one) => one.from.id === BOT.id && one.chat.id === chat),
    write(text, { chat, user = 1, name = 'Ann', replyTo, date, document, photo, more = {} } = {}) {
      const message = keep({
        chat: chatOf(chat ?? user),
        from: { id: user, is_bot: false, first_name: name },
        text,
        ...(date === undefined ? {} : { date }),
      });
      const { text: words, ...rest } = shown(message);
      const replied = replyTo === undefined ? undefined : byNumber(message.chat.id, replyTo);
      const attached = document !== undefined || photo !== undefined;
      put({
        message: {
          ...rest,
          ...(text === '' ? {} : attached ? { caption: words } : { text: words }),
          ...(replied === undefined ? {} : { reply_to_message: shown(replied) }),
          ...(document === undefined
            ? {}
            : {
                document: {
                  file_id: file(document.bytes),
                  file_name: document.name,
                  file_size: document.size ?? document.bytes.length,
                },
              }),
          ...(photo === undefined
            ? {}
            : { photo: [{ file_id: 'thumbnail' }, { file_id: file(photo), file_size: photo.length }] }),
          ...more,
        },
      });
      return message;
    },
    edit(message, text) {
      message.text = text;
      put({ edited_message: { ...shown(message), edit_date: now() } });
    },
    press(message, button, { user = message.chat.id, name = 'Ann' } = {}) {
      const data =
        message.buttons.find((one) => one.text === button || one.callback_data === button)?.callback_data ??
        button;
      put({
        callback_query: {
          id: `press${updateNumber}`,
          from: { id: user, is_bot: false, first_name: name },
          chat_instance: '1',
          message: shown(message),
          data,
        },
      });
    },
    update: put,
    fault: (one) => void faults.push(one),
    down: shut,
    up() {
      server = open();
      return listen(port);
    },
    close: shut,
  };
  return api;
}

/** What Telegram refuses in a text; and its HTML, as the plain text that people see. */
function checked({ chat_id: chat, text: raw, parse_mode: mode }: Record<string, unknown>): string {
  const text = String(raw ?? '');
  if (!Number.isSafeInteger(chat)) throw new Refused(400, 'Bad Request: chat not found');
  if (text.trim() === '') throw new Refused(400, 'Bad Request: message text is empty');
  if (mode !== 'HTML') {
    if (text.length > 4096) throw new Refused(400, 'Bad Request: message is too long');
    return text;
  }
  if (/<(?!\/?(?:b|i|pre|code)>)|&(?!(?:lt|gt|amp);)/.test(text))
    throw new Refused(400, "Bad Request: can't parse entities: unsupported tag or entity");
  const open = [...text.matchAll(/<(\/?)(\w+)>/g)].reduce(
    (depth, [, end]) => depth + (end === '/' ? -1 : 1),
    0,
  );
  if (open !== 0) throw new Refused(400, "Bad Request: can't parse entities: a tag is not closed");
  if (text.length > 4096) throw new Refused(400, 'Bad Request: message is too long');
  if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text))
    throw new Refused(400, 'Bad Request: strings must be encoded in UTF-8');
  return text
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
