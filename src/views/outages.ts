/**
 * Agents that could not work, as their provider said no: who cannot now and who goes on, how it went through the session, and what of it
 * stands in the summary that ends a run.
 */
import { commandFor, type Fact, type State, timeWords } from '../core/index.ts';
import { count, iso, oneLine, some } from './words.ts';

/** One no of a provider, as `ralph why` tells it. */
export interface OutageStory {
  at: number;
  iteration: number;
  agent: string;
  kind: string;
  reason: string;
  /** When the agent is tried again, epoch ms; null: not before a person acts and starts again. */
  until: number | null;
  /** The provider named that time. */
  told: boolean;
}

/** An agent that cannot be started now. */
export interface OutageJson {
  agent: string;
  kind: string;
  reason: string;
  /** null: a person has to act. */
  until: string | null;
}

/** The no that a record tells; null: this fact is none. */
export function outageOf(fact: Fact, at: number, state: State): OutageStory | null {
  if (fact.type === 'provider.parked') {
    const { agent, until, reason, kind = 'limit', told = true } = fact;
    const last = [...state.attempts.values()].findLast((one) => one.agent === agent && one.verdict?.parked);
    return { at, iteration: last?.iteration ?? state.lastIteration, agent, kind, reason, until, told };
  }
  if (fact.type !== 'verdict.reached' || !fact.down) return null;
  const agent = state.attempts.get(fact.iteration)?.agent ?? '';
  const { kind, message } = fact.down;
  return { at, iteration: fact.iteration, agent, kind, reason: message, until: null, told: false };
}

/** Who cannot be started at `now` (epoch ms). */
export function outagesNow(state: State, now: number): OutageJson[] {
  const down = [...state.down].map(([agent, { kind, message }]) => ({
    agent,
    kind,
    reason: message,
    until: null,
  }));
  const waiting = [...state.parked]
    .filter(([agent, { until }]) => until > now && !state.down.has(agent))
    .map(([agent, { kind, reason, until }]) => ({ agent, kind, reason, until: iso(until) }));
  return [...down, ...waiting];
}

/** Their lines in `ralph status`. */
export function outageLines(state: State, now: number): string[] {
  return outagesNow(state, now).map(({ agent, kind, reason, until }) => {
    const said = oneLine(reason, 160);
    if (until === null) return `${oneLine(agent, 60)}: cannot work (${kind}) until a person acts: ${said}`;
    return `${oneLine(agent, 60)}: ${kind} until ${timeWords(Date.parse(until), now)}: ${said}`;
  });
}

/** The runs that a story tells of, as far as they matter here. */
type Runs = ReadonlyMap<number, { iteration: number; agent: string; startedAt: number }>;

/** What followed each no: who went on in which iterations, and with which the agent was back. */
export function outageStories(outages: readonly OutageStory[], runs: Runs): string[] {
  return outages.map((one) => {
    const later = [...runs.values()].filter(({ iteration }) => iteration > one.iteration);
    const back = later.find(({ agent }) => agent === one.agent);
    const between = later.filter(({ iteration }) => back === undefined || iteration < back.iteration);
    const others = [...new Set(between.map(({ agent }) => agent))];
    const parts = [outageWords(one)];
    for (const name of others) parts.push(`${oneLine(name, 60)} went on (${spans(between, name)})`);
    if (back !== undefined)
      parts.push(`back with iteration ${back.iteration} at ${timeWords(back.startedAt, one.at)}`);
    else if (others.length === 0) parts.push('nobody has gone on yet');
    return `  iteration ${one.iteration}, ${timeWords(one.at, one.at)}: ${parts.join('; ')}`;
  });
}

/** `claude: limit until 03:00 UTC (what it said)`. */
function outageWords({ agent, kind, reason, until, told, at }: OutageStory): string {
  const said = oneLine(reason, 160);
  if (until === null) return `${oneLine(agent, 60)}: cannot work (${kind}: ${said})`;
  const when =
    until <= at
      ? 'tried again at once'
      : told
        ? `until ${timeWords(until, at)}`
        : `tried again at ${timeWords(until, at)}`;
  return `${oneLine(agent, 60)}: ${kind} ${when} (${said})`;
}

function spans(runs: readonly { iteration: number; agent: string }[], name: string): string {
  const own = runs.filter(({ agent }) => agent === name).map(({ iteration }) => iteration);
  if (own.length < 4) return `iteration ${some(own.map(String))}`;
  return `${count(own.length, 'iteration')}, ${own[0]} to ${own.at(-1)}`;
}

/** Why the next attempt at a task was another agent's; null: no provider had to do with it. */
export function standInWords(
  outages: readonly OutageStory[],
  before: { agent: string; iteration: number },
  next: { agent: string; iteration: number },
): string | null {
  const left = outages.findLast((one) => one.agent === before.agent && one.iteration < next.iteration);
  const gone = left !== undefined && left.iteration >= before.iteration;
  if (gone) return `  ${oneLine(next.agent, 60)} stands in: ${outageWords(left)}`;
  const over = outages.findLast((one) => one.agent === next.agent && one.iteration < next.iteration);
  return over === undefined ? null : `  ${oneLine(next.agent, 60)} is back, after: ${outageWords(over)}`;
}

export interface RefusedJson {
  agent: string;
  /** Runs that died of it. */
  times: number;
  /** What the last of them died of. */
  reason: string;
}

/** What providers refused in this run, by agent. */
export function refusedIn(state: State): RefusedJson[] {
  const from = state.run?.startedAt ?? Number.POSITIVE_INFINITY;
  const found = new Map<string, RefusedJson>();
  for (const { agent, startedAt, verdict } of state.attempts.values()) {
    const reason = verdict?.reason ?? '';
    const needsPerson = verdict?.value === 'died' && /^(?:auth|billing): /.test(reason);
    if (startedAt < from || !(verdict?.parked || needsPerson)) continue;
    const times = (found.get(agent)?.times ?? 0) + 1;
    found.set(agent, { agent, times, reason });
  }
  return [...found.values()];
}

/** Their lines in the summary that ends a run, with who did the work. */
export function refusedLines(state: State, refused: readonly RefusedJson[]): string[] {
  if (refused.length === 0) return [];
  const from = state.run?.startedAt ?? Number.POSITIVE_INFINITY;
  const runs = new Map<string, number>();
  for (const { agent, startedAt, verdict } of state.attempts.values())
    if (startedAt >= from && verdict !== null && verdict.value !== 'died')
      runs.set(agent, (runs.get(agent) ?? 0) + 1);
  const did = [...runs].map(([agent, n]) => `${oneLine(agent, 60)} ${n}`).join(', ');
  return [
    ...refused.map(
      ({ agent, times, reason }) =>
        `${oneLine(agent, 60)} could not work in ${count(times, 'run')}, last: ${oneLine(reason, 200)}`,
    ),
    `Runs that came to an end: ${did === '' ? 'none' : did}; \`${commandFor(state, 'ralph why')}\` tells who stood in for whom.`,
  ];
}
