/**
 * The crash property: a run that dies right after any record, started again by a runner that knows only
 * the journal, ends as lawfully as if nothing had happened. Here is what "lawfully" means.
 */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { EXITS, type JournalRecord, type Policy, type State } from '../../src/core/index.ts';
import { STORIES, type Story } from './stories.ts';
import { crashedAfter, facts, leave, run, type World } from './world.ts';

const sha = (text: string) => createHash('sha256').update(text).digest('hex');

export interface Resumed {
  world: World;
  /** Exit codes of the starts, in order. */
  codes: number[];
}

/** The policy that was in force at this record; nobody is waited for, since nobody will come. */
export function policyAt(records: JournalRecord[], seq: number): Policy {
  const runs = records.flatMap((record) =>
    record.facts.flatMap((fact) => (fact.type === 'run.started' ? [{ seq: record.seq, ...fact }] : [])),
  );
  const latest = runs.filter((fact) => fact.seq <= seq).at(-1) ?? runs[0]!;
  return { ...latest.policy, wait: false };
}

/** Crashes after `seq`, starts again until two starts end alike or all is done, and checks what is left. */
export async function resumeFrom(
  world: World,
  seq: number,
  options: { half?: boolean } = {},
): Promise<Resumed> {
  const copy = crashedAfter(world, seq);
  const before = snapshotOf(copy.house.state);
  if (options.half)
    for (const iteration of before.openAttempts) copy.outside.files[`half-${iteration}.txt`] = 'half';
  const codes: number[] = [];
  for (let start = 0; start < 6; start++) {
    const { exit } = await run(copy, policyAt(world.records, seq));
    codes.push(exit.code);
    if (exit.code === 0 || codes.at(-2) === exit.code) break;
  }
  checkResumed(copy, codes, before);
  return { world: copy, codes };
}

/** What holds of every session that was killed and started again. */
export function checkResumed(world: World, codes: number[], before: Before): void {
  checkCodes(codes);
  checkNothingLost(world, before);
  checkNothingDoubled(world);
  checkLeftovers(world);
}

interface Before {
  tasks: { id: string; status: string }[];
  openQuestions: string[];
  openAttempts: number[];
}

export function snapshotOf(state: State): Before {
  return {
    tasks: [...state.tasks.values()].map((task) => ({ id: task.def.id, status: task.status })),
    openQuestions: [...state.openQuestions],
    openAttempts: [...state.open].filter((iteration) => state.attempts.get(iteration)!.state === 'open'),
  };
}

function checkCodes(codes: number[]): void {
  for (const code of codes) {
    expect(Object.keys(EXITS).map(Number)).toContain(code);
    expect(code).not.toBe(70);
  }
}

function checkNothingLost(world: World, before: Before): void {
  const { state } = world.house;
  for (const { id, status } of before.tasks) {
    const task = state.tasks.get(id);
    expect(task, `task ${id} disappeared`).toBeDefined();
    const moved = facts(world, 'task.moved').some(
      (fact) => fact.task === id && (fact.by === 'person' || /taken off the branch/.test(fact.reason)),
    );
    if (status === 'done' && !moved) expect(task!.status, `task ${id}`).toBe('done');
  }
  for (const id of before.openQuestions) expect(state.questions.get(id), `question ${id}`).toBeDefined();
  for (const iteration of before.openAttempts) {
    const attempt = state.attempts.get(iteration)!;
    // A pause leaves what has ended for later; nothing else may.
    expect(attempt.state, `iteration ${iteration}`).toBe(
      state.paused && attempt.lost === null ? 'ended' : 'settled',
    );
    if (attempt.verdict !== null || attempt.state === 'ended') continue;
    expect(attempt.lost, `iteration ${iteration} is neither lost nor judged`).not.toBeNull();
    const charged = facts(world, 'task.charged').filter((fact) => fact.iteration === iteration);
    expect(charged, `lost iteration ${iteration} was charged`).toEqual([]);
  }
  if (!state.paused) expect([...state.open]).toEqual([]);
}

function checkNothingDoubled(world: World): void {
  const unique = (what: string, ids: (string | number)[]) => {
    const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
    expect(twice, `${what} twice`).toEqual([]);
  };
  unique(
    'a question id',
    facts(world, 'question.asked').map((fact) => fact.question.id),
  );
  unique('a message', [
    ...facts(world, 'message.received').map((fact) => fact.message.id),
    ...facts(world, 'message.rejected').map((fact) => fact.id),
  ]);
  unique(
    'an iteration',
    facts(world, 'attempt.started').map((fact) => fact.iteration),
  );
  unique(
    'a verdict',
    facts(world, 'verdict.reached').map((fact) => fact.iteration),
  );
  unique('a question and its answer', [
    ...facts(world, 'question.answered').map((fact) => fact.id),
    ...facts(world, 'question.closed').map((fact) => fact.id),
  ]);
  unique(
    'a commit',
    world.outside.commits.map((commit) => commit.message).filter((text) => /Ralph-Task/.test(text)),
  );
  unique(
    'a charge',
    facts(world, 'task.charged').map((fact) => `${fact.task} ${fact.iteration} ${fact.budget}`),
  );
}

/** Every file an agent wrote for a task that is not finished is in the tree or set aside for it. */
function checkLeftovers(world: World): void {
  const { state } = world.house;
  for (const task of state.tasks.values()) {
    if (task.status === 'done' || task.status === 'cancelled') continue;
    for (const [path, { after, iteration }] of lastWrites(state, task.attempts)) {
      if (after === null) continue;
      const here = world.outside.files[path];
      const inTree = here !== undefined && sha(here) === after;
      const aside =
        task.aside?.changes.some((change) => change.path === path && change.after === after) ?? false;
      const overwritten = [...state.attempts.values()].some(
        (other) => other.iteration > iteration && other.changes.some((change) => change.path === path),
      );
      expect(inTree || aside || overwritten, `${path} of ${task.def.id} is lost`).toBe(true);
    }
  }
}

function lastWrites(state: State, attempts: number[]) {
  const writes = new Map<string, { after: string | null; iteration: number }>();
  for (const iteration of attempts) {
    for (const { path, after } of state.attempts.get(iteration)?.changes ?? [])
      writes.set(path, { after, iteration });
  }
  return writes;
}

/** Half of the stories, so that two files share the work. */
export function half(which: 0 | 1): Story[] {
  return STORIES.filter((story, index) => !story.outside && index % 2 === which);
}

/** Every record of the first ones; of a long story's tail, which repeats itself, one in three. */
function crashPoints(records: JournalRecord[]): number[] {
  return records.map((record) => record.seq).filter((seq) => seq <= 30 || seq % 3 === 0);
}

/** Plays the story, then again from its records; from some of those, after a second crash on the way. */
export async function everyPrefix(story: Story): Promise<void> {
  const world = await story.play();
  const last = facts(world, 'run.stopped').at(-1)!.code;
  try {
    for (const seq of crashPoints(world.records)) {
      const crash = world.records[seq - 1]!.facts.some((fact) => fact.type === 'attempt.spawned');
      for (const half of crash ? [false, true] : [false]) {
        try {
          const resumed = await resumeFrom(world, seq, { half });
          if (last === 0 && !story.outside) expect(resumed.codes.at(-1)).toBe(0);
          if (seq % 5 === 0) await crashAgain(resumed.world, seq + 1 + (seq % 4));
          leave(resumed.world);
        } catch (error) {
          const types = world.records[seq - 1]!.facts.map((fact) => fact.type).join(', ');
          throw new Error(
            `crash after record ${seq} (${types})${half ? ', half written' : ''}: ${String(error)}`,
            { cause: error },
          );
        }
      }
    }
  } finally {
    leave(world);
  }
}

/** The second crash comes a few records after the first start. */
async function crashAgain(world: World, seq: number): Promise<void> {
  if (seq >= world.records.length) return;
  const again = await resumeFrom(world, seq);
  const [first, second] = [world, again.world].map((played) => facts(played, 'run.stopped').at(-1)!.code);
  if (first === 0) expect(second, `a second crash after record ${seq}`).toBe(0);
  leave(again.world);
}
