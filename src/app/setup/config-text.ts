/**
 * The text of a new ralph.yml. A newcomer reads it from top to bottom and knows what each line does and
 * why it is there. It depends on the project alone, not on the machine or the state of the task list, so
 * that writing it twice gives the same bytes.
 */
import { oneLine } from '../../views/index.ts';
import type { ProjectLook } from './project-look.ts';
import type { ProposedGate } from './proposal.ts';

/** What a look at the project proposes as its configuration. */
export function configText(look: ProjectLook): string {
  return `${[head(), agentPart(), tasksPart(look), gatesPart(look), brakesPart()].join('\n\n')}\n`;
}

const head =
  () => `# ralph.yml: how Ralph works in this project. Written by \`ralph init\`; change it as you like.
# Every key is optional. \`ralph doctor\` checks this file and tries what it says.`;

const agentPart =
  () => `# Who works. \`auto\` takes the first coding agent that is installed; \`ralph agents\` lists them.
agent: auto
# Any command can be an agent: it reads the prompt on stdin and works in this folder. Then write agent: mine
# agents:
#   mine: { command: ["bash", "agent.sh"] }`;

/** One list is used; where several could be meant, a person chooses. */
function tasksPart({ lists }: ProjectLook): string {
  const usable = lists.filter(({ problem }) => problem === null);
  const [first, ...others] = usable.some((list) => list.isDefault)
    ? usable.filter((list) => list.isDefault)
    : usable;
  if (first === undefined) {
    return `# The list of what to do, one task after the other. PRD.md, prd.json, fix_plan.md and their like are found
# by themselves; a list with another name is named here.
# tasks: PRD.md`;
  }
  const choice = (path: string) => `tasks: ${quoted(path)}`;
  if (others.length === 0)
    return `# The list of what to do. Only the marks of finished tasks are written into it.\n${choice(first.path)}`;
  const rest = others.map(({ path }) => `# ${choice(path)}`);
  return [
    '# The list of what to do. Several were found; this one is used:',
    choice(first.path),
    ...rest,
  ].join('\n');
}

function gatesPart({ gates, notes }: ProjectLook): string {
  const about = `# Gates: commands that prove the work. A task is done only when they pass after its last change, whatever
# the agent says. What fails already before a task begins is told, and not held against it.`;
  if (gates.length === 0) {
    const why = notes.map((note) => `# ${safe(note)}`);
    return [
      about,
      '# None was found here, so only changes and claims are checked. Name at least your tests:',
      ...why,
      '# gates:',
      '#   - { name: test, run: "npm test", timeout_s: 600, min_tests: 1 }',
    ].join('\n');
  }
  const told = notes.map((note) => `  # Note: ${safe(note)}`);
  return [about, 'gates:', ...gates.flatMap(gateLines), ...told].join('\n');
}

function gateLines({ name, run, timeoutS, minTests, why }: ProposedGate): string[] {
  const least = minTests > 0 ? `, min_tests: ${minTests}` : '';
  const count = minTests > 0 ? '; min_tests: a run without a test proves nothing' : '';
  return [
    `  # ${safe(why)}${count}`,
    `  - { name: ${name}, run: ${JSON.stringify(run)}, timeout_s: ${timeoutS}${least} }`,
  ];
}

const brakesPart =
  () => `# Brakes for a night without you. Without them only the number of agent runs is bounded.
# limits: { max_cost_usd: 10, max_time: 8h }

# Files that no agent may change, such as expected results of tests. This file is always among them.
# protect: ["test/golden/**"]`;

/** Words from the project's files, where they can end no comment. */
const safe = (text: string) => oneLine(text, 160);

/** Plain where nobody could misread it; else as a JSON string, which YAML reads once its own line breaks are written out. */
function quoted(text: string): string {
  if (/^[A-Za-z][\w./-]*$/.test(text) && !/^(?:true|false|yes|no|on|off|null|y|n)$/i.test(text)) return text;
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
