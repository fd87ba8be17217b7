/** CONTRACT: ralph.yml, environment and flags → settings and policy, or problems with line numbers. */

export { parseDuration } from './duration.ts';
export type { ReadFile } from './file.ts';
export type { Flags } from './layers.ts';
export { configLines, type Loaded, type LoadRequest, loadConfig } from './load.ts';
export { type StartFacts, toPolicy } from './policy.ts';
export { Problems } from './problems.ts';
export { configReference } from './reference.ts';
export { type Config, configJsonSchema, type SchemaNode } from './schema.ts';
export type { AgentSpec, ComplexityClass, Permission, RoleSpec, Settings } from './settings.ts';
export { CONFIG_FILE } from './source.ts';
