import { describe, expect, test } from 'vitest';
import { MODE_NAMES, reckonTime, timeoutS } from '../core/index.ts';
import { policyOf, taskOf } from '../core/test-facts.ts';
import type { Flags } from './layers.ts';
import { type StartFacts, toPolicy } from './policy.ts';
import { loadGiven } from './test-loading.ts';

const FACTS: StartFacts = {
  reviewedList: false,
  listGates: [],
  interactive: false,
  channels: [],
  agent: 'claude',
};

interface Start {
  yml?: string;
  flags?: Flags;
  facts?: Partial<StartFacts>;
}

async function policy({ facts = {}, ...given }: Start) {
  const { settings } = await loadGiven(given);
  return toPolicy(settings, { ...FACTS, ...facts });
}

test('the policy of an empty file on a plain list is the one the law is tested with', async () => {
  expect(await policy({})).toEqual(policyOf({ agent: 'claude' }));
});

describe('the team', () => {
  test('a list with review fields gets a pair, and a solo when the review is skipped', async () => {
    const facts = { reviewedList: true };
    expect(await policy({ facts })).toMatchObject({
      team: 'pair',
      modes: ['implement', 'review-fix', 'TASK_REVIEW'],
    });
    const skipped = { team: 'solo', modes: ['implement'] };
    expect(await policy({ facts, flags: { skipReview: true } })).toMatchObject(skipped);
    expect(await policy({ flags: { team: 'pair', skipReview: true } })).toMatchObject(skipped);
  });

  test('a named team wins over the list', async () => {
    expect((await policy({ yml: 'team: solo', facts: { reviewedList: true } })).team).toBe('solo');
  });

  test('the full team hires every mode, works side by side and fails what is exhausted', async () => {
    const full = await policy({ flags: { team: 'full' } });
    expect(full.modes).toEqual([...MODE_NAMES]);
    expect(full.parallel).toEqual({ executors: 3, reviewers: 3, questioners: 3 });
    expect(full.limits.onExhausted).toBe('fail');
    const asked = await policy({ yml: 'team: full\nlimits: { on_exhausted: ask }' });
    expect(asked.limits.onExhausted).toBe('ask');
  });

  test('a full team without task reviews still plans', async () => {
    const { team, modes } = await policy({ flags: { team: 'full', skipReview: true } });
    expect(team).toBe('full');
    expect(modes).toContain('TASK_BREAKDOWN');
    expect(modes).not.toContain('TASK_REVIEW');
    expect(modes).not.toContain('review-fix');
  });

  test('an own team hires its modes', async () => {
    const yml = 'teams: { careful: { modes: [implement, TASK_REVIEW, implement] } }\nteam: careful';
    expect(await policy({ yml })).toMatchObject({ team: 'careful', modes: ['implement', 'TASK_REVIEW'] });
  });

  test('side by side work of a small team has to be asked for', async () => {
    expect((await policy({ yml: 'parallel: { max_parallel_executors: 5 }' })).parallel.executors).toBe(1);
    expect((await policy({ flags: { parallel: 2 } })).parallel.executors).toBe(2);
  });

  test.each(['parallel: { worktrees: false }', 'commit: agent', 'commit: none'])(
    'nobody works side by side with %s, which takes a work tree each and commits that bring them together',
    async (yml) => {
      const alone = { executors: 1, reviewers: 1, questioners: 1 };
      expect((await policy({ yml, flags: { team: 'full' } })).parallel).toEqual(alone);
    },
  );
});

test('the list’s own commands are gates after the configured ones, and take no name', async () => {
  const { gates } = await policy({
    yml: 'gates: [{ name: verify-1, run: a }]',
    facts: { listGates: ['npm test', 'npm run lint'] },
  });
  expect(gates.map(({ name, run }) => [name, run])).toEqual([
    ['verify-1', 'a'],
    ['verify-2', 'npm test'],
    ['verify-3', 'npm run lint'],
  ]);
  expect(gates[1]).toMatchObject({ required: true, timeoutS: 600, minTests: 0, baseline: 'no_regression' });
});

test.each([
  ['speed', 120],
  ['balanced', 900],
  ['quality', 1800],
] as const)('mode %s gives an attempt %i seconds', async (mode, baseS) => {
  expect((await policy({ flags: { mode } })).timeout).toMatchObject({ mode, baseS });
});

test('without adaptive timeouts a timeout gives no more time', async () => {
  const { timeout } = await policy({ yml: 'adaptive_timeout: { enabled: false }\nmodes: { balanced: 77 }' });
  expect(timeout).toMatchObject({ baseS: 77, failureScaling: false });
});

test('without adaptive timeouts an attempt gets the seconds of its mode alone, whatever the task and the bounds', async () => {
  const given = (base: number) =>
    policy({ yml: `adaptive_timeout: { enabled: false, learn: true }\nmodes: { balanced: ${base} }` });
  const task = { def: taskOf('t', { title: 'A chart' }), timeouts: 4, grant: null };
  for (const base of [7, 900, 5400]) expect(timeoutS(await given(base), task)).toBe(base);
  const granted = { ...task, grant: { timeoutS: 1800, multiplier: 1 } };
  expect(timeoutS(await given(7), granted)).toBe(1800);
});

test('the keywords and factors of a project classify its tasks', async () => {
  const yml = 'adaptive_timeout: { complexity: { complex: { multiplier: 2.5, keywords: [ledger] } } }';
  const one = await policy({ yml });
  const task = { def: taskOf('t', { title: 'Two ledgers' }), timeouts: 0, grant: null };
  expect(reckonTime(one, task)).toMatchObject({ complexity: 'complex', multiplier: 2.5, timeoutS: 2250 });
});

describe('waiting', () => {
  test.each([
    [{}, {}, false],
    [{}, { interactive: true }, true],
    [{}, { channels: [{ name: 'telegram', answers: true }] }, true],
    [{ wait: true }, {}, true],
    [{ noWait: true }, { channels: [{ name: 'telegram', answers: true }], interactive: true }, false],
  ])('flags %o with %o: %s', async (flags, facts, wait) => {
    expect((await policy({ flags, facts })).wait).toBe(wait);
  });

  test('only --no-wait gives up a provider’s reset time', async () => {
    expect((await policy({})).park).toBe(true);
    expect((await policy({ flags: { noWait: true } })).park).toBe(false);
  });

  test('a live question waits as RObot says, without a limit at a bare terminal', async () => {
    const yml =
      'RObot: { enabled: true, timeout_seconds: 300, on_timeout: re_ask, telegram: { bot_token: t } }';
    expect(
      (await policy({ yml, facts: { channels: [{ name: 'telegram', answers: true }] } })).questions,
    ).toMatchObject({
      interactTimeoutS: 300,
      interactOnTimeout: 're_ask',
    });
    expect((await policy({ facts: { interactive: true } })).questions.interactTimeoutS).toBe(0);
  });
});

test('without git nobody commits', async () => {
  expect((await policy({ yml: 'commit: engine', flags: { noGit: true } })).commit).toBe('none');
});

test('no secret reaches the policy', async () => {
  const yml =
    'RObot: { telegram: { bot_token: hush } }\nchannels: { webhook: { url: "http://a.b/", secret: hush } }';
  expect(JSON.stringify(await policy({ yml }))).not.toContain('hush');
});

describe('roles', () => {
  const yml = `agents: { other: { command: [x] } }
roles: { reviewer: { agent: other }, executor: { model: small, fallback: [other] } }
`;

  test('who plays a built-in role stands in the policy, and only there where somebody does', async () => {
    expect((await policy({ yml })).roles).toEqual({
      reviewer: { agent: 'other', model: null, fallback: null },
      executor: { agent: null, model: 'small', fallback: ['other'] },
    });
    expect(await policy({ yml: 'roles: { executor: {} }' })).not.toHaveProperty('roles');
  });

  test('roles of one’s own stand in the policy, in place of those who work on tasks and review them', async () => {
    const own = await policy({
      yml: 'team: pair\nroles: { mine: { model: small, triggers: [x.go], instructions: Go., max_activations: 2 } }',
    });
    expect(own.modes).toEqual(['hat']);
    expect(own.roles).toEqual({ mine: { agent: null, model: 'small', fallback: null } });
    expect(own.hats).toEqual({
      defaultRole: 'mine',
      roles: [
        {
          name: 'mine',
          title: null,
          triggers: ['x.go'],
          publishes: [],
          defaultPublishes: null,
          instructions: 'Go.',
          maxActivations: 2,
        },
      ],
    });
    expect(
      (await policy({ flags: { team: 'full' }, yml: 'roles: { mine: { triggers: [x.go] } }' })).modes,
    ).toEqual([
      ...MODE_NAMES.filter((mode) => !['implement', 'review-fix', 'TASK_REVIEW'].includes(mode)),
      'hat',
    ]);
  });

  test('--agent and --model are about who works', async () => {
    const agent = await policy({ yml, flags: { agent: 'other' } });
    expect(agent.roles?.executor).toEqual({ agent: null, model: null, fallback: ['other'] });
    const model = await policy({ yml, flags: { model: 'large' } });
    expect(model.roles?.executor).toMatchObject({ model: 'large' });
    expect(model.roles?.reviewer).toMatchObject({ agent: 'other', model: null });
  });
});
