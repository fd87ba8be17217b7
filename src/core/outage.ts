/**
 * What it means for an agent that its provider says no. A limit, an overload and a broken connection are waited
 * for: until the time the provider names, else for a delay that grows; and others stand in meanwhile. Login and
 * bills wait for a person. None of it is charged to the work. A prompt that is too long and a crash may be the work's
 * own doing, so they count as deaths of the item; only where a row of crashes would end the run while others are
 * left, those go on.
 */
import type { Fact } from './event.ts';
import type { AgentError, ProviderErrorKind } from './evidence.ts';
import { choiceOf, isAvailable } from './fallback.ts';
import type { AttemptState, State } from './state.ts';

type Parking = Extract<Fact, { type: 'provider.parked' }>;

/** Errors that only a person can end. */
const DOWN: ReadonlySet<ProviderErrorKind> = new Set(['auth', 'billing']);
const WAITED_FOR: ReadonlySet<ProviderErrorKind> = new Set(['limit', 'overload', 'network']);

/** For a limit without a time: together more than the five hours of the longest window that is common. Seconds. */
const LIMIT_DELAYS_S = [60, 600, 3_600, 14_400];
/** How long one is left alone at least that was tried as often as is allowed, while others work. Seconds. */
const SPENT_DELAY_S = 3_600;

/** Waits of less than this are told where people look, and nowhere else. */
const LONG_WAIT_MS = 5 * 60_000;

/** How a provider said no to this attempt. */
export interface Refused {
  attempt: AttemptState;
  error: AgentError;
  /** When that is written down, epoch ms. */
  at: number;
}

/** What the agent cannot work for until a person acts; null: nothing. */
export function downBy(error: AgentError | null): { kind: string; message: string } | null {
  return error !== null && DOWN.has(error.kind) ? { kind: error.kind, message: error.message } : null;
}

/** The wait that follows; null: this is nothing that waiting ends. */
export function parkingFor(state: State, { attempt, error, at }: Refused): Parking | null {
  if (error.kind === 'crash') return afterCrashes(state, { attempt, error, at });
  if (!WAITED_FOR.has(error.kind)) return null;
  const { agent } = attempt;
  const before = state.parked.get(agent);
  // What had begun when the last no was written down met the same one.
  const same = before !== undefined && attempt.iteration <= before.since;
  const row = (before?.row ?? 0) + (same ? 0 : 1);
  const told = error.kind === 'limit' && error.resetsAt !== null && error.resetsAt > at;
  const own = at + delayS(state, error.kind, row) * 1000;
  const again = row > 1 && before?.kind === 'limit';
  const until = !told ? own : again && !same ? Math.max(error.resetsAt!, own) : error.resetsAt!;
  return {
    type: 'provider.parked',
    agent,
    until: same ? Math.max(until, before.until) : until,
    reason: error.message,
    kind: error.kind,
    row,
    told,
  };
}

/** The last crash of the row that is allowed puts the agent aside, if another can go on; else it ends the run. */
function afterCrashes(state: State, { attempt, error, at }: Refused): Parking | null {
  const { agent } = attempt;
  const allowed = allowedRow(state);
  const last = state.deadRow + 1 >= allowed || isSpent(state, agent);
  if (!last || standInFor(state, { attempt, error, at }) === undefined) return null;
  const row = Math.max(allowed, (state.parked.get(agent)?.row ?? 0) + 1);
  const until = at + SPENT_DELAY_S * 1000;
  return {
    type: 'provider.parked',
    agent,
    until,
    reason: error.message,
    kind: 'crash',
    row,
    told: false,
  };
}

function standInFor(state: State, { attempt: { agent, item }, at }: Refused): string | undefined {
  return choiceOf(state, item).find((name) => name !== agent && isAvailable(state, name, at));
}

function delayS(state: State, kind: ProviderErrorKind, row: number): number {
  const delays = kind === 'limit' ? LIMIT_DELAYS_S : (state.policy?.limits.retryDelaysS ?? [0]);
  const delay = delays[Math.min(row, delays.length) - 1] ?? 0;
  return row >= allowedRow(state) ? Math.max(delay, SPENT_DELAY_S) : delay;
}

function allowedRow(state: State): number {
  return 1 + (state.policy?.limits.maxSubagentRetries ?? 4);
}

/** Whether the provider said no as often in a row as is allowed. With others left it is tried again later. */
export function isSpent(state: State, agent: string): boolean {
  return (state.parked.get(agent)?.row ?? 0) >= allowedRow(state);
}

/** The fact in the state: the agent waits, and how often it was told to without an ended run between. */
export function park(state: State, fact: Parking, at: number): void {
  const { agent, until, reason, kind = 'limit', told = true } = fact;
  const row = fact.row ?? (state.parked.get(agent)?.row ?? 0) + 1;
  state.parked.set(agent, { from: at, until, since: state.lastIteration, reason, kind, told, row });
}

/** A run of it that ended proves that its provider works; one that began before the no proves nothing. */
export function recover(state: State, { agent, iteration }: AttemptState): void {
  const parked = state.parked.get(agent);
  if (parked !== undefined && iteration > parked.since) state.parked.delete(agent);
}

/** A person starts again: only times that a provider named are still waited for. */
export function forgive(state: State): void {
  for (const [agent, parked] of state.parked) {
    if (parked.told) parked.row = 0;
    else state.parked.delete(agent);
  }
}

/** Tells people at the moment of the no who goes on, and when the agent is tried again. */
export function outageNotice(state: State, refused: Refused, parking: Parking | null): Fact[] {
  const { attempt, error, at } = refused;
  const { agent } = attempt;
  const standIn = standInFor(state, refused);
  if (parking === null) {
    if (standIn === undefined) return [];
    const text = `${agent} cannot work (${error.kind}): ${short(error.message)} ${standIn} goes on; ${agent} is tried again at the next start.`;
    return given(state, text) ? [] : [{ type: 'notice.given', level: 'critical', text }];
  }
  // A short wait that nobody stands in for is told by its own line; nobody need be sent a message for it.
  if (parking.until <= at || (standIn === undefined && !isLong(at, parking.until))) return [];
  const when = timeWords(parking.until, at);
  const going = standIn === undefined ? 'the run waits for it' : `${standIn} goes on`;
  const text = parking.told
    ? `${agent}: limit until ${when}; ${going}. It said: ${short(error.message)}`
    : `${agent}: ${error.kind}, and nobody says until when; ${going}, and ${agent} is tried again at ${when}. It said: ${short(error.message)}`;
  const untold = standIn === undefined && state.policy?.park === false;
  return untold || given(state, text) ? [] : [{ type: 'notice.given', level: 'warning', text }];
}

/** A wait that people hear of on their channels: once when it begins, and once when it is over. */
export const isLong = (from: number, until: number): boolean => until - from >= LONG_WAIT_MS;

/** Tells that an agent which was waited for is started again, where others stood in or the wait was long. */
export function backNotice(state: State, agent: string): Fact[] {
  const parked = state.parked.get(agent);
  if (parked === undefined) return [];
  const others = standIns(state, agent, parked.since);
  if (others.length === 0 && !isLong(parked.from, parked.until)) return [];
  const meanwhile = others.length === 0 ? '' : `; ${others.join(' and ')} went on meanwhile`;
  const what = parked.told ? 'its limit ended' : `the wait for its ${parked.kind} ended`;
  const text = `${agent} is back: ${what} at ${timeWords(parked.until, state.lastAt)}${meanwhile}.`;
  return given(state, text) ? [] : [{ type: 'notice.given', level: 'info', text }];
}

function given(state: State, text: string): boolean {
  return state.notices.some((notice) => notice.text === text);
}

/** Who was started since, in its place or for other work. */
function standIns(state: State, agent: string, since: number): string[] {
  const found = new Set<string>();
  for (let iteration = state.lastIteration; iteration > since; iteration--) {
    const name = state.attempts.get(iteration)?.agent ?? agent;
    if (name !== agent) found.add(name);
  }
  return [...found].sort();
}

/** `03:00 UTC`, with its day where that is another one. */
export function timeWords(at: number, now: number): string {
  const [then, today] = [at, now].map((ms) => new Date(ms).toISOString());
  const clock = `${then!.slice(11, 16)} UTC`;
  return then!.slice(0, 10) === today!.slice(0, 10) ? clock : `${then!.slice(0, 10)} ${clock}`;
}

function short(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim();
  return line.length > 240 ? `${line.slice(0, 239)}…` : line;
}
