/**
 * `ralph doctor`: every check of a run, and those that cost time or money: the gates as they stand, and
 * one real start of the agent, which runs the gates itself. Nothing is repaired and no file is changed;
 * each failure says what a person does about it.
 */
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { toPolicy } from '../config/index.ts';
import { Problem } from '../core/index.ts';
import type { ListReading } from '../engine/index.ts';
import type { RepoGround } from '../repo/index.ts';
import { agentMaker, chooseAgent, kindOf } from './agents.ts';
import { type Check, type Live, problemsOf, type Row, rowsFrom, rowsOf } from './checks/check.ts';
import { baselineOf, type GateOutcome } from './checks/gates.ts';
import { MACHINE_CHECKS } from './checks/machine.ts';
import { liveRun, PLACE_CHECKS } from './checks/place.ts';
import { makeScratch, sweepScratch } from './checks/scratch.ts';
import { START_CHECKS, type StartSubject } from './checks/start.ts';
import { traceRows, tracesOf } from './checks/traces.ts';
import { tryAgent } from './checks/trial.ts';
import { knownSessions, readState } from './choose.ts';
import { loadSettings } from './config.ts';
import { dirtOf, excludedPaths } from './dirt.ts';
import { agentEnvironment } from './environment.ts';
import { processGates } from './gates.ts';
import { openPlaceGround } from './open.ts';
import { findPlace, type Place } from './place.ts';
import { type LoadedSession, openList, type Plan, stringEnv } from './plan.ts';
import { startSubject } from './preflight.ts';
import { redactorHere } from './secrets.ts';
import { whichList } from './which-list.ts';

export interface DoctorRequest {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** False: the agent is not started (`--no-agent`). */
  agent: boolean;
  /** Told each row as soon as it is known. */
  row(row: Row): void;
  /** Told what is about to take long. */
  say(text: string): void;
}

/** What was found, in the order in which it was told. */
export interface Examined {
  rows: Row[];
  /** The signal that cut it short; null: it came to its end. */
  interrupted: NodeJS.Signals | null;
}

/** Goes through every check. A Problem of the project becomes a row; nothing of it is thrown. */
export async function examine(request: DoctorRequest): Promise<Examined> {
  const live: Live = { stop: null, signal: null };
  const hear = (signal: NodeJS.Signals) => {
    live.signal = signal;
    live.stop?.();
  };
  process.on('SIGINT', hear).on('SIGTERM', hear).on('SIGHUP', hear);
  const scratch = await makeScratch('doctor');
  const rows: Row[] = [];
  const tell = (more: Row[]) => {
    for (const row of more) {
      rows.push(row);
      request.row(row);
    }
  };
  try {
    await examineAll({ request, scratch, tell, live, env: stringEnv(request.env) });
  } finally {
    process.off('SIGINT', hear).off('SIGTERM', hear).off('SIGHUP', hear);
    await rm(scratch, { recursive: true, force: true });
    await sweepScratch(Date.now());
  }
  return { rows, interrupted: live.signal };
}

interface Examination {
  request: DoctorRequest;
  scratch: string;
  env: Record<string, string>;
  live: Live;
  tell(rows: Row[]): void;
}

async function examineAll(exam: Examination): Promise<void> {
  const { request, scratch, env, tell } = exam;
  const machine = { env, cwd: request.cwd };
  await tellAll(MACHINE_CHECKS, machine, tell);
  const place = await attempt('project', tell, () => findPlace(request.cwd));
  if (place === null) return;
  const base = { ...machine, place, git: true, allowDetached: false, scratch };
  const loaded = await attempt('configuration', tell, () => load(place, request));
  if (loaded === null) {
    await tellAll(PLACE_CHECKS, { ...base, commits: true }, tell);
    return;
  }
  const agentName = await attempt('agent', tell, async () => chooseAgent(loaded.settings, env));
  const list = await attempt('tasks', tell, () => readList(place, loaded));
  const policy = toPolicy(loaded.settings, {
    reviewedList: list?.reading?.kind === 'list' && list.reading.reviewed,
    listGates: list?.reading?.kind === 'list' ? list.reading.gates : [],
    interactive: false,
    channels: [],
    agent: agentName ?? '',
  });
  const plan = { ...loaded, place, policy, taskPath: list?.path ?? null, reading: list?.reading ?? null };
  const ground = await attempt('repository', tell, () => groundOf(plan, scratch));
  if (ground === null) return;
  const strangeDirt = await attempt('work tree', tell, () => strangeDirtOf(ground, plan));
  const agent = agentName === null ? null : agentMaker(loaded.settings)(agentName);
  const facts = { plan, env, scratch, strangeDirt: strangeDirt ?? [] };
  const subject: StartSubject = { ...startSubject(facts), agent, allowDetached: false };
  await tellAll(PLACE_CHECKS, subject, tell);
  // A list that could not be looked for was told above.
  const checks = START_CHECKS.filter(({ name }) => name !== 'tasks' || list !== null);
  const usable = await tellAll(checks, subject, tell);
  if ((await liveRun(place)) !== null) return;
  await tryWork(exam, { subject, ground, usable });
}

/** The gates by the engine, then by the agent. Failures of the agent's own checks make a start pointless. */
async function tryWork(
  { request, scratch, tell, live }: Examination,
  { subject, ground, usable }: { subject: StartSubject; ground: RepoGround; usable: Set<string> },
): Promise<void> {
  const { policy, agent, settings } = subject;
  const env = await agentEnvironment(scratch, request.env);
  const aside = await asideOf(subject);
  const baseline = await gateBaseline({ request, tell, live, subject, ground, aside, env });
  if (
    live.signal !== null ||
    !request.agent ||
    agent === null ||
    !usable.has('agent') ||
    !usable.has('login')
  )
    return;
  const gates = policy.gates.filter(({ name }) => baseline.get(name)?.outcome !== 'unavailable');
  request.say(`Starting ${agent.name}${gates.length === 0 ? '' : ', which runs the gates itself'} …`);
  const kind = kindOf(settings, agent.name);
  const trial = { agent, kind, model: policy.model, ground, aside, env, scratch, gates, baseline, live };
  tell(await tryAgent(trial));
}

interface GateWork extends Pick<Examination, 'request' | 'tell' | 'live'> {
  subject: StartSubject;
  ground: RepoGround;
  aside: string[];
  env: Record<string, string>;
}

async function gateBaseline({ request, tell, live, subject, ground, aside, env }: GateWork) {
  const baseline = new Map<string, GateOutcome>();
  const { gates } = subject.policy;
  if (gates.length === 0) {
    tell(rowsFrom('gates', { what: '', warnings: [NO_GATES] }, 0));
    return baseline;
  }
  const { traces } = await tracesOf({ ground, aside }, async () => {
    for (const def of gates) {
      if (live.signal !== null) break;
      request.say(`Running the gate ${def.name}: ${def.run} …`);
      const marker = `ralph-doctor-${process.pid}-${def.name}`;
      const result = await baselineOf(def, {
        gates: processGates(redactorHere()),
        ground,
        env,
        marker,
        live,
      });
      if (result === null) continue;
      baseline.set(def.name, result.outcome);
      tell(result.rows);
    }
  });
  // What lies there now would keep a new run from starting.
  const fails = ground.hasGit && !subject.settings.allowDirty;
  tell(traceRows(traces, { code: 'gates.write', who: 'The gates', why: GATES_WRITE, fails }));
  return baseline;
}

const NO_GATES = {
  code: 'gates.none',
  what: 'No gate is configured.',
  why: 'A task then counts as done when something changed and the agent says so; nothing proves that it works.',
  fix: 'Name at least your tests under `gates:` in ralph.yml; `ralph init` proposes what the project declares.',
};

const GATES_WRITE =
  'git does not ignore these files: they make the work tree dirty, which keeps a run from starting, and may be committed along with the work.';

/** Tells the rows of each check in turn; answers the names of those without a failure. */
async function tellAll<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
  tell: (rows: Row[]) => void,
): Promise<Set<string>> {
  const sound = new Set<string>();
  for (const check of checks) {
    const rows = await rowsOf(check, subject);
    tell(rows);
    if (rows.every(({ ok }) => ok !== false)) sound.add(check.name);
  }
  return sound;
}

/** What a step gives; null when a Problem came up, which is told as a row of that name. */
async function attempt<Value>(
  name: string,
  tell: (rows: Row[]) => void,
  step: () => Promise<Value>,
): Promise<Value | null> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    tell(rowsFrom(name, { what: '', failures: problemsOf(error) }, 0));
    return null;
  }
}

type Loaded = Pick<Plan, 'settings' | 'warnings' | 'notYet' | 'origin' | 'session' | 'others'>;

/** The configuration with the layer of the session that `ralph run` would go on with. */
async function load(place: Place, { env }: DoctorRequest): Promise<Loaded> {
  const unfinished = (await knownSessions(place)).filter(
    ({ ending }) => ending.code !== 0 && ending.code !== 9,
  );
  const here: LoadedSession[] = unfinished
    .map(({ id, dir }) => ({ id, dir, state: readState(dir) }))
    .filter(({ state }) => (state.session?.ground ?? '.') === place.ground);
  const session = here.at(-1) ?? null;
  const { settings, warnings, notYet, origin } = await loadSettings({ place, env, flags: {}, session });
  return { settings, warnings, notYet, origin, session, others: here.slice(0, -1) };
}

async function readList(
  place: Place,
  { settings, origin, session, warnings }: Loaded,
): Promise<{ path: string | null; reading: ListReading | null }> {
  const known = session?.state.source?.path ?? null;
  const call = { place, cwd: place.dir, named: settings.tasks, from: origin.get('tasks') };
  const found = known === null ? await whichList(call) : null;
  warnings.push(...(found?.warnings ?? []));
  const path = known ?? found?.path ?? null;
  return { path, reading: path === null ? null : await (await openList(place, path)).read() };
}

type Known = Loaded & Pick<Plan, 'place' | 'taskPath'>;

async function groundOf({ place, settings, taskPath }: Known, scratch: string): Promise<RepoGround> {
  const list = taskPath === null ? null : await openList(place, taskPath);
  const excluded = excludedPaths(place, list);
  return openPlaceGround(place, { id: 'doctor', dir: scratch }, { excluded, useGit: settings.git });
}

/** What stays out of snapshots, as paths below the root; a list outside the repository by its whole path. */
async function asideOf({ place, taskPath }: StartSubject): Promise<string[]> {
  const list = taskPath === null ? null : await openList(place, taskPath);
  const outside = list?.groundPath === null ? [resolve(place.dir, taskPath!)] : [];
  return [...excludedPaths(place, list), ...outside];
}

async function strangeDirtOf(ground: RepoGround, plan: Known): Promise<string[]> {
  const list = plan.taskPath === null ? null : await openList(plan.place, plan.taskPath);
  return (await dirtOf(ground, plan, list)).strange;
}
