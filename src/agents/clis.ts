/** The agents whose program is described by one row: a new agent CLI is a file of its own and a row here. */
import type { Cli } from './cli.ts';
import { CODEX } from './codex.ts';
import { COPILOT } from './copilot.ts';
import { GEMINI } from './gemini.ts';
import { OPENCODE } from './opencode.ts';
import { PI } from './pi.ts';
import { QWEN } from './qwen.ts';

/** In the order in which `agent: auto` looks for them, behind Claude Code. */
export const CLIS = {
  codex: CODEX,
  opencode: OPENCODE,
  pi: PI,
  gemini: GEMINI,
  qwen: QWEN,
  copilot: COPILOT,
} satisfies Record<string, Cli>;

export type CliKind = keyof typeof CLIS;
