import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { settingPaths } from './path.ts';
import { plainConfig } from './plain.ts';
import { EXAMPLES } from './reference-examples.ts';
import { configSchema, emittedShape } from './schema.ts';

test('shape.json is what the schema says', () => {
  const file = new URL('./shape.json', import.meta.url);
  const text = `${JSON.stringify(emittedShape(), null, 2)}\n`;
  if (process.env.UPDATE_DOCS === '1') writeFileSync(file, text);
  expect(readFileSync(file, 'utf8'), 'regenerate: UPDATE_DOCS=1 npx vitest run src/config').toBe(text);
});

test('an empty file, and every example without an address, is read as the schema reads it', () => {
  const data = [{}, ...Object.values(EXAMPLES).map((yml) => parse(yml) as Record<string, unknown>)];
  for (const one of data) {
    const plain = plainConfig(one);
    if (plain === null) expect(JSON.stringify(one)).toContain('http');
    else expect(order(plain)).toBe(order(configSchema.parse(one)));
  }
});

test('what it answers never lies in the hands of the next one', () => {
  plainConfig({})!.limits.retry_delays_s.push(1);
  expect(plainConfig({})).toEqual(configSchema.parse({}));
});

const given = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom(
    0.5,
    2 ** 53,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    -0,
    true,
    false,
    null,
    '',
    'auto',
    '90s',
    'x y',
  ),
  fc.constantFrom(
    'none',
    'merge',
    'ask',
    'text',
    'claude-json',
    'https://a.b',
    'reviewer',
    'constructor',
    '__proto__',
  ),
  fc.constantFrom(
    [],
    [1],
    ['x'],
    [0, 30],
    [''],
    {},
    { command: ['x'] },
    { command: [] },
    { x: { command: ['y'] } },
  ),
  fc.constantFrom(
    [{ name: 'a', run: 'b' }],
    [{ name: 'a' }],
    [{ name: 'a', run: 'b', x: 1 }],
    { '-': {} },
    { a: {} },
  ),
  fc.constantFrom([{ match: 'a', policy: 'ask' }], { url: 'http://x' }, JSON.parse('{"__proto__": {}}')),
);
const place = fc.constantFrom(
  ...settingPaths(),
  ['nothing'],
  ['limits', 'nothing'],
  ['limits'],
  ['roles'],
  ['RObot'],
);

test('whatever stands in the file, it says what the schema says, or nothing', () => {
  let read = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(place, given), { maxLength: 4 }), (entries) => {
      const data: Record<string, unknown> = {};
      for (const [path, value] of entries) put(data, path, value);
      const plain = plainConfig(data);
      const exact = configSchema.safeParse(data);
      if (plain !== null) {
        read += 1;
        expect(exact.success).toBe(true);
        expect(plain).toEqual(exact.data);
        expect(order(plain)).toBe(order(exact.data));
      } else if (exact.success) expect(JSON.stringify(data)).toMatch(/http|__proto__/);
    }),
    { numRuns: 5_000 },
  );
  expect(read).toBeGreaterThan(500);
});

/** As text, so that the order of the keys counts too. */
const order = (value: unknown): string => JSON.stringify(value);

function put(data: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let here = data;
  for (const step of path.slice(0, -1)) {
    const next = here[step];
    if (typeof next !== 'object' || next === null || Array.isArray(next)) here[step] = {};
    else here[step] = { ...next };
    here = here[step] as Record<string, unknown>;
  }
  here[path.at(-1)!] = value;
}
