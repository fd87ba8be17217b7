/**
 * Killing the real program at a chosen moment. The test follows the journal from outside, as any
 * window does, and ends the runner with SIGKILL as soon as it holds what was waited for; nothing in
 * the program knows of it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Fact, FactType, JournalRecord } from '../../src/core/index.ts';
import { processTable } from '../../src/process/index.ts';
import { readJournal } from '../../src/store/index.ts';
import {
  makeProject,
  type Project,
  type ProjectOptions,
  type Ran,
  type Started,
  story,
  taskList,
} from '../e2e/project.ts';

const LOOK_MS = 2;
const PATIENCE_MS = 40_000;

export type FactOf<T extends FactType> = Extract<Fact, { type: T }>;

/** A project with a tracked task list of these ids. */
export function listProject(ids: string[], options: ProjectOptions = {}): Project {
  const stories = ids.map((id) => story(id));
  return makeProject({ ...options, files: { 'ralph/tasks.json': taskList(stories), ...options.files } });
}

/** Absolute path of the newest session; null before there is one. */
export function sessionDir({ dir }: Project): string | null {
  const folder = join(dir, '.ralph-sessions');
  if (!existsSync(folder)) return null;
  const named = readdirSync(folder).filter((entry) => /^\d{6}-\d{6}/.test(entry));
  const begun = named.filter((entry) => existsSync(join(folder, entry, 'journal.jsonl')));
  const name = (begun.length > 0 ? begun : named).sort().at(-1);
  return name === undefined ? null : join(folder, name);
}

/** The facts of every whole line so far, without checking anything. */
export function factsNow(project: Project): Fact[] {
  const dir = sessionDir(project);
  const file = dir === null ? null : join(dir, 'journal.jsonl');
  if (file === null || !existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.flatMap((line) => (JSON.parse(line) as JournalRecord).facts);
}

export function factsOf<T extends FactType>(project: Project, type: T): FactOf<T>[] {
  return factsNow(project).filter((fact): fact is FactOf<T> => fact.type === type);
}

/** Waits until the condition holds; fails with the name after forty seconds. */
export async function until(name: string, condition: () => boolean): Promise<void> {
  for (const began = Date.now(); !condition(); await sleep(LOOK_MS)) {
    if (Date.now() - began > PATIENCE_MS) throw new Error(`waited in vain: ${name}`);
  }
}

/** Waits for the nth fact of a type. */
export function recorded(project: Project, type: FactType, nth = 1): Promise<void> {
  return until(`${type} ${nth}`, () => factsNow(project).filter((fact) => fact.type === type).length >= nth);
}

/** A file in the project's home, where scripted agents, gates and hooks leave word of where they are. */
export function told(project: Project, name: string): Promise<void> {
  return until(name, () => existsSync(join(project.home, name)));
}

/**
 * An action of a scripted agent that leaves word a moment later, when the agent has gone on to hang: one
 * whose runner is gone dies of the next thing it says.
 */
export const ATTEND = { run: '(sleep 0.2; touch "$HOME/working") >/dev/null 2>&1 &' };

/** The agent of the first iteration hangs (`ATTEND`), and the journal knows its process. */
export async function hanging(project: Project): Promise<void> {
  await recorded(project, 'attempt.spawned');
  await told(project, 'working');
}

export async function kill({ child, done }: Started, delayMs = 0): Promise<Ran> {
  if (delayMs > 0) await sleep(delayMs);
  child.kill('SIGKILL');
  return done;
}

/** Starts a run, waits for the moment, kills the runner. Answers whether the kill came in time. */
export async function killWhen(
  project: Project,
  args: string[],
  moment: () => Promise<void>,
  delayMs = 0,
): Promise<boolean> {
  const started = project.start(args);
  await moment();
  await kill(started, delayMs);
  return started.child.signalCode === 'SIGKILL';
}

/** Living processes that an attempt or a gate of this project left, by the marker in their environment. */
export function marked({ dir }: Project): { pid: number; command: string }[] {
  return processTable().filter(({ pid }) => {
    const environment = environmentOf(pid);
    return environment.includes('\0RALPH_MARKER=') && environment.includes(dir);
  });
}

function environmentOf(pid: number): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`;
  } catch {
    return '';
  }
}

export interface Expected {
  tasks: string[];
  /** Iterations that the kill cut off, or null where that is a matter of chance. */
  lost?: number[] | null;
  /** The agent commits by itself: landings name its commits. */
  agentCommits?: boolean;
}

/** What must hold once the work is done, however often the runner was killed on the way. */
export async function expectFinished(project: Project, ran: Ran, expected: Expected): Promise<void> {
  expect({ code: ran.code, err: ran.err }).toMatchObject({ code: 0 });
  const { records, tornBytes } = await readJournal(join(sessionDir(project)!, 'journal.jsonl'));
  expect(tornBytes).toBe(0);
  const facts = records.flatMap((record) => record.facts);
  expect(facts.at(-1)).toMatchObject({ type: 'run.stopped', code: 0 });
  expectAttempts(facts, expected);
  expectLandings(project, facts, expected);
  expectQuestions(facts);
  expect(marked(project)).toEqual([]);
  expectRepository(project, expected);
  expectMirrors(project, facts);
}

const only = <T extends FactType>(facts: Fact[], type: T): FactOf<T>[] =>
  facts.filter((fact): fact is FactOf<T> => fact.type === type);

function expectAttempts(facts: Fact[], { lost }: Expected): void {
  const begun = only(facts, 'attempt.started').map((fact) => fact.iteration);
  const ends = [...only(facts, 'attempt.ended'), ...only(facts, 'attempt.lost')].map(
    (fact) => fact.iteration,
  );
  expect(ends.sort((a, b) => a - b)).toEqual(begun);
  expect(new Set(begun).size).toBe(begun.length);
  const given = only(facts, 'attempt.lost').map((fact) => fact.iteration);
  if (lost) expect(given).toEqual(lost);
  const charged = only(facts, 'task.charged').map((fact) => fact.iteration);
  expect(charged.filter((iteration) => given.includes(iteration))).toEqual([]);
  const judged = only(facts, 'verdict.reached').map((fact) => fact.iteration);
  expect(new Set(judged).size).toBe(judged.length);
}

function expectLandings(project: Project, facts: Fact[], { tasks, agentCommits }: Expected): void {
  const landed = only(facts, 'commit.landed');
  expect(landed.map((fact) => fact.task).sort()).toEqual([...tasks].sort());
  expect(landed.map((fact) => fact.by)).toEqual(landed.map(() => (agentCommits ? 'agent' : 'engine')));
  if (agentCommits) return;
  const history = project.git(
    'log',
    '--reverse',
    '--format=%H%x09%(trailers:key=Ralph-Task,valueonly,separator=)',
  );
  const commits = history.split('\n').map((line) => line.split('\t'));
  const ours = commits.filter(([, task]) => task !== '').map(([commit]) => commit);
  expect(ours).toEqual(landed.map((fact) => fact.commit));
}

function expectQuestions(facts: Fact[]): void {
  const asked = only(facts, 'question.asked').map(({ question }) => `${question.iteration} ${question.text}`);
  expect(new Set(asked).size).toBe(asked.length);
}

function expectRepository(project: Project, { tasks }: Expected): void {
  expect(project.git('fsck', '--full', '--strict', '--no-dangling')).toBe('');
  expect(project.git('status', '--porcelain')).toBe('');
  for (const task of tasks) expect(project.read(`${task}.txt`)).toContain(task);
  const list = JSON.parse(project.read('ralph/tasks.json')) as {
    userStories: { id: string; passes: boolean }[];
  };
  expect(list.userStories.filter((entry) => !entry.passes)).toEqual([]);
}

function expectMirrors(project: Project, facts: Fact[]): void {
  const dir = sessionDir(project)!;
  expect(readFileSync(join(dir, 'metadata.yaml'), 'utf8')).toMatch(/^status: completed$/m);
  const rows = readFileSync(join(dir, 'logs/summary.csv'), 'utf8').trimEnd().split('\n').slice(1);
  const iterations = only(facts, 'attempt.started').map((fact) => fact.iteration);
  expect(rows.map((row) => Number(row.split(',')[0])).sort((a, b) => a - b)).toEqual(iterations);
  const pending = readdirSync(join(dir, 'signals/inputs'), { withFileTypes: true });
  expect(pending.map((entry) => entry.name)).toEqual([]);
}
