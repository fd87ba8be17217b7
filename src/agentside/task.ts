/**
 * `ralph tools task list | show ID | add TITLE`: the tasks of the session, to look at. An agent marks, cancels and
 * reopens none of them; what it adds is a word to a person, and the list stays as it is.
 */
import type { JournalRecord, State } from '../core/index.ts';
import type { Attempt } from './attempt.ts';
import { wholeLines } from './journal.ts';
import { append } from './outbox.ts';
import type { Complaint, Told } from './say.ts';

/** Every task with its mark. */
export async function listTasks(sessionDir: string): Promise<Told> {
  const { tasksJson, tasksText } = await import('../views/index.ts');
  const state = await stateOf(sessionDir);
  return { text: tasksText(state), data: tasksJson(state) };
}

/** One task as the list has it. */
export async function showTask(sessionDir: string, id: string): Promise<Told | Complaint> {
  const { nearest } = await import('../core/index.ts');
  const { tasksJson } = await import('../views/index.ts');
  const state = await stateOf(sessionDir);
  const task = tasksJson(state).find((one) => one.id === id);
  if (task === undefined) {
    const near = nearest(id, [...state.tasks.keys()]);
    return {
      what: id === '' ? 'No task was named.' : `There is no task ${id}.`,
      why: `The session has ${state.tasks.size} tasks.`,
      fix: near === null ? 'ralph tools task list' : `ralph tools task show ${near}`,
    };
  }
  const { description } = state.tasks.get(id)!.def;
  const lines = [`${task.marker} ${task.id}: ${task.title}`];
  if (description.trim() !== '') lines.push('', description.trim());
  if (task.acceptance.length > 0) {
    lines.push('', 'Acceptance criteria:', ...task.acceptance.map((text, n) => `${n + 1}. ${text}`));
  }
  if (task.depends_on.length > 0) lines.push('', `It builds on ${task.depends_on.join(', ')}.`);
  return { text: lines.join('\n'), data: { ...task, description } };
}

/** Tells people of work that no task names. */
export function addTask(
  { voice }: Attempt,
  { title, description }: { title: string; description: string },
): Told | Complaint {
  if (title.trim() === '') {
    return {
      what: 'No title was given.',
      why: 'Found work is told by its title.',
      fix: 'ralph tools task add "The importer loses comments" --description "seen in src/import.ts"',
    };
  }
  const failed = append(voice, 'ralph.task', { title: title.trim(), description: description.trim() });
  if (failed !== null) return failed;
  return {
    text: 'Told. A person decides whether it becomes a task; go on with yours.',
    data: { ok: true, title: title.trim() },
  };
}

async function stateOf(sessionDir: string): Promise<State> {
  const { emptyState, evolve } = await import('../core/index.ts');
  const state = emptyState();
  for (const line of wholeLines(sessionDir)) evolve(state, JSON.parse(line) as JournalRecord);
  return state;
}
