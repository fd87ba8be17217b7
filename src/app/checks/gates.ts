/** The gates as they stand now, run by the engine's own runner: what a task would be held against. */
import { performance } from 'node:perf_hooks';
import type { GateDef, ProblemFacts } from '../../core/index.ts';
import type { Gates, Ground } from '../../engine/index.ts';
import { oneLine } from '../../views/index.ts';
import { type Findings, type Live, type Row, rowsFrom } from './check.ts';

/** What the engine's runner answers for one gate. */
export type GateOutcome = NonNullable<Awaited<ReturnType<Gates['run']>['done']>>;

interface Baseline {
  outcome: GateOutcome;
  rows: Row[];
}

/** Runs one gate in the ground, as the engine would after an attempt. */
export async function baselineOf(
  def: GateDef,
  {
    gates,
    live,
    ...call
  }: { gates: Gates; live: Live; ground: Ground; env: Record<string, string>; marker: string },
): Promise<Baseline | null> {
  const from = performance.now();
  const running = gates.run(def, call);
  live.stop = () => running.stop();
  const outcome = await running.done;
  live.stop = null;
  if (outcome === null) return null;
  const { what, failures = [], warnings = [] } = findingsOf(def, outcome);
  // What a task can be accepted without keeps no run from starting.
  const findings = def.required
    ? { what, failures, warnings }
    : { what, warnings: [...failures, ...warnings] };
  return { outcome, rows: rowsFrom(`gate ${def.name}`, findings, performance.now() - from) };
}

function findingsOf(def: GateDef, { outcome, tests, failures, exitCode }: GateOutcome): Findings {
  const counted = tests === null ? '' : `, ${tests} ${tests === 1 ? 'test' : 'tests'}`;
  const first = oneLine(failures[0] ?? '', 160);
  if (outcome === 'passed') return { what: `\`${def.run}\` passes${counted}` };
  if (outcome === 'unavailable')
    return { what: '', failures: [facts(def, 'unavailable', 'cannot be run', first, UNAVAILABLE)] };
  if (outcome === 'timed_out') {
    const why = `It did not end within ${def.timeoutS} seconds.`;
    const fix = `Give it more time (timeout_s) in ralph.yml, or name a command that ends by itself.`;
    return { what: '', failures: [facts(def, 'timed_out', 'was ended', why, fix)] };
  }
  if (outcome === 'empty') {
    const why = `It ran ${tests ?? 'no countable'} ${tests === 1 ? 'test' : 'tests'}${def.minTests > 0 ? `, and min_tests is ${def.minTests}` : ''}; until tests run, no task is accepted.`;
    const fix = 'Fine when the first task writes tests. Else add one, or correct the command in ralph.yml.';
    return { what: '', warnings: [facts(def, 'empty', 'proves nothing yet', why, fix)] };
  }
  const many = failures.length > 1 ? ` and ${failures.length - 1} more` : '';
  const said = `Exit code ${exitCode ?? 'none'}: ${first}${many}.`;
  if (def.baseline === 'must_pass') {
    const fix =
      'Repair it first, or leave `baseline: must_pass` away: then what fails already is not held against a task.';
    return { what: '', failures: [facts(def, 'failed', 'fails', said, fix)] };
  }
  const fix =
    'A run may start: only new failures count against a task. Better repair it first, or make it the first task.';
  return { what: '', warnings: [facts(def, 'red', 'fails already', said, fix)] };
}

const UNAVAILABLE =
  'Install what it needs (the project’s own packages, most often), or correct the command in ralph.yml.';

function facts(def: GateDef, code: string, how: string, why: string, fix: string): ProblemFacts {
  return { code: `gate.${code}`, what: `\`${def.run}\` ${how}.`, why, fix };
}
