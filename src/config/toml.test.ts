import fc from 'fast-check';
import { parse, stringify, TomlError } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { Problem, type ProblemFacts } from '../core/index.ts';
import { isMapping } from './path.ts';
import { Problems } from './problems.ts';
import { loadGiven } from './test-loading.ts';
import { type TomlPlace, tomlPlaces } from './toml-places.ts';

async function problems(toml: string): Promise<ProblemFacts[]> {
  const error = await loadGiven({ toml }).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof Problems) return error.all;
  if (error instanceof Problem) return [error.facts];
  throw error ?? new Error('no problem was found');
}

const told = async (toml: string) => (await problems(toml)).map(({ at, what }) => `${at}: ${what}`);

describe('a sound file', () => {
  test('every way to write a key means the same', async () => {
    const ways = [
      'limits.max_stuck = 7\nlimits.max_time = "2h"\n',
      '[limits]\nmax_stuck = 7\nmax_time = "2h"\n',
      'limits = { max_stuck = 7, max_time = "2h" }\n',
      'limits = {\n  max_stuck = 7, # words\n  max_time = "2h",\n}\n',
      '"limits".\'max_stuck\' = 7\n[agents]\n',
      '\uFEFF[ limits ]\r\nmax_stuck = 0x7\r\nmax_time = """\\\r\n  2h"""\r\n',
    ];
    for (const toml of ways) expect((await loadGiven({ toml })).settings.limits.maxStuck, toml).toBe(7);
  });

  test('an empty file and one of comments mean the defaults', async () => {
    const { settings } = await loadGiven({});
    for (const toml of ['', '\n', '# words', '\uFEFF']) {
      expect((await loadGiven({ toml })).settings).toEqual(settings);
    }
  });

  test('each value knows the line it stands on', async () => {
    const { origin } = await loadGiven({
      toml: `# one
agent = "claude" # 2
limits.max_stuck = 1

modes = { speed = 5, # 5
          quality = 6 }
completion_word = """
DONE""" # 7

[[gates]]
name = "a"
run = "x"

[parallel] # 14
max_parallel_executors = 2
`,
    });
    expect(Object.fromEntries([...origin].filter(([, from]) => from !== 'default'))).toEqual({
      agent: '.ralph/ralph.toml:2',
      'limits.max_stuck': '.ralph/ralph.toml:3',
      'modes.speed': '.ralph/ralph.toml:5',
      'modes.quality': '.ralph/ralph.toml:6',
      completion_word: '.ralph/ralph.toml:7',
      gates: '.ralph/ralph.toml:10',
      'parallel.max_parallel_executors': '.ralph/ralph.toml:15',
    });
  });
});

describe('what is wrong is told with its place', () => {
  test('mistakes of values have their line, in dotted keys, tables, lists of tables and inline tables', async () => {
    const toml = `agnt = "claude"
limits.max_stuk = 3
modes = { speed = 1,
  balanced = "long" }

[[gates]]
name = "a"
run = "x"

[[gates]]
name = "a"
timeout = 3

[interventions]
"live" = "yes"

[agents.mine]
output = "text"
`;
    expect(await told(toml)).toEqual([
      '.ralph/ralph.toml:1: agnt is no key at the top of the file',
      '.ralph/ralph.toml:2: max_stuk is no key in limits',
      '.ralph/ralph.toml:4: modes.balanced is "long"',
      '.ralph/ralph.toml:10: gates[1].run is missing',
      '.ralph/ralph.toml:11: Two gates are called a',
      '.ralph/ralph.toml:12: timeout is no key in gates[1]',
      '.ralph/ralph.toml:15: interventions.live is "yes"',
      '.ralph/ralph.toml:17: agents.mine.command is missing',
    ]);
    expect((await problems('[limits]\nmax_stuk = 1'))[0]?.fix).toBe('Did you mean max_stuck?');
  });

  test.each([
    ['a text without quotes', 'mode = "speed"\nagent = claude\n', '2:9: This is not valid TOML', 'quotes'],
    ['a colon', 'mode = "speed"\nagent: "claude"\n', '2:6: This is not valid TOML', 'colon'],
    ['an open quote', 'agent = "claude\nmode = "speed"\n', '1:', ''],
    ['null', 'model = null\n', '1:9: This is not valid TOML', 'no null'],
    ['a key twice', 'mode = "speed"\nmode = "quality"\n', '2:1: mode is there twice', 'Keep one'],
    ['a table twice', '[limits]\n[modes]\n[limits]\n', '3:2: limits is there twice', 'Keep one'],
    ['a date', '[limits]\nmax_time = 2026-01-01\n', '2: A date or time stands here', 'quotes'],
    ['a time', 'completion_word = 07:32:00\n', '1: A date or time stands here', 'quotes'],
    ['a date that is none', 'model = 2026-13-01\n', '1:9: This is not valid TOML', 'date'],
    ['two keys on a line', 'mode = "speed" agent = "x"\n', '1:16: This is not valid TOML', 'line of its own'],
    [
      'an endless number',
      'limits = { max_stuck = 99999999999999999999 }\n',
      '1:24: This is not valid TOML',
      '',
    ],
    ['a thousand brackets', `protect = ${'['.repeat(1000)}`, '1:75: The file is nested more than 64', ''],
    ['a thousand dots', `${'a.'.repeat(1000)}a = 1`, '1: The file is nested more than 64', ''],
    ['a reserved word', '[roles.__proto__]\nname = "x"\n', '1: __proto__ is no key', ''],
    [
      'eleven thousand keys',
      Array.from({ length: 11_000 }, (_, i) => `k${i} = 1`).join('\n'),
      '1: The file has',
      '',
    ],
    ['infinity', '[limits]\nmax_cost_usd = inf\n', '2: limits.max_cost_usd is Infinity', ''],
  ])('%s', async (_, toml, expected, fix) => {
    const [first, ...others] = await problems(toml);
    expect(others).toEqual([]);
    expect(`${first?.at}: ${first?.what}`).toContain(`.ralph/ralph.toml:${expected}`);
    expect(first?.fix).toContain(fix);
  });

  test('no secret stands in what is said about broken syntax', async () => {
    const all = JSON.stringify(await problems('[RObot.telegram]\nbot_token = hush-hush\n'));
    expect(all).not.toContain('hush');
  });
});

/** Every way in TOML to say this value, chosen by chance: the text, and the line on which each key stands. */
const word = fc.oneof(
  fc.constantFrom('a', 'b', 'limits', 'x-1', '7'),
  fc.string({ unit: 'grapheme', maxLength: 5 }).filter((text) => text !== '__proto__'),
);
const scalar = fc.oneof(
  fc.integer(),
  fc.boolean(),
  fc.double({ noNaN: true }),
  fc.string({ unit: 'grapheme', maxLength: 9 }),
  fc.constantFrom('# no comment', '[no table]', 'a = 1', '"""', "'''", 'two\nlines\r\n', '\\'),
);
const { table } = fc.letrec<{ value: unknown; table: Record<string, unknown> }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, fc.array(tie('value'), { maxLength: 3 }), tie('table')),
  table: fc.dictionary(word, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));

test('places are those of the parser: the same keys and items, whatever the text holds', () => {
  fc.assert(
    fc.property(table, (value) => {
      const text = stringify(value);
      expect(shapeOfPlaces(tomlPlaces(text))).toEqual(shape(parse(text)));
    }),
    { numRuns: 500 },
  );
});

test('a text of the signs of TOML that the parser accepts has places for everything in it', () => {
  const signs = fc.constantFrom(
    ...'[]{}=.,#"\'\\ \t\n'.split(''),
    ...['[[', ']]', '"""', "'''", '\r\n', 'a', 'b', 'a = 1\n', 'a.b = 2\n', '[a]\n', '[[b]]\n', '\\u0061'],
    ...['= {', '}\n', '= [', ']\n', '= "x"\n', '1979-05-27 07:32:00', 'true', '\uFEFF', '\n[a.c]\n', '+inf'],
  );
  fc.assert(
    fc.property(fc.array(signs, { maxLength: 25 }), (parts) => {
      const text = parts.join('');
      try {
        parse(text);
      } catch (error) {
        if (error instanceof TomlError) return;
        throw error;
      }
      expect(shapeOfPlaces(tomlPlaces(text))).toEqual(shape(parse(text)));
    }),
    { numRuns: 20_000 },
  );
});

test('the line of a key is the line it is written on, however often the text was broken before', () => {
  const filler = fc.constantFrom(
    '',
    '# words\n',
    '\n\n',
    'f0 = """\n\n"""\n',
    "f1 = '''\n#'''\n",
    'f2 = [\n1,\n]\n',
  );
  fc.assert(
    fc.property(fc.uniqueArray(filler, { maxLength: 6 }), fc.boolean(), (fillers, windows) => {
      const before = fillers.join('');
      const text = `${before}"k\\u0065y".x = 1\n[[list]]\n[[list]]\nlast = 1\n`;
      const lines = text.split('\n');
      const places = tomlPlaces(windows ? text.replaceAll('\n', '\r\n') : text);
      expect(lines[places.keys.get('key')!.line - 1]).toContain('k\\u0065y');
      expect(places.keys.get('list')!.items.map(({ line }) => lines[line - 1])).toEqual([
        '[[list]]',
        '[[list]]',
      ]);
      expect(lines[places.keys.get('list')!.items[1]!.keys.get('last')!.line - 1]).toBe('last = 1');
    }),
  );
});

/** The keys and items of a value, without what is in them. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(shape);
  if (!isMapping(value) || value instanceof Date) return null;
  const entries = Object.entries(value).map(([key, child]) => [key, shape(child)] as const);
  return entries.length === 0 ? null : new Map(entries);
}

function shapeOfPlaces({ keys, items }: TomlPlace): unknown {
  if (items.length > 0) return items.map(shapeOfPlaces);
  return keys.size === 0 ? null : new Map([...keys].map(([key, child]) => [key, shapeOfPlaces(child)]));
}
