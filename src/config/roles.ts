/**
 * `roles` and `hats`, which are two names of one key: a person's own roles, and what is changed about the
 * built-in ones. What they mean together is the law's (core/hats.ts); here they are read.
 */
import { aliasesOf, BUILT_IN_ROLES, type Hat, type Hats, isBuiltIn, isOwn } from '../core/index.ts';
import type { Config } from './schema.ts';

/** A hat, or what the user changes about a built-in role. Absent is null; empty lists stay empty. */
export type RoleSpec = Omit<Hat, 'name' | 'aliases'>;

/** The roles under either spelling of the key. */
export function rolesOf(config: Config): Config['roles'] {
  return { ...config.hats, ...config.roles };
}

/** What of a built-in role can be changed. */
export const OVERRIDES: readonly string[] = ['agent', 'model', 'fallback'];

/** What of a role of one's own is carried out. */
export const OWN_KEYS: readonly string[] = [
  ...OVERRIDES,
  'name',
  'triggers',
  'publishes',
  'default_publishes',
  'instructions',
  'max_activations',
];

export function toRoles(config: Config): Record<string, RoleSpec> {
  return Object.fromEntries(Object.entries(rolesOf(config)).map(([name, role]) => [name, toRole(role)]));
}

function toRole(role: Config['roles'][string]): RoleSpec {
  return {
    title: role.name ?? null,
    phase: role.phase ?? null,
    triggers: role.triggers,
    publishes: role.publishes,
    defaultPublishes: role.default_publishes ?? null,
    instructions: role.instructions ?? null,
    agent: role.agent ?? null,
    model: role.model ?? null,
    fallback: role.fallback ?? null,
    maxActivations: role.max_activations ?? null,
  };
}

/** The first own role without triggers, else the first. A changed built-in role is nobody's own. */
export function defaultRoleOf(config: Config): string | null {
  if (config.default_role !== undefined) return config.default_role;
  const own = Object.entries(rolesOf(config)).filter(([name, { triggers }]) => isOwn({ name, triggers }));
  return (own.find(([, { triggers }]) => triggers.length === 0) ?? own[0])?.[0] ?? null;
}

/** The roles as the law sees them. */
export function hatsOf(config: Config): Hats {
  const roles = Object.entries(toRoles(config));
  const names = roles.map(([name]) => name);
  return {
    hats: roles.map(([name, role]) => ({ name, aliases: aliasesOf(name, names), ...role })),
    defaultRole: defaultRoleOf(config),
    requiredTopics: config.required_topics,
  };
}

/** The built-in role that a name most likely means: one written another way, or by its older name. */
export function meantRole(name: string): string | null {
  const plain = name.toLowerCase();
  if (isBuiltIn(plain)) return plain;
  return BUILT_IN_ROLES.find((role) => aliasesOf(role, []).includes(plain)) ?? null;
}
