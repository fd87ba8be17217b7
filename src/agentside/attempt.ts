/** The attempt that a tool is called in, as its environment and the session's journal tell it. */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { journalOf } from './journal.ts';
import { append, type Voice, voiceFrom } from './outbox.ts';
import type { Complaint } from './say.ts';

export interface Attempt {
  voice: Voice;
  sessionDir: string;
  iteration: number;
  role: string;
  mode: string;
  /** null: it works on the session. */
  task: string | null;
}

/** The project's folder in the main checkout: sessions lie two levels below it. */
export function projectOf({ sessionDir }: Pick<Attempt, 'sessionDir'>): string {
  return dirname(dirname(sessionDir));
}

/** `attempts/<NNN>/<name>` of this attempt. */
export function attemptFile({ sessionDir, iteration }: Attempt, name: string): string {
  return join(sessionDir, 'attempts', String(iteration).padStart(3, '0'), name);
}

/** The attempt of this environment, or that there is none. */
export function attemptFrom(env: NodeJS.ProcessEnv): Attempt | Complaint {
  const voice = voiceFrom(env);
  if ('what' in voice) return voice;
  const iteration = Number(env.RALPH_ITERATION);
  const sessionDir = env.RALPH_SESSION_DIR ?? '';
  if (sessionDir === '' || !Number.isInteger(iteration) || iteration < 1) {
    return {
      what: 'The attempt cannot be told from the environment.',
      why: 'RALPH_SESSION_DIR and RALPH_ITERATION are set by the loop, and one of them is missing.',
      fix: 'Call it as a child of the agent, with the environment it was given.',
    };
  }
  const { RALPH_ROLE: role = '', RALPH_MODE: mode = '', RALPH_TASK_ID: task = '' } = env;
  return { voice, sessionDir, iteration, role, mode, task: task === '' ? null : task };
}

/**
 * Whether it is the live attempt whose token it carries; null when it is. A wrong or old token is recorded: its
 * line goes to the outbox, where the loop refuses it.
 */
export function notLive(attempt: Attempt, asked: string): Complaint | null {
  const { sessionDir, iteration, voice } = attempt;
  let hash: string | null = null;
  let over = false;
  for (const { fact } of journalOf(sessionDir, ['attempt.started', 'attempt.ended', 'attempt.lost']).next()) {
    if (fact.type === 'attempt.started' && fact.iteration === iteration) hash = fact.tokenHash;
    else if (fact.type !== 'attempt.started' && fact.iteration === iteration) over = true;
  }
  if (hash === createHash('sha256').update(voice.token).digest('hex') && !over) return null;
  append(voice, asked, '');
  return {
    what: over
      ? `Iteration ${iteration} is over, so nothing can be said for it.`
      : `The token is not that of iteration ${iteration}; this was refused and recorded.`,
    why: 'Only the live attempt speaks, and only for itself.',
    fix: 'End here; the next call gets an environment of its own.',
  };
}
