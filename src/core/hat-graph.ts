/**
 * Who wakes whom: the topics of hats as a graph, for the person who drew it in a configuration and for the
 * checks that follow its ways. `(start)` and `(done)` are no roles, and no role can have such a name.
 */
import {
  FIRST_TOPIC,
  type Hat,
  type Hats,
  isOwn,
  mayTell,
  overlap,
  publishedBy,
  routeTopic,
  wokenBy,
} from './hats.ts';

const START = '(start)';
const DONE = '(done)';

export interface HatNode {
  name: string;
  title: string | null;
  /** Gets ready tasks, and every topic that nobody listens for. */
  default: boolean;
}

export interface HatEdge {
  /** A role, or `(start)`. */
  from: string;
  /** A role, or `(done)`: the topic is one that completion requires. */
  to: string;
  topic: string;
  /** False: nobody listens for the topic, so it wakes the default role. */
  heard: boolean;
}

export interface HatGraph {
  nodes: HatNode[];
  edges: HatEdge[];
}

/** The graph of one's own roles; empty where there are none. */
export function hatGraph(set: Hats): HatGraph {
  const { defaultRole, requiredTopics } = set;
  const hats = set.hats.filter(isOwn);
  const own: Hats = { ...set, hats };
  const nodes = hats.map(({ name, title }) => ({ name, title, default: name === defaultRole }));
  const edges: HatEdge[] = [];
  const add = (edge: HatEdge): void => {
    const { from, to, topic } = edge;
    if (!edges.some((one) => one.from === from && one.to === to && one.topic === topic)) edges.push(edge);
  };
  const first = wokenBy(own, FIRST_TOPIC);
  if (first) add({ from: START, to: first.name, topic: FIRST_TOPIC, heard: true });
  for (const hat of hats) {
    for (const edge of edgesOf(own, hat)) add(edge);
    for (const topic of requiredTopics)
      if (mayTell(hat, topic)) add({ from: hat.name, to: DONE, topic, heard: true });
  }
  return { nodes, edges };
}

function edgesOf(own: Hats, hat: Hat): HatEdge[] {
  const edge = (to: Hat | null, topic: string, heard: boolean): HatEdge[] =>
    to === null ? [] : [{ from: hat.name, to: to.name, topic, heard }];
  // It may publish anything, so it may wake everybody.
  if (hat.publishes.length === 0)
    return own.hats.flatMap((other) => other.triggers.flatMap((trigger) => edge(other, trigger, true)));
  return publishedBy(hat).flatMap((topic) => {
    const heard = hearersOf(own.hats, topic);
    if (heard.length > 0) return heard.flatMap((other) => edge(other, topic, true));
    return isRequired(own, topic) ? [] : edge(wokenBy(own, topic), topic, false);
  });
}

/** Who may be woken by it: one for an exact topic, for a pattern everybody with a trigger that fits. */
export function hearersOf(hats: readonly Hat[], topic: string): Hat[] {
  const exact = topic.split('.').includes('*') ? null : routeTopic(hats, topic);
  if (exact) return [exact];
  if (!topic.split('.').includes('*')) return [];
  return hats.filter(({ triggers }) => triggers.some((trigger) => overlap(trigger, topic)));
}

/** The loop itself listens for it. */
export function isRequired({ requiredTopics }: Hats, topic: string): boolean {
  return requiredTopics.some((required) => overlap(required, topic));
}

/** The graph as a Mermaid flowchart, which GitHub and most editors draw. */
export function mermaid({ nodes, edges }: HatGraph): string {
  const ids = new Map(nodes.map(({ name }, i) => [name, `r${i + 1}`]));
  const id = (name: string): string => ids.get(name) ?? name.slice(1, -1);
  const lines = ['flowchart TD'];
  if (nodes.length > 0) lines.push('  start([start])');
  for (const { name, title, default: isDefault } of nodes) {
    const words = label(title === null || title === name ? name : `${title} (${name})`);
    lines.push(`  ${id(name)}${isDefault ? `[["${words}"]]` : `["${words}"]`}`);
  }
  if (edges.some(({ to }) => to === DONE)) lines.push('  done([done])');
  for (const { from, to, topic, heard } of edges)
    lines.push(`  ${id(from)} ${heard ? '-->' : '-.->'}|"${label(topic)}"| ${id(to)}`);
  return `${lines.join('\n')}\n`;
}

/** Text of a person's that cannot end the label it stands in. */
function label(text: string): string {
  const coded = text.replaceAll('&', '#amp;').replaceAll('"', '#quot;');
  return coded
    .replaceAll('<', '#lt;')
    .replaceAll('>', '#gt;')
    .replace(/[\p{C}\s]+/gu, ' ');
}
