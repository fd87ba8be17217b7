/** Where the pinned agent CLIs lie once scripts/agents.mjs has installed them. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The CLIs by the names of their programs, which are those of the agents too. */
export const CLI_NAMES = ['claude', 'codex', 'opencode', 'pi', 'gemini', 'qwen', 'copilot'] as const;
export type CliName = (typeof CLI_NAMES)[number];

const path = (name: CliName, below: string): string =>
  fileURLToPath(new URL(`./clis/${name}/${below}`, import.meta.url));

const programPath = (name: CliName): string =>
  path(name, `node_modules/.bin/${name}${process.platform === 'win32' ? '.cmd' : ''}`);

/** Whether scripts/agents.mjs could install it here; where it could not, it told why. */
export function isInstalled(name: CliName): boolean {
  return existsSync(programPath(name)) && existsSync(path(name, 'node_modules/.installed-lock'));
}

/** Absolute path of a CLI's program. Throws when it is not installed. */
export function programOf(name: CliName): string {
  if (isInstalled(name)) return programPath(name);
  throw new Error(`The agent CLI ${name} is not installed here. Run: npm run test:agents`);
}

/** The pinned version, as the CLI's package.json says it. */
export function versionOf(name: CliName): string {
  const { dependencies } = JSON.parse(readFileSync(path(name, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return Object.values(dependencies)[0] ?? 'unknown';
}

export const claudeProgram = (): string => programOf('claude');
export const claudeVersion = (): string => versionOf('claude');
