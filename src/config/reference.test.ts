import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { settingPaths } from './path.ts';
import { configReference } from './reference.ts';
import { configJsonSchema, type SchemaNode } from './schema.ts';
import { loadGiven } from './test-loading.ts';

const PAGE = new URL('../../docs/reference/configuration.md', import.meta.url);

test('docs/reference/configuration.md is what the schema says', () => {
  if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, configReference());
  expect(readFileSync(PAGE, 'utf8'), 'regenerate: UPDATE_DOCS=1 npx vitest run src/config').toBe(
    configReference(),
  );
});

test('the example on the page loads', async () => {
  const example = /```yaml\n([\s\S]*?)```/.exec(configReference())?.[1] ?? '';
  const { settings, warnings, notYet } = await loadGiven({ yml: example });
  expect(notYet).toEqual([]);
  expect(settings).toMatchObject({ team: 'pair' });
  expect(settings.gates.map(({ name }) => name)).toEqual(['test', 'lint']);
  expect(settings.limits).toMatchObject({ maxTimeS: 7200, maxCostUsd: 20 });
  expect(warnings).toEqual([]);
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
