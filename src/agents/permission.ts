/**
 * An agent's request for permission, on its way to whoever decides and back. Each agent puts it into words of its own;
 * what is asked, what is shown and what silence or a broken wait means is the same for all of them.
 */
import { beginningOf, type PermissionDecision, type PermissionRequest } from '../core/index.ts';
import type { AgentCall } from '../engine/index.ts';
import type { Json } from './json.ts';

/** Whether rules hold for this call, so that the agent has to ask. */
export const isAsked = (call: AgentCall): boolean => call.permission !== undefined;

/** The requests of one agent that nobody has decided yet, by the ids that the agent knows them by. */
export interface Desk {
  /** `told` hears the decision, and nothing where the agent does not want to know any more. */
  ask(id: string, request: PermissionRequest, told: (decision: PermissionDecision) => void): void;
  /** The agent has taken this request back; it may be one that nobody knows. */
  gone(id: string): void;
  allGone(): void;
}

/** Asks whoever decides. Without anybody, all is allowed; where nobody can tell, it is refused. */
export function openDesk(call: Pick<AgentCall, 'permission'>): Desk {
  const open = new Map<string, AbortController>();
  const gone = (id: string) => {
    open.get(id)?.abort();
    open.delete(id);
  };
  return {
    ask(id, request, told) {
      gone(id);
      const asked = new AbortController();
      open.set(id, asked);
      const decided = call.permission?.(request, asked.signal) ?? Promise.resolve({ allow: true as const });
      void decided
        .catch(() => ({ allow: false as const, reason: 'nobody could be asked' }))
        .then((decision) => {
          if (asked.signal.aborted) return;
          open.delete(id);
          told(decision);
        });
    },
    gone,
    allGone: () => [...open.keys()].forEach(gone),
  };
}

/** What the agent reads of a refusal. */
export const refusal = (reason: string): string =>
  `Not allowed: ${reason}. Do not try to reach the same by another way; do what can be done without it, and report what cannot.`;

/** What is left of an input without these fields; undefined: nothing. */
export function restOf(input: Json, without: readonly string[]): Json | undefined {
  const rest = Object.entries(input).filter(([name]) => !without.includes(name));
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

/** Longest text of one side of a change that is shown. */
const SIDE_CHARS = 4000;

/** A change of one file as its lines that go and come. */
export function changeText(path: string, { before, after }: { before: string; after: string }): string {
  const lines = (side: string, mark: string) =>
    beginningOf(side, SIDE_CHARS)
      .split('\n')
      .filter((line, index, all) => line !== '' || index < all.length - 1)
      .map((line) => `${mark}${line}`);
  return [path, ...lines(before, '-'), ...lines(after, '+')].join('\n');
}
