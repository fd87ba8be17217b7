/**
 * The schema of ralph.yml as plain data. It is written down because making it, with the library that
 * makes it, costs a start more than reading the whole configuration.
 */
import shape from './shape.json' with { type: 'json' };

/** One node of the JSON Schema, as far as this room reads it. */
export interface SchemaNode {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  minItems?: number;
  pattern?: string;
  format?: string;
  properties?: Record<string, SchemaNode>;
  additionalProperties?: SchemaNode | false;
  propertyNames?: SchemaNode;
  required?: string[];
  items?: SchemaNode;
  anyOf?: SchemaNode[];
}

/** The JSON Schema of ralph.yml: what a person may write, before defaults. */
export function configJsonSchema(): SchemaNode {
  return shape as SchemaNode;
}
