/**
 * Which corrections stand in a prompt: those of its task until that is accepted, and those its agent has not
 * been given yet. Newest first, each sentence once whatever iteration it was said of, and none older than
 * the policy keeps them, by the journal's time.
 */
import type { Item } from './role.ts';
import type { State } from './state.ts';
import { isTerminal } from './task.ts';

export interface FeedbackLine {
  iteration: number;
  /** null: work on the session. */
  task: string | null;
  sentence: string;
}

interface Said extends FeedbackLine {
  /** Epoch ms. */
  at: number;
}

/** The lines for this item's next prompt, as this agent gets it, the newest first. */
export function feedbackFor(state: State, item: Item, agent: string): FeedbackLine[] {
  const task = item.task === undefined ? undefined : state.tasks.get(item.task);
  const owed = state.owed.filter((one) => one.agent === agent && (!task || one.task !== task.def.id));
  const own = (task?.corrections ?? []).map(({ iteration, at, intervention }) => ({
    iteration,
    at,
    task: task!.def.id,
    sentence: intervention.sentence,
  }));
  return linesOf(state, [...own, ...owed]);
}

/** The lines that stand in the next prompt of any open task, or of any agent; the newest first. */
export function standingFeedback(state: State): FeedbackLine[] {
  const own = [...state.tasks.values()]
    .filter((task) => !isTerminal(task.status))
    .flatMap(({ def, corrections }) =>
      corrections.map(({ iteration, at, intervention }) => ({
        iteration,
        at,
        task: def.id,
        sentence: intervention.sentence,
      })),
    );
  const known = new Set(own.map(({ iteration }) => iteration));
  return linesOf(state, [...own, ...state.owed.filter(({ iteration }) => !known.has(iteration))]);
}

const DAY_MS = 86_400_000;

function linesOf(state: State, said: Said[]): FeedbackLine[] {
  const { enabled = true, feedbackRotationDays: days = 30 } = state.policy?.interventions ?? {};
  if (!enabled) return [];
  const seen = new Set<string>();
  return said
    .filter(({ at }) => state.lastAt - at <= days * DAY_MS)
    .sort((a, b) => b.iteration - a.iteration)
    .flatMap(({ iteration, task, sentence }) =>
      sentence.split('\n').map((line) => ({ iteration, task, sentence: line })),
    )
    .filter(({ iteration, sentence }) => {
      // The same words about another iteration say nothing new.
      const words = sentence.replace(new RegExp(`\\biteration ${iteration}\\b`, 'i'), '');
      if (words === '' || seen.has(words)) return false;
      seen.add(words);
      return true;
    });
}
