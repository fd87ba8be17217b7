/**
 * A session's folder that another tool left, without a journal: what its files say of where it stands. Read as
 * tolerantly as any work; what could not be understood is told by file and line, and nothing is guessed as done.
 */
import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import {
  CATEGORIES,
  itemKey,
  MODES,
  type Mode,
  PHASE_NAMES,
  type Phase,
  type SessionAssessment,
  type TaskDef,
  type TaskStatus,
} from '../core/index.ts';
import { timeOf } from './v2-front-matter.ts';
import { type ProgressMarker, readProgressMarkers } from './v2-progress.ts';
import { readReport } from './v2-report.ts';
import { readReview } from './v2-review.ts';
import { headingsOf } from './v2-sections.ts';
import { readTaskFolder } from './v2-task-folder.ts';

export interface ForeignTask {
  def: TaskDef;
  status: TaskStatus;
  /** Reports of it that lie there. */
  runs: number;
  /** What a review that sent it back said; null: none did. */
  feedback: string | null;
}

export interface ForeignCycle {
  cycle: number;
  tasks: ForeignTask[];
  /** Keys of the calls on the session that are over. */
  done: string[];
  /** Planning went on to tasks. */
  planned: boolean;
  review: SessionAssessment | null;
}

export interface ForeignSession {
  /** The goal of its first plan; empty where it gives none. */
  objective: string;
  /** Epoch ms; null where nothing legible says so. */
  createdAt: number | null;
  startedAt: number | null;
  /** The phase to go on in; steps inside a batch begin again with the pick of tasks. */
  phase: Phase;
  /** Oldest first; the last is the running one. */
  cycles: ForeignCycle[];
  /** Sentences for a person: what was read otherwise than it stands there, and what not at all. */
  notes: string[];
}

/** `files`: text by path relative to the session's folder. null: nothing of a session lies there. Never throws. */
export function readForeignSession(files: ReadonlyMap<string, string>): ForeignSession | null {
  const notes: string[] = [];
  const numbers = new Set([...files.keys()].flatMap((path) => /^iterations\/(\d+)\//.exec(path)?.[1] ?? []));
  const meta = readYaml(files, 'metadata.yaml', notes);
  const found = [...numbers].map(Number).filter((cycle) => cycle > 0);
  if (found.length === 0 && meta === null) return null;
  const said = Number(meta?.get('iteration'));
  const last = lastCycle({ said, found, files, notes });
  const state = phaseOf(meta, notes);
  const cycles: ForeignCycle[] = [];
  for (let cycle = 1; cycle <= last; cycle++) cycles.push(readCycle(files, { cycle, notes }));
  const current = cycles.at(-1)!;
  const phase = phaseFor(current, state, files.has(`iterations/${last}/plan.md`));
  settle(current, phase, notes);
  const times = readYaml(files, `iterations/${last}/metadata.yaml`, notes);
  return {
    objective: goalOf(files.get('iterations/1/plan.md') ?? ''),
    createdAt: timeOf(String(meta?.get('created_at') ?? '')),
    startedAt: timeOf(String(times?.get('started_at') ?? '')),
    phase,
    cycles,
    notes: [...new Set(notes)],
  };
}

interface Numbers {
  said: number;
  found: number[];
  files: ReadonlyMap<string, string>;
  notes: string[];
}

/** A folder that holds nothing but feedback is the next cycle, which has not begun. */
function lastCycle({ said, found, files, notes }: Numbers): number {
  const begun = found.filter((cycle) =>
    [...files.keys()].some(
      (path) => path.startsWith(`iterations/${cycle}/`) && !path.startsWith(`iterations/${cycle}/feedbacks/`),
    ),
  );
  const last = Math.max(1, ...begun);
  if (!Number.isInteger(said) || said < 1) return last;
  if (said !== last)
    notes.push(
      `metadata.yaml: iteration is ${said}, and the last folder with works is ${last}; ${last} counts`,
    );
  return last;
}

/** The values of a file as text by key, nested ones with a dot; null where it is not there or no mapping. */
function readYaml(
  files: ReadonlyMap<string, string>,
  path: string,
  notes: string[],
): Map<string, string> | null {
  const text = files.get(path);
  if (text === undefined) return null;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, logLevel: 'silent', uniqueKeys: false });
  for (const error of document.errors.slice(0, 3)) {
    const line = lines.linePos(error.pos[0]).line;
    notes.push(
      `${path}:${line}: ${error.message.split('\n')[0]}; it is not used, the files tell where it stands`,
    );
  }
  // Half of it would be believed for the whole.
  if (document.errors.length > 0) return null;
  const values = new Map<string, string>();
  const walk = (node: unknown, lead: string) => {
    if (!isMap(node)) return;
    for (const { key, value } of node.items) {
      const name = `${lead}${isScalar(key) ? String(key.value) : ''}`;
      if (isScalar(value)) values.set(name, String(value.value ?? ''));
      else walk(value, `${name}.`);
    }
  };
  walk(document.contents, '');
  if (values.size === 0 && text.trim() !== '') notes.push(`${path}:1: it holds no key that can be read`);
  return values.size === 0 ? null : values;
}

function phaseOf(meta: Map<string, string> | null, notes: string[]): Phase | null {
  const said = meta?.get('orchestrator.state')?.trim().toUpperCase();
  if (said === undefined || said === '') return null;
  const known = PHASE_NAMES.find((phase) => phase === said);
  if (known === undefined)
    notes.push(`metadata.yaml: the state "${said.slice(0, 40)}" is unknown; it is told from the files`);
  return known ?? null;
}

const STEPS: Readonly<Record<string, Mode>> = {
  'plan-init': 'INITIALIZE',
  'plan-brainstorm': 'brainstorm',
  'plan-research': 'research',
  'plan-breakdown': 'TASK_BREAKDOWN',
  'plan-rebrainstorm': 'feedback-analysis',
  'plan-reresearch': 'research',
  'plan-update': 'UPDATE',
  'plan-rebreakdown': 'REBREAKDOWN',
  'plan-knowledge-extraction': 'STAGE',
  'plan-knowledge-approval': 'PROMOTE',
};

function readCycle(
  files: ReadonlyMap<string, string>,
  { cycle, notes }: { cycle: number; notes: string[] },
): ForeignCycle {
  const folder = `iterations/${cycle}/`;
  const progress = files.get(`${folder}progress.md`);
  const { markers, warnings } = readProgressMarkers(progress ?? '');
  if (progress === undefined) notes.push(`${folder}progress.md is not there: no task counts as begun`);
  notes.push(...warnings.map((text) => `${folder}progress.md: ${text}`));
  const done = markers.flatMap(({ id, status }) =>
    STEPS[id] !== undefined && (status === 'done' || status === 'cancelled') ? keysOf(STEPS[id]) : [],
  );
  const defined = [...files].flatMap(([path, text]) =>
    path.startsWith(`${folder}tasks/`) ? [{ path: path.slice(folder.length), text }] : [],
  );
  const { tasks: defs, faults } = readTaskFolder(defined);
  if (defined.length > 0) notes.push(...faults.map((text) => `${folder}tasks: ${text}`));
  const marked = new Map(
    markers.filter(({ id }) => STEPS[id] === undefined).map((marker) => [marker.id, marker]),
  );
  const undefinedOnes = [...marked.keys()].filter((id) => !defs.some((def) => def.id === id));
  for (const id of undefinedOnes)
    notes.push(`${folder}progress.md:${marked.get(id)!.line}: ${id} has no file in ${folder}tasks/`);
  const all = [...defs, ...undefinedOnes.map((id, index) => bareTask(id, defs.length + index))];
  const text = files.get(`${folder}review.md`);
  const { assessment, gaps } = readReview(text ?? '');
  if (text !== undefined && assessment === null)
    notes.push(`${folder}review.md: it does not say Complete or Gaps Identified`);
  return {
    cycle,
    tasks: all.map((def) => foreignTask(files, { folder, def, marker: marked.get(def.id) })),
    done,
    planned:
      markers.some(({ id, status }) => /^plan-(re)?breakdown$/.test(id) && status === 'done') ||
      marked.size > 0,
    review: assessment === null ? null : { value: assessment, gaps },
  };
}

function keysOf(mode: Mode): string[] {
  const { role } = MODES[mode];
  const subjects = mode === 'brainstorm' ? CATEGORIES : ['session'];
  return subjects.map((subject) => itemKey({ role, mode, subject }));
}

function bareTask(id: string, order: number): TaskDef {
  const words = { title: id, description: '', acceptance: [] };
  return { id, ...words, priority: 0, order, dependsOn: [], status: 'todo', files: [], changes: 'expected' };
}

interface Naming {
  folder: string;
  def: TaskDef;
  marker: ProgressMarker | undefined;
}

function foreignTask(files: ReadonlyMap<string, string>, { folder, def, marker }: Naming): ForeignTask {
  const reports = [...files].filter(([path]) => {
    if (!path.startsWith(`${folder}reports/${def.id}-report`)) return false;
    return /^(?:-r\d+)?\.md$/.test(path.slice(`${folder}reports/${def.id}-report`.length));
  });
  const number = (path: string) => Number(/-r(\d+)\.md$/.exec(path)?.[1] ?? 1);
  const latest = reports.sort(([a], [b]) => number(a) - number(b)).at(-1);
  const read = latest === undefined ? null : readReport(latest[1]);
  const status = marker?.status ?? 'todo';
  return {
    def,
    // Nobody is at work on what is marked as in progress, and an unknown sign is never taken as done.
    status: status === 'unknown' || status === 'doing' ? 'todo' : status,
    runs: latest === undefined ? 0 : number(latest[0]),
    feedback: read?.recommendation === 'Failed' ? read.feedback : null,
  };
}

/** Inside a batch the next step is the pick of tasks; notes are staged again before anybody is asked about them. */
function phaseFor(cycle: ForeignCycle, said: Phase | null, hasPlan: boolean): Phase {
  if (said === 'KNOWLEDGE_APPROVAL')
    return cycle.done.includes(keysOf('PROMOTE')[0]!) ? 'COMPLETE' : 'KNOWLEDGE_EXTRACTION';
  if (said === 'EXECUTING_BATCH' || said === 'REVIEWING_BATCH') return 'BATCHING';
  const isOpen = cycle.tasks.some(({ status }) => status === 'todo' || status === 'review');
  if (said !== null && said !== 'COMPLETE') return said;
  if (said === 'COMPLETE' && !isOpen) return said;
  // Nobody works on tasks that are not agreed on.
  const hasBegun = cycle.tasks.some(({ status }) => status !== 'todo');
  if (cycle.planned || hasBegun) return isOpen || cycle.review === null ? 'BATCHING' : 'COMPLETE';
  if (cycle.cycle > 1) return 'REPLANNING';
  return hasPlan ? 'PLANNING' : 'INITIALIZING';
}

/** What the phase makes of tasks: none before they are agreed on, and a failed one is tried again while there is work. */
function settle(cycle: ForeignCycle, phase: Phase, notes: string[]): void {
  const planning = phase === 'INITIALIZING' || phase === 'PLANNING';
  if (planning && !cycle.planned) cycle.tasks = [];
  if (phase !== 'BATCHING') return;
  for (const task of cycle.tasks.filter(({ status }) => status === 'failed')) {
    task.status = 'todo';
    notes.push(`${task.def.id} is marked [F] in a session at work, so it is tried again`);
  }
}

/** The words below the plan's Goal, else its first heading. */
function goalOf(plan: string): string {
  const headings = headingsOf(plan);
  const lines = plan.split(/\r?\n/);
  const at = lines.findIndex((line) => /^#+\s*(?:goal|objective)s?\b/i.test(line));
  const rest = at === -1 ? [] : lines.slice(at + 1);
  const end = rest.findIndex((line) => /^#/.test(line));
  const goal = rest
    .slice(0, end === -1 ? undefined : end)
    .join('\n')
    .trim();
  return (goal || headings[0]?.title || '').slice(0, 4_000);
}
