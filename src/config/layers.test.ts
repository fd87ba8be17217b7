import fc from 'fast-check';
import { stringify as toToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { stringify as toYaml } from 'yaml';
import { Problem } from '../core/index.ts';
import { userFolder } from './file.ts';
import { configLines } from './load.ts';
import { nodeAt, pathText, settingPaths } from './path.ts';
import { configSchema } from './schema.ts';
import type { SchemaNode } from './shape.ts';
import { configText, originText, shownConfig } from './show.ts';
import { loadGiven } from './test-loading.ts';

describe('files over each other', () => {
  test('the project wins over the user key by key, and a list replaces a list', async () => {
    const { settings, origin } = await loadGiven({
      userYml: 'limits: { max_stuck: 1, max_time: 1h }\ngates: [{ name: a, run: a }]\nprotect: [x]\n',
      toml: 'gates = [{ name = "b", run = "b" }]\n[limits]\nmax_stuck = 2\n',
    });
    expect(settings.limits).toMatchObject({ maxStuck: 2, maxTimeS: 3600 });
    expect(settings.gates.map(({ name }) => name)).toEqual(['b']);
    expect(Object.fromEntries(origin)).toMatchObject({
      'limits.max_stuck': '.ralph/ralph.toml:3',
      'limits.max_time': '/home/ada/.config/ralph/ralph.yml:1',
      gates: '.ralph/ralph.toml:1',
      protect: '/home/ada/.config/ralph/ralph.yml:3',
      model: 'default',
    });
  });

  test('null of the project takes back what the user set, an empty section takes back nothing', async () => {
    const userYml = 'limits: { max_cost_usd: 5, max_stuck: 9 }\n';
    const { settings } = await loadGiven({ userYml, yml: 'limits: { max_cost_usd: null }\n' });
    expect([settings.limits.maxCostUsd, settings.limits.maxStuck]).toEqual([null, 9]);
    expect((await loadGiven({ userYml, yml: 'limits:\n' })).settings.limits.maxCostUsd).toBe(5);
  });

  test('a mistake is told in the file that made it, also inside a list that hides another', async () => {
    const told = async (userYml: string, yml: string) =>
      loadGiven({ userYml, yml }).then(
        () => null,
        (error: Problem) => [error.facts.at, error.facts.what],
      );
    const userYml = 'gates:\n  - { name: a, run: a }\n  - { name: b, run: b }\n';
    expect(await told(userYml, 'mode: speed\ngates:\n  - { name: a, run: a }\n  - { name: b }\n')).toEqual([
      'ralph.yml:4',
      'gates[1].run is missing',
    ]);
    expect(
      await told('agents:\n  mine: { prompt: stdn, command: [x] }\n', 'agents:\n  mine: { output: text }\n'),
    ).toEqual(['/home/ada/.config/ralph/ralph.yml:2', 'agents.mine.prompt is "stdn"']);
    expect(await told('', 'agents:\n  mine: { output: text }\n')).toEqual([
      'ralph.yml:2',
      'agents.mine.command is missing',
    ]);
  });

  test('the user’s folder is where the platform keeps such files', () => {
    const on = (platform: NodeJS.Platform, env: Record<string, string>) => userFolder({ platform, env });
    expect(on('linux', { HOME: '/home/ada' })).toBe('/home/ada/.config/ralph');
    expect(on('darwin', { HOME: '/Users/ada', XDG_CONFIG_HOME: '/etc/x' })).toBe('/etc/x/ralph');
    expect(on('linux', { HOME: '/home/ada', XDG_CONFIG_HOME: 'relative' })).toBe('/home/ada/.config/ralph');
    expect(on('linux', {})).toBeNull();
    expect(on('win32', { APPDATA: 'C:\\Users\\ada\\AppData\\Roaming', HOME: '/x' })).toBe(
      'C:\\Users\\ada\\AppData\\Roaming\\ralph',
    );
    expect(on('win32', { HOME: '/x' })).toBeNull();
  });
});

describe('the session’s instructions', () => {
  test('guardrails win over the project, lose to the environment, and know their line', async () => {
    const { settings, origin, warnings } = await loadGiven({
      yml: 'limits: { max_cycles: 9, max_subagent_retries: 9, task_wip_minutes: 9 }\n',
      instructions: `\uFEFF---\r
applyTo: "**"\r
max_cycles: 1\r
retries:\r
  max_subagent_retries: 2\r
timeouts: { task_wip_minutes: 33 }\r
max_parallel_executors: 2\r
---\r
# Be careful\r
max_cycles: 7\r
`,
      env: { RALPH_CONFIG_LIMITS__TASK_WIP_MINUTES: '44' },
    });
    expect(warnings).toEqual([]);
    expect(settings.limits).toMatchObject({ maxCycles: 1, maxSubagentRetries: 2, taskWipMinutes: 44 });
    expect(settings.parallel.executors).toBe(2);
    expect(origin.get('limits.max_cycles')).toBe('.ralph-sessions/260208-143000.instructions.md:3');
    expect(origin.get('limits.max_subagent_retries')).toBe('.ralph-sessions/260208-143000.instructions.md:5');
    expect(origin.get('limits.task_wip_minutes')).toBe('RALPH_CONFIG_LIMITS__TASK_WIP_MINUTES');
  });

  test('nonsense keeps the last good value and warns', async () => {
    const { settings, warnings } = await loadGiven({
      yml: 'limits: { max_cycles: 3 }\n',
      instructions: '---\nmax_cycles: many\ntask_wip_minutes: 0\n---\n',
    });
    expect(settings.limits).toMatchObject({ maxCycles: 3, taskWipMinutes: 120 });
    expect(warnings.map((line) => line.split(';')[0])).toEqual([
      '.ralph-sessions/260208-143000.instructions.md:2: max_cycles is "many"',
      '.ralph-sessions/260208-143000.instructions.md:3: task_wip_minutes is 0',
    ]);
  });

  test.each([
    ['nothing', ''],
    ['no front matter', '# Title\n---\nmax_cycles: 1\n---\n'],
    ['an open front matter', '---\nmax_cycles: 1\n'],
    ['an empty one', '---\n---\nmax_cycles: 1\n---\n'],
  ])('%s sets nothing', async (_, instructions) => {
    const { settings, warnings } = await loadGiven({ instructions });
    expect([settings.limits.maxCycles, warnings]).toEqual([5, []]);
  });

  test('no instruction reaches gates, agents, teams or protection', async () => {
    const { settings, warnings } = await loadGiven({
      yml: 'gates: [{ name: a, run: a }]\nprotect: [x]\n',
      instructions:
        '---\ngates: []\nprotect: []\nteam: solo\nagents: { mine: { command: [evil] } }\nlimits: { max_cost_usd: 1000 }\n---\n',
    });
    expect(settings).toMatchObject({ gates: [{ run: 'a' }], protect: ['x'], agents: {}, team: 'auto' });
    expect(settings.limits.maxCostUsd).toBeNull();
    expect(warnings).toHaveLength(5);
  });

  test('any text is a layer or a warning, never a problem', async () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.constantFrom(
        '---\n',
        'max_cycles: ',
        '1\n',
        'x\n',
        'limits:\n  ',
        '[',
        '*a',
        '\t',
        '__proto__: 1\n',
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), (parts) =>
        loadGiven({ instructions: `---\n${parts.join('')}\n---\n` }).then(() => {}),
      ),
      { numRuns: 300 },
    );
  });
});

/** Any value that this place of the schema takes, without null: TOML has none. */
function valueFor(node: SchemaNode): fc.Arbitrary<unknown> {
  if (node.anyOf !== undefined) {
    return fc.oneof(...node.anyOf.filter(({ type }) => type !== 'null').map(valueFor));
  }
  if (node.enum !== undefined) return fc.constantFrom(...node.enum);
  const least = Math.max(node.minimum ?? 1, node.exclusiveMinimum ?? 1, -1000);
  switch (node.type) {
    case 'integer':
      return fc.integer({ min: least, max: 1000 });
    case 'number':
      return fc.double({ min: least + 0.5, max: 1000, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valueFor(node.items ?? {}), { minLength: node.minItems ?? 0, maxLength: 3 });
    case 'object': {
      const fields = Object.entries(node.properties ?? {}).map(
        ([key, child]) => [key, valueFor(child)] as const,
      );
      return fc.record(Object.fromEntries(fields), { requiredKeys: node.required ?? [] });
    }
    default:
      if (node.format === 'uri') return fc.constantFrom('http://127.0.0.1/', 'https://example.org/a');
      if (node.pattern?.includes('\\d')) return fc.constantFrom('90s', '1h30m');
      return node.pattern === undefined
        ? fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
        : fc.constantFrom('text', 'word');
  }
}

const places = settingPaths().filter((path) => path[0] !== 'hats');
const document = fc
  .uniqueArray(fc.constantFrom(...places), { maxLength: 8, selector: pathText })
  .chain((paths) =>
    fc.tuple(...paths.map((path) => valueFor(nodeAt(path)!).map((value) => ({ path, value })))),
  )
  .map((settings) => {
    const data: Record<string, unknown> = {};
    for (const { path, value } of settings) {
      let here = data;
      for (const step of path.slice(0, -1)) {
        here[step] ??= {};
        here = here[step] as Record<string, unknown>;
      }
      here[path.at(-1)!] = value;
    }
    return data;
  });

/** Settings, or what was said against them without the places, which differ from file to file. */
async function outcome(given: Parameters<typeof loadGiven>[0]): Promise<unknown> {
  try {
    return (await loadGiven(given)).settings;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const all = 'all' in error ? (error.all as Problem['facts'][]) : [error.facts];
    return all.map(({ code, what, fix }) => `${code} ${what} ${fix}`).sort();
  }
}

test('YAML and TOML of the same value give the same settings, in the project’s and in the user’s file', async () => {
  await fc.assert(
    fc.asyncProperty(document, async (data) => {
      const [yml, toml] = [toYaml(data), toToml(data)];
      const settings = await outcome({ yml });
      expect(await outcome({ toml })).toEqual(settings);
      expect(await outcome({ userToml: toml })).toEqual(settings);
    }),
    { numRuns: 150 },
  );
});

test('every key of the schema has a line in --origin, whatever is set, and each set key names its place', async () => {
  const all = settingPaths().map(pathText);
  await fc.assert(
    fc.asyncProperty(document, async (data) => {
      const loaded = await loadGiven({ toml: toToml(data) }).catch((error: unknown) => {
        if (error instanceof Problem) return null;
        throw error;
      });
      if (loaded === null) return;
      const lines = configLines(loaded);
      const keys = lines.map(({ key }) => key);
      // A choice between a word and a mapping shows the mapping's keys once one is chosen.
      expect(all.filter((key) => !keys.some((one) => one === key || one.startsWith(`${key}.`)))).toEqual([]);
      expect(new Set(keys).size).toBe(keys.length);
      for (const path of settingPaths()) {
        const set = path.reduce<unknown>(
          (value, step) => (value as Record<string, unknown> | undefined)?.[step],
          data,
        );
        const own = lines.filter(({ key }) => key === pathText(path) || key.startsWith(`${pathText(path)}.`));
        const named = own.some(({ origin }) => /^\.ralph\/ralph\.toml:\d+$/.test(origin));
        expect(named, pathText(path)).toBe(set !== undefined);
      }
    }),
    { numRuns: 100 },
  );
});

describe('what is shown', () => {
  const secret = {
    yml: 'RObot: { telegram: { bot_token: hush-1 } }\nchannels:\n  webhook: { url: "https://a.example/hush-2", secret: hush-3 }\n',
    env: { RALPH_CONFIG_MODEL: 'small' },
    flags: { gates: ['npm test'], maxStuck: 4 },
  };

  test('secrets are set and hidden everywhere', async () => {
    const loaded = await loadGiven(secret);
    const all = [
      configText(loaded),
      originText(loaded),
      JSON.stringify([shownConfig(loaded), configLines(loaded)]),
    ];
    for (const text of all) {
      expect(text).not.toContain('hush');
      expect(text).toContain('set (hidden)');
    }
  });

  test('an unset secret is not set', async () => {
    expect(originText(await loadGiven({}))).toMatch(/^RObot\.telegram\.bot_token +\(not set\) +default$/m);
  });

  test('each layer stands beside its value', async () => {
    const yml = `gates: [{ name: a, run: a }]\n${secret.yml}`;
    const text = originText(await loadGiven({ ...secret, yml }));
    expect(text).toMatch(/^model +"small" +RALPH_CONFIG_MODEL$/m);
    expect(text).toMatch(/^limits\.max_stuck +4 +--max-stuck$/m);
    expect(text).toMatch(/^gates .* ralph\.yml:1 and --gate$/m);
    expect(text).toMatch(/^RObot\.telegram\.bot_token +"set \(hidden\)" +ralph\.yml:2$/m);
  });

  test('the settings as YAML are a configuration that means the same', async () => {
    const given = {
      yml: 'gates: [{ name: a, run: "a: b #c" }]\nlimits: { max_time: 1h30m }\ncompletion_word: "007"\n',
    };
    const loaded = await loadGiven(given);
    expect((await loadGiven({ yml: configText(loaded) })).settings).toEqual({
      ...loaded.settings,
      // Written down, the default is a choice of its own.
      limits: { ...loaded.settings.limits, onExhausted: 'ask' },
    });
    expect(configSchema.parse(shownConfig(loaded))).toEqual(loaded.config);
  });
});
