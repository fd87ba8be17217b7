/**
 * Commands of ours that people are told to type, as they mean one session wherever they are typed. A loop has a work
 * tree of its own: in the main checkout a plain `ralph run` begins beside it, and a plain `ralph answer q1` may answer
 * another loop, as each counts its questions for itself. So a loop's commands name it.
 */
import type { State } from './state.ts';

/** About the machine and the project, not about a session. */
const OF_NO_SESSION = /^ralph (?:doctor|loops)\b/;

/** `command`: as it is typed where only this session can be meant, e.g. `ralph answer q1 "…"`. */
export function commandFor({ policy }: Pick<State, 'policy'>, command: string): string {
  return loopCommand(policy?.loop?.loop ?? null, command);
}

/** The same by the loop's name; null: the session is no loop's. */
export function loopCommand(loop: string | null, command: string): string {
  if (loop === null || OF_NO_SESSION.test(command)) return command;
  const isRun = /^ralph run\b/.test(command);
  return isRun
    ? command.replace('ralph run', `ralph run --worktree ${loop}`)
    : `${command} --session @${loop}`;
}
