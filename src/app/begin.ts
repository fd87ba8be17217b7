/** The first record of a run, and before it what the start itself found out. */
import { type Fact, shellWord, type TaskDef } from '../core/index.ts';
import { append, type House, intake, redraw } from '../engine/index.ts';
import { ownIdentity } from '../process/index.ts';
import { isWholeRecord, localZone, readProject, setLinesAside, tidyProject } from '../store/index.ts';
import { earlierDurations } from './behaviour.ts';
import { cancelledBefore } from './cancelled.ts';
import { waiting } from './feedback.ts';
import { keepOriginals } from './import-session.ts';
import type { Opened } from './open.ts';
import type { Plan, RunRequest } from './plan.ts';
import { PRODUCT } from './product.ts';
import { spentToday } from './spending.ts';

interface Beginning {
  request: RunRequest;
  plan: Plan;
  dirty: string[];
  session: { id: string };
}

/** Opens the session's first record, or this run's. */
export async function begin(
  { house, lock, repaired }: Opened,
  { request, plan, dirty, session }: Beginning,
): Promise<void> {
  const { feedbackRotationDays: days } = plan.policy.interventions;
  await tidyProject(plan.place.mainDir, { now: house.clock.now(), days }).catch(() => undefined);
  const { records, bad } = readProject(plan.place.mainDir, isWholeRecord);
  const lost = setLinesAside(plan.place.mainDir, bad);
  if (lost !== null) request.audience.say(lost);
  const facts: Fact[] = [];
  const isNew = house.state.session === null;
  const imported = plan.session?.imported;
  if (!house.state.session && imported !== undefined) {
    await keepOriginals(house.sessionDir, plan.session!.state.cycle);
    facts.push(...imported);
  } else if (!house.state.session) {
    const { objective } = plan;
    const { ground, mainDir } = plan.place;
    const durations = earlierDurations(mainDir);
    facts.push({
      type: 'session.created',
      id: session.id,
      objective,
      timezone: localZone(),
      product: PRODUCT,
      ground,
      ...(durations === null ? {} : { durations }),
    });
  }
  if (repaired) facts.push({ type: 'journal.repaired', ...repaired });
  if (lock.takenOverFrom) facts.push({ type: 'lock.taken_over', from: lock.takenOverFrom });
  facts.push({
    type: 'run.started',
    policy: plan.policy,
    runner: ownIdentity(),
    dirty,
    spentTodayUsd: spentToday(records).costUsd ?? 0,
    reopened: request.reopen,
    flags: { ...plan.flags },
  });
  // A planner makes the tasks; with nobody to plan, the objective is the task.
  const planned = plan.policy.modes.includes('TASK_BREAKDOWN');
  const hasTasks = house.state.tasks.size > 0 || (plan.session?.state.tasks.size ?? 0) > 0;
  if (plan.taskPath === null && !hasTasks && !planned) facts.push(objectiveFact(plan.objective));
  await append(house, facts);
  house.listTracked = await isTracked(house);
  if (!house.listTracked) tellUncommitted(house, plan, request);
  await intake(house);
  if (isNew) await append(house, await cancelledBefore(plan.place, house));
  await append(house, await unreadFeedback(house));
  // After what was said before: a pause that nobody was there to read is older than this word.
  if (request.resume && house.state.paused) await resume(house);
  await redraw(house);
}

/** Told once: whoever wrote it waits for a cycle that would not come. */
async function unreadFeedback({ sessionDir, state }: House): Promise<Fact[]> {
  const lost = await waiting({ dir: sessionDir, state, besides: '' });
  const texts = lost.map((text) => `Feedback that is not taken: ${text}.`);
  return texts
    .filter((text) => !state.notices.some((given) => given.text === text))
    .map((text) => ({ type: 'notice.given', level: 'warning', text }));
}

async function resume(house: House): Promise<void> {
  const at = house.clock.now();
  await append(house, [{ type: 'session.resumed', at, text: '', by: 'ralph resume' }]);
}

async function isTracked(house: House): Promise<boolean> {
  const path = house.list?.groundPath ?? null;
  return path !== null && (await house.ground.tracked([path])).length > 0;
}

/** Marks go into no commit of a file that none has: a person decides what is committed for the first time. */
function tellUncommitted(
  { list }: House,
  { policy, settings, taskPath }: Plan,
  { audience }: RunRequest,
): void {
  const commits = settings.git && policy.commit !== 'none' && policy.commit !== 'agent';
  if (!commits || taskPath === null || (list?.groundPath ?? null) === null) return;
  const word = shellWord(taskPath);
  audience.say(
    `${taskPath} is in no commit: finished tasks are marked in it, but no commit holds the marks. To have them committed: git add ${word} && git commit -m "The task list" -- ${word}`,
  );
}

function objectiveFact(objective: string): Fact {
  const def: TaskDef = {
    id: 'objective',
    title: objective.split('\n')[0]!.slice(0, 120) || 'The objective',
    description: objective,
    acceptance: [],
    priority: 0,
    order: 0,
    dependsOn: [],
    status: 'todo',
    files: [],
    changes: 'expected',
  };
  const source = { kind: 'objective' as const, path: null, dialect: 'objective', reviewed: false };
  return { type: 'tasks.read', source, sha256: '', set: [def], gone: [], by: 'engine' };
}
