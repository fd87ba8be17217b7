/**
 * `npm run bench:effectiveness`: a hundred iterations of a random agent, with and without interventions, over
 * many seeds; writes docs/reference/effectiveness.md. `--quick`: two seeds, printed, nothing written.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Arm, DEFAULT_THRESHOLDS, policyFor, type Thresholds } from './effectiveness/arms.ts';
import { type Crew, openCrew, serve } from './effectiveness/crew.ts';
import type { Mix } from './effectiveness/mix.ts';
import type { Outcome } from './effectiveness/outcome.ts';
import { effectivenessPage, type Results } from './effectiveness/report.ts';

const PROGRAM = fileURLToPath(import.meta.url);
const PAGE = join(dirname(dirname(PROGRAM)), 'docs', 'reference', 'effectiveness.md');
/** q as the design's own example has it: of ten iterations two without files. p: the middle. */
const MAIN: Mix = { p: 0.5, q: 0.2 };
const ARMS: Arm[] = ['baseline', 'interventions'];
const PS = [0, 0.25, 0.5, 0.75, 1];
const QS = [0, 0.2, 0.4, 0.6, 0.8];
const THRESHOLDS: Thresholds[] = [
  { noFiles: 1, falseCompletion: 1 },
  { noFiles: 2, falseCompletion: 2 },
  DEFAULT_THRESHOLDS,
  { noFiles: 5, falseCompletion: 5 },
];
const SECOND_Q = 0.1;

const seedsUpTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

async function main(quick: boolean): Promise<number> {
  const start = performance.now();
  // One more than cores: a worker waits a good part of its time, for the disk and for git.
  const crew = openCrew(PROGRAM, availableParallelism() + 1);
  try {
    const results = await everyRun(crew, { seeds: quick ? 2 : 20, cellSeeds: quick ? 1 : 10 });
    const page = effectivenessPage(results);
    process.stdout.write(page);
    if (!quick) writeFileSync(PAGE, page);
    say(`It took ${((performance.now() - start) / 60_000).toFixed(1)} minutes.`);
    return faultsOf(results);
  } finally {
    crew.close();
  }
}

/** All runs are asked for at once, those on disk first. */
async function everyRun(
  crew: Crew,
  { seeds, cellSeeds }: { seeds: number; cellSeeds: number },
): Promise<Results> {
  const real = Promise.all(ARMS.map((arm) => onDisk(crew, arm, seeds)));
  const twins = Promise.all(ARMS.map((arm) => inMemory(crew, { arm, mix: MAIN, seeds })));
  const cell = async (arm: Arm, mix: Mix) => ({
    mix,
    runs: await inMemory(crew, { arm, mix, seeds: cellSeeds }),
  });
  const points = QS.flatMap((q) => PS.map((p) => ({ p, q })));
  const choices = [0.2, 0.6].flatMap((q) => THRESHOLDS.map((thresholds) => ({ q, thresholds })));
  const tables = Promise.all([
    Promise.all(QS.map((q) => cell('baseline', { p: 0, q }))),
    Promise.all(points.map((mix) => cell('interventions', mix))),
    Promise.all(choices.map((choice) => withSecond(crew, choice, cellSeeds))),
  ]);
  const [[without, with_], inBoth, [baseline, grid, thresholds]] = await Promise.all([real, twins, tables]);
  const [one, other] = [[...without!, ...with_!], inBoth.flat()];
  // Iterations, verdicts and allowances.
  const same = one.filter((run, n) => run.trail.join() === other[n]!.trail.join()).length;
  return {
    main: MAIN,
    seeds,
    real: { baseline: without!, interventions: with_! },
    equal: { same, of: one.length },
    cellSeeds,
    baseline,
    grid,
    thresholds,
    secondQ: SECOND_Q,
    node: process.version,
  };
}

function onDisk(crew: Crew, arm: Arm, seeds: number): Promise<Outcome[]> {
  const play = async (seed: number) => {
    const outcome = await crew.play({ real: { arm, seed, mix: MAIN } });
    say(`on disk: ${arm}, seed ${seed}`);
    return outcome;
  };
  return Promise.all(seedsUpTo(seeds).map(play));
}

async function inMemory(
  crew: Crew,
  { arm, mix, seeds }: { arm: Arm; mix: Mix; seeds: number },
): Promise<Outcome[]> {
  const policy = await policyFor(arm);
  const mixes = { simulated: mix };
  return Promise.all(seedsUpTo(seeds).map((seed) => crew.play({ pure: { policy, seed, mixes } })));
}

/** With another agent to turn to. */
async function withSecond(
  crew: Crew,
  { q, thresholds }: { q: number; thresholds: Thresholds },
  seeds: number,
): Promise<Results['thresholds'][number]> {
  const policy = await policyFor('interventions', { thresholds, fallback: ['second'] });
  const mixes = { simulated: { ...MAIN, q }, second: { ...MAIN, q: SECOND_Q } };
  const runs = seedsUpTo(seeds).map((seed) => crew.play({ pure: { policy, seed, mixes } }));
  return { thresholds, q, runs: await Promise.all(runs) };
}

/** Says what must not be; the exit code. */
function faultsOf({ real, equal, baseline, grid, thresholds }: Results): number {
  const inTables = [...baseline, ...grid, ...thresholds].flatMap(({ runs }) => runs);
  const all = [...real.baseline, ...real.interventions, ...inTables];
  const lies = all.reduce((sum, run) => sum + run.falseAccepted, 0);
  if (lies > 0) say(`${lies} false completions were accepted; there must be none.`);
  if (equal.same < equal.of) say(`${equal.of - equal.same} runs differ between disk and memory; none may.`);
  return lies > 0 || equal.same < equal.of ? 1 : 0;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

if (process.argv.includes('--work')) serve();
else process.exitCode = await main(process.argv.includes('--quick'));
