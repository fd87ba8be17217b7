/** Gathers what one prompt is made of, and remembers which messages and answers it delivers. */
import {
  type Allowance,
  boundsOf,
  feedbackFor,
  hatOf,
  type Item,
  listenersFor,
  type PromptInput,
  type State,
  type TaskState,
  topicMatches,
  wakingTopic,
  withRoom,
} from '../core/index.ts';
import { ownChanges, standing } from './changes.ts';
import { guidanceOf } from './guidance.ts';
import type { House } from './house.ts';
import { sessionInput } from './session-input.ts';
import { skillsFor } from './skills.ts';

export interface PromptCall {
  iteration: number;
  item: Item;
  /** Who gets it. */
  agent: string;
  task: TaskState | null;
  ordinal: number;
  allowance: Allowance;
  outbox: string;
  /** The session's works by path; null in teams that write none. */
  works: readonly string[] | null;
}

export interface Gathered {
  input: PromptInput;
  /** Ids of messages and questions whose text stands in the prompt. */
  delivered: string[];
  /** Corrections that stand in it. */
  reminded: string[];
}

const MAX_INDEX = 200;

export async function gatherPrompt(house: House, call: PromptCall): Promise<Gathered> {
  const { state } = house;
  const { item, task } = call;
  const policy = state.policy!;
  const guidance = fitting(pendingGuidance(state, item), (one) => !reachedRole(state, item, one));
  const answers = undeliveredAnswers(state, item);
  const feedback = feedbackFor(state, item, call.agent);
  const reviewing = item.mode === 'TASK_REVIEW';
  const input: PromptInput = {
    objective: state.session?.objective ?? '',
    role: item.role,
    mode: item.mode,
    iteration: call.iteration,
    attempt: call.ordinal,
    allowance: call.allowance,
    task: task?.def ?? null,
    index: [...state.tasks.values()]
      .slice(0, MAX_INDEX)
      .map(({ def, status }) => ({ id: def.id, title: def.title, status })),
    taskFile: house.list?.source.path ?? null,
    guidance: guidance.map(({ message }) => guidanceOf(message)),
    feedback,
    answers: answers.map(({ question, answer, by }) => ({
      question: question.text,
      options: question.options,
      default: question.default,
      answer: answer ?? '',
      by,
    })),
    leftovers: task ? await leftoversOf(house, task) : null,
    knowledge: await house.knowledge.read(wordsOf(state, task)),
    gates: policy.gates,
    protect: policy.protect,
    publishes: boundsOf(policy, item),
    commit: policy.commit,
    completionWord: policy.completionWord,
    outboxPath: call.outbox,
    skills: await skillsFor(house, call.iteration),
    looksForSignals: !house.agent(call.agent).capabilities.liveInput,
  };
  if (call.works !== null)
    input.session = {
      ...sessionInput(house, { item, ordinal: call.ordinal, works: call.works }),
      guardrails: await house.cycles.guardrails(),
    };
  Object.assign(input, forHat(state, item));
  if (task && task.review.feedback !== '') input.lastReviewFeedback = task.review.feedback;
  if (reviewing && task) Object.assign(input, await forReviewer(house, task));
  if (state.resumeNote !== null) input.pausedMessage = state.resumeNote;
  return {
    input,
    delivered: [...guidance.map((entry) => entry.message.id), ...answers.map((entry) => entry.question.id)],
    reminded: feedback.map(({ sentence }) => sentence),
  };
}

/** What woke a role of one's own, what it is told, and how it hands on. */
function forHat(state: State, item: Item): Partial<PromptInput> {
  const policy = state.policy!;
  const hat = hatOf(policy, item);
  if (hat === null) return {};
  const woke = wakingTopic(state, item);
  return {
    ...(hat.instructions === null ? {} : { instructions: hat.instructions }),
    ...(woke === null ? {} : { events: [woke] }),
    hat: {
      title: hat.title,
      listeners: listenersFor(policy, hat),
      preset: hat.defaultPublishes,
      missing: policy.requiredTopics.filter(
        (pattern) => !state.hats.told.some((topic) => topicMatches(pattern, topic)),
      ),
    },
  };
}

/** What the call is about, for choosing what is told beside it. */
function wordsOf(state: State, task: TaskState | null): string {
  if (task === null) return state.session?.objective ?? '';
  const { title, description, acceptance, files } = task.def;
  return [title, description, ...acceptance, ...files].join('\n');
}

/** Guidance that this item's role has not been given yet; what is for all later prompts comes again. */
export function pendingGuidance(state: State, item: Item): State['guidance'] {
  return state.guidance.filter((entry) => {
    const { message } = entry;
    if (message.task !== undefined && message.type === 'STEER') return message.task === item.task;
    if (message.target === 'orchestrator') return true;
    if (message.target !== 'ALL' && message.target !== item.role) return false;
    return !reachedRole(state, item, entry);
  });
}

type Guidance = State['guidance'][number];

function reachedRole(state: State, item: Item, { deliveries }: Guidance): boolean {
  return deliveries.some((iteration) => state.attempts.get(iteration)?.item.role === item.role);
}

/** Of pending guidance what one prompt, or one word to an agent at work, has room for. */
export function fitting(
  guidance: State['guidance'],
  isNew: (one: Guidance) => boolean = () => true,
): State['guidance'] {
  const sized = guidance.map((entry) => ({ entry, text: guidanceOf(entry.message).text }));
  return withRoom(sized, ({ entry }) => isNew(entry)).map(({ entry }) => entry);
}

/** Answers, and silence, about this item's work that no prompt and no call has told yet. */
export function undeliveredAnswers(state: State, item: Item) {
  return [...state.questions.values()].filter(
    ({ question, state: outcome, delivered }) =>
      !delivered &&
      (outcome === 'answered' || outcome === 'expired') &&
      (question.about === 'session' || question.about === item.task),
  );
}

async function leftoversOf(house: House, task: TaskState): Promise<PromptInput['leftovers']> {
  const last = task.attempts.at(-1);
  if (last === undefined) return null;
  const attempt = house.state.attempts.get(last);
  const present = (await standing(house, await ownChanges(house, task, 0))).map((change) => change.path);
  if (present.length === 0 && task.conflicts.length === 0) return null;
  const why =
    attempt?.verdict?.value === 'accepted' && task.conflicts.length > 0
      ? `iteration ${last} was accepted, but before its work landed the files named below changed`
      : task.reason.startsWith('it was accepted, but')
        ? `iteration ${last}: ${task.reason}`
        : `iteration ${last}: ${attempt?.lost ?? attempt?.verdict?.reason ?? 'interrupted'}`;
  const conflicts = task.conflicts.map((path) => ({
    path,
    file: task.kept[path] === undefined ? null : `${house.sessionDir}/${task.kept[path]}`,
  }));
  return { present: present.slice(0, 200), conflicts, why };
}

async function forReviewer(house: House, task: TaskState): Promise<Partial<PromptInput>> {
  const changed = await standing(house, await ownChanges(house, task, 0));
  const last = house.state.attempts.get(task.attempts.at(-1) ?? 0);
  const summary = last?.claim?.result?.summary || last?.report?.finalMessage || '';
  return {
    changedPaths: changed.map((change) => change.path),
    ...(summary === '' ? {} : { lastReport: summary }),
  };
}
