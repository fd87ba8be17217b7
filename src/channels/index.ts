export { type DesktopOptions, desktopChannel } from './desktop.ts';
export { type PairedChat, type TelegramOptions, telegramChannel } from './telegram.ts';
export { askBot, type Pairing, pairChat, pairingCode, sendTest } from './telegram-pair.ts';
export type { PollerLease } from './telegram-poll.ts';
export { type WebhookOptions, webhookChannel } from './webhook.ts';
