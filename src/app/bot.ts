/** `ralph bot`: pairs a chat with this project, says what is known of the bot, and sends a message to try it. */
import { join } from 'node:path';
import { askBot, type PairedChat, type Pairing, pairChat, pairingCode, sendTest } from '../channels/index.ts';
import { Problem } from '../core/index.ts';
import { loadSettings } from './config.ts';
import { pairedChats, pollerHolder, pollerLease, recordPaired, recordUnpaired } from './pairing.ts';
import { findPlace, type Place } from './place.ts';

export interface BotRequest {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** How long a pairing code is good, ms. */
const CODE_MS = 10 * 60_000;

interface Known {
  place: Place;
  access: { token: string; apiUrl: string; env: NodeJS.ProcessEnv } | null;
  enabled: boolean;
  apiUrl: string;
  allowedUsers: number[];
  /** Where the token was set. */
  origin: string | null;
}

async function known({ cwd, env }: BotRequest): Promise<Known> {
  const place = await findPlace(cwd);
  const { settings, origin } = await loadSettings({ place, env, flags: {}, session: null });
  const { enabled, botToken, apiUrl, allowedUsers } = settings.robot;
  return {
    place,
    access: botToken === null ? null : { token: botToken, apiUrl, env },
    enabled,
    apiUrl,
    allowedUsers,
    origin: botToken === null ? null : (origin.get('RObot.telegram.bot_token') ?? null),
  };
}

function accessOf({ access }: Known): NonNullable<Known['access']> {
  if (access !== null) return access;
  throw new Problem({
    code: 'bot.no_token',
    what: 'There is no bot token.',
    why: 'A bot is made by writing /newbot to @BotFather in Telegram; it answers with the token.',
    fix: 'Set RALPH_TELEGRAM_BOT_TOKEN to it.',
  });
}

function unreached(why: string, code: number | null): Problem {
  const wrong = code === 401 || code === 404;
  return new Problem({
    code: wrong ? 'bot.token' : 'bot.unreached',
    what: wrong ? 'Telegram does not know this bot token.' : 'Telegram was not reached.',
    why: wrong ? 'It was revoked, or not copied whole.' : `${why[0]!.toUpperCase()}${why.slice(1)}.`,
    fix: wrong
      ? 'Get it anew from @BotFather (/token) and set RALPH_TELEGRAM_BOT_TOKEN.'
      : 'Look at the network, HTTPS_PROXY and RObot.telegram.api_url, then try again.',
  });
}

/** Told while `ralph bot onboard` waits. */
export type OnboardNews =
  | { type: 'code'; code: string; link: string; bot: string; expires_at: string }
  | { type: 'paired'; chat: number; user: number; name: string; enabled: boolean };

/** Shows a code and waits until somebody sends it to the bot. Throws a Problem when nobody is paired. */
export async function onboard(
  request: BotRequest & { tell(news: OnboardNews): void; signal: AbortSignal },
): Promise<void> {
  const bot = await known(request);
  const access = accessOf(bot);
  const me = await askBot(access);
  if (!me.ok) throw unreached(me.why, me.code);
  const lease = pollerLease(access.token, request.env);
  const holder = await lease.take();
  if (holder !== null) throw isRead(holder);
  try {
    const code = pairingCode();
    const until = Date.now() + CODE_MS;
    const { username } = me.result;
    const link = `https://t.me/${username}?start=${code}`;
    request.tell({
      type: 'code',
      code,
      link,
      bot: `@${username}`,
      expires_at: new Date(until).toISOString(),
    });
    const { mainDir } = bot.place;
    const pairing = await pairChat({
      access,
      code,
      stateFile: join(mainDir, '.ralph', 'telegram-state.json'),
      paired: pairedChats(mainDir),
      allowedUsers: bot.allowedUsers,
      until,
      signal: request.signal,
    });
    if (pairing.kind !== 'paired') throw notPaired(pairing);
    await recordPaired(mainDir, pairing.chat);
    await pairing.welcome();
    request.tell({ type: 'paired', ...pairing.chat, enabled: bot.enabled });
  } finally {
    await lease.release();
  }
}

function isRead(holder: string): Problem {
  return new Problem({
    code: 'bot.is_read',
    what: `The bot is being read by ${holder}.`,
    why: 'Telegram hands every message to one reader, so the code would not arrive here.',
    fix: 'Stop that run (`ralph stop`) and pair then, or add your user id to RObot.telegram.allowed_users.',
  });
}

function notPaired(pairing: Exclude<Pairing, { kind: 'paired' }>): Problem {
  const why: Record<Exclude<Pairing['kind'], 'paired' | 'refused'>, string> = {
    expired: 'Nobody sent the code within ten minutes.',
    tries: 'Five wrong codes were sent to the bot, by you or by others.',
    crowded:
      'A hundred messages of people who are heard wait for a run, and the code would come behind them.',
    ended: 'It was ended before the code came.',
  };
  return new Problem({
    code: 'bot.not_paired',
    what: 'No chat was paired.',
    why: pairing.kind === 'refused' ? `Telegram refuses to be read: ${pairing.why}.` : why[pairing.kind],
    fix:
      pairing.kind === 'crowded'
        ? 'Let a run read them first (`ralph run`), then pair.'
        : 'Run `ralph bot onboard` again; it makes a new code.',
  });
}

/** What `ralph bot status` shows; no part of it holds the token. */
export interface BotStatus {
  enabled: boolean;
  /** Where the token was set; null: there is none. */
  token: string | null;
  api_url: string;
  bot: { id: number; username: string } | null;
  /** Why the bot was not reached; null: it was, or there is no token. */
  error: string | null;
  paired: PairedChat[];
  allowed_users: number[];
  /** Who reads the bot now; null: nobody on this machine. */
  reader: string | null;
}

export async function botStatus(request: BotRequest): Promise<{ data: BotStatus; text: string }> {
  const { access, place, enabled, apiUrl, allowedUsers, origin } = await known(request);
  const me = access === null ? null : await askBot(access);
  const data: BotStatus = {
    enabled,
    token: origin,
    api_url: apiUrl,
    bot: me?.ok === true ? me.result : null,
    error: me?.ok === false ? me.why : null,
    paired: pairedChats(place.mainDir),
    allowed_users: allowedUsers,
    reader: access === null ? null : await pollerHolder(access.token, request.env),
  };
  return { data, text: statusText(data) };
}

function statusText({ enabled, token, bot, error, paired, allowed_users: users, reader }: BotStatus): string {
  const heard = [
    ...paired.map(({ chat, name }) => `${name} (chat ${chat}, paired)`),
    ...users.map((user) => `user ${user} (allowed)`),
  ];
  return [
    `RObot     ${enabled ? 'enabled' : 'not enabled: set RObot.enabled and RObot.timeout_seconds'}`,
    `token     ${token === null ? 'none: set RALPH_TELEGRAM_BOT_TOKEN' : `set (${token})`}`,
    `bot       ${bot === null ? `not reached${error === null ? '' : `: ${error}`}` : `@${bot.username}`}`,
    `heard     ${heard.length === 0 ? 'nobody: `ralph bot onboard` pairs your chat' : heard.join(', ')}`,
    `read by   ${reader ?? 'nobody now; a run does while it lives'}`,
  ].join('\n');
}

/** Sends one message to everybody who is told news. Throws a Problem when it reached nobody. */
export async function testBot(
  request: BotRequest,
): Promise<{ data: { chat: number; arrived: boolean; why: string | null }[]; text: string }> {
  const bot = await known(request);
  const access = accessOf(bot);
  const chats = [
    ...new Set([...pairedChats(bot.place.mainDir).map(({ chat }) => chat), ...bot.allowedUsers]),
  ];
  if (chats.length === 0)
    throw new Problem({
      code: 'bot.nobody',
      what: 'There is nobody to send to.',
      why: 'No chat is paired and RObot.telegram.allowed_users is empty.',
      fix: 'Run `ralph bot onboard`.',
    });
  const sent = await sendTest(
    access,
    chats,
    `Ralph reaches you from ${bot.place.dir.split(/[\\/]/).at(-1)}.`,
  );
  if (sent.every(({ why }) => why !== null)) throw unreached(sent[0]!.why!, null);
  const data = sent.map(({ chat, why }) => ({ chat, arrived: why === null, why }));
  const text = sent.map(
    ({ chat, why }) => `chat ${chat}: ${why === null ? 'arrived' : `not reached: ${why}`}`,
  );
  return { data, text: text.join('\n') };
}

/** Takes a pairing back: the chat is neither told nor heard from the next run on. */
export async function unpair({
  cwd,
  chat,
}: BotRequest & { chat: number }): Promise<{ data: { chat: number; paired: PairedChat[] }; text: string }> {
  const { mainDir } = await findPlace(cwd);
  if (!pairedChats(mainDir).some((one) => one.chat === chat))
    throw new Problem({
      code: 'bot.unknown_chat',
      what: `Chat ${chat} is not paired.`,
      why: 'Only a paired chat can be taken back; allowed users stand in ralph.yml.',
      fix: 'See `ralph bot status`.',
    });
  await recordUnpaired(mainDir, chat);
  return {
    data: { chat, paired: pairedChats(mainDir) },
    text: `Chat ${chat} is not paired any more; a run that is alive hears it until it ends.`,
  };
}
