export { type DesktopOptions, desktopChannel } from './desktop.ts';
export { type WebhookOptions, webhookChannel } from './webhook.ts';
