import fc from 'fast-check';
import { stringify as toToml } from 'smol-toml';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { Problem } from '../core/index.ts';
import type { Flags } from './layers.ts';
import { settingPaths } from './path.ts';
import { configSchema } from './schema.ts';
import { type Given, loadGiven } from './test-loading.ts';

/** Loads these files; anything thrown that is no `Problem` fails the test. */
async function sound(given: Given): Promise<boolean> {
  try {
    await loadGiven(given);
    return true;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    expect(error.facts.what).not.toBe('');
    expect(error.facts.why).not.toBe('');
    expect(error.facts.fix).not.toBe('');
    return false;
  }
}

const loads = (yml: string, env: Record<string, string> = {}, flags: Flags = {}): Promise<boolean> =>
  sound({ yml, env, flags });

const RUNS = { numRuns: 150 };
const paths = settingPaths();
const keys = [...new Set(paths.flat())];
const key = fc.oneof(fc.constantFrom(...keys), fc.string({ maxLength: 8 }));
const tree = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.string(),
      fc.constantFrom(...keys),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
})).value;

test('any text is either settings or problems', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), (yml) => loads(yml).then(() => {})),
    RUNS,
  );
});

test('text made of the signs of YAML is either settings or problems', async () => {
  const signs = fc.constantFrom(
    ...'-?:,[]{}#&*!|>\'"%@` \t\n\r\n~<'.split(''),
    '<<',
    '---\n',
    '...',
    '\uFEFF',
    '%YAML 1.1\n---\n',
    '!!set',
    '&a',
    '*a',
    ...keys.slice(0, 12),
  );
  const yml = fc.array(signs, { maxLength: 40 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(yml, (text) => loads(text).then(() => {})),
    { numRuns: 400 },
  );
});

test('any tree of our own keys with any values is either settings or problems', async () => {
  const root = fc.dictionary(key, tree, { maxKeys: 6 });
  await fc.assert(
    fc.asyncProperty(root, (data) => loads(stringify(data)).then(() => {})),
    RUNS,
  );
});

test('any value at any place is either settings or problems', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), tree, async (path, value) => {
      const data = path.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value);
      await loads(stringify(data));
    }),
    { numRuns: 400 },
  );
});

test('any variable and any flag is either settings or problems', async () => {
  const name = fc
    .array(key, { minLength: 1, maxLength: 4 })
    .map((words) => `RALPH_CONFIG_${words.join('__')}`);
  const flags = fc.record(
    {
      team: fc.string(),
      maxStuck: fc.oneof(fc.string(), fc.double()),
      maxTime: fc.oneof(fc.string(), fc.double()),
      parallel: fc.oneof(fc.string(), fc.integer()),
      gates: fc.array(fc.string(), { maxLength: 3 }),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, fc.string(), { maxKeys: 4 }), flags, (env, given) =>
      loads('gates: [{ name: a, run: b }]', env, given as Flags).then(() => {}),
    ),
    RUNS,
  );
});

test('what the defaults print is read back as the defaults', async () => {
  const defaults = configSchema.parse({});
  expect(configSchema.parse(JSON.parse(JSON.stringify(defaults)))).toEqual(defaults);
  expect(await loads(stringify(defaults))).toBe(true);
});

test('any TOML text, and any of the signs of TOML, is either settings or problems', async () => {
  const signs = fc.constantFrom(
    ...'[]{}=.,#"\'\\ \t\n_-+:'.split(''),
    ...['[[gates]]\n', '[limits]\n', 'agent = ', '"x"', '= 1\n', '= {', '"""', "'''", '\uFEFF', '\r\n', '\0'],
    ...[
      '1979-05-27T07:32:00Z',
      'inf',
      'nan',
      '0x1F',
      '__proto__',
      'constructor',
      '\\uD800',
      ...keys.slice(0, 12),
    ],
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(signs, { maxLength: 40 }).map((parts) => parts.join('')),
  );
  await fc.assert(
    fc.asyncProperty(text, (toml) => sound({ toml }).then(() => {})),
    { numRuns: 1000 },
  );
});

test('any tree of our own keys as TOML, over any in the user’s file, is either settings or problems', async () => {
  const root = fc.dictionary(key, tree, { maxKeys: 6, noNullPrototype: true });
  const written = (data: Record<string, unknown>): string => {
    try {
      return toToml(data);
    } catch {
      // TOML has no null inside a list.
      return '';
    }
  };
  await fc.assert(
    fc.asyncProperty(root, root, (data, user) =>
      sound({ toml: written(data), userYml: stringify(user) }).then(() => {}),
    ),
    RUNS,
  );
});
