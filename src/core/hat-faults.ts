/**
 * What is wrong with the roles of a configuration as a whole: a topic that wakes two, a role that nothing
 * wakes, a loop that leads nowhere, a topic that nobody hears. What is invalid keeps a run from starting;
 * what is odd works, but hardly as it was meant.
 */
import { hatGraph, hearersOf, isRequired } from './hat-graph.ts';
import {
  FIRST_TOPIC,
  type Hat,
  type Hats,
  isForTheLoop,
  isOwn,
  mayTell,
  overlap,
  publishedBy,
  rivals,
  wokenBy,
} from './hats.ts';
import { topicMatches } from './hear.ts';
import { nearest } from './nearest.ts';

export interface HatFault {
  code: string;
  /** Odd roles work; invalid ones are refused. */
  odd: boolean;
  /** The role it is about; null: a key beside the roles. */
  role: string | null;
  key: 'phase' | 'triggers' | 'publishes' | 'default_publishes' | 'default_role' | 'required_topics' | null;
  /** The item of a list. */
  index?: number;
  what: string;
  why: string;
  fix: string;
}

/** Everything that is wrong, role by role in their order. `section`: what the key is called, `roles` or `hats`. */
export function hatFaults(set: Hats, section = 'roles'): HatFault[] {
  const own: Hats = { ...set, hats: set.hats.filter(isOwn) };
  const faults = [
    ...set.hats.flatMap((hat) => [...twoWakings(hat, section), ...unlisted(hat, section)]),
    ...ambiguous(set.hats),
    ...unknownDefault(set),
  ];
  if (own.hats.length === 0) return faults;
  // The ways of the graph say nothing while a topic leads two ways, or nobody knows where it begins.
  if (faults.some(({ code }) => code === 'two_listeners' || code === 'unknown_role')) return faults;
  const asleep = unreachable(own, section);
  return [
    ...faults,
    ...asleep,
    ...noExits(own, asleep),
    ...orphans(own, section),
    ...silentTriggers(own, { section, asleep }),
    ...neverPublished(own),
  ];
}

function twoWakings({ name, phase, triggers }: Hat, section: string): HatFault[] {
  if (phase === null || triggers.length === 0) return [];
  return [
    {
      code: 'two_wakings',
      odd: false,
      role: name,
      key: 'phase',
      what: `${section}.${name} has a phase and triggers`,
      why: 'A role is woken by its phase or by topics, never by both.',
      fix: 'Remove one of the two.',
    },
  ];
}

function unlisted(hat: Hat, section: string): HatFault[] {
  const { name, publishes, defaultPublishes: preset } = hat;
  if (preset === null || publishes.length === 0) return [];
  if (publishes.some((pattern) => topicMatches(pattern, preset))) return [];
  const near = nearest(preset, publishes);
  return [
    {
      code: 'unlisted_topic',
      odd: false,
      role: name,
      key: 'default_publishes',
      what: `${section}.${name} publishes ${preset} by default, but may not publish it`,
      why: `Its publishes list holds ${publishes.join(', ')}.`,
      fix:
        near === null
          ? 'Add the topic to publishes.'
          : `Did you mean ${near}? Else add the topic to publishes.`,
    },
  ];
}

/** The same trigger twice, and an exact topic that two patterns match with equal right. */
function ambiguous(hats: readonly Hat[]): HatFault[] {
  const faults: HatFault[] = [];
  const awake = new Map<string, string>();
  for (const hat of hats) {
    hat.triggers.forEach((trigger, index) => {
      const other = awake.get(trigger);
      awake.set(trigger, hat.name);
      if (other === undefined) return;
      const whom = other === hat.name ? `${other} twice` : `both ${other} and ${hat.name}`;
      faults.push({
        code: 'two_listeners',
        odd: false,
        role: hat.name,
        key: 'triggers',
        index,
        what: `The topic ${trigger} wakes ${whom}`,
        why: 'One topic wakes one role; otherwise two would do the same work.',
        fix: 'Remove the trigger from one of them, or use a topic of its own.',
      });
    });
  }
  for (const topic of new Set(hats.flatMap(publishedBy))) {
    if (topic.split('.').includes('*')) continue;
    const [first, second] = rivals(hats, topic);
    if (first === undefined || second === undefined || first.trigger === second.trigger) continue;
    faults.push({
      code: 'two_listeners',
      odd: false,
      role: second.hat.name,
      key: 'triggers',
      index: second.hat.triggers.indexOf(second.trigger),
      what: `The topic ${topic} wakes both ${first.hat.name} (${first.trigger}) and ${second.hat.name} (${second.trigger})`,
      why: 'One topic wakes one role, and neither trigger is more exact than the other.',
      fix: `Name ${topic} among the triggers of the one that is meant.`,
    });
  }
  return faults;
}

function unknownDefault({ hats, defaultRole }: Hats): HatFault[] {
  const names = hats.filter(isOwn).map(({ name }) => name);
  if (defaultRole === null || names.includes(defaultRole)) return [];
  if (hats.some(({ name }) => name === defaultRole)) return [builtInDefault(defaultRole)];
  const near = nearest(defaultRole, names);
  return [
    {
      code: 'unknown_role',
      odd: false,
      role: null,
      key: 'default_role',
      what: `default_role names the role ${JSON.stringify(defaultRole)}, and there is no role of that name`,
      why: names.length === 0 ? 'No role is defined.' : `Known: ${names.join(', ')}.`,
      fix: near === null ? 'Use a known name, or define it under roles.' : `Did you mean ${near}?`,
    },
  ];
}

function builtInDefault(role: string): HatFault {
  return {
    code: 'unknown_role',
    odd: false,
    role: null,
    key: 'default_role',
    what: `default_role names ${role}, which is a built-in role`,
    why: 'The default role is one of your own; a built-in one has its phase.',
    fix: 'Name one of your own roles, or leave default_role out.',
  };
}

/** Own roles that no way leads to from the first topic, the default role and the phases. */
function unreachable(own: Hats, section: string): HatFault[] {
  const { hats, defaultRole } = own;
  const from = hats.filter(
    ({ name, phase, triggers }) => name === defaultRole || phase !== null || triggers.some(isForTheLoop),
  );
  const first = wokenBy(own, FIRST_TOPIC);
  const awake = reached(
    ways(own),
    [...from, ...(first ? [first] : [])].map(({ name }) => name),
  );
  return hats
    .filter(({ name }) => !awake.has(name))
    .map(({ name, triggers }) => ({
      code: 'unreachable_role',
      odd: false,
      role: name,
      key: triggers.length === 0 ? null : ('triggers' as const),
      what: `Nothing ever wakes ${section}.${name}`,
      why:
        triggers.length === 0
          ? 'It has no phase and no triggers, and it is not the default role.'
          : `No role that is ever awake publishes ${triggers.join(' or ')}.`,
      fix:
        triggers.length === 0
          ? 'Give it triggers, make it default_role, or remove it.'
          : nearPublished(hats, triggers),
    }));
}

function nearPublished(hats: readonly Hat[], triggers: readonly string[]): string {
  const published = hats.flatMap(publishedBy);
  const near = triggers.flatMap((trigger) => nearest(trigger, published) ?? [])[0];
  return near === undefined
    ? 'Let a role publish one of its triggers, or remove the role.'
    : `Did you mean ${near}? Else let a role publish one of its triggers.`;
}

/** By role, the roles that it can wake: by its topics, and by ending with none. */
function ways(own: Hats): Map<string, Set<string>> {
  const next = new Map(own.hats.map(({ name }) => [name, new Set<string>()]));
  for (const { from, to } of hatGraph(own).edges) if (next.has(to)) next.get(from)?.add(to);
  for (const { name, defaultPublishes, maxActivations } of own.hats) {
    // An empty queue wakes the default role, and so does a topic for a role that may not run again.
    const mayEnd = defaultPublishes === null || maxActivations !== null;
    if (mayEnd && own.defaultRole !== null) next.get(name)!.add(own.defaultRole);
  }
  return next;
}

function reached(next: ReadonlyMap<string, ReadonlySet<string>>, from: readonly string[]): Set<string> {
  const seen = new Set(from);
  const left = [...seen];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    for (const other of next.get(name) ?? []) {
      if (seen.has(other)) continue;
      seen.add(other);
      left.push(other);
    }
  }
  return seen;
}

/** Roles from which no way leads to a required topic: once there, the list can never be done. */
function noExits(own: Hats, asleep: readonly HatFault[]): HatFault[] {
  const next = ways(own);
  const awake = own.hats.filter(({ name }) => asleep.every(({ role }) => role !== name));
  return own.requiredTopics.flatMap((topic) => {
    const tellers = new Set(awake.filter((hat) => mayTell(hat, topic)).map(({ name }) => name));
    if (tellers.size === 0) return [];
    const lost = awake.filter(({ name }) => [...reached(next, [name])].every((one) => !tellers.has(one)));
    const loop = shortestLoop(
      lost.map(({ name }) => name),
      next,
    );
    if (loop === null) return [];
    const way = [...loop, loop[0]].join(' → ');
    return [
      {
        code: 'no_exit',
        odd: false,
        role: loop[0]!,
        key: 'publishes' as const,
        what: `No way leads out of the loop ${way} to the required topic ${topic}`,
        why: `Once there, ${topic} is never published and the list never done: only ${[...tellers].join(' and ')} may publish it.`,
        fix: `Let one of the loop publish ${topic} or what wakes ${[...tellers][0]}, or set its max_activations.`,
      },
    ];
  });
}

/** The shortest way from one of these roles back to itself. */
function shortestLoop(
  among: readonly string[],
  next: ReadonlyMap<string, ReadonlySet<string>>,
): string[] | null {
  let best: string[] | null = null;
  for (const start of among) {
    const cameFrom = new Map<string, string>();
    const line = [start];
    for (let name = line.shift(); name !== undefined; name = line.shift()) {
      if (next.get(name)?.has(start)) {
        const way = [name];
        while (way[0] !== start) way.unshift(cameFrom.get(way[0]!)!);
        if (best === null || way.length < best.length) best = way;
        break;
      }
      for (const other of next.get(name) ?? []) {
        if (cameFrom.has(other) || other === start) continue;
        cameFrom.set(other, name);
        line.push(other);
      }
    }
  }
  return best;
}

/** Topics that somebody publishes and nobody listens for. */
function orphans(own: Hats, section: string): HatFault[] {
  return own.hats.flatMap((hat) =>
    publishedBy(hat)
      .filter((topic) => hearersOf(own.hats, topic).length === 0 && !isRequired(own, topic))
      .map((topic) => {
        const index = hat.publishes.indexOf(topic);
        return {
          code: 'orphan_topic',
          odd: true,
          role: hat.name,
          key: 'publishes' as const,
          ...(index === -1 ? {} : { index }),
          what: `${section}.${hat.name} publishes ${topic}, which wakes nobody`,
          why: `A topic that nobody listens for wakes the default role${own.defaultRole === null ? '' : `, ${own.defaultRole}`}.`,
          fix: 'Give it a listener, or name it in required_topics when it means that something is done.',
        };
      }),
  );
}

/** Triggers of roles that something else wakes, which nobody can publish. */
function silentTriggers(
  own: Hats,
  { section, asleep }: { section: string; asleep: readonly HatFault[] },
): HatFault[] {
  if (own.hats.some(({ publishes }) => publishes.length === 0)) return [];
  const published = own.hats.flatMap(publishedBy);
  return own.hats
    .filter(({ name }) => asleep.every(({ role }) => role !== name))
    .flatMap(({ name, triggers }) =>
      triggers.flatMap((trigger, index) => {
        if (isForTheLoop(trigger) || topicMatches(trigger, FIRST_TOPIC)) return [];
        if (published.some((topic) => overlap(topic, trigger))) return [];
        const near = nearest(trigger, published);
        return [
          {
            code: 'unreachable_topic',
            odd: true,
            role: name,
            key: 'triggers' as const,
            index,
            what: `${section}.${name} listens for ${trigger}, which nobody publishes`,
            why: 'No role has it among its publishes.',
            fix: near === null ? 'Let a role publish it, or remove the trigger.' : `Did you mean ${near}?`,
          },
        ];
      }),
    );
}

function neverPublished(own: Hats): HatFault[] {
  return own.requiredTopics.flatMap((topic, index) =>
    own.hats.some((hat) => mayTell(hat, topic))
      ? []
      : [
          {
            code: 'unpublished_topic',
            odd: true,
            role: null,
            key: 'required_topics' as const,
            index,
            what: `required_topics[${index}] (${topic}) is published by no role, so the list can never be done`,
            why: 'Each role has a list of what it may publish, and the topic is in none of them.',
            fix: 'Add it to the publishes of a role.',
          },
        ],
  );
}
