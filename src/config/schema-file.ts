/**
 * The JSON Schema as a file, for editors: `ralph config --schema` prints it, and
 * docs/reference/ralph.schema.json is the same text. The product has no address of its own on the web,
 * so a project that wants completion in its editor keeps a copy beside its state.
 */
import { notYetRow } from './not-yet.ts';
import { type Path, pathText } from './path.ts';
import { configJsonSchema, type SchemaNode } from './shape.ts';

/** Where a project keeps its copy, relative to the project. Git does not see it: it can always be printed again. */
export const SCHEMA_FILE = '.ralph/ralph.schema.json';

/** The comment that tells editors where the schema is, for the first line of the configuration. */
export function schemaComment(file: 'ralph.yml' | '.ralph/ralph.toml'): string {
  return file === 'ralph.yml'
    ? `# yaml-language-server: $schema=${SCHEMA_FILE}`
    : '#:schema ./ralph.schema.json';
}

const ABOUT =
  'Configuration of Ralph: ralph.yml, or .ralph/ralph.toml with the same keys. Written by `ralph config --schema`.';

const DRAFT = 'http://json-schema.org/draft-07/schema#';

/** The schema as JSON text. Draft 7, which every editor understands. */
export function schemaText(): string {
  const head = { $schema: DRAFT, title: 'ralph.yml', description: ABOUT };
  return `${JSON.stringify({ ...head, ...edited(configJsonSchema(), []) }, null, 2)}\n`;
}

/** Says at each key whether it is carried out, and leaves bounds out that only repeat the number format. */
function edited(node: SchemaNode, path: Path): SchemaNode {
  const found = path.length === 0 ? undefined : notYetRow(path);
  // Told once, at the key itself; of what has free names at each key that is not carried out.
  const row = pathText(path).includes('*') && (!found?.but || path.length > 3) ? undefined : found;
  const said = [node.description, ...(row === undefined ? [] : [`Not carried out yet: ${row.why}`])];
  const description = said.filter((one) => one !== undefined).join(' ');
  const { minimum, maximum, ...rest } = node;
  return {
    ...rest,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
    ...(description === '' ? {} : { description }),
    ...(node.properties && {
      properties: Object.fromEntries(
        Object.entries(node.properties).map(([key, child]) => [key, edited(child, [...path, key])]),
      ),
    }),
    ...(node.additionalProperties && {
      additionalProperties: edited(node.additionalProperties, [...path, '*']),
    }),
    ...(node.items && { items: edited(node.items, [...path, '*']) }),
    ...(node.anyOf && { anyOf: node.anyOf.map((branch) => edited(branch, [...path, '*'])) }),
  };
}
