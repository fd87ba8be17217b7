/** How messages, questions and control change the state. */
import type { Fact } from './event.ts';
import { moveTask, restartBudgets } from './evolve-task.ts';
import type { Message } from './message.ts';
import type { Question } from './question.ts';
import type { QuestionState, State } from './state.ts';
import { isTerminal } from './task.ts';

type PeopleFact = Extract<
  Fact,
  {
    type:
      | 'message.received'
      | 'message.rejected'
      | 'session.paused'
      | 'session.resumed'
      | 'stop.asked'
      | 'abort.asked'
      | 'abort.done'
      | 'question.asked'
      | 'question.answered'
      | 'question.expired'
      | 'question.closed'
      | 'question.shown'
      | 'guidance.reached'
      | 'desk.written';
  }
>;

export function evolvePeople(state: State, fact: PeopleFact, at: number): void {
  switch (fact.type) {
    case 'message.received': {
      state.seenMessages.add(fact.message.id);
      const guides = fact.message.type === 'STEER' || fact.message.type === 'INFO';
      if (guides && fact.action === 'queued') state.guidance.push({ message: fact.message, deliveries: [] });
      if (fact.action === 'unconfirmed') noteUnconfirmed(state, fact.message);
      return;
    }
    case 'message.rejected':
      state.seenMessages.add(fact.id);
      return;
    case 'session.paused':
      // A clock that runs ahead must not put the pause out of reach of every RESUME.
      state.paused = { at: Math.min(fact.at, at), since: at, text: fact.text, by: fact.by };
      if (fact.lost !== undefined) state.paused.lost = fact.lost;
      return;
    case 'session.resumed':
      return resume(state, fact, at);
    case 'stop.asked':
      state.stopAsked = { text: fact.text ?? '' };
      return;
    case 'abort.asked':
      state.aborted = { done: false, text: fact.text };
      return;
    case 'abort.done':
      return endByAbort(state, fact.tasks);
    case 'question.asked':
      state.questions.set(fact.question.id, {
        question: { ...fact.question },
        state: 'open',
        answer: null,
        option: null,
        by: null,
        via: null,
        delivered: false,
        stopped: false,
        shown: {},
      });
      state.openQuestions.add(fact.question.id);
      closeWhereOver(state, fact.question);
      if (fact.question.kind === 'approval' && fact.question.askedBy === 'engine')
        state.cycleWork.approval = fact.question.id;
      return;
    case 'question.answered':
      return answer(state, fact);
    case 'question.expired':
      return expire(state, fact);
    case 'question.closed': {
      const open = close(state, fact.id, 'closed');
      if (!open) return;
      // Withdrawn with its attempt: no person has acted.
      if (open.question.permission === undefined) restart(state, open);
      open.delivered = true;
      return;
    }
    case 'question.shown': {
      const open = state.questions.get(fact.id);
      // Who has it in a chat has it, also when a repeat fails.
      if (open) open.shown[fact.channel] = fact.reached || open.shown[fact.channel] === true;
      return;
    }
    case 'guidance.reached':
      return reach(state, fact);
    case 'desk.written':
      state.desk.set(fact.file, { sha256: fact.sha256, at: fact.at });
      return;
  }
}

/** It named its question, or there was one only. */
/** A person took the task away while its agent was asking: nobody needs the answer any more. */
function closeWhereOver(state: State, { id, about }: Question): void {
  const task = state.tasks.get(about);
  if (!task || !isTerminal(task.status)) return;
  state.openQuestions.delete(id);
  Object.assign(state.questions.get(id)!, { state: 'closed', delivered: true });
}

function noteUnconfirmed(state: State, { type, question, option, text, from }: Message): void {
  if (type !== 'ANSWER' && type !== 'APPROVE' && type !== 'SKIP') return;
  const id = question ?? (state.openQuestions.size === 1 ? [...state.openQuestions][0] : undefined);
  const open = id === undefined ? undefined : state.questions.get(id);
  if (open?.state === 'open') open.unconfirmed = { text: option ?? (text || type), from };
}

function endByAbort(state: State, tasks: string[]): void {
  const from = { phase: state.phase, replanning: state.replanning };
  state.aborted = { done: true, text: state.aborted?.text ?? '', from };
  for (const iteration of state.open) state.attempts.get(iteration)!.state = 'settled';
  state.open.clear();
  state.wave = null;
  state.paused = null;
  state.phase = 'COMPLETE';
  for (const id of tasks) moveTask(state, id, 'failed', 'Aborted by signal', 'engine');
}

function answer(state: State, fact: Extract<PeopleFact, { type: 'question.answered' }>): void {
  const open = close(state, fact.id, 'answered');
  if (!open) return;
  restart(state, open);
  // An answer skips the cooldown; only a row of deaths is waited for.
  if (state.deadRow === 0) state.deadUntil = 0;
  open.answer = fact.text;
  open.option = fact.option;
  open.by = fact.by;
  open.via = fact.via;
  if (fact.id === state.cycleWork.approval) state.cycleWork.approved = fact.only ?? null;
}

function resume(state: State, fact: Extract<PeopleFact, { type: 'session.resumed' }>, at: number): void {
  if (!state.paused) return;
  // A pause counts against no deadline.
  for (const id of state.openQuestions) {
    const { question } = state.questions.get(id)!;
    const from = Math.max(state.paused.since, question.askedAt);
    if (question.deadline !== null) question.deadline += Math.max(0, at - from);
  }
  // The engine resumes where the branch has them again.
  if (fact.by !== 'engine') for (const commit of state.paused.lost ?? []) state.forgone.add(commit);
  state.resumeNote = [state.paused.text, fact.text].filter((text) => text !== '').join('\n') || null;
  state.paused = null;
}

function reach(state: State, fact: Extract<PeopleFact, { type: 'guidance.reached' }>): void {
  const attempt = state.attempts.get(fact.iteration);
  if (!attempt) return;
  for (const { message, deliveries } of state.guidance) {
    if (fact.messages.includes(message.id) && !deliveries.includes(fact.iteration))
      deliveries.push(fact.iteration);
  }
  for (const id of fact.questions) {
    const question = state.questions.get(id);
    if (question) question.delivered = true;
  }
  // As what stood in its prompt: where the attempt leads nowhere by itself, it comes again.
  attempt.delivered = [...new Set([...attempt.delivered, ...fact.messages, ...fact.questions])];
}

function close(state: State, id: string, to: 'answered' | 'expired' | 'closed'): QuestionState | null {
  const open = state.questions.get(id);
  if (!open || !state.openQuestions.delete(id)) return null;
  open.state = to;
  return open;
}

/** A person has acted; silence restarts nothing. */
function restart(state: State, { question }: QuestionState): void {
  const task = state.tasks.get(question.about);
  // Who asked is the one who hears the answer.
  const asker = question.askedBy === 'engine' ? null : (task?.agent ?? null);
  if (task) restartBudgets(state, task);
  if (task) task.agent = asker;
  state.stuck = 0;
}

function expire(state: State, fact: Extract<PeopleFact, { type: 'question.expired' }>): void {
  const open = state.questions.get(fact.id);
  if (!open) return;
  if (fact.outcome === 'stop') {
    open.question.deadline = null;
    open.stopped = true;
    return;
  }
  close(state, fact.id, 'expired');
  open.answer = fact.text;
  // Asked again, it has no end yet that an agent could be told.
  if (fact.outcome === 're_ask') open.delivered = true;
}
