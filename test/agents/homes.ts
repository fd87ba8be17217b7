/** A private home for each real agent CLI, in which the scripted model is its provider and nobody is logged in. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CliName } from './installed.ts';
import { claudeEnv } from './model-server.ts';

type Env = Record<string, string>;

interface Home {
  /** Writes what the CLI reads of its settings. */
  files?(url: string): Record<string, string | object>;
  env?(url: string, home: string): Env;
}

/** A model of the OpenAI kind: $1 a million tokens of input, $2 of output. */
const MODEL = 'scripted-model';

const HOMES: Record<Exclude<CliName, 'claude'>, Home> = {
  codex: {
    files: (url) => ({
      '.codex/config.toml': `model = "gpt-5.5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
`,
    }),
    env: (_url, home) => ({ CODEX_HOME: join(home, '.codex'), SCRIPTED_KEY: 'scripted' }),
  },
  opencode: {
    files: (url) => ({
      '.config/opencode/opencode.json': {
        autoupdate: false,
        share: 'disabled',
        model: `scripted/${MODEL}`,
        small_model: `scripted/${MODEL}`,
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'scripted' },
            models: { [MODEL]: { limit: { context: 200_000, output: 8192 }, cost: { input: 1, output: 2 } } },
          },
        },
      },
    }),
    env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1' }),
  },
  pi: {
    files: (url) => ({
      '.pi/agent/settings.json': { defaultProvider: 'scripted', defaultModel: MODEL },
      '.pi/agent/models.json': {
        providers: {
          scripted: {
            baseUrl: `${url}/v1`,
            apiKey: 'scripted',
            api: 'openai-completions',
            models: [
              {
                id: MODEL,
                name: MODEL,
                contextWindow: 200_000,
                maxTokens: 8192,
                cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 },
                input: ['text'],
                reasoning: false,
              },
            ],
          },
        },
      },
    }),
    env: () => ({ PI_OFFLINE: '1' }),
  },
  gemini: {
    files: () => ({
      '.gemini/settings.json': {
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
        model: { name: 'gemini-2.5-pro' },
      },
    }),
    env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'scripted' }),
  },
  qwen: {
    files: () => ({ '.qwen/settings.json': { security: { auth: { selectedType: 'openai' } } } }),
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'scripted', OPENAI_MODEL: MODEL }),
  },
  copilot: {
    env: (url) => ({
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      // It masks the key wherever it stands in its output.
      COPILOT_PROVIDER_API_KEY: 'a-key',
      COPILOT_MODEL: MODEL,
      COPILOT_OFFLINE: 'true',
    }),
  },
};

/** Writes the CLI's settings below `home` and answers a clean environment for it. */
export function homeOf(name: CliName, url: string, home: string): Env {
  if (name === 'claude') return claudeEnv(url, home);
  const { files, env } = HOMES[name];
  for (const [path, content] of Object.entries(files?.(url) ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
  const { PATH, HOME, TERM, LANG, ...rest } = claudeEnv(url, home);
  const git = Object.fromEntries(Object.entries(rest).filter(([key]) => key.startsWith('GIT_')));
  return {
    ...git,
    PATH: PATH ?? '',
    HOME: HOME ?? '',
    TERM: TERM ?? '',
    LANG: LANG ?? '',
    ...env?.(url, home),
  };
}
