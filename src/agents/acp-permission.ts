/** How the Agent Client Protocol asks for permission: a tool call with options, of which one is the answer. */
import type { PermissionDecision, PermissionRequest } from '../core/index.ts';
import { commandOf, type ToolCall } from './acp-events.ts';
import { type Json, object, objects, text } from './json.ts';
import { changeText } from './permission.ts';

/** The changes that come with the request. */
function diffIn(params: Json): string | null {
  const pieces = objects(object(params.toolCall).content)
    .filter(({ type }) => type === 'diff')
    .map(({ path, oldText, newText }) =>
      changeText(text(path), { before: text(oldText), after: text(newText) }),
    );
  return pieces.length === 0 ? null : pieces.join('\n');
}

/** What it wants, in the words that rules and people read. */
export function acpRequest(call: ToolCall, params: Json): PermissionRequest {
  const command = commandOf(call);
  return {
    tool: call.kind || 'tool',
    title: call.title || call.kind || 'a tool',
    command: command === '' ? null : command,
    paths: call.paths,
    diff: diffIn(params),
  };
}

/** What the agent is told where nobody has decided, or none of its options says what was. */
export const CANCELLED: Json = { outcome: 'cancelled' };

/** The decision as one of the options that the agent offers. */
export function acpOutcome(params: Json, { allow }: PermissionDecision): Json {
  const options = objects(params.options);
  const kinds = allow ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  const found = kinds
    .map((kind) => options.find((option) => option.kind === kind))
    .find((one) => one !== undefined);
  return found === undefined ? CANCELLED : { outcome: 'selected', optionId: found.optionId };
}
