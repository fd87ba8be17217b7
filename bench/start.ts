/** Cold starts: the built program beside an empty Node script, in turns, and `status` on a long journal. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeJournal } from './journal.ts';
import { inTurns, type Missing, medianCostMs, type Row, type Scale } from './measure.ts';

export const PROGRAM = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'ralph.js');
const SESSION = '260101-000000';

interface Call {
  args: string[];
  cwd: string;
  env?: Record<string, string>;
}

export function node({ args, cwd, env = {} }: Call): string {
  const { NODE_OPTIONS: _, ...clean } = process.env;
  const ran = spawnSync(process.execPath, args, { cwd, env: { ...clean, ...env }, encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`${args.join(' ')} ended with ${ran.status}: ${ran.stderr}`);
  return ran.stdout;
}

export async function startRows(scale: Scale): Promise<(Row | Missing)[]> {
  const names = ['ralph --version', 'ralph emit', 'ralph status'];
  if (!existsSync(PROGRAM)) return names.map((name) => ({ name, missing: 'dist/ralph.js is not built' }));
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-bench-start-')));
  try {
    return [...(await againstEmpty(cwd, scale)), await statusRow(cwd, scale)];
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

async function againstEmpty(cwd: string, { quick }: Scale): Promise<Row[]> {
  const rounds = quick ? 2 : 30;
  const script = join(cwd, 'empty.mjs');
  writeFileSync(script, '');
  const empty = () => node({ args: [script], cwd });
  const emission = {
    args: [PROGRAM, 'emit', 'build.done', 'All tests pass'],
    cwd,
    env: agentVariables(cwd),
  };
  empty();
  node({ args: [PROGRAM, '--version'], cwd });
  const [version, bare] = await inTurns(rounds, () => node({ args: [PROGRAM, '--version'], cwd }), empty);
  node(emission);
  const [emit, bareToo] = await inTurns(rounds, () => node(emission), empty);
  const note = (ours: number, theirs: number) =>
    `${(ours / rounds).toFixed(0)} ms against ${(theirs / rounds).toFixed(0)} ms`;
  return [
    {
      name: 'ralph --version against an empty Node script',
      value: version / bare,
      unit: 'x',
      most: 1.4,
      note: note(version, bare),
    },
    {
      name: 'ralph emit against an empty Node script',
      value: emit / bareToo,
      unit: 'x',
      most: 1.3,
      note: note(emit, bareToo),
    },
  ];
}

function agentVariables(cwd: string): Record<string, string> {
  return {
    RALPH_OUTBOX: join(cwd, 'outbox.jsonl'),
    RALPH_RUN_TOKEN: '0'.repeat(64),
    RALPH_SESSION_ID: SESSION,
    RALPH_SESSION_DIR: cwd,
    RALPH_ITERATION: '1',
    RALPH_ROLE: 'executor',
    RALPH_MODE: 'implement',
    RALPH_TASK_ID: 'US-0001',
  };
}

async function statusRow(cwd: string, { quick }: Scale): Promise<Row | Missing> {
  const project = join(cwd, 'project');
  const folder = join(project, '.ralph-sessions', SESSION);
  mkdirSync(folder, { recursive: true });
  spawnSync('git', ['init', '-q', project]);
  const iterations = quick ? 100 : 10_000;
  const facts = await writeJournal({
    iterations,
    tasks: quick ? 10 : 1_000,
    file: join(folder, 'journal.jsonl'),
  });
  const status = { args: [PROGRAM, 'status'], cwd: project };
  const name = `ralph status on a journal of ${facts.toLocaleString('en-US')} facts`;
  try {
    node(status);
  } catch (error) {
    return { name, missing: String(error).split('\n')[0]!.slice(0, 160) };
  }
  return {
    name,
    value: (await medianCostMs(quick ? 1 : 5, () => node(status))) / 1000,
    unit: 's',
    most: 0.5,
  };
}
