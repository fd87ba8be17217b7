/**
 * `npm run bench`: every number the product promises, with its budget, and exit 1 when one is missed.
 *
 *   npm run bench                  all of it, some minutes
 *   npm run bench -- --only loop   one part: start, law, home, behaviour, evidence, output, loop,
 *                                  full, human, agents, loops
 *   npm run bench -- --quick       a smoke run: small sizes, no budgets
 */
import { type Missing, machine, print, type Row, type Scale } from './measure.ts';

type Part = (scale: Scale) => Promise<(Row | Missing)[]>;

// Loaded one by one, so that no part's memory is measured with another's.
const PARTS: Record<string, () => Promise<Part[]>> = {
  start: async () => [(await import('./start.ts')).startRows],
  law: async () => {
    const { journalRows, taskRows } = await import('./law.ts');
    return [journalRows, taskRows];
  },
  home: async () => {
    const { planRows, setUpRows } = await import('./home.ts');
    return [planRows, setUpRows];
  },
  behaviour: async () => [(await import('./behaviour.ts')).behaviourRows],
  evidence: async () => {
    const { proseRows, receiptRows } = await import('./evidence.ts');
    return [proseRows, receiptRows];
  },
  output: async () => [(await import('./output.ts')).outputRows],
  loop: async () => [(await import('./loop.ts')).loopRows],
  full: async () => [(await import('./full.ts')).fullRows],
  human: async () => [(await import('./human.ts')).humanRows],
  agents: async () => {
    const { parseRows, poolRows } = await import('./agents.ts');
    return [parseRows, poolRows];
  },
  loops: async () => [(await import('./loops.ts')).loopsRows],
};

async function main(args: string[]): Promise<number> {
  const scale: Scale = { quick: args.includes('--quick') };
  const only = args.includes('--only') ? args[args.indexOf('--only') + 1] : undefined;
  if (only !== undefined && !(only in PARTS)) {
    process.stderr.write(`There is no part "${only}"; there are ${Object.keys(PARTS).join(', ')}.\n`);
    return 5;
  }
  process.stdout.write(`${machine()}\nCPU time, children included, or ratios of one run.\n`);
  const missed: string[] = [];
  for (const [name, parts] of Object.entries(PARTS)) {
    if (only !== undefined && only !== name) continue;
    process.stdout.write(`\n${name}\n`);
    for (const part of await parts()) {
      for (const row of await part(scale)) if (!print(row, scale)) missed.push(row.name);
    }
  }
  if (missed.length === 0) return 0;
  process.stdout.write(`\nOver budget: ${missed.join('; ')}\n`);
  return 1;
}

process.exitCode = await main(process.argv.slice(2));
