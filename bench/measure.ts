/**
 * How a benchmark measures and what it prints. Seconds on a wall are the machine's, not the program's,
 * so a number is CPU time, children included, or a ratio of two things measured in turns in one run.
 */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** One printed line. `most` or `least` is the budget; a line without one is for orientation. */
export interface Row {
  name: string;
  value: number;
  unit: string;
  most?: number;
  least?: number;
  /** How it was measured, or what it is made of. */
  note?: string;
}

/** A number that could not be measured here, and why. */
export interface Missing {
  name: string;
  missing: string;
}

export interface Scale {
  /** A smoke run: everything is exercised, nothing is held to its budget. */
  quick: boolean;
}

/** Linux counts the CPU time of ended children in hundredths of a second. */
const TICKS_PER_MS = 0.1;

/** CPU ms by the fields of /proc/PID/stat behind the name: of the process itself, and of its ended children. */
export function statMs(stat: string): { own: number; ended: number } {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ms = (at: number) => (Number(fields[at] ?? 0) + Number(fields[at + 1] ?? 0)) / TICKS_PER_MS;
  return { own: ms(11), ended: ms(13) };
}

/** Of ended children, and of those that still run, as the shell that starts git for us, with theirs. */
function childrenMs(): number {
  try {
    let total = statMs(readFileSync('/proc/self/stat', 'utf8')).ended;
    const running = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim();
    for (const pid of running === '' ? [] : running.split(' ')) {
      const { own, ended } = statMs(statOf(pid));
      total += own + ended;
    }
    return total;
  } catch {
    return 0;
  }
}

function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return ''; // it ended meanwhile
  }
}

/** CPU ms of this process, of its children that ended since it started, and of those that still run. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + childrenMs();
}

/** What the work costs in CPU ms, its children included. */
export async function costMs(work: () => unknown): Promise<number> {
  const before = cpuMs();
  await work();
  return cpuMs() - before;
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The median cost of several runs, after one that warms up. */
export async function medianCostMs(runs: number, work: () => unknown): Promise<number> {
  await work();
  const costs: number[] = [];
  for (let i = 0; i < runs; i++) costs.push(await costMs(work));
  return median(costs);
}

/** Runs two things in turns and answers what each cost altogether, so that a busy moment hits both. */
export async function inTurns(
  rounds: number,
  first: () => unknown,
  second: () => unknown,
): Promise<[number, number]> {
  let [a, b] = [0, 0];
  for (let i = 0; i < rounds; i++) {
    a += await costMs(first);
    b += await costMs(second);
  }
  return [a, b];
}

/** The last two digits that matter. */
function short(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}

function isKept({ value, most, least }: Row): boolean {
  return !(most !== undefined && value > most) && !(least !== undefined && value < least);
}

function budgetOf({ most, least, unit }: Row): string {
  if (most !== undefined) return `<= ${short(most)} ${unit}`;
  return least === undefined ? '' : `>= ${short(least)} ${unit}`;
}

/** Prints one line; answers whether its budget was kept. */
export function print(row: Row | Missing, { quick }: Scale): boolean {
  if ('missing' in row) {
    process.stdout.write(`  --   ${row.name}: not measured, ${row.missing}\n`);
    return true;
  }
  const budget = budgetOf(row);
  const kept = quick || isKept(row);
  const sign = budget === '' ? '    ' : kept ? 'ok  ' : 'OVER';
  const value = `${short(row.value)} ${row.unit}`;
  const note = row.note === undefined ? '' : `  (${row.note})`;
  process.stdout.write(
    `  ${sign} ${row.name.padEnd(58)} ${value.padStart(14)}  ${budget.padEnd(18)}${note}`.trimEnd(),
  );
  process.stdout.write('\n');
  return kept;
}

/** What the numbers were measured on. */
export function machine(): string {
  const all = cpus();
  return `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${all.length} × ${all[0]?.model ?? 'CPU'}`;
}
