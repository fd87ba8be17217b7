/** Where the pinned agent CLIs lie once scripts/agents.mjs has installed them. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Absolute path of Claude Code's program. Throws when it is not installed. */
export function claudeProgram(): string {
  const path = folder(`./node_modules/.bin/claude${process.platform === 'win32' ? '.cmd' : ''}`);
  if (existsSync(path)) return path;
  throw new Error('Claude Code is not installed here. Run: npm run test:agents');
}

/** The pinned version, as test/agents/package.json says it. */
export function claudeVersion(): string {
  const text = readFileSync(folder('./package.json'), 'utf8');
  const { dependencies } = JSON.parse(text) as { dependencies: Record<string, string> };
  return dependencies['@anthropic-ai/claude-code'] ?? 'unknown';
}
