/**
 * What it costs to be at home in a project: reading long plans, setting a large repository up, and the
 * way from the command line to the first agent.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTaskList } from '../src/dialects/index.ts';
import { costMs, type Missing, median, medianCostMs, type Row, type Scale, statMs } from './measure.ts';
import { makeRepository } from './repository.ts';

const YESTERDAY = new Date('2024-01-01T00:00:00Z');
const PROGRAM = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'ralph.js');

/** One line an item: a box, an id, a priority. */
function plainList(items: number): string {
  const lines = Array.from(
    { length: items },
    (_, n) => `- [ ] **T-${n + 1}** Build part ${n + 1} (P${n % 4})`,
  );
  return `# Plan\n\n${lines.join('\n')}\n`;
}

/** A plan as people write them: phases, ids, criteria, dependencies. At least `items` tasks and `bytes` bytes. */
export function longPlan({ items = 0, bytes = 0 }: { items?: number; bytes?: number }): string {
  const parts = ['# Plan\n\nWhat is to be built, phase by phase.\n'];
  let length = parts[0]!.length;
  for (let n = 1; n <= items || length < bytes; n++) {
    const phase = n % 50 === 1 ? `\n## Phase ${Math.ceil(n / 50)}\n\n` : '';
    const part = `${phase}- [ ] **T-${n}** Build part ${n} of the product (P${n % 4})\n  - it works with \`part-${n}\`\n  - Depends on: ${n > 10 ? `T-${n - 10}` : 'none'}\n`;
    parts.push(part);
    length += part.length;
  }
  return parts.join('');
}

function ralph(args: string[], cwd: string): void {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const ran = spawnSync(process.execPath, [PROGRAM, ...args], { cwd, env, encoding: 'utf8', maxBuffer: 1e8 });
  if (ran.status !== 0) {
    throw new Error(`ralph ${args.join(' ')} ended with ${ran.status}: ${ran.stderr.slice(0, 300)}`);
  }
}

export async function planRows({ quick }: Scale): Promise<Row[]> {
  const items = quick ? 100 : 5_000;
  const list = plainList(items);
  const rich = longPlan({ items });
  const plan = longPlan({ bytes: quick ? 10_000 : 1_000_000 });
  const read = (text: string) => () => {
    const reading = readTaskList('PRD.md', text);
    if (reading.kind !== 'list') throw new Error(`the bench's plan is ${reading.kind}`);
  };
  return [
    {
      name: `a Markdown list of ${items.toLocaleString('en-US')} items`,
      value: await medianCostMs(9, read(list)),
      unit: 'ms',
      most: 100,
      note: `${Math.round(list.length / 1024)} KB`,
    },
    {
      name: 'the same with criteria, dependencies and phases',
      value: await medianCostMs(9, read(rich)),
      unit: 'ms',
      note: `${Math.round(rich.length / 1024)} KB`,
    },
    {
      name: `a plan of ${(plan.length / 1e6).toFixed(2)} MB, read`,
      value: await medianCostMs(9, read(plan)),
      unit: 'ms',
      most: 300,
    },
  ];
}

export async function setUpRows({ quick }: Scale): Promise<(Row | Missing)[]> {
  const all = ['ralph import', 'ralph init', 'ralph run up to the first agent'];
  if (!existsSync(PROGRAM)) return all.map((name) => ({ name, missing: 'dist/ralph.js is not built' }));
  const files = quick ? 300 : 100_000;
  const root = makeRepository(files);
  const many = files.toLocaleString('en-US');
  try {
    return [
      await importRow(root, quick),
      await initRow(root, { many, quick }),
      await firstAgentRow(root, { many, quick }),
    ];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function importRow(root: string, quick: boolean): Promise<Row> {
  const plan = join(root, 'long-plan.md');
  writeFileSync(plan, longPlan({ bytes: quick ? 10_000 : 1_000_000 }));
  try {
    const preview = () => ralph(['import', 'long-plan.md', '--dry-run', '--json'], root);
    return {
      name: 'the same as `ralph import --dry-run`',
      value: await medianCostMs(quick ? 1 : 5, preview),
      unit: 'ms',
      note: NODE_TOO,
    };
  } finally {
    rmSync(plan);
  }
}

const NODE_TOO = 'the whole command, the start of Node included';

async function initRow(root: string, { many, quick }: { many: string; quick: boolean }): Promise<Row> {
  const costs: number[] = [];
  for (let i = 0; i < (quick ? 1 : 5); i++) {
    for (const made of ['ralph.yml', '.gitignore']) rmSync(join(root, made), { force: true });
    costs.push(await costMs(() => ralph(['init', '--yes'], root)));
  }
  return {
    name: `ralph init in ${many} files`,
    value: median(costs) / 1000,
    unit: 's',
    most: 2,
    note: NODE_TOO,
  };
}

/**
 * The agent writes down what its parent, the runner, had used of the processor when it was started, and what
 * the runner's other children had.
 */
const AGENT = `for file in /proc/[0-9]*/stat; do
  read -r line < "$file" || continue
  set -- \${line##*) }
  case "$file:$2" in
    "/proc/$$/stat:"*) ;;
    "/proc/$PPID/stat:"*|*":$PPID") echo "$line" ;;
  esac
done > "$RALPH_BENCH_COST" 2>/dev/null
`;

async function firstAgentRow(
  root: string,
  { many, quick }: { many: string; quick: boolean },
): Promise<Row | Missing> {
  const name = `ralph run up to the first agent, ${many} files, against an empty script and one warm snapshot`;
  if (!existsSync('/proc/self/stat')) return { name, missing: 'there is no /proc here' };
  mkdirSync(join(root, '.bench'), { recursive: true });
  const git = (...args: string[]) =>
    spawnSync('git', args, { cwd: root, env: { ...process.env, ...INDEX(root) } });
  const cost = join(root, '.bench', 'cost');
  writeFileSync(join(root, '.bench', 'agent.sh'), AGENT);
  writeFileSync(join(root, '.gitignore'), '.bench/\n');
  writeFileSync(
    join(root, 'ralph.yml'),
    'agent: mine\nagents: { mine: { command: [sh, .bench/agent.sh] } }\n',
  );
  writeFileSync(join(root, 'PRD.md'), '# Plan\n\n- [ ] one task\n');
  // As old as all the others: files as young as the index are read again by every git, and the index written anew.
  for (const file of ['.gitignore', 'ralph.yml', 'PRD.md'])
    utimesSync(join(root, file), YESTERDAY, YESTERDAY);
  spawnSync('git', ['add', '-A'], { cwd: root });
  spawnSync('git', ['commit', '-q', '-m', 'set up'], { cwd: root });
  spawnSync('cp', ['.git/index', '.bench/index'], { cwd: root });
  const empty = join(root, '.bench', 'empty.mjs');
  writeFileSync(empty, '');
  const floor = () => {
    spawnSync(process.execPath, [empty], { cwd: root });
    git('add', '-A');
    git('write-tree');
  };
  floor();
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let i = 0; i < (quick ? 1 : 7); i++) {
    for (const made of ['.ralph', '.ralph-sessions', 'ralph']) {
      rmSync(join(root, made), { recursive: true, force: true });
    }
    process.env.RALPH_BENCH_COST = cost;
    const args = ['run', '--new', '-n', '1', '--quiet', '--no-wait'];
    spawnSync(process.execPath, [PROGRAM, ...args], { cwd: root, env: process.env, encoding: 'utf8' });
    if (!existsSync(cost)) return { name, missing: 'no agent was started' };
    const stats = readFileSync(cost, 'utf8').trim().split('\n').map(statMs);
    ours.push(stats.reduce((sum, { own, ended }) => sum + own + ended, 0));
    rmSync(cost);
    theirs.push(await costMs(floor));
  }
  return {
    name,
    value: median(ours) / median(theirs),
    unit: 'x',
    most: 1.5,
    note: `${median(ours).toFixed(0)} ms against ${median(theirs).toFixed(0)} ms`,
  };
}

const INDEX = (root: string) => ({ GIT_INDEX_FILE: join(root, '.bench', 'index') });
