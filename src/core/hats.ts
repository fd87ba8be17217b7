/**
 * Hats: roles that topics wake. One exact topic wakes one role, `*` stands for one segment, and the more exact
 * trigger wins. The first topic, `work.start`, what nobody listens for, and an empty queue wake the default
 * role. Changes of a built-in role (its agent, its model) are no hats and are woken by their phase as before.
 */
import { topicMatches } from './hear.ts';
import type { Phase } from './phase.ts';

export const BUILT_IN_ROLES = ['planner', 'questioner', 'executor', 'reviewer', 'librarian'] as const;

/** Older names of built-in roles. A role of that name that a person defines is theirs. */
const ALIASES: Readonly<Record<string, string>> = { builder: 'executor' };

/** The topic with which a session of hats begins. */
export const FIRST_TOPIC = 'work.start';

/** A role as the configuration has it. Absent is null; empty lists stay empty. */
export interface Hat {
  name: string;
  /** Name for people. */
  title: string | null;
  /** Other names it answers to, where nobody else has them. */
  aliases: readonly string[];
  phase: Phase | null;
  triggers: readonly string[];
  /** Empty: it may publish anything. */
  publishes: readonly string[];
  defaultPublishes: string | null;
  instructions: string | null;
  agent: string | null;
  model: string | null;
  /** null: the general fallback. */
  fallback: readonly string[] | null;
  maxActivations: number | null;
}

/** What the roles of one configuration are together. */
export interface Hats {
  hats: readonly Hat[];
  /** null where there is no role of one's own. */
  defaultRole: string | null;
  requiredTopics: readonly string[];
}

export function isBuiltIn(name: string): boolean {
  return BUILT_IN_ROLES.some((role) => role === name);
}

/** A person's own role, as opposed to a changed built-in one. */
export function isOwn({ name, triggers }: Pick<Hat, 'name' | 'triggers'>): boolean {
  return !isBuiltIn(name) || triggers.length > 0;
}

/** The older names that a role answers to, of those that none of the roles has as its own. */
export function aliasesOf(name: string, defined: readonly string[]): string[] {
  return Object.keys(ALIASES).filter((alias) => ALIASES[alias] === name && !defined.includes(alias));
}

/** The role of that name or, where none has it, of that alias. */
export function findHat<One extends Pick<Hat, 'name' | 'aliases'>>(
  hats: readonly One[],
  name: string,
): One | null {
  return hats.find((hat) => hat.name === name) ?? hats.find(({ aliases }) => aliases.includes(name)) ?? null;
}

/** The role that this topic wakes; null where nobody listens for it. */
export function routeTopic<One extends Listening>(hats: readonly One[], topic: string): One | null {
  return listeners(hats, topic)[0]?.hat ?? null;
}

/** Whether the topic wakes a role that listens for it. */
export function isHeard(hats: readonly Listening[], topic: string): boolean {
  return !isForTheLoop(topic) && routeTopic(hats, topic) !== null;
}

/** What of a role its topics are found by. */
type Listening = Pick<Hat, 'name' | 'triggers'>;

/** The role that a topic wakes, the default role where nobody listens for it. */
export function wokenBy({ hats, defaultRole }: Hats, topic: string): Hat | null {
  return routeTopic(hats, topic) ?? hats.find(({ name }) => name === defaultRole) ?? null;
}

interface Listener<One> {
  hat: One;
  trigger: string;
}

/** Everybody whose triggers match, the most exact first; each role once, with its best trigger. */
function listeners<One extends Listening>(hats: readonly One[], topic: string): Listener<One>[] {
  const found = hats.flatMap((hat) => {
    const [best] = hat.triggers.filter((trigger) => topicMatches(trigger, topic)).sort(moreExact);
    return best === undefined ? [] : [{ hat, trigger: best }];
  });
  return found.sort((a, b) => moreExact(a.trigger, b.trigger));
}

function moreExact(a: string, b: string): number {
  return stars(a) - stars(b);
}

function stars(pattern: string): number {
  return pattern.split('.').filter((segment) => segment === '*').length;
}

/** The roles that an exact topic would wake with equal right; one at most in a valid configuration. */
export function rivals(hats: readonly Hat[], topic: string): Listener<Hat>[] {
  const all = listeners(hats, topic);
  return all.filter(({ trigger }) => stars(trigger) === stars(all[0]!.trigger));
}

/** Whether some topic matches both patterns. */
export function overlap(a: string, b: string): boolean {
  const [left, right] = [a.split('.'), b.split('.')];
  if (left.length !== right.length) return false;
  return left.every((segment, i) => segment === '*' || right[i] === '*' || segment === right[i]);
}

/** Spoken to people or to the loop; such a topic wakes no role. */
export function isForTheLoop(topic: string): boolean {
  return /^(human|ralph|interact)\./.test(topic);
}

/** What a role may publish for others, its default among it. Empty: anything. */
export function publishedBy({
  publishes,
  defaultPublishes,
}: Pick<Hat, 'publishes' | 'defaultPublishes'>): string[] {
  const listed = publishes.filter((topic) => !isForTheLoop(topic));
  if (publishes.length === 0 || defaultPublishes === null) return listed;
  return [...new Set([...listed, defaultPublishes])];
}

/** Whether the role may publish this topic. */
export function mayTell(hat: Hat, topic: string): boolean {
  return hat.publishes.length === 0 || publishedBy(hat).some((pattern) => overlap(pattern, topic));
}
