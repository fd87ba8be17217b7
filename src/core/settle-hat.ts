/** What follows from the verdict on a run of one's own role, beside what follows from every verdict. */

import { commandFor } from './command.ts';
import type { Fact } from './event.ts';
import { activationsOf } from './evolve-hats.ts';
import { hatOutcome } from './judge-hat.ts';
import type { Settlement } from './settle.ts';
import type { TaskState } from './state.ts';

/** Longest payload of a topic that the loop publishes in a run's place. Characters. */
const PAYLOAD_CHARS = 4_000;

/** Its charge, the topic that is published in its place, the end of its task, and that its role has run enough. */
export function hatFacts(settlement: Settlement, task: TaskState | null): Fact[] {
  const { attempt, evidence, judgement } = settlement;
  const { iteration, item } = attempt;
  const facts: Fact[] = [];
  if (judgement.charged && task)
    facts.push({ type: 'task.charged', task: task.def.id, budget: 'evidence', iteration });
  const outcome = hatOutcome(evidence);
  const accepted = judgement.value === 'accepted';
  if (outcome?.preset && accepted)
    facts.push({
      type: 'topic.published',
      iteration,
      role: item.role,
      topic: outcome.topics[0]!,
      payload: (evidence.claim.result?.summary ?? '').slice(0, PAYLOAD_CHARS),
    });
  if (outcome?.ends && accepted && task)
    facts.push({
      type: 'task.moved',
      task: task.def.id,
      to: 'done',
      reason: judgement.reason,
      by: 'engine',
    });
  return [...facts, ...spentNotice(settlement)];
}

/** Told once: from now on the default role stands in for it. */
function spentNotice({ state, attempt: { item } }: Settlement): Fact[] {
  const { roles, defaultRole } = state.policy?.hats ?? { roles: [], defaultRole: '' };
  const most = roles.find(({ name }) => name === item.role)?.maxActivations ?? null;
  if (most === null || activationsOf(state, item.role) < most) return [];
  const then =
    item.role === defaultRole
      ? `It is the default role, so the run ends once only it could go on; \`${commandFor(state, 'ralph run')}\` starts the count again`
      : `What it listens for wakes ${defaultRole} until the next start`;
  const text = `The role ${item.role} has run ${most} of ${most} times (max_activations). ${then}.`;
  return state.notices.some((given) => given.text === text)
    ? []
    : [{ type: 'notice.given', level: 'warning', text }];
}
