import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hatFaults } from './hat-faults.ts';
import { hatGraph, mermaid } from './hat-graph.ts';
import { aliasesOf, findHat, type Hat, type Hats, isBuiltIn, routeTopic, wokenBy } from './hats.ts';

const BARE: Hat = {
  name: '',
  title: null,
  aliases: [],
  phase: null,
  triggers: [],
  publishes: [],
  defaultPublishes: null,
  instructions: null,
  agent: null,
  model: null,
  fallback: null,
  maxActivations: null,
};

/** Roles by name; the first is the default role. */
function hats(roles: Record<string, Partial<Hat>>, over: Partial<Hats> = {}): Hats {
  const names = Object.keys(roles);
  const all = names.map((name) => ({ ...BARE, name, aliases: aliasesOf(name, names), ...roles[name] }));
  return { hats: all, defaultRole: names[0] ?? null, requiredTopics: [], ...over };
}

const on = (...triggers: string[]): Partial<Hat> => ({ triggers, publishes: ['x.end'] });
const woken = (roles: Record<string, Partial<Hat>>, topic: string) =>
  routeTopic(hats(roles).hats, topic)?.name ?? null;
const codes = (set: Hats) => hatFaults(set).map(({ code, role }) => `${code} ${role ?? '-'}`);

describe('a topic wakes', () => {
  test.each([
    ['the role that names it', 'build.done', 'exact'],
    ['the role with a pattern where none names it', 'build.failed', 'one'],
    ['the more exact of two patterns', 'test.failed', 'one'],
    ['nobody when a segment is missing or too many', 'build', null],
    ['nobody when `*` would have to stand for two segments', 'build.done.twice', null],
  ])('%s', (_, topic, name) => {
    const roles = { many: on('*.*'), one: on('build.*', 'test.failed'), exact: on('build.done') };
    expect(woken(roles, topic)).toBe(name);
  });

  test('the default role where nobody listens', () => {
    const set = hats({ lead: {}, other: on('x.go') });
    expect(wokenBy(set, 'never.heard')?.name).toBe('lead');
    expect(wokenBy(hats({}), 'never.heard')).toBeNull();
  });

  test('one role at most, whatever the order in which the roles are written', () => {
    const segment = fc.constantFrom('a', 'b', '*');
    const topics = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'));
    const roles = fc.dictionary(fc.constantFrom('r1', 'r2', 'r3', 'r4'), fc.array(topics, { maxLength: 3 }));
    fc.assert(
      fc.property(
        roles,
        fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 3 }),
        (drawn, parts) => {
          const topic = parts.join('.');
          const written = Object.entries(drawn).map(([name, triggers]) => [name, on(...triggers)] as const);
          const asked = hats({ ...Object.fromEntries(written), asker: { publishes: [topic] } });
          if (hatFaults(asked).some(({ code }) => code === 'two_listeners')) return;
          const turned = [...asked.hats].reverse();
          expect(routeTopic(turned, topic)?.name).toBe(routeTopic(asked.hats, topic)?.name);
        },
      ),
    );
  });
});

describe('names', () => {
  test('an older name means its role, until somebody has it', () => {
    const set = hats({ executor: { agent: 'a' } });
    expect(findHat(set.hats, 'builder')?.name).toBe('executor');
    const own = hats({ executor: { agent: 'a' }, builder: on('x.go') });
    expect(findHat(own.hats, 'builder')?.name).toBe('builder');
    expect(findHat(own.hats, 'nobody')).toBeNull();
    expect([isBuiltIn('reviewer'), isBuiltIn('builder')]).toEqual([true, false]);
  });
});

describe('what is wrong', () => {
  test('nothing, where every topic has its listener and the end is required', () => {
    const set = hats(
      {
        planner: { triggers: ['work.start'], publishes: ['build.task'] },
        builder: { triggers: ['build.task'], publishes: ['build.done', 'human.interact'] },
        critic: { triggers: ['build.done'], publishes: ['build.task', 'review.passed'] },
      },
      { requiredTopics: ['review.passed'] },
    );
    expect(hatFaults(set)).toEqual([]);
  });

  test('changes of built-in roles are looked at for nothing but their triggers', () => {
    expect(hatFaults(hats({ reviewer: { agent: 'other' } }, { defaultRole: null }))).toEqual([]);
  });

  test.each<[string, Hats, string[]]>([
    ['one topic for two', hats({ a: on('x.go'), b: on('x.go') }), ['two_listeners b']],
    ['one topic twice', hats({ a: on('x.go', 'x.go') }), ['two_listeners a']],
    ['one pattern for two', hats({ a: on('x.*'), b: on('x.*') }), ['two_listeners b']],
    [
      'an exact topic that two patterns match with equal right',
      hats({ a: { triggers: ['x.*'], publishes: ['x.go'] }, b: on('*.go') }),
      ['two_listeners b'],
    ],
    ['a phase and triggers', hats({ a: { phase: 'PLANNING', triggers: ['work.start'] } }), ['two_wakings a']],
    [
      'a default topic outside of publishes',
      hats({ a: { publishes: ['x.end'], defaultPublishes: 'x.ned' } }, { requiredTopics: ['x.*'] }),
      ['unlisted_topic a'],
    ],
    ['an unknown default role', hats({ a: on() }, { defaultRole: 'b' }), ['unknown_role -']],
    [
      'a built-in default role',
      hats({ executor: {}, a: on() }, { defaultRole: 'executor' }),
      ['unknown_role -'],
    ],
    [
      'a role without anything that wakes it',
      hats({ a: { publishes: ['x.end'] }, b: on() }, { requiredTopics: ['x.end'] }),
      ['unreachable_role b'],
    ],
    [
      'roles that only wake each other',
      hats(
        {
          a: { publishes: ['x.end'] },
          b: { triggers: ['c.go'], publishes: ['b.go'] },
          c: { triggers: ['b.go'], publishes: ['c.go'] },
        },
        { requiredTopics: ['x.end'] },
      ),
      ['unreachable_role b', 'unreachable_role c'],
    ],
  ])('%s', (_, set, expected) => {
    const faults = hatFaults(set).filter(({ odd }) => !odd);
    expect(faults.map(({ code, role }) => `${code} ${role ?? '-'}`)).toEqual(expected);
  });

  const loop = (over: Partial<Hat> = {}) =>
    hats(
      {
        a: { publishes: ['b.go', 'x.end'] },
        b: { triggers: ['b.go'], publishes: ['c.go'], defaultPublishes: 'c.go' },
        c: { triggers: ['c.go'], publishes: ['b.go'], defaultPublishes: 'b.go', ...over },
      },
      { requiredTopics: ['x.end'] },
    );

  test('a loop from which no way leads to what is required', () => {
    expect(codes(loop())).toEqual(['no_exit b']);
    expect(hatFaults(loop())[0]?.what).toContain('b → c → b');
  });

  test.each<[string, Partial<Hat>]>([
    ['may publish it', { publishes: ['b.go', 'x.end'] }],
    ['may publish anything', { publishes: [] }],
    ['may end without a topic, which wakes the default role', { defaultPublishes: null }],
    ['may run only so often', { maxActivations: 3 }],
  ])('such a loop has a way out when one of it %s', (_, over) => {
    expect(codes(loop(over))).toEqual([]);
  });
});

describe('what is odd', () => {
  test.each<[string, Hats, string[]]>([
    ['a topic that nobody hears', hats({ a: { publishes: ['x.end'] } }), ['orphan_topic a']],
    [
      'a trigger that nobody publishes',
      hats({ a: { triggers: ['x.go'], publishes: ['human.interact'] } }),
      ['unreachable_topic a'],
    ],
    [
      'a required topic that nobody may publish',
      hats({ a: { publishes: ['human.interact'] } }, { requiredTopics: ['x.end'] }),
      ['unpublished_topic -'],
    ],
  ])('%s', (_, set, expected) => {
    expect(codes(set)).toEqual(expected);
    expect(hatFaults(set).every(({ odd }) => odd)).toBe(true);
  });

  test('nothing of that where a role may publish anything', () => {
    expect(hatFaults(hats({ a: on('x.go'), b: { triggers: ['x.end'] } }, { requiredTopics: ['y'] }))).toEqual(
      [],
    );
  });
});

describe('the graph', () => {
  const set = hats(
    {
      planner: { triggers: ['work.start'], publishes: ['build.task', 'plan.note'] },
      builder: { title: 'The "builder"', triggers: ['build.*'], publishes: ['work.done'] },
    },
    { requiredTopics: ['work.done'] },
  );

  test('as data names every topic, who publishes it and whom it wakes', () => {
    expect(hatGraph(set)).toEqual({
      nodes: [
        { name: 'planner', title: null, default: true },
        { name: 'builder', title: 'The "builder"', default: false },
      ],
      edges: [
        { from: '(start)', to: 'planner', topic: 'work.start', heard: true },
        { from: 'planner', to: 'builder', topic: 'build.task', heard: true },
        { from: 'planner', to: 'planner', topic: 'plan.note', heard: false },
        { from: 'builder', to: '(done)', topic: 'work.done', heard: true },
      ],
    });
  });

  test('as Mermaid text is drawn with the default role doubled and unheard topics dotted', () => {
    expect(mermaid(hatGraph(set))).toBe(
      [
        'flowchart TD',
        '  start([start])',
        '  r1[["planner"]]',
        '  r2["The #quot;builder#quot; (builder)"]',
        '  done([done])',
        '  start -->|"work.start"| r1',
        '  r1 -->|"build.task"| r2',
        '  r1 -.->|"plan.note"| r1',
        '  r2 -->|"work.done"| done',
        '',
      ].join('\n'),
    );
  });

  test('is empty without roles of one’s own', () => {
    expect(hatGraph(hats({ reviewer: { agent: 'x' } }, { defaultRole: null }))).toEqual({
      nodes: [],
      edges: [],
    });
  });
});

test('whatever the roles are, they are judged and drawn without an end in between', () => {
  const name = fc.constantFrom('a', 'b', 'constructor', 'executor', 'builder', '__proto__');
  const topic = fc.constantFrom(
    'work.start',
    'a.go',
    'b.go',
    '*.go',
    'a.*',
    '*',
    '',
    'human.interact',
    'x"]<y',
  );
  const topics = fc.array(topic, { maxLength: 4 });
  const role = fc.record({
    triggers: topics,
    publishes: topics,
    defaultPublishes: fc.option(topic),
    maxActivations: fc.option(fc.constant(2)),
    phase: fc.option(fc.constant('PLANNING' as const)),
  });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, role)),
      topics,
      fc.option(name),
      (drawn, requiredTopics, defaultRole) => {
        const set = hats(Object.fromEntries(drawn), { requiredTopics, defaultRole });
        for (const { what, why, fix } of hatFaults(set)) expect([what, why, fix]).not.toContain('');
        const lines = mermaid(hatGraph(set)).trimEnd().split('\n');
        for (const line of lines.slice(1)) expect(line).toMatch(/^ {2}\w+(\(\[|\[\[?"| -\.?->)/);
      },
    ),
  );
});
