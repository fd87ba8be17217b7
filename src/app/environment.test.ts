import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentEnvironment } from './environment.ts';

test('an agent gets the environment of the user without what the loop speaks to people with', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-environment-'));
  const secret = 'hush';
  const given = {
    HOME: '/home/ann',
    RALPH_CONFIG_MODE: 'speed',
    RALPH_TELEGRAM_BOT_TOKEN: secret,
    RALPH_CONFIG_ROBOT__TELEGRAM__BOT_TOKEN: secret,
    RALPH_CONFIG_RObot__TELEGRAM: `{ bot_token: ${secret} }`,
    RALPH_CONFIG_ROBOT: `{ telegram: { bot_token: ${secret} } }`,
    RALPH_CONFIG_CHANNELS: `{ webhook: { secret: ${secret} } }`,
    RALPH_CONFIG_CHANNELS__WEBHOOK: `{ secret: ${secret} }`,
    RALPH_CONFIG_CHANNELS__WEBHOOK__SECRET: secret,
    // Often a key by itself.
    RALPH_CONFIG_CHANNELS__WEBHOOK__URL: `https://chat.example.org/${secret}`,
  };
  const env = await agentEnvironment(folder, given);
  rmSync(folder, { recursive: true });
  expect(env).toMatchObject({ HOME: '/home/ann', RALPH_CONFIG_MODE: 'speed' });
  expect(JSON.stringify(env)).not.toContain(secret);
});
