/**
 * What a message does in the state it arrives in. Control acts at once, guidance is queued for the
 * next prompt, an answer answers; what has no effect is told to its sender and kept.
 */

import { waitsFor } from './blocked.ts';
import { commandFor } from './command.ts';
import type { Fact, TimeGrant } from './event.ts';
import { openQuestions } from './guard.ts';
import { hiredRoles } from './hat-work.ts';
import { aliasesOf, BUILT_IN_ROLES } from './hats.ts';
import { isHome } from './landing.ts';
import { type Message, wordsOf } from './message.ts';
import { nearest } from './nearest.ts';
import type { QuestionState, State, TaskState } from './state.ts';
import { isTerminal } from './task.ts';

/** Facts of one message; the first is always its receipt. Null: leave it where it lies. */
export function receive(state: State, message: Message, live: boolean): Fact[] | null {
  if (state.seenMessages.has(message.id)) return [];
  const rejected = (reason: string): Fact[] => [{ type: 'message.rejected', id: message.id, reason }];
  const target: Target = SESSION_WIDE.has(message.type) ? { role: 'ALL' } : targetOf(state, message.target);
  if (target.problem) return rejected(target.problem);
  const addressed = { ...message, target: target.role, from: sender(message) };
  const received = (action: string, ...facts: Fact[]): Fact[] => [
    { type: 'message.received', message: addressed, action },
    ...facts,
  ];
  if (isStale(state, message)) return received(`stale: iteration ${message.iteration} is not ${state.cycle}`);
  if (live && !message.confirmed && PERSONS.has(message.type) && !reopens(message))
    return received('unconfirmed', unconfirmed(addressed));
  switch (message.type) {
    case 'PAUSE':
      return pause(state, addressed, received);
    case 'RESUME':
      return resume(state, addressed, received);
    case 'STEER':
    case 'INFO':
      return guide(state, addressed, received);
    case 'ABORT':
      if (isOver(state) || state.aborted) return received('no effect: the session is over');
      return received('aborted', { type: 'abort.asked', by: addressed.from, text: message.text });
    case 'HALT':
      return halt(state, addressed, received);
    case 'ANSWER':
    case 'APPROVE':
    case 'SKIP':
      return answer(state, { message: addressed, live, received, rejected });
    case 'UNBLOCK':
      return unblock(state, addressed, { received, rejected });
    case 'TASK':
      return changeTask(state, addressed, { received, rejected });
    case 'FEEDBACK':
      return received('queued', { type: 'feedback.received', id: message.id, text: message.text });
    default: {
      const never: never = message.type;
      throw new Error(`unknown message type ${String(never)}`);
    }
  }
}

/** What decides in a person's place: dropped as a file while an agent runs, it may be the agent's own word. */
const PERSONS: ReadonlySet<Message['type']> = new Set(['UNBLOCK', 'TASK', 'FEEDBACK']);

/** Work that is done again can fool nobody. */
function reopens({ type, op }: Message): boolean {
  return type === 'TASK' && op === 'reopen';
}

function unconfirmed({ type, from, text }: Message): Fact {
  const words = text === '' ? '' : ` ("${text.slice(0, 200)}")`;
  return {
    type: 'notice.given',
    level: 'warning',
    text: `${type} from ${from}${words} arrived as a file while an agent was running, so it was not taken; say it again from a terminal or a chat.`,
  };
}

/** A name in a file is only what the file says. */
function sender({ confirmed, from }: Message): string {
  return confirmed || from === 'file' ? from : `${from} (unsigned file)`;
}

type Received = (action: string, ...facts: Fact[]) => Fact[];
interface Replies {
  received: Received;
  rejected(reason: string): Fact[];
}

/** Control is for the session, whatever role it is addressed to. */
const SESSION_WIDE: ReadonlySet<Message['type']> = new Set(['PAUSE', 'ABORT', 'RESUME', 'HALT']);

interface Target {
  role: string;
  problem?: string;
}

function targetOf(state: State, target: string): Target {
  const plain = target
    .trim()
    .replace(/^ralph(-v2)?-/i, '')
    .toLowerCase();
  if (plain === '' || plain === 'all') return { role: 'ALL' };
  if (plain === 'orchestrator') return { role: 'orchestrator' };
  const hired = state.policy ? hiredRoles(state.policy) : [...BUILT_IN_ROLES];
  // A name that somebody has is nobody's older name.
  const role =
    hired.find((name) => name.toLowerCase() === plain) ??
    hired.find((name) => aliasesOf(name, hired).includes(plain));
  if (role !== undefined) return { role };
  const near = nearest(plain, [...hired, 'ALL', 'orchestrator']);
  const hint = near === null ? '' : ` Did you mean ${near}?`;
  return {
    role: '',
    problem: `There is no role "${target}" in this session; valid: ALL, orchestrator, ${hired.join(', ')}.${hint}`,
  };
}

function isStale(state: State, message: Message): boolean {
  const always = message.type === 'PAUSE' || message.type === 'ABORT';
  if (always || message.iteration === undefined || message.iteration === state.cycle) return false;
  // Feedback is meant for the cycle it opens.
  return !(message.type === 'FEEDBACK' && message.iteration === state.cycle + 1);
}

/** All is done and where it belongs: a landing that is under way or awaited is still the session's. */
function isOver(state: State): boolean {
  return state.phase === 'COMPLETE' && (state.run?.stopped?.code === 0 || isHome(state));
}

function pause(state: State, message: Message, received: Received): Fact[] {
  if (state.paused) return received('no effect: already paused');
  if (state.aborted) return received('no effect: the session is aborted');
  if (isOver(state)) return received('no effect: the session is over');
  return received('paused', {
    type: 'session.paused',
    at: message.createdAt,
    text: message.text,
    by: message.from,
  });
}

function resume(state: State, message: Message, received: Received): Fact[] {
  if (!state.paused) return received('no effect: not paused');
  if (message.createdAt < state.paused.at) return received('no effect: older than the pause');
  return received('resumed', {
    type: 'session.resumed',
    at: message.createdAt,
    text: message.text,
    by: message.from,
  });
}

/** STEER after a pause un-pauses and stands in the next prompt; INFO is only queued. */
function guide(state: State, message: Message, received: Received): Fact[] {
  const wakes = message.type === 'STEER' && state.paused !== null && message.createdAt >= state.paused.at;
  if (!wakes) return received('queued');
  return received('queued', { type: 'session.resumed', at: message.createdAt, text: '', by: message.from });
}

/** A stop is for the run that is alive when it is sent. */
function halt(state: State, message: Message, received: Received): Fact[] {
  const running =
    state.run !== null && state.run.stopped === null && message.createdAt >= state.run.startedAt;
  if (!running) return received('no effect: no run was alive');
  if (isOver(state)) return received('no effect: the session is over');
  const text = message.text === '' ? {} : { text: message.text };
  return received('stopping', { type: 'stop.asked', by: message.from, ...text });
}

interface AnswerCall extends Replies {
  message: Message;
  live: boolean;
}

function answer(state: State, { message, live, received, rejected }: AnswerCall): Fact[] | null {
  const wantsApproval = message.type !== 'ANSWER';
  const open = openQuestions(state).filter((entry) => !wantsApproval || entry.question.kind === 'approval');
  if (open.length === 0) {
    if (wantsApproval) return null;
    const known = message.question === undefined ? undefined : state.questions.get(message.question);
    if (message.question !== undefined && !known)
      return rejected(`There is no question ${message.question}; none is open.`);
    return received(known ? `no effect: ${lateNote(known)}` : 'no effect: no question is open');
  }
  const asked = message.question ?? (open.length === 1 ? open[0]!.question.id : undefined);
  const ids = open.map((entry) => entry.question.id).join(', ');
  if (asked === undefined) return rejected(`Several questions are open; name one of ${ids}.`);
  const found = open.find((entry) => entry.question.id === asked);
  if (!found) {
    const known = state.questions.get(asked);
    return known
      ? received(`no effect: ${lateNote(known)}`)
      : rejected(`No open question ${asked}; open: ${ids}.`);
  }
  // A yes from before it was asked is about something else; times in files are whole seconds.
  const { askedAt } = found.question;
  if (wantsApproval && message.createdAt < askedAt - (askedAt % 1000))
    return received(`stale: older than ${asked}`);
  if (!message.confirmed && live) {
    const words = message.option ?? message.text;
    const text = `An answer to ${asked} from ${message.from} arrived as a file while an agent was running, so it is not taken: "${words.slice(0, 200)}". If it is a person's, confirm it with \`${commandFor(state, `ralph answer ${asked} …`)}\`, or here.`;
    return received('unconfirmed', { type: 'notice.given', level: 'warning', text });
  }
  const chosen = choice(found, message);
  if (chosen.problem) return rejected(chosen.problem);
  const only = message.type === 'APPROVE' ? namedNotes(state, message.files ?? []) : [];
  if (typeof only === 'string') return rejected(only);
  return received('answered', {
    type: 'question.answered',
    ...(only.length > 0 && asked === state.cycleWork.approval ? { only } : {}),
    id: asked,
    text: wordsOf({ ...message, text: chosen.text }),
    option: chosen.option,
    by: message.from,
    via: message.type === 'ANSWER' ? 'message' : message.type.toLowerCase(),
  });
}

/** The staged notes that a person names, by path or by the end of one; else which is none of them. */
function namedNotes({ cycleWork: { staged } }: State, named: readonly string[]): string[] | string {
  const found = new Set<string>();
  for (const name of named) {
    const end = name.replace(/^\.?\/+/, '').replace(/^.*\/(?=knowledge\/)/, '');
    const fits = staged.filter((path) =>
      [path, path.replace(/\.\w+$/, '')].some((one) => `/${one}`.endsWith(`/${end}`)),
    );
    if (fits.length !== 1)
      return `${name} is ${fits.length === 0 ? 'no note' : 'more than one note'} that waits for approval; these do: ${staged.join(', ')}.`;
    found.add(fits[0]!);
  }
  return [...found];
}

function lateNote(known: QuestionState): string {
  return known.state === 'answered' ? `already answered by ${known.by}` : `already ${known.state}`;
}

function choice(
  { question }: QuestionState,
  message: Message,
): { text: string; option: string | null; problem?: string } {
  const wanted = message.option?.trim();
  if (wanted !== undefined) {
    const option = question.options.find((entry) => entry.key.toLowerCase() === wanted.toLowerCase());
    if (option) return { text: option.text, option: option.key };
    const keys = question.options.map((entry) => entry.key).join(', ');
    return {
      text: '',
      option: null,
      problem: `${question.id} has no option ${wanted}; it has ${keys || 'none: answer in words'}.`,
    };
  }
  const text = message.text.trim();
  if (text === '' && message.type === 'ANSWER')
    return { text: '', option: null, problem: 'The answer is empty.' };
  const byKey = question.options.find((entry) => entry.key.toLowerCase() === text.toLowerCase());
  return byKey ? { text: byKey.text, option: byKey.key } : { text: text || message.type, option: null };
}

/** What unblocking a task answers where it has nothing to give; null where it brings the task on. */
export function idleUnblock(state: State, task: TaskState): string | null {
  if (task.status === 'done' || task.status === 'cancelled') return `no effect: the task is ${task.status}`;
  const on = waitsFor(state, task);
  return on.length === 0 ? null : `no effect: it waits for ${on.slice(0, 5).join(', ')}`;
}

function unblock(state: State, message: Message, { received, rejected }: Replies): Fact[] {
  const task = message.task === undefined ? undefined : state.tasks.get(message.task);
  if (!task) return rejected(unknownTask(state, message.task));
  const facts: Fact[] = openQuestions(state)
    .filter((entry) => entry.question.about === task.def.id)
    .map((entry) => ({
      type: 'question.closed',
      id: entry.question.id,
      why: `unblocked by ${message.from}`,
    }));
  const idle = idleUnblock(state, task);
  if (idle !== null) return received(idle);
  const reason = message.reason ?? 'unblocked';
  // Work that waits for its review, or is being done, goes on where it stands.
  facts.push({
    type: 'task.moved',
    task: task.def.id,
    to: task.status === 'failed' ? 'todo' : task.status,
    reason,
    by: 'person',
  });
  // The last word: what a person's move restarts, the unblocking then bounds.
  facts.push({
    type: 'task.unblocked',
    task: task.def.id,
    by: message.from,
    reason,
    grant: grantOf(message),
    auto: false,
    ...(message.maxAttempts === undefined ? {} : { attempts: message.maxAttempts }),
  });
  return received('unblocked', ...facts);
}

function grantOf({ timeoutS, timeoutMultiplier }: Message): TimeGrant | null {
  if (timeoutS === undefined && timeoutMultiplier === undefined) return null;
  return { timeoutS: timeoutS ?? null, multiplier: timeoutMultiplier ?? 1 };
}

function changeTask(state: State, message: Message, { received, rejected }: Replies): Fact[] {
  const task = message.task === undefined ? undefined : state.tasks.get(message.task);
  if (!task) return rejected(unknownTask(state, message.task));
  const move = (to: 'done' | 'cancelled' | 'todo', reason: string): Fact => ({
    type: 'task.moved',
    task: task.def.id,
    to,
    reason,
    by: 'person',
  });
  if (message.op === 'cancel') {
    if (isTerminal(task.status)) return received(`no effect: the task is ${task.status}`);
    return received('cancelled', move('cancelled', message.reason ?? `cancelled by ${message.from}`));
  }
  if (message.op === 'reopen') {
    if (!isTerminal(task.status)) return received(`no effect: the task is ${task.status}`);
    return received('reopened', move('todo', message.reason ?? `reopened by ${message.from}`));
  }
  if (message.op === 'done') {
    if (task.status === 'done') return received('no effect: the task is done');
    return received('done', move('done', message.reason ?? `marked done by ${message.from}`));
  }
  return rejected(`op must be done, cancel or reopen, not ${message.op ?? 'absent'}.`);
}

function unknownTask(state: State, id: string | undefined): string {
  if (id === undefined) return 'The message names no task.';
  const near = nearest(id, [...state.tasks.keys()]);
  return `There is no task ${id}.${near === null ? '' : ` Did you mean ${near}?`}`;
}
