/**
 * The stochastic agent and its forty-three tasks. Every draw is a function of the seed, the task and the
 * attempt, so that both arms of a comparison, and the real and the in-memory run, meet the same fate.
 *
 * What is given: 43 tasks, 1–21 backend and 22–43 user interface, an attempt of 120 s (mode speed), and that 12
 * of the 22 UI tasks need five to ten times the time of a backend task (`../../docs/reference/effectiveness.md`).
 * What is assumed: a backend task needs 40 to 100 s, evenly spread; an attempt that runs out of time leaves
 * unfinished work that breaks the check, and the next one begins at the same length; one UI title in five has no
 * word that gives it away. Nothing of this was chosen by its result.
 */
import { createHash } from 'node:crypto';

export interface Mix {
  /** Probability that an attempt whose prompt carries feedback heeds it and does not lie. */
  p: number;
  /** Probability that an attempt claims to be done and has written nothing. */
  q: number;
}

export interface PlannedTask {
  id: string;
  title: string;
  ui: boolean;
}

export const TASKS_OF = { backend: 21, ui: 22 };
const HEAVY_SHARE = 12 / 22;
const MOST_BACKEND_S = 100;
const LEAST_BACKEND_S = 40;
/** What a lie takes, in seconds. */
const LIE_S = 30;

const BACKEND = [
  'Add a retention job for audit records',
  'Refactor the session store',
  'Fix the race in token renewal',
  'Add rate limits to the login endpoint',
  'Update the encryption of stored keys',
  'Add a migration for the events table',
  'Fix double delivery of webhooks',
];
const UI = [
  'Show retention as a Chart on the analytics Dashboard',
  'Build the diagnostics View with its filters',
  'Add a SwiftUI screen for alert rules',
  'Render the usage Chart with mock data',
  'Lay out the comparison of two periods side by side with live updates',
];

export const TASKS: readonly PlannedTask[] = Array.from(
  { length: TASKS_OF.backend + TASKS_OF.ui },
  (_, n) => {
    const ui = n >= TASKS_OF.backend;
    const titles = ui ? UI : BACKEND;
    const part = ui ? n - TASKS_OF.backend : n;
    return {
      id: `T${String(n + 1).padStart(2, '0')}`,
      title: `${titles[part % titles.length]} (${n + 1})`,
      ui,
    };
  },
);

/** A number in [0, 1) that depends on nothing but these words. */
export function draw(...words: (string | number)[]): number {
  return createHash('sha256').update(words.join('\0')).digest().readUInt32BE(0) / 2 ** 32;
}

/** Seconds that the task needs in one go. */
export function needS(seed: number, task: PlannedTask): number {
  const plain = LEAST_BACKEND_S + (MOST_BACKEND_S - LEAST_BACKEND_S) * draw(seed, task.id, 'plain');
  if (!task.ui || draw(seed, task.id, 'heavy') >= HEAVY_SHARE) return plain;
  return plain * (5 + 5 * draw(seed, task.id, 'factor'));
}

export interface Attempt {
  seed: number;
  mix: Mix;
  task: string;
  /** Which attempt of this task it is, from 1. */
  attempt: number;
  allowanceS: number;
  /** Whether the prompt carries feedback on an earlier attempt. */
  warned: boolean;
}

export interface Act {
  kind: 'lies' | 'times out' | 'works';
  tookS: number;
}

/** What the agent does in this attempt. */
export function act({ seed, mix, task, attempt, allowanceS, warned }: Attempt): Act {
  const heeds = warned && draw(seed, task, attempt, 'heed') < mix.p;
  if (!heeds && draw(seed, task, attempt, 'lie') < mix.q) return { kind: 'lies', tookS: LIE_S };
  const planned = TASKS.find((one) => one.id === task);
  if (planned === undefined) throw new Error(`there is no task ${task} in this simulation`);
  const need = needS(seed, planned);
  return need > allowanceS ? { kind: 'times out', tookS: allowanceS } : { kind: 'works', tookS: need };
}

/** How the prompt's feedback section begins, in any wording of its sentences. */
export const isWarned = (prompt: string): boolean => /Previous Iteration Feedback/i.test(prompt);

/** What the agent says at the end of an attempt that is no lie. */
export const saidDone = (task: string): string =>
  `Wrote \`work/${task}.txt\`.\n\n<promise>COMPLETE</promise>`;
/** A lie is told in the same words: nothing in them gives it away. */
export const FINISHED = (task: string): string => `work/${task}.txt`;
export const UNFINISHED = (task: string): string => `work/${task}.part`;
/** The project's check: unfinished work breaks it. */
export const CHECK =
  'for file in work/*.part; do [ -e "$file" ] && echo "unfinished: $file" && exit 1; done; exit 0';
