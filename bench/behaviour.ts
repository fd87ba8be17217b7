/** What the windows on agents' behaviour cost in a project that has seen ten thousand events. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { appendProject } from '../src/store/index.ts';
import { type Missing, medianCostMs, type Row, type Scale } from './measure.ts';

const PROGRAM = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'ralph.js');
const EVENTS_EACH = 2;

export async function behaviourRows({ quick }: Scale): Promise<(Row | Missing)[]> {
  const events = quick ? 100 : 10_000;
  const many = events.toLocaleString('en-US');
  const windows = ['interventions', 'profile'] as const;
  if (!existsSync(PROGRAM))
    return windows.map((name) => ({ name: `ralph ${name}`, missing: 'dist/ralph.js is not built' }));
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-'));
  try {
    spawnSync('git', ['init', '-q'], { cwd: root });
    await appendProject(root, ...notes(events / EVENTS_EACH));
    const rows: Row[] = [];
    for (const name of windows) {
      const ms = await medianCostMs(quick ? 1 : 5, () => look(root, name));
      rows.push({ name: `ralph ${name}, ${many} stored events`, value: ms / 1000, unit: 's', most: 0.5 });
    }
    return rows;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function look(root: string, name: string): void {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const ran = spawnSync(process.execPath, [PROGRAM, name, '--json'], { cwd: root, env, maxBuffer: 1e8 });
  if (ran.status !== 0) throw new Error(`ralph ${name} ended with ${ran.status}: ${ran.stderr}`);
}

/** One note an iteration, as a run leaves it: a claim without work, on one of many tasks. */
function notes(count: number) {
  const detail = 'No file in the repository changed.';
  return Array.from({ length: count }, (_, n) => ({
    at: Date.UTC(2026, 0, 1) + n * 60_000,
    type: 'iteration.noted',
    session: '260101-000000',
    n,
    iteration: n + 1,
    agent: n % 3 === 0 ? 'codex' : 'claude',
    task: `US-${n % 200}`,
    class: n % 2 === 0 ? 'medium' : 'ui_heavy',
    mode: 'implement',
    outcome: 'rejected',
    files: n % 4,
    evidence: 0,
    durationMs: 60_000,
    events: ['no_files_detected', 'false_completion_detected'].map((event_type) => ({
      event_type,
      severity: 'critical',
      details: { task_id: `US-${n % 200}`, agent: 'claude', finding: event_type, detail },
      remediation_attempted: true,
    })),
    thresholds: { noFiles: 3, falseCompletion: 2 },
  }));
}
