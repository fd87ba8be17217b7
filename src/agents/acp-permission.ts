/** How the Agent Client Protocol asks for permission: a tool call with options, of which one is the answer. */
import type { PermissionDecision, PermissionRequest } from '../core/index.ts';
import { commandGiven, type ToolCall } from './acp-events.ts';
import { type Json, object, objects, text } from './json.ts';
import { changeText, restOf } from './permission.ts';

/** The changes that come with the request. */
function diffIn(params: Json): string | null {
  const pieces = objects(object(params.toolCall).content)
    .filter(({ type }) => type === 'diff')
    .map(({ path, oldText, newText }) =>
      changeText(text(path), { before: text(oldText), after: text(newText) }),
    );
  return pieces.length === 0 ? null : pieces.join('\n');
}

/** Kinds whose files say what they are about. */
const ABOUT_FILES = new Set(['read', 'edit', 'delete', 'move', 'search']);
/** Fields that say nothing more. */
const SAID = ['description', 'timeout'];

/** What of its input is not said by its command or its files. */
function inputOf({ kind, paths, input }: ToolCall, command: string): Json | undefined {
  if (command !== '') return restOf(input, ['command', ...SAID]);
  if (!ABOUT_FILES.has(kind) || paths.length === 0) return restOf(input, []);
  return input.command === undefined ? undefined : { command: input.command };
}

/** What it wants, in the words that rules and people read. */
export function acpRequest(call: ToolCall, params: Json): PermissionRequest {
  const command = commandGiven(call);
  const { workdir, cwd, directory } = call.input;
  const input = inputOf(call, command);
  const from = text(workdir) || text(cwd) || text(directory);
  return {
    tool: call.kind || 'tool',
    title: call.title || call.kind || 'a tool',
    command: command === '' ? null : command,
    paths: call.paths,
    diff: diffIn(params),
    ...(input === undefined ? {} : { input }),
    ...(command === '' || from === '' ? {} : { from }),
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
