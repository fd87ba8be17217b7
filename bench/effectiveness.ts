/**
 * `npm run bench:effectiveness`: a hundred iterations of a random agent, with and without interventions, over
 * many seeds; writes docs/reference/effectiveness.md. `--quick`: two seeds, printed, nothing written.
 */
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Arm, DEFAULT_THRESHOLDS, policyFor } from './effectiveness/arms.ts';
import type { Mix } from './effectiveness/mix.ts';
import type { Outcome } from './effectiveness/outcome.ts';
import { playPure } from './effectiveness/pure.ts';
import { playReal, type RealRun } from './effectiveness/real.ts';
import { effectivenessPage, type Results } from './effectiveness/report.ts';

const PAGE = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs', 'reference', 'effectiveness.md');
/** q as the design's own example has it: of ten iterations two without files. p: the middle. */
const MAIN: Mix = { p: 0.5, q: 0.2 };
const ARMS: Arm[] = ['baseline', 'interventions'];
const PS = [0, 0.25, 0.5, 0.75, 1];
const QS = [0, 0.2, 0.4, 0.6, 0.8];
const THRESHOLDS = [
  { noFiles: 1, falseCompletion: 1 },
  { noFiles: 2, falseCompletion: 2 },
  DEFAULT_THRESHOLDS,
  { noFiles: 5, falseCompletion: 5 },
];
const SECOND_Q = 0.1;

const seedsUpTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

async function main(quick: boolean): Promise<number> {
  const seeds = quick ? 2 : 20;
  const cellSeeds = quick ? 1 : 10;
  const real = await allReal(seeds);
  const equal = await compared(real);
  const cell = async (arm: Arm, mix: Mix) => ({ mix, runs: await inMemory(arm, mix, cellSeeds) });
  say('in memory: the table over p and q');
  const baseline = await inOrder(QS, (q) => cell('baseline', { p: 0, q }));
  const points = QS.flatMap((q) => PS.map((p) => ({ p, q })));
  const grid = await inOrder(points, (mix) => cell('interventions', mix));
  say('in memory: thresholds');
  const choices = [0.2, 0.6].flatMap((q) => THRESHOLDS.map((thresholds) => ({ q, thresholds })));
  const thresholds = await inOrder(choices, async ({ q, thresholds }) => {
    const policy = await policyFor('interventions', { thresholds, fallback: ['second'] });
    const mixes = { simulated: { ...MAIN, q }, second: { ...MAIN, q: SECOND_Q } };
    return {
      thresholds,
      q,
      runs: await inOrder(seedsUpTo(cellSeeds), (seed) => playPure({ policy, seed, mixes })),
    };
  });
  const results: Results = {
    main: MAIN,
    seeds,
    real,
    equal,
    cellSeeds,
    baseline,
    grid,
    thresholds,
    secondQ: SECOND_Q,
    node: process.version,
  };
  const page = effectivenessPage(results);
  process.stdout.write(page);
  if (!quick) writeFileSync(PAGE, page);
  const accepted = [...real.baseline, ...real.interventions, ...grid.flatMap(({ runs }) => runs)];
  const lies = accepted.reduce((sum, run) => sum + run.falseAccepted, 0);
  if (lies > 0) say(`${lies} false completions were accepted; there must be none.`);
  if (equal.same < equal.of) say(`${equal.of - equal.same} runs differ between disk and memory; none may.`);
  return lies > 0 || equal.same < equal.of ? 1 : 0;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function inOrder<In, Out>(list: readonly In[], work: (one: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  for (const one of list) results.push(await work(one));
  return results;
}

async function inMemory(arm: Arm, mix: Mix, seeds: number): Promise<Outcome[]> {
  const policy = await policyFor(arm);
  return inOrder(seedsUpTo(seeds), (seed) => playPure({ policy, seed, mixes: { simulated: mix } }));
}

/** Runs whose iterations, verdicts and allowances are the same on disk and in memory. */
async function compared(real: Results['real']): Promise<Results['equal']> {
  let [same, of] = [0, 0];
  for (const arm of ARMS) {
    const pure = await inMemory(arm, MAIN, real[arm].length);
    for (const [n, run] of real[arm].entries()) {
      of += 1;
      if (run.trail.join() === pure[n]!.trail.join()) same += 1;
    }
  }
  return { same, of };
}

/** The real runs, several at a time, each in a process of its own. */
async function allReal(seeds: number): Promise<Results['real']> {
  const wanted = seedsUpTo(seeds).flatMap((seed) => ARMS.map((arm): RealRun => ({ arm, seed, mix: MAIN })));
  const real: Results['real'] = { baseline: [], interventions: [] };
  let next = 0;
  let done = 0;
  const work = async () => {
    while (next < wanted.length) {
      const run = wanted[next++]!;
      real[run.arm][run.seed - 1] = await apart(run);
      done += 1;
      say(`on disk: ${done} of ${wanted.length} runs`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work));
  return real;
}

function apart(run: RealRun): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['--play', JSON.stringify(run)]);
    let outcome: Outcome | null = null;
    child.on('message', (message) => {
      outcome = message as Outcome;
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      if (outcome !== null) resolve(outcome);
      else reject(new Error(`the run of seed ${run.seed} (${run.arm}) ended with ${code} and no outcome`));
    });
  });
}

const played = process.argv.indexOf('--play');
if (played === -1) {
  process.exitCode = await main(process.argv.includes('--quick'));
} else {
  const outcome = await playReal(JSON.parse(process.argv[played + 1]!) as RealRun);
  process.send?.(outcome);
  process.disconnect?.();
}
