/** docs/reference/effectiveness.md, written from the numbers of this run. */
import { type Arm, DEFAULT_THRESHOLDS, ITERATIONS, type Thresholds } from './arms.ts';
import { type Mix, TASKS, TASKS_OF } from './mix.ts';
import type { Outcome } from './outcome.ts';

export interface Cell {
  mix: Mix;
  runs: Outcome[];
}

export interface Results {
  main: Mix;
  seeds: number;
  real: Record<Arm, Outcome[]>;
  /** Runs of the main point whose in-memory trail equals the real one, of how many. */
  equal: { same: number; of: number };
  cellSeeds: number;
  baseline: Cell[];
  grid: Cell[];
  /** With a second agent to turn to, by thresholds. */
  thresholds: { thresholds: Thresholds; q: number; runs: Outcome[] }[];
  secondQ: number;
  node: string;
}

type Measure = Exclude<keyof Outcome, 'trail'>;

/** What the design asks of its mix, and what it saw without interventions. */
const TARGETS: {
  measure: Measure;
  words: string;
  meets: (value: number) => boolean;
  target: string;
  seen: string;
}[] = [
  { measure: 'blocked', words: 'blocked UI tasks', meets: (v) => v < 0.2, target: '< 20 %', seen: '55 %' },
  { measure: 'wasted', words: 'wasted iterations', meets: (v) => v < 0.15, target: '< 15 %', seen: '44 %' },
  {
    measure: 'uiVerified',
    words: 'UI tasks completed',
    meets: (v) => v > 0.8,
    target: '> 80 %',
    seen: '45 %',
  },
];

const ROWS: { measure: Measure; words: string; show: (value: number) => string }[] = [
  { measure: 'iterations', words: 'iterations used', show: plain },
  { measure: 'filesPerIteration', words: 'files per iteration', show: plain },
  { measure: 'interventionsPer100', words: 'findings per 100 iterations', show: plain },
  { measure: 'verified', words: 'tasks completed and verified', show: percent },
  { measure: 'uiVerified', words: 'UI tasks completed and verified', show: percent },
  { measure: 'falseAccepted', words: 'false completions accepted', show: plain },
  { measure: 'blocked', words: 'UI tasks blocked', show: percent },
  { measure: 'wasted', words: 'iterations wasted', show: percent },
];

export function medianOf(runs: readonly Outcome[], measure: Measure): number {
  return quantile(runs, measure, 0.5);
}

function quantile(runs: readonly Outcome[], measure: Measure, share: number): number {
  const sorted = runs.map((run) => run[measure]).sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return low + (high - low) * (at - Math.floor(at));
}

function plain(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

function percent(value: number): string {
  return `${(100 * value).toFixed(0)} %`;
}

const named = ({ p, q }: Mix) => `p = ${p}, q = ${q}`;

/** The page. */
export function effectivenessPage(results: Results): string {
  return `${[
    head(results),
    mainTable(results),
    targets(results),
    sensitivity(results),
    thresholdTable(results),
    guide(results),
  ].join('\n\n')}\n`;
}

function head({ seeds, main, node, equal }: Results): string {
  return `# Effectiveness of interventions

<!-- Written by \`npm run bench:effectiveness\`; edits are lost at its next run. -->

This is a **simulation**. It says what the loop does with an agent that behaves as described here; it does not say
how a real agent behaves.

The agent is a random one with fixed seeds. It lies with probability q (claims to be done and has written nothing),
and when its prompt carries feedback it heeds it with probability p. ${TASKS.length} tasks, of which the last ${TASKS_OF.ui} are user
interface; 12 of 22 of those need five to ten times the 40 to 100 s of the others; an attempt gets 120 s (mode
\`speed\`), three attempts a task, at most ${ITERATIONS} iterations, no stuck limit. What runs out of time leaves unfinished
work that breaks the project's check, and the next attempt needs the whole time again. One UI title in five does not
say that it is one. Both arms meet the same draws. The clock is simulated: nobody waits for an attempt.

- **baseline**: \`interventions.enabled: false\`, \`adaptive_timeout.enabled: false\`
- **interventions**: the defaults

The main point is ${named(main)}, over ${seeds} seeds, each played on a real git repository with real gates, journal and task
file. The same draws played in memory gave the same iterations, verdicts and allowances in ${equal.same} of ${equal.of} runs; the tables
below the first were played in memory. Node ${node}.`;
}

function mainTable({ real, main }: Results): string {
  const cell = (runs: Outcome[], { measure, show }: (typeof ROWS)[number]) =>
    `${show(medianOf(runs, measure))} (${show(quantile(runs, measure, 0.1))} … ${show(quantile(runs, measure, 0.9))})`;
  const rows = ROWS.map(
    (row) => `| ${row.words} | ${cell(real.baseline, row)} | ${cell(real.interventions, row)} |`,
  );
  return `## At ${named(main)}

Median, and between brackets the tenth and the ninetieth of a hundred runs.

| | baseline | interventions |
|---|---|---|
${rows.join('\n')}`;
}

function targets({ grid, baseline, real, main }: Results): string {
  const rows = TARGETS.map(({ measure, words, target, seen, meets }) => {
    const value = medianOf(real.interventions, measure);
    return `| ${words} | ${seen} | ${percent(medianOf(real.baseline, measure))} | ${target} | ${percent(value)} | ${meets(value) ? 'yes' : '**no**'} |`;
  });
  const met = grid.filter((cell) =>
    TARGETS.every(({ measure, meets }) => meets(medianOf(cell.runs, measure))),
  );
  const lines = TARGETS.map(({ measure, words, target, meets }) => {
    const kept = grid.filter((cell) => meets(medianOf(cell.runs, measure)));
    return `- ${words} ${target}: met at ${kept.length} of ${grid.length} points${kept.length === 0 || kept.length === grid.length ? '' : ` (${kept.map(({ mix }) => named(mix)).join('; ')})`}.`;
  });
  return `## Against the targets of the design

| | seen without | baseline here | target | interventions here | met at ${named(main)} |
|---|---|---|---|---|---|
${rows.join('\n')}

Over the ${grid.length} points of the table below, at the same number of iterations:

${lines.join('\n')}
- all three: ${met.length === 0 ? 'at none of them' : met.map(({ mix }) => named(mix)).join('; ')}.

Of ${baseline.length + grid.length} points, ${[...baseline, ...grid].filter(({ runs }) => runs.some((run) => run.falseAccepted > 0)).length} accepted a false completion.`;
}

function sensitivity({ grid, baseline, cellSeeds }: Results): string {
  const ps = [...new Set(grid.map(({ mix }) => mix.p))];
  const table = (measure: Measure) => {
    const line = (q: number) => {
      const cells = ps.map((p) => grid.find(({ mix }) => mix.p === p && mix.q === q)!);
      const without = baseline.find(({ mix }) => mix.q === q)!;
      return `| ${q} | ${percent(medianOf(without.runs, measure))} | ${cells.map(({ runs }) => percent(medianOf(runs, measure))).join(' | ')} |`;
    };
    const qs = [...new Set(grid.map(({ mix }) => mix.q))];
    return `| q | baseline | ${ps.map((p) => `p = ${p}`).join(' | ')} |\n|---|---|${ps.map(() => '---|').join('')}\n${qs.map(line).join('\n')}`;
  };
  return `## Sensitivity

Medians over ${cellSeeds} seeds. Without interventions p has no meaning: there is no feedback to heed.

### Tasks completed and verified

${table('verified')}

### Iterations wasted

${table('wasted')}

### UI tasks blocked

${table('blocked')}`;
}

function thresholdTable({ thresholds, secondQ, main }: Results): string {
  const rows = thresholds.map(({ thresholds: { noFiles, falseCompletion }, q, runs }) => {
    const at = DEFAULT_THRESHOLDS;
    const own = noFiles === at.noFiles && falseCompletion === at.falseCompletion ? ' (default)' : '';
    return `| ${noFiles}, ${falseCompletion}${own} | ${q} | ${percent(medianOf(runs, 'verified'))} | ${percent(medianOf(runs, 'wasted'))} | ${percent(medianOf(runs, 'blocked'))} |`;
  });
  return `## Thresholds

The circuit breaker sends a task to the next agent of \`fallback\`. Here that is one that lies with q = ${secondQ}; p = ${main.p} for
both.

| threshold_no_files, threshold_false_completion | q | verified | wasted | UI blocked |
|---|---|---|---|---|
${rows.join('\n')}`;
}

function guide(results: Results): string {
  const { grid, baseline, thresholds, main } = results;
  const gain = (measure: Measure, mix: Mix) => {
    const on = grid.find((cell) => cell.mix.p === mix.p && cell.mix.q === mix.q)!;
    const off = baseline.find((cell) => cell.mix.q === mix.q)!;
    return `${percent(medianOf(off.runs, measure))} to ${percent(medianOf(on.runs, measure))}`;
  };
  const qs = [...new Set(thresholds.map(({ q }) => q))];
  const best = qs.map((q) => {
    const all = thresholds.filter((one) => one.q === q);
    const values = all.map(({ runs }) => medianOf(runs, 'wasted'));
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const { noFiles, falseCompletion } = all[values.indexOf(least)]!.thresholds;
    return least === most
      ? `- q = ${q}: the thresholds make no difference (${percent(least)} wasted with each of them).`
      : `- q = ${q}: from ${percent(most)} down to ${percent(least)} of the iterations are wasted; least with ${noFiles} and ${falseCompletion}.`;
  });
  const deaf = { ...main, p: 0 };
  return `## Tuning guide

- What adaptive time gives shows where the agent heeds nothing (p = 0): blocked UI tasks go from ${gain('blocked', deaf)}, at
  q = ${main.q}. Keep \`adaptive_timeout\` on; name the words of your project's slow tasks in \`adaptive_timeout.complexity\`.
- What feedback gives grows with p and q. Where \`ralph profile\` shows that corrected findings come back, feedback is
  not heeded: name another agent in \`fallback\` rather than lowering thresholds.
${best.join('\n')}
- Without another agent in \`fallback\` the thresholds only change the wording and the notice; in this simulation the
  agent does not read wording, so they change nothing there.
- A threshold of 1 trips on a single bad iteration. It is worth it only where the other agent is clearly better.`;
}
