import { readFileSync, writeFileSync } from 'node:fs';
import { stringify } from 'smol-toml';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { NOT_YET } from './not-yet.ts';
import { isMapping, settingPaths } from './path.ts';
import { configReference } from './reference.ts';
import { EXAMPLES, PAGE_EXAMPLE, PAGE_EXAMPLE_TOML } from './reference-examples.ts';
import { schemaText } from './schema-file.ts';
import { configJsonSchema, type SchemaNode } from './shape.ts';
import { loadGiven } from './test-loading.ts';

const PAGES = new URL('../../docs/reference/', import.meta.url);

test.each([
  ['configuration.md', configReference],
  ['ralph.schema.json', schemaText],
])('docs/reference/%s is what the schema says', (name, written) => {
  const page = new URL(name, PAGES);
  if (process.env.UPDATE_DOCS === '1') writeFileSync(page, written());
  expect(readFileSync(page, 'utf8'), 'regenerate: UPDATE_DOCS=1 npx vitest run src/config').toBe(written());
});

test('the two examples on top of the page load and mean the same', async () => {
  const { settings, warnings, notYet } = await loadGiven({ yml: PAGE_EXAMPLE });
  expect(settings).toMatchObject({ team: 'pair' });
  expect(settings.gates.map(({ name }) => name)).toEqual(['test', 'lint']);
  expect(settings.limits).toMatchObject({ maxTimeS: 7200, maxCostUsd: 20 });
  expect([warnings, notYet]).toEqual([[], []]);
  expect((await loadGiven({ toml: PAGE_EXAMPLE_TOML })).settings).toEqual(settings);
});

test('every example of a section loads, as YAML and as TOML, and together they show every key', async () => {
  const shown = new Set<string>();
  for (const yml of Object.values(EXAMPLES)) {
    const { settings } = await loadGiven({ yml });
    const data: unknown = parse(yml);
    expect((await loadGiven({ toml: stringify(data) })).settings).toEqual(settings);
    for (const key of keysIn(data)) shown.add(key);
  }
  // hats are roles under another name.
  const all = keysOf(configJsonSchema(), '').filter((key) => !key.startsWith('.hats'));
  expect(all.filter((key) => !shown.has(key))).toEqual([]);
});

/** Keys of a document, names that a person chooses as `*` and items as `[]`. */
function keysIn(value: unknown, node: SchemaNode = configJsonSchema(), path = ''): string[] {
  if (Array.isArray(value)) {
    return [path, ...value.flatMap((item) => keysIn(item, node.items ?? {}, `${path}[]`))];
  }
  if (!isMapping(value)) return [path];
  return Object.entries(value).flatMap(([key, child]) => {
    const named =
      node.properties?.[key] ?? node.anyOf?.find(({ properties }) => properties)?.properties?.[key];
    const place = named === undefined ? `${path}.*` : `${path}.${key}`;
    return [path, ...keysIn(child, named ?? (node.additionalProperties || {}), place)];
  });
}

function keysOf(node: SchemaNode, path: string): string[] {
  if (node.properties !== undefined)
    return Object.entries(node.properties).flatMap(([key, child]) => keysOf(child, `${path}.${key}`));
  if (node.additionalProperties) return keysOf(node.additionalProperties, `${path}.*`);
  return node.items?.properties === undefined ? [path] : keysOf(node.items, `${path}[]`);
}

test('the published schema has no key that the loader does not know, and the other way round', () => {
  const published = JSON.parse(schemaText()) as SchemaNode & { $schema: string };
  expect(published.$schema).toBe('http://json-schema.org/draft-07/schema#');
  expect(keysOf(published, '')).toEqual(keysOf(configJsonSchema(), ''));
  const { roles } = published.properties ?? {};
  const { agent, phase } = (roles?.additionalProperties as SchemaNode | undefined)?.properties ?? {};
  expect(phase?.description).toContain('Not carried out yet');
  expect(agent?.description).not.toContain('Not carried out yet');
  expect(published.additionalProperties).toBe(false);
});

test('every key that is not carried out is a key, and marked on the page', () => {
  const known = settingPaths().map((path) => path.join('.'));
  for (const { key } of NOT_YET) {
    expect(
      known.some((one) => one === key || one.startsWith(`${key}.`)),
      key,
    ).toBe(true);
  }
  expect(configReference()).toContain('| ◌ `live` |');
  expect(configReference()).toContain('| `max_stuck` |');
});

test('every key has a meaning, and every section a place on the page', () => {
  const page = configReference();
  const silent = (node: SchemaNode, path: string): string[] => [
    ...(node.properties === undefined && !node.description && path !== '' ? [path] : []),
    ...Object.entries(node.properties ?? {}).flatMap(([key, child]) => silent(child, `${path}.${key}`)),
    ...(node.additionalProperties
      ? silent({ description: 'named', ...node.additionalProperties }, `${path}.*`)
      : []),
    ...(node.items?.properties === undefined ? [] : silent(node.items, `${path}[]`)),
  ];
  expect(silent(configJsonSchema(), '')).toEqual([]);
  for (const [key] of settingPaths()) expect(page).toMatch(new RegExp(`(^## |\\| \`)${key}`, 'm'));
});
