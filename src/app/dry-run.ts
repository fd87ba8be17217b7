/** `ralph run --dry-run`: everything that would be decided before the first agent starts, and nothing done. */
import type { TaskDef } from '../core/index.ts';
import { oneLine } from '../views/index.ts';
import { type Plan, planRun, type RunRequest } from './plan.ts';
import { checkFirst } from './run.ts';

/** Throws a Problem for everything that would keep the run from starting. */
export async function dryRun(request: RunRequest): Promise<{ data: Record<string, unknown>; text: string }> {
  const plan = await planRun(request);
  const { policy, session, taskPath, place } = plan;
  for (const warning of plan.warnings) request.audience.say(warning);
  await checkFirst(request, plan, true);
  const open = openTasks(plan);
  const objective = plan.objective || (session?.state.session?.objective ?? '');
  const data = {
    project: place.dir,
    session: session?.id ?? null,
    objective: objective === '' ? null : objective,
    team: policy.team,
    agent: policy.agent,
    model: policy.model,
    tasks: taskPath,
    open_tasks: open.map((task) => task.id),
    gates: policy.gates.map((gate) => gate.run),
    max_iterations: policy.limits.maxIterations ?? 20 + 6 * open.length,
    max_stuck: policy.limits.maxStuck,
    waits_for_people: policy.wait,
  };
  const lines = [
    `Project:   ${data.project}`,
    `Session:   ${data.session === null ? 'a new one' : `goes on with ${data.session}`}`,
    `Objective: ${oneLine(objective, 200) || 'every task of the list'}`,
    `Team:      ${data.team}, agent ${data.agent}${data.model === null ? '' : `, model ${data.model}`}`,
    `Tasks:     ${taskPath ?? 'the objective'}: ${open.length} open${open.length > 0 ? `, first ${open[0]!.id}` : ''}`,
    `Gates:     ${data.gates.join(' · ') || 'none: only changes and claims are checked'}`,
    `Limits:    ${data.max_iterations} iterations, stuck after ${data.max_stuck || 'never'}`,
    'Nothing was started (--dry-run).',
  ];
  return { data, text: `${lines.join('\n')}\n` };
}

function openTasks({ session, reading }: Plan): TaskDef[] {
  if (session)
    return [...session.state.tasks.values()].filter((task) => task.status !== 'done').map((task) => task.def);
  return reading?.kind === 'list' ? reading.tasks.filter((task) => task.status === 'todo') : [];
}
