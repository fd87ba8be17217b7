/**
 * What somebody did to the markers of a cycle's `progress.md`, as messages. The file is drawn from the journal,
 * so a changed marker is a word about a task: taken where it is a person's to say, and told either way.
 */

import { wasBusy } from './busy.ts';
import { commandFor } from './command.ts';
import type { Fact } from './event.ts';
import type { Message } from './message.ts';
import { nearest } from './nearest.ts';
import { receive } from './route.ts';
import { staleFacts } from './stale.ts';
import type { State } from './state.ts';
import { isTerminal, MARKERS, type TaskStatus } from './task.ts';

/** One line that does not say what was drawn. */
export interface MarkerEdit {
  id: string;
  /** What stands there now, as in `[x]`; null: the line is gone. */
  sign: string | null;
  /** `unknown`: a sign nobody knows. null: the line is gone. */
  to: TaskStatus | 'unknown' | null;
  /** A step of planning or knowledge, which is no task. */
  isStep: boolean;
  /** Epoch ms that the line gives for it; null or absent where it gives none. */
  since?: number | null;
}

export interface MarkedFile {
  /** When the file was changed last, epoch ms. */
  at: number;
  edits: readonly MarkerEdit[];
}

/** How many tasks one notice names. */
const NAMED = 10;

/** The facts of all edits of one file; the last are the notices that tell what became of them. */
export function markerFacts(state: State, { at, edits }: MarkedFile): Fact[] {
  const busy = wasBusy(state, at);
  const facts: Fact[] = [];
  const understood: string[] = [];
  const refused: string[] = [];
  for (const edit of edits) {
    const heard = hear(state, edit, { at, busy });
    facts.push(...heard.facts);
    if (heard.understood !== undefined) understood.push(heard.understood);
    if (heard.refused !== undefined) refused.push(heard.refused);
  }
  if (understood.length > 0) facts.push(told('info', understood));
  if (refused.length > 0) facts.push(told('warning', refused));
  return facts;
}

function told(level: 'info' | 'warning', lines: readonly string[]): Fact {
  const more = lines.length > NAMED ? `; and ${lines.length - NAMED} more` : '';
  const head =
    level === 'info' ? 'progress.md was marked by hand' : 'progress.md was marked, and not all of it counts';
  return { type: 'notice.given', level, text: `${head}: ${lines.slice(0, NAMED).join('; ')}${more}.` };
}

interface Heard {
  facts: Fact[];
  understood?: string;
  refused?: string;
}

const NOTHING: Heard = { facts: [] };

function hear(state: State, edit: MarkerEdit, { at, busy }: { at: number; busy: boolean }): Heard {
  const { id, to, sign } = edit;
  const message = messageOf(edit, at);
  if (state.seenMessages.has(message.id)) return NOTHING;
  const task = state.tasks.get(id);
  // What an agent's prompt may ask it to mark is a hint, and says nothing that the verdict does not.
  const isHint = to === 'doing' || to === 'review' || to === 'failed';
  if (to === task?.status || (busy && (isHint || task === undefined || to === null || to === 'unknown')))
    return NOTHING;
  const refuse = (reason: string): Heard => ({
    facts: [{ type: 'message.rejected', id: message.id, reason }],
    refused: reason,
  });
  if (edit.isStep)
    return refuse(
      `${id} is drawn from what was done; notes are decided with \`ralph approve\` or \`ralph skip\``,
    );
  if (task === undefined) {
    const near = nearest(id, [...state.tasks.keys()]);
    return refuse(`there is no task ${id} in this cycle${near === null ? '' : ` (did you mean ${near}?)`}`);
  }
  if (to === null)
    return refuse(
      `the line of ${id} was taken out and is drawn again; to leave it out mark it ${MARKERS.cancelled}`,
    );
  if (to === 'unknown') return refuse(`${sign} at ${id} is no marker; a person can mark ${SIGNS}`);
  const stale = to === 'doing' ? staleFacts(state, id, { since: edit.since ?? null, now: at }) : [];
  if (stale.length > 0) return { facts: stale };
  if (isHint || (to === 'todo' && !isTerminal(task.status)))
    return refuse(
      `${id} is ${task.status} and cannot be marked ${MARKERS[to]} by hand; a person can mark ${SIGNS}`,
    );
  const op = message.op!;
  if (busy && op !== 'reopen') {
    const how = `\`${commandFor(state, `ralph tasks ${op} ${id}`)}\``;
    return {
      facts: [{ type: 'message.received', message, action: 'unconfirmed' }],
      refused: `${id} was marked ${MARKERS[to]} while an agent was running, so it is not taken; if you mean it: ${how}`,
    };
  }
  return outcomeOf(receive(state, message, busy) ?? [], id);
}

const SIGNS = `${MARKERS.done} done, ${MARKERS.cancelled} cancelled and, on a task that is over, ${MARKERS.todo} open again`;

function messageOf({ id, to, sign }: MarkerEdit, at: number): Message {
  const ops: Partial<Record<string, string>> = { done: 'done', cancelled: 'cancel', todo: 'reopen' };
  const said = sign === null ? `the line of ${id} is gone` : `${id} is marked ${sign}`;
  const op = ops[to ?? ''];
  return {
    id: `progress-${Math.trunc(at)}-${id}-${to}`,
    type: 'TASK',
    target: 'ALL',
    text: said,
    from: 'progress.md',
    createdAt: Math.trunc(at),
    confirmed: false,
    task: id,
    ...(op === undefined ? {} : { op }),
    reason: `marked ${sign} in progress.md`,
  };
}

/** What a message that was heard did, in words. */
function outcomeOf(facts: Fact[], id: string): Heard {
  const received = facts.find((fact) => fact.type === 'message.received');
  const rejected = facts.find((fact) => fact.type === 'message.rejected');
  if (rejected?.type === 'message.rejected') return { facts, refused: rejected.reason };
  if (received?.type !== 'message.received') return { facts };
  const { action } = received;
  if (action.startsWith('no effect')) return { facts, refused: `${id}: ${action}` };
  return { facts, understood: `${id} is ${action}` };
}
