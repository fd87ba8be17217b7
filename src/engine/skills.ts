/** What an agent can look up or call while it works, as its prompt tells it. */
import type { PromptSkills } from '../core/index.ts';
import type { House } from './house.ts';

/**
 * The skills of one call. Those that are loaded on demand are written down beside its outbox, so that a name
 * leads to a file that was there when the prompt was made, and nowhere else.
 */
export async function skillsFor(house: House, iteration: number): Promise<PromptSkills> {
  const found = (await house.knowledge.skills?.()) ?? [];
  if (found.length > 0)
    await house.works.attemptFile(iteration, 'skills.json', `${JSON.stringify(found, null, 2)}\n`);
  return {
    // Who has a deadline, or none, has somebody to answer.
    robot: house.state.policy!.questions.interactTimeoutS !== null,
    tools: true,
    memories: house.knowledge.remembers !== false,
    others: found.map(({ name, about }) => ({ name, about })),
  };
}
