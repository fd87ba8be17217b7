/**
 * A trial: the agent is really started, once, and runs each gate itself. That shows what no look from
 * outside can: a login that works, a model that answers, and what the agent's permissions let it run.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type AgentKind, permissionFix } from '../../agents/index.ts';
import {
  type AgentReport,
  type GateDef,
  type ProblemFacts,
  readTrial,
  type TrialWord,
  trialPrompt,
} from '../../core/index.ts';
import type { Agent, Ground } from '../../engine/index.ts';
import { atomicWrite } from '../../store/index.ts';
import { oneLine } from '../../views/index.ts';
import { type Findings, type Live, type Row, rowsFrom } from './check.ts';
import type { GateOutcome } from './gates.ts';
import { traceRows, tracesOf } from './traces.ts';

export interface Trial {
  agent: Agent;
  kind: AgentKind;
  model: string | null;
  ground: Ground;
  /** What snapshots leave out and the agent is not to change either. */
  aside: string[];
  env: Record<string, string>;
  /** A folder that is thrown away. */
  scratch: string;
  gates: GateDef[];
  /** What the engine's own run of each gate gave, by the gate's name. */
  baseline: ReadonlyMap<string, GateOutcome>;
  live: Live;
}

const START_MS = 180_000;
const LONGEST_MS = 30 * 60_000;
const GRACE_MS = 3_000;

/** Starts the agent and answers the rows: its start, what it left in the project, then each gate. */
export async function tryAgent(trial: Trial): Promise<Row[]> {
  const from = performance.now();
  const { result: report, traces } = await tracesOf(trial, () => start(trial));
  const ms = performance.now() - from;
  const { name } = trial.agent;
  const rows = rowsFrom('agent start', startFindings(name, report), ms);
  rows.push(...traceRows(traces, { code: 'agent.changed_files', who: `The agent "${name}"`, ...WROTE }));
  if (report.ending !== 'ended') return rows;
  const said = readTrial(report.finalMessage, trial.gates);
  for (const def of trial.gates)
    rows.push(
      ...rowsFrom(`agent: ${def.name}`, gateFindings(trial, { def, report, said: said.get(def.name) }), 0),
    );
  return rows;
}

async function start({ agent, model, ground, env, scratch, gates, live }: Trial): Promise<AgentReport> {
  const prompt = trialPrompt(gates);
  const promptPath = join(scratch, 'prompt.md');
  await atomicWrite(promptPath, prompt);
  const gatesMs = gates.reduce((sum, { timeoutS }) => sum + timeoutS * 1000, 0);
  const wallMs = Math.min(START_MS + gatesMs, LONGEST_MS);
  const marker = `ralph-doctor-${process.pid}-${randomBytes(6).toString('hex')}`;
  const handle = await agent.start({
    prompt,
    promptPath,
    cwd: ground.cwd,
    env: {
      ...env,
      RALPH_SESSION_DIR: scratch,
      RALPH_SESSION_ID: 'doctor',
      RALPH_ITERATION: '0',
      RALPH_CYCLE: '0',
      RALPH_ROLE: 'executor',
      RALPH_MODE: 'doctor',
      RALPH_CATEGORY: '',
      RALPH_TASK_ID: '',
      RALPH_ATTEMPT: '1',
      RALPH_OUTBOX: join(scratch, 'outbox.jsonl'),
      RALPH_RUN_TOKEN: randomBytes(16).toString('hex'),
      RALPH_MARKER: marker,
    },
    marker,
    allowance: { wallMs, idleMs: wallMs },
    logPath: join(scratch, 'agent.log'),
    model,
    readOnly: false,
    spawned: () => Promise.resolve(),
    event: () => undefined,
    groundMoved: () => Promise.resolve(false),
  });
  live.stop = () => handle.stop(GRACE_MS);
  if (live.signal !== null) live.stop();
  return handle.done.finally(() => {
    live.stop = null;
  });
}

function startFindings(name: string, report: AgentReport): Findings {
  const { ending, timeout, error, usage } = report;
  if (ending === 'timed_out' || ending === 'interrupted') {
    const how = timeout === null ? 'was interrupted' : 'did not come to an end in time';
    const fix = `Start ${name} by hand in this folder and see what it waits for.`;
    const why = 'It was given the time of all gates and three minutes more.';
    return { what: '', failures: [{ code: 'agent.hangs', what: `The agent "${name}" ${how}.`, why, fix }] };
  }
  if (ending === 'died') {
    const kind = error?.kind ?? 'crash';
    const why = oneLine(error?.message ?? 'It ended without a word.', 400);
    return {
      what: '',
      failures: [
        {
          code: `agent.${kind}`,
          what: `The agent "${name}" was started and failed (${kind}).`,
          why,
          fix: FIXES[kind] ?? FIXES.crash!,
        },
      ],
    };
  }
  const cost = usage.costUsd === null ? '' : `, ${usage.costUsd.toFixed(2)} USD`;
  const model = usage.model === null ? '' : `, model ${usage.model}`;
  return { what: `${name} starts and answers${model}${cost}` };
}

const FIXES: Partial<Record<string, string>> = {
  auth: 'Log in as the message says, then run `ralph doctor` again.',
  billing: 'Put the account in order, then run `ralph doctor` again.',
  limit: 'Wait until the limit is over; a run waits for it by itself.',
  overload: 'The provider is busy; try again later. A run tries again by itself.',
  network: 'Check the connection (proxy, VPN), then run `ralph doctor` again.',
  crash: 'Start the agent by hand in this folder and repair what it says.',
};

const WROTE = {
  why: 'It was asked to change nothing: an agent that does not read its prompt works on what it likes. Or a gate that it ran writes files that git does not ignore.',
  fails: true,
};

interface GateTrial {
  def: GateDef;
  report: AgentReport;
  said: TrialWord | undefined;
}

function gateFindings({ agent, kind, baseline }: Trial, { def, report, said }: GateTrial): Findings {
  const flat = (text: string) => text.replace(/\s+/g, ' ').trim();
  const seen = report.commands.filter(({ command }) => flat(command).includes(flat(def.run)));
  const denial = seen.some(({ denied }) => denied) && !seen.some(({ denied }) => !denied);
  if (denial || (seen.length === 0 && said?.kind === 'denied')) {
    const reason = said?.kind === 'denied' && said.reason !== '' ? ` It says: ${oneLine(said.reason)}.` : '';
    return {
      what: '',
      failures: [
        {
          code: 'agent.may_not_run',
          what: `The agent "${agent.name}" may not run \`${def.run}\`.`,
          why: `It could not check its own work before it claims to be done.${reason}`,
          fix: permissionFix(kind, def.run),
        },
      ],
    };
  }
  const exit =
    seen.findLast(({ exitCode }) => exitCode !== null)?.exitCode ??
    (said?.kind === 'ran' ? said.exitCode : null);
  const declares = agent.capabilities.toolEvents;
  if (seen.length === 0 && (declares || said === undefined))
    return unheard(agent.name, def, { declares, said });
  const ours = baseline.get(def.name);
  if (exit !== null && ours !== undefined && (exit === 0) !== (ours.exitCode === 0)) {
    return { what: '', warnings: [differs(agent.name, def, { theirs: exit, ours: ours.exitCode })] };
  }
  return { what: `${agent.name} may run \`${def.run}\`` };
}

function unheard(
  name: string,
  def: GateDef,
  { declares, said }: { declares: boolean; said: TrialWord | undefined },
): Findings {
  const what =
    said === undefined
      ? `The agent "${name}" did not say whether it may run \`${def.run}\`.`
      : `The agent "${name}" says it ran \`${def.run}\`, but no such command was seen.`;
  const facts = {
    code: 'agent.gate_unheard',
    what,
    why: declares
      ? 'Its stream shows every command it runs, and this one is not among them.'
      : 'It was asked to run it and to report it in a line of its own.',
    fix: declares
      ? 'Run `ralph doctor` again; if it stays so, start the agent by hand and let it run the command.'
      : 'Fine for a script that runs no gates itself: Ralph runs them after each attempt.',
  };
  return declares ? { what: '', failures: [facts] } : { what: '', warnings: [facts] };
}

const differs = (
  name: string,
  def: GateDef,
  { theirs, ours }: { theirs: number; ours: number | null },
): ProblemFacts => ({
  code: 'agent.gate_differs',
  what: `\`${def.run}\` ends with ${theirs} for the agent "${name}" and with ${ours ?? 'a signal'} for Ralph.`,
  why: 'The agent would believe another result than the one its work is held against.',
  fix: 'Compare what both see: PATH, environment, and what the agent is shut into.',
});
