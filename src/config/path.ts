/**
 * Where a value stands in ralph.yml, and what the schema says about that place.
 */
import { configJsonSchema, type SchemaNode } from './shape.ts';

export type Path = readonly (string | number)[];

/** A problem or a value's place, for people: `gates[0].run`. The top is `the file`. */
export function pathText(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text === '' ? 'the file' : text;
}

/** True when `path` is `above` or lies below it. */
export function isBelow(path: Path, above: Path): boolean {
  return above.length <= path.length && above.every((step, i) => step === path[i]);
}

/** The schema of the place, or null where the schema knows no such place. */
export function nodeAt(path: Path): SchemaNode | null {
  let node: SchemaNode | null = configJsonSchema();
  for (const step of path) {
    node = node === null ? null : below(node, step);
  }
  return node;
}

function below(node: SchemaNode, step: string | number): SchemaNode | null {
  if (typeof step === 'number') {
    if (node.items !== undefined) return node.items;
  } else {
    const property = node.properties;
    if (property !== undefined && Object.hasOwn(property, step)) return property[step]!;
    if (node.additionalProperties) return node.additionalProperties;
  }
  for (const branch of node.anyOf ?? []) {
    const found = below(branch, step);
    if (found !== null) return found;
  }
  return null;
}

/** The keys that may stand in the mapping at `path`; empty where names are free. */
export function keysAt(path: Path): string[] {
  const node = nodeAt(path);
  if (node === null) return [];
  return [node, ...(node.anyOf ?? [])].flatMap((one) => Object.keys(one.properties ?? {}));
}

/** True where a person chooses the names: `agents`, `teams`, `roles`, `hats`. */
export function hasFreeNames(node: SchemaNode): boolean {
  return Boolean(node.additionalProperties);
}

/** Every fixed place with a value of its own, in the file's order: `agent`, `limits.max_stuck` … */
export function settingPaths(node: SchemaNode = configJsonSchema(), above: string[] = []): string[][] {
  if (node.properties === undefined) return [above];
  return Object.entries(node.properties).flatMap(([key, child]) => settingPaths(child, [...above, key]));
}

/** True for a mapping of the file as opposed to a list or a single value. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at the place, or undefined. */
export function valueAt(data: unknown, path: Path): unknown {
  let value = data;
  for (const step of path) {
    if (Array.isArray(value)) value = value[Number(step)];
    else if (isMapping(value) && Object.hasOwn(value, String(step))) value = value[String(step)];
    else return undefined;
  }
  return value;
}
