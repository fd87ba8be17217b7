/** `ralph run --dry-run`: everything that would be decided before the first agent starts, and nothing done. */
import {
  type Durations,
  layers,
  reckonTime,
  type TaskDef,
  type TimedTask,
  type TimeReckoning,
} from '../core/index.ts';
import { count, oneLine, reckoningText } from '../views/index.ts';
import { roleAgents } from './agents.ts';
import { earlierDurations } from './behaviour.ts';
import { loopAhead } from './loops/foresee.ts';
import { type Plan, planRun, type RunRequest } from './plan.ts';
import { checkFirst } from './run.ts';
import { sandboxKind, sandboxWords } from './sandbox.ts';
import { idleReason } from './which-list.ts';

/** Throws a Problem for everything that would keep the run from starting. */
export async function dryRun(request: RunRequest): Promise<{ data: Record<string, unknown>; text: string }> {
  const loop = request.loop === null ? null : await loopAhead(request, request.loop);
  const asked = loop?.request ?? request;
  const plan = await planRun(asked);
  const { policy, session, taskPath, place } = plan;
  for (const warning of plan.warnings) request.audience.say(warning);
  if (!plan.idle) await checkFirst(asked, plan, loop?.made ?? true);
  const open = openTasks(plan);
  const durations = session?.state.durations ?? earlierDurations(place.mainDir) ?? undefined;
  const timed = open.map((def) => ({ def, time: timeOf(plan, def, durations) }));
  // What is done holds nothing up.
  const deep = layers(open);
  const objective = plan.objective || (session?.state.session?.objective ?? '');
  const data = {
    project: place.dir,
    ...(loop === null ? {} : { loop: loop.json }),
    session: session?.id ?? null,
    objective: objective === '' ? null : objective,
    team: policy.team,
    agent: plan.idle ? null : policy.agent,
    model: policy.model,
    fallback: policy.fallback,
    roles: Object.fromEntries(
      roleAgents(policy).flatMap(({ name, roles }) => roles.map((role) => [role, name])),
    ),
    tasks: taskPath,
    open_tasks: open.map((task) => task.id),
    layers: deep,
    times: timed.map(({ def, time }) => ({
      task_id: def.id,
      complexity: time.complexity,
      timeout_s: time.timeoutS,
    })),
    gates: policy.gates.map((gate) => gate.run),
    sandbox: sandboxKind(plan.settings.sandbox),
    max_iterations: policy.limits.maxIterations ?? 20 + 6 * open.length,
    max_stuck: policy.limits.maxStuck,
    waits_for_people: policy.wait,
  };
  if (plan.idle) {
    const reason = idleReason(taskPath!, plan.reading);
    return { data, text: `Project:   ${data.project}\nTasks:     ${reason}\nNothing would be started.\n` };
  }
  const lines = [
    `Project:   ${data.project}`,
    ...(loop === null ? [] : [`Loop:      ${loop.text}`]),
    `Session:   ${data.session === null ? 'a new one' : `goes on with ${data.session}`}`,
    `Objective: ${oneLine(objective, 200) || 'every task of the list'}`,
    `Team:      ${data.team}, agent ${data.agent}${data.model === null ? '' : `, model ${data.model}`}${data.fallback.length === 0 ? '' : `, then ${data.fallback.join(', ')}`}${players(data.roles)}`,
    `Tasks:     ${taskPath ?? 'the objective'}: ${open.length} open${deep.length > 1 ? ` in ${deep.length} layers` : ''}${open.length > 0 ? `, first ${open[0]!.id}` : ''}`,
    ...(timed[0] ? [`Time:      ${timed[0].def.id}: ${reckoningText(timed[0].time)}`] : []),
    `Gates:     ${data.gates.join(' · ') || 'none: only changes and claims are checked'}`,
    `Sandbox:   ${sandboxWords(plan.settings.sandbox)}`,
    `Limits:    ${count(data.max_iterations, 'iteration')}, ${data.max_stuck === 0 ? 'never stuck' : `stuck after ${data.max_stuck} without progress`}`,
    'Nothing was started (--dry-run).',
  ];
  return { data, text: `${lines.join('\n')}\n` };
}

function players(roles: Record<string, string>): string {
  return Object.entries(roles)
    .map(([role, agent]) => `; ${role} ${agent}`)
    .join('');
}

/** What the next attempt at this task would get. */
function timeOf({ policy, session }: Plan, def: TaskDef, durations: Durations | undefined): TimeReckoning {
  const fresh: TimedTask = { def, timeouts: 0, grant: null };
  return reckonTime(policy, session?.state.tasks.get(def.id) ?? fresh, durations);
}

function openTasks({ session, reading }: Plan): TaskDef[] {
  if (session)
    return [...session.state.tasks.values()].filter((task) => task.status !== 'done').map((task) => task.def);
  return reading?.kind === 'list' ? reading.tasks.filter((task) => task.status === 'todo') : [];
}
