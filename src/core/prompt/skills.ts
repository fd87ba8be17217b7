/**
 * Skills that stand in the prompt in full, because an agent needs them before it can look anything up;
 * others are one line each and loaded on demand.
 */
import { inertLine } from './inert.ts';
import type { PromptSkills } from './input.ts';

const ROBOT = `<robot-skill>
# Human interaction

A person can be reached while you work.

Tell something, without waiting:

    ralph tools interact progress "All tests pass; starting the integration phase"

Ask something, and end the turn. No new work starts until there is an answer or the time is over:

    ralph emit "human.interact" "Decision needed: (one sentence). Options: (A) … (B) … Default if no response: (what you will do)"

The answer stands in your next prompt, and so does silence. Where you have the tool \`ask_human\`, it asks the same and waits for the answer within the turn.

A question holds three things: the decision in one sentence; two or three concrete options with what each costs; what you will do when nobody answers.

| when | which |
|---|---|
| a phase begins or ends, a milestone is reached | tell |
| something takes longer than expected | tell |
| requirements are ambiguous, or instructions contradict each other | ask |
| a step cannot be undone | ask |
| the scope is unclear ("should I also do this?") | ask |
| the code, the task or the conventions of the project answer it | neither |
| you would ask again, in other words, what was asked before | neither |

Never tell and ask in the same turn: put the news into the question.
</robot-skill>`;

const MEMORY = `    ralph tools memory add "TEXT"        keep what later calls should know
    ralph tools memory search "WORDS"    look for it
    ralph tools memory list
`;

/** `memories`: they stand in prompts, so that keeping one has a use. */
function toolsSkill(memories: boolean): string {
  return `<ralph-tools-skill>
# Notes and tasks

${memories ? MEMORY : ''}    ralph tools task list                the task list as it stands
    ralph tools task show ID             one task with its criteria
    ralph tools task add "TITLE"         tell a person of work that no task names
    ralph tools signals                  what people have said to you since this prompt
    ralph tools skill list               skills that can be loaded
    ralph tools skill load NAME
${memories ? '\nA memory is worth keeping when it is true beyond this task: a command, a convention, a trap.\n' : ''}</ralph-tools-skill>`;
}

const MAX_OTHERS = 40;

/** The section's text; empty when no skill applies. */
export function skillsText(
  { robot, tools, memories, others = [] }: PromptSkills,
  word: string | null,
): string {
  const parts: string[] = [];
  if (robot === true) parts.push(ROBOT);
  if (tools === true) parts.push(toolsSkill(memories !== false));
  const lines = others
    .slice(0, MAX_OTHERS)
    .map(({ name, about }) => `- ${inertLine(name, word)}: ${inertLine(about, word).slice(0, 200)}`);
  if (others.length > MAX_OTHERS) lines.push(`- … shortened: ${MAX_OTHERS} of ${others.length} skills shown`);
  if (lines.length > 0) parts.push(`Loaded with \`ralph tools skill load NAME\`:\n${lines.join('\n')}`);
  return parts.join('\n\n');
}
