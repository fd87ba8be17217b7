/**
 * The secrets of this process: variables of its environment whose names say so, and what the configuration that was
 * read holds. Every way out asks here what to leave out: logs, facts, chats, windows, the terminal.
 */
import type { Settings } from '../config/index.ts';
import { isSecretValue, type Redactor, redactorOf, secretsOfEnv } from '../core/index.ts';

const configured = new Map<string, string>();
let known: Redactor | null = null;

/** From now on these are left out as well. */
export function learnSecrets({ robot, channels: { webhook } }: Pick<Settings, 'robot' | 'channels'>): void {
  const before = configured.size;
  for (const [name, value] of [
    ['RObot.telegram.bot_token', robot.botToken],
    // Requests carry it without the number before the colon, which names the bot.
    ['RObot.telegram.bot_token', robot.botToken?.split(':')[1]],
    ['channels.webhook.secret', webhook?.secret],
    ['channels.webhook.url', isTelling(webhook?.url) ? webhook?.url : null],
  ] as const)
    if (value != null && isSecretValue(value) && !configured.has(value)) configured.set(value, name);
  if (configured.size > before) known = null;
}

/** A hook's address is its key where its path is more than a word. */
function isTelling(url: string | undefined): boolean {
  const path = url?.replace(/^[a-z]+:\/\/[^/?#]*/i, '') ?? '';
  return /[A-Za-z0-9_-]{16,}/.test(path);
}

/** Of all that is known by now. */
export function redactorHere(): Redactor {
  known ??= redactorOf([
    ...[...configured].map(([value, name]) => ({ name, value })),
    ...secretsOfEnv(process.env),
  ]);
  return known;
}
