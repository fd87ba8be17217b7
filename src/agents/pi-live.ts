/**
 * How pi is talked to while it works (`--mode rpc`): commands as lines of JSON on stdin. A message that comes while
 * the model is at work is given to it behind the tools it has called; one that comes later begins a further turn. pi
 * knows no ids of messages: it repeats each as a message of the user when it takes it in. `abort` ends the running
 * tool and the turn, and what follows is told once pi says that it has ended them.
 */
import { object, objects, parseLine, text } from './json.ts';
import type { LiveInput } from './talk.ts';

/** Looked for before a line is parsed: most lines are long and are none of these. */
const MESSAGE = /^\{"type":"message_end".*"role":"user"/;
const DIALOG = /^\{"type":"extension_ui_request"/;
const ABORTED = /^\{.*"type":"response","command":"abort"/;
/** Extensions of the user that wait for an answer; the rest only shows something. */
const ASKING = new Set(['select', 'confirm', 'input', 'editor']);

/** Nobody sits at the dialogs of extensions, so they are left as a person would leave them. */
function leaveDialog(line: string): string | null {
  const request = object(parseLine(line));
  if (!ASKING.has(text(request.method))) return null;
  return JSON.stringify({ type: 'extension_ui_response', id: text(request.id), cancelled: true });
}

/** pi's way to talk, in one run. */
export function piLive(): LiveInput {
  let begun = false;
  const sent: { id: string; said: string }[] = [];
  /** Messages that wait for the end of what was aborted; null: nothing is being aborted. */
  let held: string[] | null = null;
  return {
    triesAgain: true,
    message(said, id) {
      const line = JSON.stringify({ id, type: 'prompt', message: said, streamingBehavior: 'steer' });
      if (!begun) {
        begun = true;
        // The answer to the first line tells the session, which the stream does not.
        return `${JSON.stringify({ type: 'get_state' })}\n${line}`;
      }
      sent.push({ id, said });
      if (held === null) return line;
      held.push(line);
      return '';
    },
    interrupt(id) {
      held ??= [];
      return JSON.stringify({ id, type: 'abort' });
    },
    taken(line) {
      if (!MESSAGE.test(line)) return null;
      const content = object(object(parseLine(line)).message).content;
      const said = objects(content)
        .map((part) => text(part.text))
        .join('\n');
      const at = sent.findIndex((message) => message.said === said);
      return sent.splice(at < 0 ? sent.length : at, 1)[0]?.id ?? null;
    },
    answer(line) {
      if (DIALOG.test(line)) return leaveDialog(line);
      if (held === null || !ABORTED.test(line)) return null;
      const lines = held.join('\n');
      held = null;
      return lines;
    },
  };
}
