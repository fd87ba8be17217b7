/**
 * How Claude Code is talked to while it works (`--input-format stream-json`). A message that comes while a
 * tool runs is given to the model with the tool's result, in the same turn; one that comes after the last
 * tool begins a further turn with a `result` of its own. With `--replay-user-messages` the program repeats
 * each message when it takes it in: in the middle of a turn at once, at the beginning of one with the
 * model's first words. An interrupt ends the running tool and the turn, and the session goes on.
 */
import type { AgentCall } from '../engine/index.ts';
import { hearClaude } from './claude-permission.ts';
import { isAsked, openDesk } from './permission.ts';
import type { LiveInput } from './talk.ts';

/** Arguments that open the talk; beside `-p` and `--output-format stream-json`. */
export const LIVE_ARGUMENTS = ['--input-format', 'stream-json', '--replay-user-messages'];

/** The first minor version whose program repeats a message that it took in the middle of a turn. */
export const LIVE_SINCE = [2, 1, 0] as const;

/** Looked for before a line is parsed: most lines are long and are no receipt. */
const RECEIPT = '"isReplay":true';

function takenId(line: string): string | null {
  if (!line.includes(RECEIPT)) return null;
  try {
    const event = JSON.parse(line) as { type?: unknown; isReplay?: unknown; uuid?: unknown };
    return event.type === 'user' && event.isReplay === true && typeof event.uuid === 'string'
      ? event.uuid
      : null;
  } catch {
    return null;
  }
}

/** Claude Code's way to talk, in one run. */
export function claudeLive(call: AgentCall): LiveInput {
  const desk = openDesk(call);
  const asking: Partial<LiveInput> = {
    wakesUp: true,
    answer(line, later) {
      hearClaude(desk, line, later);
      return null;
    },
  };
  return {
    message: (text, id) =>
      JSON.stringify({ type: 'user', message: { role: 'user', content: text }, uuid: id }),
    interrupt: (id) =>
      JSON.stringify({ type: 'control_request', request_id: id, request: { subtype: 'interrupt' } }),
    taken: takenId,
    ...(isAsked(call) ? asking : {}),
  };
}
