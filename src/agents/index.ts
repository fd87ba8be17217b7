export type { ClaudeSpec } from './claude.ts';
export type { CommandSpec, OutputFormat, PromptWay } from './command.ts';
export { OUTPUTS } from './command.ts';
export type { AgentKind, AgentSpec } from './registry.ts';
export { AGENTS, createAgent, findAgents } from './registry.ts';
export type { ScriptSpec } from './script.ts';
export { SCRIPT_COMMAND } from './script.ts';
export { main as scriptMain } from './script-main.ts';
