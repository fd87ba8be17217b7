import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { Problem, type ProblemFacts } from '../core/index.ts';
import type { Flags } from './layers.ts';
import { configLines, type Loaded, loadConfig } from './load.ts';
import { Problems } from './problems.ts';
import { AGENT_NAMES } from './test-loading.ts';

const made: string[] = [];
afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
});

function project(files: Record<string, string | Uint8Array>): string {
  const dir = mkdtempSync(join(tmpdir(), 'ralph-config-'));
  made.push(dir);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  return dir;
}

interface Layers {
  env?: Record<string, string>;
  flags?: Flags;
}

function load(yml: string | Uint8Array | null, { env = {}, flags = {} }: Layers = {}): Promise<Loaded> {
  const projectDir = project(yml === null ? {} : { 'ralph.yml': yml });
  return loadConfig({ projectDir, env, flags, agentNames: AGENT_NAMES });
}

async function problemsOf(loading: Promise<Loaded>): Promise<ProblemFacts[]> {
  const error = await loading.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof Problems) return error.all;
  if (error instanceof Problem) return [error.facts];
  throw error ?? new Error('no problem was found');
}

async function told(yml: string | Uint8Array, layers?: Layers): Promise<string[]> {
  return (await problemsOf(load(yml, layers))).map(({ at, what, fix }) => `${at}: ${what} | ${fix}`);
}

describe('a sound file', () => {
  test('no file, an empty one and one of comments all mean the defaults', async () => {
    const { settings } = await load(null);
    for (const yml of ['', '\n\n', '# only words\n', '---\n', 'null\n', '{}']) {
      expect((await load(yml)).settings).toEqual(settings);
    }
  });

  test('a section with nothing below it is an empty section', async () => {
    expect((await load('limits:\ngates:\nRObot:\n  telegram:\n')).settings).toEqual(
      (await load('')).settings,
    );
  });

  test('a byte order mark and Windows line ends change nothing, lines are still right', async () => {
    const { settings } = await load('\uFEFFagent: codex\r\nlimits:\r\n  max_stuck: 7\r\n');
    expect([settings.agent, settings.limits.maxStuck]).toEqual(['codex', 7]);
    expect(await told('\uFEFFagent: codex\r\nlimits:\r\n  max_stuk: 7\r\n')).toEqual([
      'ralph.yml:3: max_stuk is no key in limits | Did you mean max_stuck?',
    ]);
  });

  test('anchors, aliases and merges are followed', async () => {
    const { settings } = await load(
      'gates:\n  - &base { name: a, run: make, timeout_s: 5 }\n  - { <<: *base, name: b }\nprotect: &p [x]\nfallback: []\n',
    );
    expect(settings.gates.map(({ name, run, timeoutS }) => [name, run, timeoutS])).toEqual([
      ['a', 'make', 5],
      ['b', 'make', 5],
    ]);
  });

  test('durations are read as people write them', async () => {
    for (const [written, seconds] of [
      ['90s', 90],
      ['15m', 900],
      ['2h', 7200],
      ['1h30m', 5400],
      ['1d', 86400],
      ['45', 45],
    ] as const) {
      expect((await load(`limits: { max_time: ${written} }`)).settings.limits.maxTimeS).toBe(seconds);
      expect((await load('', { flags: { maxTime: written } })).settings.limits.maxTimeS).toBe(seconds);
    }
  });

  test('hats are roles, and the first without triggers gets the ready tasks', async () => {
    const hats = 'a: { triggers: [x.go], publishes: [x.done] }\n  b: { instructions: work }\n';
    const { settings } = await load(`hats:\n  ${hats}`);
    expect(Object.keys(settings.roles)).toEqual(['a', 'b']);
    expect(settings.defaultRole).toBe('b');
    const chosen = 'a: { triggers: [x.go] }\n  b: { triggers: [x.done] }\ndefault_role: b';
    expect((await load(`roles:\n  ${chosen}`)).settings.defaultRole).toBe('b');
    expect((await load('roles: { reviewer: { agent: codex } }')).settings.defaultRole).toBeNull();
  });
});

describe('layers', () => {
  test('the environment wins over the file, a flag over both, and each value knows where it came from', async () => {
    const yml = 'agent: claude\nlimits:\n  max_stuck: 1\n  max_cycles: 2\n  review_cap: 9\n';
    const env = {
      RALPH_CONFIG_LIMITS__MAX_CYCLES: '3',
      ralph_config_limits__max_stuck: '4',
      RALPH_CONFIG_MODEL: '',
    };
    const { settings, origin } = await load(yml, { env, flags: { maxStuck: '5' } });
    expect(settings.limits).toMatchObject({ maxStuck: 5, maxCycles: 3, reviewCap: 9 });
    expect(settings.model).toBeNull();
    expect(Object.fromEntries(origin)).toMatchObject({
      agent: 'ralph.yml:1',
      model: 'default',
      'limits.max_stuck': '--max-stuck',
      'limits.max_cycles': 'RALPH_CONFIG_LIMITS__MAX_CYCLES',
      'limits.review_cap': 'ralph.yml:5',
    });
  });

  test('a variable is read as its key wants it', async () => {
    const env = {
      RALPH_CONFIG_MODEL: '5',
      RALPH_CONFIG_PROTECT: '[a, "b c"]',
      RALPH_CONFIG_TRACK_SESSIONS: 'true',
      RALPH_CONFIG_ROBOT__TIMEOUT_SECONDS: '300',
      RALPH_CONFIG_SANDBOX: '{command: [firejail]}',
      RALPH_CONFIG_LIMITS__MAX_COST_USD: 'null',
      RALPH_CONFIG_ROLES__REVIEWER__AGENT: 'codex',
    };
    const { settings } = await load('limits: { max_cost_usd: 5 }\nroles: { Reviewer: { model: m } }', {
      env,
    });
    expect(settings).toMatchObject({ model: '5', protect: ['a', 'b c'], trackSessions: true });
    expect(settings.robot.timeoutS).toBe(300);
    expect(settings.sandbox).toEqual({ command: ['firejail'] });
    expect(settings.limits.maxCostUsd).toBeNull();
    expect(settings.roles).toMatchObject({ Reviewer: { agent: 'codex', model: 'm' } });
  });

  test('the fixed Telegram variables win over file and scheme, and the token is never shown', async () => {
    const env = {
      RALPH_TELEGRAM_BOT_TOKEN: 'fixed-token',
      RALPH_TELEGRAM_API_URL: 'http://127.0.0.1:9',
      RALPH_CONFIG_ROBOT__TELEGRAM__BOT_TOKEN: 'scheme-token',
    };
    const yml = 'RObot: { enabled: true, timeout_seconds: 0, telegram: { bot_token: file-token } }';
    const loaded = await load(yml, { env });
    expect(loaded.settings.robot).toMatchObject({
      botToken: 'fixed-token',
      apiUrl: 'http://127.0.0.1:9',
      timeoutS: 0,
    });
    expect(JSON.stringify(configLines(loaded))).not.toContain('-token"');
    expect(configLines(loaded)).toContainEqual({
      key: 'RObot.telegram.bot_token',
      value: 'set (hidden)',
      origin: 'RALPH_TELEGRAM_BOT_TOKEN',
    });
  });

  test('a gate on the command line is one more and takes no name', async () => {
    const { settings } = await load('gates: [{ name: gate-1, run: a }]', { flags: { gates: ['b', 'c'] } });
    expect(settings.gates.map(({ name, run }) => [name, run])).toEqual([
      ['gate-1', 'a'],
      ['gate-2', 'b'],
      ['gate-3', 'c'],
    ]);
  });

  test('a wrong variable or flag is told by its own name', async () => {
    const env = { RALPH_CONFIG_LIMIT__MAX_STUCK: '1', RALPH_CONFIG_MODE: 'fast', RALPH_CONFIG_: 'x' };
    const flags: Flags = { maxIterations: 'many', parallel: '1.5', wait: true, noWait: true, task: ' ' };
    expect((await problemsOf(load('', { env, flags }))).map(({ at }) => at).sort()).toEqual([
      '--max-iterations',
      '--parallel',
      '--task',
      '--wait',
      'RALPH_CONFIG_',
      'RALPH_CONFIG_LIMIT__MAX_STUCK',
      'RALPH_CONFIG_MODE',
    ]);
  });

  test('a variable below a wrong section leaves the mistake of the file visible', async () => {
    expect(await told('limits: 5', { env: { RALPH_CONFIG_LIMITS__MAX_STUCK: '1' } })).toEqual([
      expect.stringContaining('ralph.yml:1: limits is 5'),
    ]);
  });
});

describe('what is wrong is told with its line', () => {
  test('all at once, in the order of the file', async () => {
    const yml = `agent: cluade
max_stuck: 2
limits:
  max_iterations: 0
  max_stuck: -1
  review_cap: 0
team: par
mode: balancd
commit: yes
`;
    expect(await told(yml)).toEqual([
      'ralph.yml:1: agent names the agent "cluade", and there is no agent of that name | Did you mean claude?',
      'ralph.yml:2: max_stuck is no key at the top of the file | It belongs at limits.max_stuck; move it there.',
      expect.stringContaining('ralph.yml:4: limits.max_iterations is 0'),
      expect.stringContaining('ralph.yml:5: limits.max_stuck is -1'),
      expect.stringContaining('ralph.yml:6: limits.review_cap is 0'),
      'ralph.yml:7: team names the team "par", and there is no team of that name | Did you mean pair?',
      'ralph.yml:8: mode is "balancd" | Did you mean balanced?',
      expect.stringContaining('ralph.yml:9: commit is "yes"'),
    ]);
  });

  test('max_stuck 0 is off and 1 works', async () => {
    for (const maxStuck of [0, 1]) {
      expect((await load(`limits: { max_stuck: ${maxStuck} }`)).settings.limits.maxStuck).toBe(maxStuck);
    }
  });

  test('guardrails: no cycles skips questions, less than one beside another is one, no time is an error', async () => {
    const { settings, warnings } = await load(
      'limits: { max_cycles: 0 }\nparallel:\n  max_parallel_executors: -2\n',
    );
    expect(settings.limits.maxCycles).toBe(0);
    expect(settings.parallel.executors).toBe(1);
    expect(warnings).toEqual(['ralph.yml:3: parallel.max_parallel_executors is -2 and counts as 1.']);
    for (const yml of [
      'limits: { max_cycles: -1 }',
      'limits: { idle_timeout: 0 }',
      'limits: { max_time: 0s }',
      'limits: { task_wip_minutes: -5 }',
      'modes: { speed: 0 }',
      'adaptive_timeout: { max_timeout: 0 }',
      'adaptive_timeout: { min_timeout: 100, max_timeout: 50 }',
      'gates: [{ name: a, run: b, timeout_s: 0 }]',
      'RObot: { timeout_seconds: -1 }',
      'questions: { approval_timeout_seconds: 0 }',
    ]) {
      expect(await problemsOf(load(yml)), yml).toHaveLength(1);
    }
  });

  test('RObot enabled wants a timeout and a token, and says both', async () => {
    expect(await told('agent: claude\nRObot:\n  enabled: true\n')).toEqual([
      expect.stringContaining('ralph.yml:2: RObot.timeout_seconds is missing'),
      expect.stringContaining('RALPH_TELEGRAM_BOT_TOKEN'),
    ]);
    const mistyped = await told(
      'RObot: { enabled: true, timeout_seconds: soon, telegram: { bot_token: t } }',
    );
    expect(mistyped).toEqual([expect.stringContaining('RObot.timeout_seconds is "soon"')]);
  });

  test('gates need unique names, also when another gate of the list is wrong', async () => {
    expect(await told('gates:\n  - { name: a, run: x }\n  - { name: b }\n  - { name: a, run: y }\n')).toEqual(
      [
        'ralph.yml:3: gates[1].run is missing | Add it.',
        'ralph.yml:4: Two gates are called a | Give each gate a name of its own.',
      ],
    );
  });

  test('names of agents, teams and roles must be defined somewhere', async () => {
    const yml = `agents:
  mine: { command: [bash, agent.sh], output: claude-json }
  brokn: { comand: [x] }
fallback: [mine, brokn, codx]
teams: { careful: { modes: [implement, TASK_REVEIW] } }
team: careful
roles: { builder: { agent: mien } }
default_role: bulder
`;
    expect(await told(yml)).toEqual([
      'ralph.yml:3: agents.brokn.command is missing | Add it.',
      'ralph.yml:3: comand is no key in agents.brokn | Did you mean command?',
      'ralph.yml:4: fallback[2] names the agent "codx", and there is no agent of that name | Did you mean codex?',
      'ralph.yml:5: teams.careful.modes[1] is "TASK_REVEIW" | Did you mean TASK_REVIEW?',
      'ralph.yml:7: roles.builder.agent names the agent "mien", and there is no agent of that name | Did you mean mine?',
      'ralph.yml:8: default_role names the role "bulder", and there is no role of that name | Did you mean builder?',
    ]);
  });

  test('hats: one topic wakes one role, a role has one waking, defaults are listed', async () => {
    const yml = `hats:
  a: { triggers: [go, "x.*"], publishes: [done], default_publishes: dnoe }
  b: { triggers: [go, "x.*"], phase: PLANNING }
`;
    expect(await told(yml)).toEqual([
      expect.stringMatching(/^ralph.yml:2: hats.a publishes dnoe .* Did you mean done\?/),
      expect.stringContaining('ralph.yml:3: hats.b has a phase and triggers'),
      expect.stringContaining('ralph.yml:3: The topic go wakes both a and b'),
      expect.stringContaining('ralph.yml:3: The topic x.* wakes both a and b'),
    ]);
    const asleep = 'roles:\n  a: { publishes: [x.go] }\n  b: { triggers: [x.og] }\n';
    expect(await told(asleep)).toEqual([
      'ralph.yml:3: Nothing ever wakes roles.b | Did you mean x.go? Else let a role publish one of its triggers.',
    ]);
    expect(await told('roles: { executor: { agent: codex } }\ndefault_role: executor')).toEqual([
      expect.stringContaining('ralph.yml:2: default_role names executor, which is a built-in role'),
    ]);
    expect(await told('hats: { a: {} }\nroles: { b: {} }')).toEqual([
      expect.stringContaining('Both roles and hats'),
    ]);
  });

  test('an output format that no agent speaks is told where the formats are known', async () => {
    const projectDir = project({ 'ralph.yml': 'agents: { mine: { command: [x], output: cluade-json } }' });
    const known = { projectDir, env: {}, flags: {}, agentOutputs: ['text', 'claude-json'] };
    expect((await problemsOf(loadConfig(known)))[0]?.fix).toBe('Did you mean claude-json?');
    expect((await loadConfig({ projectDir, env: {}, flags: {} })).settings.agents.mine?.output).toBe(
      'cluade-json',
    );
  });

  test('a required topic that nobody may publish is a warning', async () => {
    const yml = 'hats: { a: { publishes: ["b.*"] } }\nrequired_topics: [b.done, c.done]';
    expect((await load(yml)).warnings).toEqual([expect.stringContaining('required_topics[1] (c.done)')]);
  });

  test('a choice of word or mapping explains the mapping', async () => {
    expect(await told('sandbox: bwarp\nland:\n  comand: x\n')).toEqual([
      'ralph.yml:1: sandbox is "bwarp" | Did you mean bwrap?',
      expect.stringContaining('ralph.yml:2: land.command is missing'),
      'ralph.yml:3: comand is no key in land | Did you mean command?',
    ]);
  });

  test('secrets stay out of problems', async () => {
    const all = JSON.stringify(await problemsOf(load('RObot: { telegram: { bot_token: [hush-hush] } }')));
    expect(all).not.toContain('hush');
    const number = JSON.stringify(
      await problemsOf(load('channels: { webhook: { url: "http://a", secret: 77777 } }')),
    );
    expect(number).not.toContain('77777');
  });
});

describe('the file as text', () => {
  test.each([
    ['a tab', 'limits:\n\tmax_stuck: 1\n', 'ralph.yml:2: A tab indents this line'],
    ['a key twice', 'agent: a\nmode: speed\nagent: b\n', 'ralph.yml:3: agent is there twice'],
    ['an open quote', 'mode: speed\nagent: "claude\n', 'ralph.yml:2: This is not valid YAML'],
    ['an open bracket', 'protect: [a, b\nmode: speed\n', 'ralph.yml:2: This is not valid YAML'],
    ['a second document', 'agent: claude\n---\nmode: speed\n', 'ralph.yml:2: A second document begins here'],
    ['a list', '- agent\n', 'ralph.yml:1: The file is not a mapping'],
    ['a word', 'claude\n', 'ralph.yml:1: The file is not a mapping'],
    ['an alias to nothing', 'mode: speed\nagent: *gone\n', 'ralph.yml:2: An alias cannot be followed'],
    ['an alias to itself', 'roles: &r\n  a: *r\n', 'ralph.yml'],
    ['a reserved word', 'roles:\n  __proto__: { name: x }\n', 'ralph.yml:2: __proto__ is no key'],
    ['a thousand brackets', `agent: ${'['.repeat(1000)}`, 'ralph.yml:1: The file is nested more than 64'],
    ['a thousand dashes', `a: x\nb:\n${'- '.repeat(1000)}`, 'ralph.yml:3: The file is nested more than 64'],
    ['a hundred thousand keys', 'k: 1\n'.repeat(100_000), 'more than 10000 keys'],
    ['half a million quotes', '"'.repeat(500_000), 'more than 10000 keys'],
    ['a number for a key', '1: 2\n', 'ralph.yml:1: 1 is no key'],
  ])('%s is told', async (_, yml, expected) => {
    expect((await told(yml)).join('\n')).toContain(expected);
  });

  test('an alias that would explode is refused', async () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 9; i++) bomb.push(`k${i}: &k${i} [${Array(9).fill(i === 1 ? '*a' : `*k${i - 1}`)}]`);
    expect((await told(bomb.join('\n'))).join()).toContain('An alias cannot be followed');
  });

  test('a long mapping on one line is long, not deep', async () => {
    const agents = Array.from({ length: 200 }, (_, i) => `a${i}: { command: [x] }`).join(', ');
    expect(Object.keys((await load(`agents: { ${agents} }`)).settings.agents)).toHaveLength(200);
  });

  test('brackets inside texts are only text', async () => {
    const yml = `roles: { a: { instructions: "${'['.repeat(500)}" } }\ncompletion_word: ${'-'.repeat(70)}\n`;
    expect((await load(yml)).settings.roles.a?.instructions).toHaveLength(500);
  });

  test('more than 1 MB is refused, exactly 1 MB is read', async () => {
    const comment = (bytes: number) => `#${'x'.repeat(bytes - 2)}\n`;
    expect((await load(comment(1_048_576))).settings.agent).toBe('auto');
    expect(await told(comment(1_048_577))).toEqual([expect.stringContaining('larger than 1 MB')]);
  });

  test('other encodings are told, not guessed', async () => {
    expect(await told(Buffer.from('agent: claudé\n', 'latin1'))).toEqual([
      expect.stringContaining('not UTF-8'),
    ]);
  });

  test('a hundred mistakes are told as thirty and a count', async () => {
    const yml = Array.from({ length: 100 }, (_, i) => `zz${i}: 1`).join('\n');
    const all = await told(yml);
    expect(all).toHaveLength(31);
    expect(all.at(-1)).toContain('70 more problems');
  });
});

describe('other files in its place', () => {
  const names = async (files: Record<string, string>) =>
    (await problemsOf(loadConfig({ projectDir: project(files), env: {}, flags: {} }))).map(
      ({ what }) => what,
    );

  test('ralph.yaml is told the right name', async () => {
    expect(await names({ 'ralph.yaml': 'agent: claude' })).toEqual(['The configuration is in ralph.yaml']);
    expect(await names({ 'ralph.yaml': '', 'ralph.yml': '' })).toEqual([
      'Both ralph.yml and ralph.yaml are there',
    ]);
  });

  test('both spellings of the file are named, and mistakes of the one that is read still told', async () => {
    expect(await names({ '.ralph/ralph.toml': '', 'ralph.yml': 'agnt: x' })).toEqual([
      'Both ralph.yml and .ralph/ralph.toml are there',
      'agnt is no key at the top of the file',
    ]);
    expect(await names({ 'ralph.toml': '' })).toEqual(['The configuration is in ralph.toml']);
    expect(await names({ 'ralph.toml': '', '.ralph/ralph.toml': '' })).toEqual([
      'Both .ralph/ralph.toml and ralph.toml are there',
    ]);
  });

  test('a folder called ralph.yml cannot be read', async () => {
    expect(await names({ 'ralph.yml/x': '' })).toEqual(['ralph.yml cannot be read']);
  });
});
