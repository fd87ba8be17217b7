/** What a project's journals and mirrors say, so that a test can ask for one kind of fact. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fact, FactType, JournalRecord } from '../../src/core/index.ts';
import type { Project, Ran } from './project.ts';

/** Session ids, oldest first. */
export function sessions({ dir }: Project): string[] {
  return readdirSync(join(dir, '.ralph-sessions'))
    .filter((name) => /^\d{6}-\d{6}$/.test(name))
    .sort();
}

/** The folder of a session; the newest one where none is named. */
export function sessionDir(project: Project, id?: string): string {
  return join(project.dir, '.ralph-sessions', id ?? sessions(project).at(-1) ?? 'none');
}

export function facts<T extends FactType>(
  project: Project,
  type: T,
  session?: string,
): Extract<Fact, { type: T }>[] {
  const text = readFileSync(join(sessionDir(project, session), 'journal.jsonl'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => (JSON.parse(line) as JournalRecord).facts)
    .filter((fact): fact is Extract<Fact, { type: T }> => fact.type === type);
}

/** Verdicts as `task value finding finding…`, in their order; findings of severity info are left out. */
export function verdicts(project: Project, quiet: readonly string[] = ['evidence_missing']): string[] {
  return facts(project, 'verdict.reached').map(({ item, value, findings }) =>
    [
      item.task ?? '',
      value,
      ...new Set(findings.map(({ kind }) => kind).filter((kind) => !quiet.includes(kind))),
    ].join(' '),
  );
}

/** How many agent runs were started. */
export function started(project: Project, session?: string): number {
  return facts(project, 'attempt.started', session).length;
}

/** The rows of summary.csv as objects; it holds no quoted field unless a test makes one. */
export function csv(project: Project): { header: string; rows: Record<string, string>[] } {
  const [header = '', ...lines] = readFileSync(join(sessionDir(project), 'logs/summary.csv'), 'utf8')
    .trimEnd()
    .split('\n');
  const names = header.split(',');
  const rows = lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
  });
  return { header, rows };
}

/** The prompt of an iteration. */
export function prompt(project: Project, iteration: number, session?: string): string {
  const name = `iteration-${String(iteration).padStart(3, '0')}.prompt.md`;
  return readFileSync(join(sessionDir(project, session), 'logs', name), 'utf8');
}

/** Parses what a `--json` window printed. */
export function json<T = Record<string, unknown>>(ran: Ran): T {
  return JSON.parse(ran.out) as T;
}

/** Waits until something holds; fails after half a minute, or what is granted. */
export async function until(holds: () => boolean, what: string, grantedMs = 30_000): Promise<void> {
  for (let waited = 0; waited < grantedMs; waited += 50) {
    try {
      if (holds()) return;
    } catch {
      // What it looks at is not there yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never came true: ${what}`);
}
