/**
 * A check looks at one thing that unattended work depends on. `ralph run` goes through the checks marked
 * `inRun` before it starts anything; `ralph doctor` goes through all of them: one list for both, so that
 * what the doctor calls healthy is what a run accepts.
 */
import { performance } from 'node:perf_hooks';
import { Problem, type ProblemFacts, placedWhat } from '../../core/index.ts';

/** What a check found. Failures keep a run from starting; warnings do not. */
export interface Findings {
  /** A sentence for a person; stands alone when nothing is wrong. */
  what: string;
  failures?: ProblemFacts[];
  warnings?: ProblemFacts[];
}

/** `Subject` is what the check has to know. */
export interface Check<Subject> {
  name: string;
  /** True: a run does it too. It then costs nothing and changes nothing. */
  inRun: boolean;
  /** null: this check means nothing here. */
  look(subject: Subject): Promise<Findings | null> | Findings | null;
}

/** One line of the doctor's report. */
export interface Row {
  name: string;
  ok: true | false | 'warning';
  what: string;
  /** Empty where nothing is wrong. */
  why: string;
  fix: string;
  /** How long the look took. */
  ms: number;
}

/** What runs now and can be ended: Ctrl-C leaves no gate and no agent behind. */
export interface Live {
  stop: (() => unknown) | null;
  signal: NodeJS.Signals | null;
}

/** Every failure of the checks that a run makes, in the order of the list. */
export async function failuresInRun<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
): Promise<ProblemFacts[]> {
  const mine = checks.filter(({ inRun }) => inRun);
  const found = await Promise.all(mine.map((check) => lookSafely(check, subject)));
  return found.flatMap((findings) => findings?.failures ?? []);
}

/** The rows of one check: one for each thing that is wrong, else one that says it is well. */
export async function rowsOf<Subject>(check: Check<Subject>, subject: Subject): Promise<Row[]> {
  const from = performance.now();
  const findings = await lookSafely(check, subject);
  return findings === null ? [] : rowsFrom(check.name, findings, performance.now() - from);
}

/** Findings as rows; `ms` is told once. */
export function rowsFrom(name: string, { what, failures = [], warnings = [] }: Findings, ms: number): Row[] {
  const wrong = [
    ...failures.map((facts) => ({ ok: false as const, facts })),
    ...warnings.map((facts) => ({ ok: 'warning' as const, facts })),
  ];
  const rounded = Math.round(ms);
  if (wrong.length === 0) return [{ name, ok: true, what, why: '', fix: '', ms: rounded }];
  return wrong.map(({ ok, facts }, n) => ({
    name,
    ok,
    what: placedWhat(facts),
    why: facts.why,
    fix: facts.fix,
    ms: n === 0 ? rounded : 0,
  }));
}

/** A look may meet a Problem, e.g. a missing git; then that is what it found. */
async function lookSafely<Subject>(check: Check<Subject>, subject: Subject): Promise<Findings | null> {
  try {
    return await check.look(subject);
  } catch (error) {
    if (error instanceof Problem) return { what: error.facts.what, failures: problemsOf(error) };
    throw error;
  }
}

/** One thrown Problem, or all of those that were told at once. */
export function problemsOf(error: Problem): ProblemFacts[] {
  return (error as Problem & { all?: ProblemFacts[] }).all ?? [error.facts];
}
