/**
 * The configuration that nothing is wrong with, read by the plain data of the schema. Where anything is
 * unusual it gives up, and the schema itself says what it is: no problem is ever told from here.
 */
import { isMapping } from './path.ts';
import type { Config } from './schema.ts';
import { configJsonSchema, type SchemaNode } from './shape.ts';

/** The configuration with every default filled in; null when the schema itself has to look at it. */
export function plainConfig(data: Record<string, unknown>): Config | null {
  const config = filled(configJsonSchema(), data);
  return config === UNCLEAR ? null : (config as Config);
}

const UNCLEAR = Symbol('unclear');

/** The value with the defaults below it. */
function filled(node: SchemaNode, value: unknown): unknown {
  if (node.anyOf !== undefined) {
    for (const branch of node.anyOf) {
      const found = filled(branch, value);
      if (found !== UNCLEAR) return found;
    }
    return UNCLEAR;
  }
  if (node.enum !== undefined && !node.enum.includes(value)) return UNCLEAR;
  switch (node.type) {
    case 'object':
      return isMapping(value) ? filledMapping(node, value) : UNCLEAR;
    case 'array':
      return Array.isArray(value) ? filledList(node, value) : UNCLEAR;
    case 'string':
      return typeof value === 'string' && isText(node, value) ? value : UNCLEAR;
    case 'integer':
      return Number.isSafeInteger(value) && isWithin(node, value as number) ? value : UNCLEAR;
    case 'number':
      return Number.isFinite(value) && isWithin(node, value as number) ? value : UNCLEAR;
    case 'boolean':
      return typeof value === 'boolean' ? value : UNCLEAR;
    case 'null':
      return value === null ? value : UNCLEAR;
    default:
      return UNCLEAR;
  }
}

function filledMapping(node: SchemaNode, value: Record<string, unknown>): unknown {
  const { properties = {}, additionalProperties: free } = node;
  const made: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(properties)) {
    const given = Object.hasOwn(value, key) ? value[key] : undefined;
    if (given === undefined && node.required?.includes(key) === true) return UNCLEAR;
    if (given === undefined && child.default === undefined) continue;
    const found = given === undefined ? presetOf(child) : filled(child, given);
    if (found === UNCLEAR) return UNCLEAR;
    made[key] = found;
  }
  for (const [key, given] of Object.entries(value)) {
    if (Object.hasOwn(properties, key)) continue;
    if (!free || node.propertyNames === undefined || !isText(node.propertyNames, key)) return UNCLEAR;
    const found = filled(free, given);
    if (found === UNCLEAR) return UNCLEAR;
    made[key] = found;
  }
  return made;
}

/** A default of a section is filled like the section; any other stands as it is. */
function presetOf(node: SchemaNode): unknown {
  return node.type === 'object' ? filled(node, node.default) : structuredClone(node.default);
}

function filledList({ items, minItems = 0 }: SchemaNode, value: unknown[]): unknown {
  if (items === undefined || value.length < minItems) return UNCLEAR;
  const made = value.map((item) => filled(items, item));
  return made.includes(UNCLEAR) ? UNCLEAR : made;
}

/** An address has rules of its own, which only the schema knows. */
function isText({ minLength = 0, pattern, format }: SchemaNode, value: string): boolean {
  if (format !== undefined || value.length < minLength) return false;
  return pattern === undefined || new RegExp(pattern).test(value);
}

function isWithin({ minimum, maximum, exclusiveMinimum }: SchemaNode, value: number): boolean {
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return false;
  return value >= (minimum ?? Number.NEGATIVE_INFINITY) && value <= (maximum ?? Number.POSITIVE_INFINITY);
}
