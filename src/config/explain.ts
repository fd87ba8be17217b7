/**
 * What the schema refuses, in a person's words: what stands there, what must stand there, what to do.
 * The words come from the schema's own bounds and descriptions, so a new key explains itself.
 */
import type * as z from 'zod';
import { nearest, type ProblemFacts } from '../core/index.ts';
import { isBelow, isMapping, keysAt, nodeAt, type Path, pathText, settingPaths, valueAt } from './path.ts';
import type { SchemaNode } from './shape.ts';

/** A problem and the place it is about, so that one mistake is not told twice. */
export interface Found {
  path: Path;
  facts: ProblemFacts;
}

/** Says where a value came from: `ralph.yml:12`, a variable, a flag; undefined when from nowhere. */
export type WhereIs = (path: Path) => string | undefined;

const SECRETS = new Set(['bot_token', 'secret']);

/** True for a value that must never be shown. The address of a webhook often is its key. */
export function isSecret(path: Path): boolean {
  return SECRETS.has(String(path.at(-1))) || pathText(path) === 'channels.webhook.url';
}

/** Every issue of one check as problems with places. */
export function explainIssues(issues: readonly z.core.$ZodIssue[], data: unknown, whereIs: WhereIs): Found[] {
  return issues.flatMap((issue) => explainIssue(issue, issue.path as Path, { data, whereIs }));
}

interface Context {
  data: unknown;
  whereIs: WhereIs;
}

function explainIssue(issue: z.core.$ZodIssue, path: Path, context: Context): Found[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownKey([...path, key], context.whereIs));
  }
  if (issue.code === 'invalid_key') return [badName(path, context.whereIs)];
  if (issue.code === 'invalid_union' && isMapping(valueAt(context.data, path))) {
    // A mapping can only have meant the branch that is one; tell what is wrong inside it.
    const branch = issue.errors.find((errors) => errors.some(isInside));
    if (branch !== undefined) {
      return branch.flatMap((inner) => explainIssue(inner, [...path, ...(inner.path as Path)], context));
    }
  }
  return [wrongValue(path, context)];
}

function isInside(issue: z.core.$ZodIssue): boolean {
  return issue.path.length > 0 || issue.code === 'unrecognized_keys';
}

function unknownKey(path: Path, whereIs: WhereIs): Found {
  const key = String(path.at(-1));
  const above = path.slice(0, -1);
  const known = keysAt(above);
  const place = above.length === 0 ? 'at the top of the file' : `in ${pathText(above)}`;
  const facts = {
    code: 'config.unknown_key',
    what: `${key} is no key ${place}`,
    why: `Known there: ${known.join(', ')}.`,
    fix: didYouMean(key, above, known) ?? 'Remove it, or use one of the known keys.',
  };
  return found(path, facts, whereIs);
}

/** The near key of the same mapping, else the place where a key of this name belongs. */
function didYouMean(key: string, above: Path, known: string[]): string | null {
  const elsewhere = settingPaths().filter((path) => path.at(-1) === key);
  if (elsewhere.length === 1) return `It belongs at ${pathText(elsewhere[0]!)}; move it there.`;
  const near = nearest(key, known);
  if (near !== null) return `Did you mean ${near}?`;
  if (above.length > 0) return null;
  const deeper = new Map(settingPaths().map((path) => [String(path.at(-1)), path]));
  const far = nearest(key, deeper.keys());
  return far === null ? null : `Did you mean ${pathText(deeper.get(far)!)}?`;
}

function badName(path: Path, whereIs: WhereIs): Found {
  const facts = {
    code: 'config.invalid_name',
    what: `"${String(path.at(-1)).slice(0, 80)}" cannot be a name in ${pathText(path.slice(0, -1))}`,
    why: 'A name becomes part of files, topics and variables: letters, digits, _ . - and at most 64 of them.',
    fix: 'Give it a shorter, plainer name.',
  };
  return found(path, facts, whereIs);
}

function wrongValue(path: Path, { data, whereIs }: Context): Found {
  const node = nodeAt(path) ?? {};
  const value = valueAt(data, path);
  const facts = {
    code: value === undefined ? 'config.missing' : 'config.invalid_value',
    what: value === undefined ? `${pathText(path)} is missing` : `${pathText(path)} is ${shown(value, path)}`,
    why: `It must be ${expectation(node)}${value === '' ? ', and not empty' : ''}. ${node.description ?? ''}`.trim(),
    fix: remedy(value, node, path),
  };
  return found(path, facts, whereIs);
}

/** A value short enough for one line, secrets hidden. */
export function shown(value: unknown, path: Path): string {
  if (value === null) return 'empty';
  if (isSecret(path)) return '(hidden)';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (isMapping(value)) return 'a mapping';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function remedy(value: unknown, node: SchemaNode, path: Path): string {
  const words = choices(node);
  const near = typeof value === 'string' ? nearest(value, words) : null;
  if (near !== null) return `Did you mean ${near}?`;
  if (node.type === 'boolean') return 'Write true or false.';
  if (value === undefined) return 'Add it.';
  if (typeof value === 'string' && value !== '' && node.type === 'array' && node.items?.type === 'string') {
    const items = path.at(-1) === 'command' ? value.trim().split(/\s+/) : [value];
    return `Write it as a list: [${items.map((item) => JSON.stringify(item)).join(', ')}].`;
  }
  if (node.type === 'object' && node.required !== undefined) {
    return `Write it as { ${node.required.map((key) => `${key}: …`).join(', ')} }.`;
  }
  if (node.default === undefined) return 'Correct the value.';
  const preset = JSON.stringify(node.default);
  return `Correct the value, or leave it out: the default is ${preset.length > 80 ? 'then used' : preset}.`;
}

function choices(node: SchemaNode): string[] {
  return [...(node.enum ?? []).map(String), ...(node.anyOf ?? []).flatMap(choices)];
}

/** What the schema wants, as the end of "it must be …". */
export function expectation(node: SchemaNode): string {
  if (node.anyOf !== undefined) return node.anyOf.map(expectation).join(', or ');
  if (node.enum !== undefined) return `one of ${node.enum.join(', ')}`;
  switch (node.type) {
    case 'integer':
    case 'number':
      return `a ${node.type === 'integer' ? 'whole ' : ''}number${bounds(node)}`;
    case 'string':
      return node.title ?? 'text';
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'array':
      return `a list${node.minItems ? ` of at least ${node.minItems}` : ''}${node.items === undefined ? '' : `, each item ${expectation(node.items)}`}`;
    default:
      return mappingForm(node);
  }
}

function bounds({ minimum, exclusiveMinimum }: SchemaNode): string {
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}`;
  return minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? '' : ` of at least ${minimum}`;
}

function mappingForm(node: SchemaNode): string {
  if (node.properties === undefined) return 'a mapping of names';
  const needed = node.required ?? [];
  return needed.length > 0 ? `a mapping with ${needed.join(' and ')}` : 'a mapping';
}

export function found(path: Path, facts: Omit<ProblemFacts, 'at'>, whereIs: WhereIs): Found {
  const at = whereIs(path);
  return { path, facts: at === undefined ? facts : { ...facts, at } };
}

/** Leaves out what only follows from a mistake already told at, above or below the same place. */
export function unlessTold(later: Found[], told: Found[]): Found[] {
  return later.filter(({ path }) => !told.some((one) => isBelow(path, one.path) || isBelow(one.path, path)));
}
