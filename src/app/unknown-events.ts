/**
 * Events in the streams of agents that their readers do not know: the sign that an agent's program is newer than what
 * Ralph was made for. Nothing is believed of them and nothing breaks; who looks after the machine is told.
 */
import type { AgentReport, ProblemFacts } from '../core/index.ts';
import { type ProjectNews, type ProjectRecord, readProject } from '../store/index.ts';
import { count } from '../views/index.ts';
import { VERSION } from './product.ts';

/** Older runs say little of what is installed now. */
const RECENT_MS = 14 * 86_400_000;
const KINDS_LISTED = 20;

/** What an agent told lately that nobody understood. */
export interface UnknownEvents {
  agent: string;
  events: number;
  runs: number;
  kinds: string[];
  /** What its program said of itself last; null: it does not say. */
  version: string | null;
  /** Epoch ms of the last such run. */
  at: number;
}

/** The record of one attempt; null: everything was known. */
export function unknownRecord(
  { unknownEvents, unknownKinds = [], version }: AgentReport,
  attempt: { at: number; session: string; iteration: number; agent: string },
): ProjectNews | null {
  if (unknownEvents === 0) return null;
  const seen = { events: unknownEvents, kinds: unknownKinds, version: version ?? null, product: VERSION };
  return { ...attempt, type: 'agent.unknown', ...seen };
}

/** By agent, of the last two weeks. A newer Ralph may know what an older one did not, so only its own runs count. */
export function unknownOf(records: readonly ProjectRecord[], now: number): Map<string, UnknownEvents> {
  const found = new Map<string, UnknownEvents>();
  const runs = new Set<string>();
  for (const { type, at, agent, product, ...rest } of records) {
    if (type !== 'agent.unknown' || typeof agent !== 'string') continue;
    if (product !== VERSION || at < now - RECENT_MS) continue;
    // A line may stand there twice.
    const run = `${rest.session} ${rest.iteration}`;
    if (runs.has(run)) continue;
    runs.add(run);
    const known = found.get(agent) ?? { agent, events: 0, runs: 0, kinds: [], version: null, at: 0 };
    const kinds = Array.isArray(rest.kinds) ? rest.kinds.filter((kind) => typeof kind === 'string') : [];
    found.set(agent, {
      agent,
      events: known.events + (typeof rest.events === 'number' ? rest.events : 0),
      runs: known.runs + 1,
      kinds: [...new Set([...known.kinds, ...kinds])].slice(0, KINDS_LISTED),
      version: typeof rest.version === 'string' ? rest.version : known.version,
      at,
    });
  }
  return found;
}

/** As `12 events that Ralph does not know, in 3 runs, the last of version 2.2.0: brand_new, other`. */
export function unknownWords({ events, runs, kinds, version }: UnknownEvents): string {
  const of = version === null ? '' : `, the last of version ${version}`;
  const named = kinds.length === 0 ? '' : `: ${kinds.join(', ')}`;
  return `${count(events, 'event')} that Ralph does not know, in ${count(runs, 'run')}${of}${named}`;
}

/** For each such agent of the project a word, with the version that is `installed` now. */
export async function unknownProblems(
  mainDir: string,
  installed: (agent: string) => Promise<string | null>,
): Promise<ProblemFacts[]> {
  const seen = [...unknownOf(readProject(mainDir).records, Date.now()).values()];
  return Promise.all(
    seen.map(async (unknown) => {
      const now = await installed(unknown.agent).catch(() => null);
      return {
        code: 'agent.unknown_events',
        what: `${unknown.agent}${now === null ? '' : ` ${now}`} tells ${unknownWords(unknown)}.`,
        why: 'Its program is likely newer than what this Ralph was made for: commands, files or costs that it tells in a new way are missed. What is judged does not depend on them.',
        fix: 'Update Ralph. Until there is one that knows them, `ralph logs` shows what came; an earlier version of the agent tells nothing new.',
      };
    }),
  );
}
