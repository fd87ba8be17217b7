/** CONTRACT: configuration files, environment and flags → settings and policy, or problems with places. */

export { parseDuration } from './duration.ts';
export { type ReadFile, userFolder } from './file.ts';
export type { Flags } from './layers.ts';
export { configLines, type Loaded, type LoadRequest, loadConfig } from './load.ts';
export { NOT_YET } from './not-yet.ts';
export { type StartFacts, toPolicy } from './policy.ts';
export { Problems } from './problems.ts';
export { configReference } from './reference.ts';
export { hatsOf, type RoleSpec } from './roles.ts';
export type { Config } from './schema.ts';
export { schemaComment, schemaText } from './schema-file.ts';
export type { AgentSpec, Permission, Sandbox, Settings } from './settings.ts';
export { configJsonSchema, type SchemaNode } from './shape.ts';
export { configText, originText, shownConfig } from './show.ts';
export { CONFIG_FILE, TOML_FILE } from './source.ts';
