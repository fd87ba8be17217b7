/** `ralph bot`: pair a phone, look at what is paired, try it. */
import type { Command } from 'commander';
import type { OnboardNews } from '../app/index.ts';
import { nearest, Problem } from '../core/index.ts';
import { answer, type Common, common, folderOf, refuseSurplus } from './io.ts';

export const BOT_ACTIONS = ['status', 'onboard', 'test', 'unpair'];

export function botCommand(program: Command, done: (code: number) => void): void {
  common(
    program
      .command('bot')
      .argument('[action]', 'status, onboard, test or unpair', 'status')
      .argument('[chat]', 'unpair: the chat, as status shows it')
      .description('Telegram: pair your chat, see what is paired, send a message to try it'),
    'ralph bot onboard',
  ).action(async (action: string, chat: string | undefined, options: Common) => {
    await carryOut(action, chat, options);
    done(0);
  });
}

async function carryOut(action: string, chat: string | undefined, options: Common): Promise<void> {
  if (BOT_ACTIONS.includes(action)) refuseSurplus(`bot ${action}`, [chat], action === 'unpair' ? 1 : 0);
  const app = await import('../app/index.ts');
  const request = { cwd: folderOf(options), env: process.env };
  switch (action) {
    case 'status': {
      const { data, text } = await app.botStatus(request);
      return answer(options, data, text);
    }
    case 'test': {
      const { data, text } = await app.testBot(request);
      return answer(options, data, text);
    }
    case 'unpair': {
      const { data, text } = await app.unpairChat({ ...request, chat: chatOf(chat) });
      return answer(options, data, text);
    }
    case 'onboard':
      return onboard(options);
    default:
      throw unknownAction(action);
  }
}

async function onboard(options: Common): Promise<void> {
  const app = await import('../app/index.ts');
  const end = new AbortController();
  const stop = () => end.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await app.onboard({
      cwd: folderOf(options),
      env: process.env,
      signal: end.signal,
      tell: (news) => process.stdout.write(options.json ? `${JSON.stringify(news)}\n` : toldText(news)),
    });
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

function toldText(news: OnboardNews): string {
  if (news.type === 'paired')
    return `Paired with ${news.name} (chat ${news.chat}).${news.enabled ? '' : ' Set RObot.enabled: true and RObot.timeout_seconds, and runs will use it.'}\n`;
  return `Open ${news.link} on your phone and press Start,\nor send this code to ${news.bot}:  ${news.code}\n\nIt is good for ten minutes. Waiting …\n`;
}

function chatOf(raw: string | undefined): number {
  const chat = Number(raw);
  if (raw !== undefined && /^-?\d+$/.test(raw) && Number.isSafeInteger(chat)) return chat;
  throw new Problem({
    code: 'usage.chat',
    what: raw === undefined ? 'No chat was named.' : `${raw} is no chat.`,
    why: 'A chat is a number, as `ralph bot status` shows it.',
    fix: 'ralph bot unpair CHAT',
  });
}

function unknownAction(action: string): Problem {
  const near = nearest(action, BOT_ACTIONS);
  return new Problem({
    code: 'usage.action',
    what: `There is no action "${action}" for bot.${near === null ? '' : ` Did you mean ${near}?`}`,
    why: `It can ${BOT_ACTIONS.join(', ')}.`,
    fix: 'See ralph bot --help.',
  });
}
