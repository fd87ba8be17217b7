/**
 * An agent's request for permission, answered: what it wants in the words that rules and people read, and the
 * decision as one of the options it offers. Without anybody who decides, it is allowed.
 */
import type { PermissionRequest } from '../core/index.ts';
import type { AgentCall } from '../engine/index.ts';
import { commandOf, type ToolCall } from './acp-events.ts';
import { type Json, objects, text } from './json.ts';

/** The answer in the protocol's own shape. */
export interface PermissionAnswer {
  outcome: Json;
  refused: boolean;
}

interface Asked {
  call: ToolCall;
  params: Json;
}

/** Longest text of one side of a change that is shown. */
const DIFF_CHARS = 4000;

/** The changes that come with the request, each as its lines that go and come. */
function diffIn(params: Json): string | null {
  const told = params.toolCall as Json | undefined;
  const pieces = objects(told?.content)
    .filter(({ type }) => type === 'diff')
    .map((diff) => {
      const lines = (side: unknown, mark: string) =>
        text(side)
          .slice(0, DIFF_CHARS)
          .split('\n')
          .filter((line, index, all) => line !== '' || index < all.length - 1)
          .map((line) => `${mark}${line}`);
      return [text(diff.path), ...lines(diff.oldText, '-'), ...lines(diff.newText, '+')].join('\n');
    });
  return pieces.length === 0 ? null : pieces.join('\n');
}

function requestOf({ call, params }: Asked): PermissionRequest {
  const command = commandOf(call);
  return {
    tool: call.kind || 'tool',
    title: call.title || call.kind || 'a tool',
    command: command === '' ? null : command,
    paths: call.paths,
    diff: diffIn(params),
  };
}

/** The option of the first of these kinds; null where none is offered. */
function optionOf(params: Json, kinds: string[]): Json | null {
  const options = objects(params.options);
  const found = kinds
    .map((kind) => options.find((option) => option.kind === kind))
    .find((one) => one !== undefined);
  return found === undefined ? null : { outcome: 'selected', optionId: found.optionId };
}

/** Asks whoever decides. Never rejects: where nobody can tell, it is refused. */
export async function answerPermission(call: AgentCall, asked: Asked): Promise<PermissionAnswer> {
  const decided =
    call.permission === undefined
      ? { allow: true as const }
      : await call.permission(requestOf(asked)).catch(() => ({ allow: false as const }));
  const kinds = decided.allow ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  const outcome = optionOf(asked.params, kinds) ?? { outcome: 'cancelled' };
  return { outcome, refused: !decided.allow || outcome.outcome === 'cancelled' };
}
