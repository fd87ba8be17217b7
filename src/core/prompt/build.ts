/**
 * Builds the prompt of one call: one order of sections for all roles, empty ones left out, each with a
 * budget of its own so that a long memory never pushes the task out. What people and earlier calls
 * wrote is data: labelled, fenced and inert.
 */
import { MODES, type Mode } from '../role.ts';
import { isTerminal, MARKERS, type TaskDef } from '../task.ts';
import { type Data, dataFor, pathList } from './data.ts';
import { dutiesOf } from './duties.ts';
import { GUIDANCE_EACH, guidanceText } from './guidance.ts';
import { fenced } from './inert.ts';
import type { PromptAnswer, PromptInput } from './input.ts';
import { duration, howToReport } from './report.ts';
import { faultsText, guardrailsText, mayWriteText, sessionInputs, stagedText } from './session.ts';
import { skillsText } from './skills.ts';

/** Budgets in characters before escaping; lists in entries. */
const BUDGET = {
  objective: 24_000,
  feedback: 6_000,
  answerEach: 3_000,
  answers: 20,
  eventEach: 2_000,
  events: 30,
  instructions: 12_000,
  description: 24_000,
  criterion: 1_000,
  criteria: 100,
  indexLines: 60,
  titleChars: 120,
  review: 12_000,
  report: 8_000,
  inputs: 40,
  patterns: 8_000,
  /** Beside the budget by which they were chosen. */
  memories: 200_000,
  prd: 16_000,
  commits: 20,
} as const;

/** The whole prompt. A prompt that comes back as an answer claims nothing. */
export function buildPrompt(input: PromptInput): string {
  const data = dataFor(input.completionWord ?? null);
  const sections: [string, string][] = [
    ['OBJECTIVE', objective(input, data)],
    ['ROBOT GUIDANCE', guidance(input)],
    ['PREVIOUS ITERATION FEEDBACK (DO NOT IGNORE)', feedback(input, data)],
    ['ANSWERS', answers(input, data)],
    ['PENDING EVENTS', events(input, data)],
    ['YOUR WORK', work(input, data)],
    ['KNOWLEDGE', knowledge(input, data)],
    ['SKILLS', skillsText(input.skills ?? {}, input.completionWord ?? null)],
    ['HOW TO REPORT', howToReport(input)],
  ];
  const written = sections.filter(([, text]) => text !== '').map(([name, text]) => `## ${name}\n\n${text}`);
  return `${written.join('\n\n')}\n`;
}

function objective({ objective, pausedMessage }: PromptInput, data: Data): string {
  const parts: string[] = [];
  if (pausedMessage !== undefined && pausedMessage.trim() !== '') {
    parts.push(
      `The session was paused and goes on. The message of the pause:\n\n${data.block(pausedMessage, GUIDANCE_EACH)}`,
    );
  }
  if (objective.trim() !== '') {
    parts.push(data.plain(objective, BUDGET.objective));
  }
  return parts.join('\n\n');
}

function guidance({ guidance = [], mode, completionWord }: PromptInput): string {
  return guidanceText(guidance, { mode, completionWord: completionWord ?? null });
}

function feedback({ feedback = [] }: PromptInput, data: Data): string {
  const points = feedback.flatMap(({ iteration, task, sentence }) =>
    sentence.split('\n').map((text) => point(data.line(text, 2_000), { iteration, task }, data)),
  );
  const lines: string[] = [];
  let used = 0;
  let left = 0;
  for (const text of new Set(points)) {
    if (text === '') continue;
    if (used > 0 && used + text.length > BUDGET.feedback) left++;
    else lines.push(`- ${text}`);
    used += text.length;
  }
  if (lines.length === 0) return '';
  if (left > 0) lines.push(`- … shortened: ${left} older ${left === 1 ? 'point is' : 'points are'} left out`);
  return `Previous Iteration Feedback (DO NOT IGNORE), newest first. Each point is something the loop saw happen; it is checked again after this call.\n\n${lines.join('\n')}`;
}

/** Corrections name their iteration and task themselves; anything else is told where it comes from. */
function point(text: string, at: { iteration: number; task: string | null }, data: Data): string {
  if (text === '' || text.includes(`teration ${at.iteration}`)) return text;
  return `(iteration ${at.iteration}${at.task === null ? '' : `, task ${data.line(at.task, 80)}`}) ${text}`;
}

function answers({ answers = [] }: PromptInput, data: Data): string {
  if (answers.length === 0) return '';
  const shown = answers
    .slice(-BUDGET.answers)
    .map((one) => `Question:\n${data.block(asked(one), BUDGET.answerEach)}\n${reply(one, data)}`);
  const left = answers.length - shown.length;
  if (left > 0) shown.unshift(`… shortened: the oldest ${left} of ${answers.length} are left out`);
  return `Answers to questions that were asked for this work. Act on them; do not ask again.\n\n${shown.join('\n\n')}`;
}

/** The question as it was asked, with what could be chosen. */
function asked({ question, options = [], default: fallback }: PromptAnswer): string {
  const choices = options.map(({ key, text }) => `(${key}) ${text}`);
  return [question, ...choices, ...(fallback ? [`Default if no response: ${fallback}`] : [])].join('\n');
}

function reply({ answer, by }: PromptAnswer, data: Data): string {
  if (answer.trim() === '')
    return 'Nobody answered in time. Decide yourself, by the default you named if you named one.';
  const head =
    by === null ? 'Nobody answered in time, so your default stands' : `Answer of ${data.line(by, 100)}`;
  return `${head}:\n${data.block(answer, BUDGET.answerEach)}`;
}

function events({ events = [] }: PromptInput, data: Data): string {
  if (events.length === 0) return '';
  const shown = events.slice(0, BUDGET.events).map(({ topic, payload, role, iteration }) => {
    const head = `- \`${data.line(topic, 200)}\` from ${data.line(role, 80)} (iteration ${iteration})`;
    return payload.trim() === '' ? head : `${head}\n${data.block(payload, BUDGET.eventEach)}`;
  });
  const left = events.length - shown.length;
  if (left > 0) shown.push(`- … shortened: ${left} more events are left out`);
  return shown.join('\n');
}

function work(input: PromptInput, data: Data): string {
  const { session } = input;
  const duties = dutiesOf(input);
  const parts = [`${duties.who}\n\n${duties.rules.map((rule, i) => `${i + 1}. ${rule}`).join('\n')}`];
  const add = (title: string, text: string) => {
    if (text !== '') parts.push(`### ${title}\n\n${text}`);
  };
  add('What was wrong with the last try', session ? faultsText(session, data) : '');
  add('Your role', input.instructions?.trim() ? data.plain(input.instructions, BUDGET.instructions) : '');
  if (input.task !== null && input.task.id !== 'objective') add('Task', taskText(input.task, data));
  else if (input.task !== null) add('Acceptance criteria', criteria(input.task, data));
  add('What guidance made of it', quoted(session?.scopeChange, BUDGET.report, data));
  add('Feedback of the last review', quoted(input.lastReviewFeedback, BUDGET.review, data));
  add('Last report of the executor', quoted(input.lastReport, BUDGET.report, data));
  add('Paths changed for this task so far', pathList(input.changedPaths ?? [], data));
  add('Work left by an earlier attempt', leftovers(input, data));
  add('Gates', gates(input, data));
  add('Commits', `${commits(input)}${input.mode === 'TASK_REVIEW' ? '' : NEVER_CLEAN}`.trim());
  add('Protected paths', pathList(input.protect ?? [], data));
  add('Inputs', inputs(input, data));
  add(
    input.mode === 'PROMOTE' ? 'Approved items' : 'Carried items',
    session ? stagedText(session, data) : '',
  );
  add('Guardrails', session ? guardrailsText(session, data) : '');
  add('What you may write', mayWriteText(input, data));
  for (const { title, terms, example } of duties.formats ?? []) add(title, `${terms}\n\n${fenced(example)}`);
  add(isOfTask(input) ? 'Other tasks (not yours in this call)' : 'Tasks of this cycle', index(input, data));
  return parts.join('\n\n');
}

function quoted(text: string | undefined, max: number, data: Data): string {
  return text === undefined || text.trim() === '' ? '' : data.block(text, max);
}

function taskText(task: TaskDef, data: Data): string {
  const lines = [`Task \`${data.line(task.id, 200)}\`: ${data.line(task.title, 400)}`];
  if (task.description.trim() !== '') lines.push('', data.block(task.description, BUDGET.description));
  const list = criteria(task, data);
  if (list !== '') lines.push('', 'Acceptance criteria:', list);
  if (task.files.length > 0) lines.push('', 'Files it names:', pathList(task.files, data));
  if (task.dependsOn.length > 0) {
    lines.push(
      '',
      `It builds on ${task.dependsOn.map((id) => `\`${data.line(id, 80)}\``).join(', ')}, done before.`,
    );
  }
  if (task.changes === 'none')
    lines.push('', 'This task can be complete without any change in the repository.');
  return lines.join('\n');
}

function criteria({ acceptance }: TaskDef, data: Data): string {
  const lines = acceptance
    .slice(0, BUDGET.criteria)
    .map((criterion, i) => `${i + 1}. ${data.line(criterion, BUDGET.criterion)}`);
  const left = acceptance.length - lines.length;
  return left > 0
    ? [...lines, `… shortened: ${left} more criteria stand in the task file`].join('\n')
    : lines.join('\n');
}

function leftovers({ leftovers }: PromptInput, data: Data): string {
  if (leftovers === undefined || leftovers === null) return '';
  const lines = [
    `Before this call: ${data.line(leftovers.why, 400)}. Check what is there before you go on; keep what is right.`,
  ];
  if (leftovers.present.length > 0)
    lines.push('', 'In the work tree, uncommitted:', pathList(leftovers.present, data));
  if (leftovers.conflicts.length > 0) {
    const named = leftovers.conflicts.map(({ path, file }) =>
      file === null ? `${path} (you had deleted it)` : `${path} (what you had made of it: ${file})`,
    );
    lines.push(
      '',
      'Not put back, because the files have changed since. Unless it is done by now, work what is missing into each file as it is now; what others added stays:',
      pathList(named, data),
    );
  }
  return lines.join('\n');
}

function gates({ gates = [], mode }: PromptInput, data: Data): string {
  if (gates.length === 0) return '';
  const lines = gates.map(({ name, run, timeoutS, required, minTests, baseline }) => {
    const terms = [required ? 'required' : 'told only', `at most ${duration(timeoutS * 1000)}`];
    if (minTests > 0) terms.push(`at least ${minTests} ${minTests === 1 ? 'test' : 'tests'} must run`);
    if (required && baseline === 'no_regression')
      terms.push('failures from before this task are tolerated, new ones are not');
    return `- ${data.line(name, 100)}: \`${data.line(run, 600)}\` (${terms.join('; ')})`;
  });
  return `${gatesFor(mode)}\n\n${lines.join('\n')}`;
}

function gatesFor(mode: Mode): string {
  if (MODES[mode].runsGates)
    return 'After this call the loop runs these commands itself, in this folder, on the files as you leave them. Their exit codes decide, not your report. A gate that runs no test where tests are expected has not passed.';
  if (mode === 'TASK_REVIEW' || mode === 'SESSION_REVIEW')
    return 'The loop has its own results of these commands. Run them too where they show something about a criterion.';
  return 'After every attempt at a task the loop runs these commands itself, and no task is accepted while a required one fails. They are told here so that you know them; this call is not held against them.';
}

/** The session's journal and all it kept lie in folders that git ignores. */
const NEVER_CLEAN = ' Never run `git clean` with -x or -X: it deletes the record of this loop.';

function commits({ commit, mode }: PromptInput): string {
  if (mode === 'TASK_REVIEW') return '';
  if (MODES[mode].owes !== 'code') return 'Do not commit anything.';
  if (commit === undefined) return '';
  if (commit === 'agent')
    return 'Commit your work yourself before you report: only the files of this task, one commit, a message in the style of the recent ones.';
  if (commit === 'none') return 'Do not commit. The work stays in the work tree.';
  if (commit === 'engine')
    return 'Do not commit. The loop commits the files of this task once it is accepted.';
  return 'You may commit the files of this task. What you leave uncommitted, the loop commits once the task is accepted.';
}

function inputs(input: PromptInput, data: Data): string {
  const { inputs = {}, task, taskFile, attempt, mode, session } = input;
  const all: [string, string][] = [
    ['mode', mode],
    ...(task === null ? [] : ([['task', task.id]] as [string, string][])),
    ['attempt', String(attempt)],
    ...(taskFile ? ([['task file', taskFile]] as [string, string][]) : []),
    ...Object.entries(inputs),
  ];
  const lines = all
    .slice(0, BUDGET.inputs)
    .map(([name, value]) => `- ${data.line(name, 80)}: ${data.line(value, 600)}`);
  return [...lines, ...(session ? sessionInputs(session, data) : [])].join('\n');
}

/** A call about one task, or about the objective as one. */
function isOfTask({ task, mode }: PromptInput): boolean {
  return task !== null || mode === 'TASK_REVIEW' || MODES[mode].owes === 'code';
}

/** In file order; where they are too many, those that are still open are shown first. */
function index({ index = [], task }: PromptInput, data: Data): string {
  const others = index.filter(({ id }) => id !== task?.id);
  const few = others.length <= BUDGET.indexLines;
  const open = few ? [] : others.filter(({ status }) => !isTerminal(status));
  const shown = new Set([...new Set([...open, ...others])].slice(0, BUDGET.indexLines));
  const lines = others
    .filter((other) => shown.has(other))
    .map(
      ({ id, title, status }) =>
        `- ${MARKERS[status]} ${data.line(id, 80)}: ${data.line(title, BUDGET.titleChars)}`,
    );
  const left = others.length - lines.length;
  return left > 0 ? [...lines, `- … shortened: ${left} more tasks`].join('\n') : lines.join('\n');
}

function knowledge({ knowledge = {} }: PromptInput, data: Data): string {
  const { patterns, memories, prd, commits = [] } = knowledge;
  const parts: string[] = [];
  const add = (title: string, text: string) => {
    if (text !== '') parts.push(`### ${title}\n\n${text}`);
  };
  add('Patterns of this project', quoted(patterns, BUDGET.patterns, data));
  add('Memories', memories?.trim() ? data.block(memories, BUDGET.memories) : '');
  add('Requirements (read only)', quoted(prd, BUDGET.prd, data));
  add(
    'Recent commits, newest first',
    commits
      .slice(0, BUDGET.commits)
      .map((line) => `- ${data.line(line, 200)}`)
      .join('\n'),
  );
  return parts.join('\n\n');
}
