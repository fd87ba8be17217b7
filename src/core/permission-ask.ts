/** An agent's request for permission as a question to people, and what their answer means to the agent. */
import type { PermissionVerdict } from './permission.ts';
import type { Question } from './question.ts';
import { questionId } from './settle.ts';
import type { QuestionState, State } from './state.ts';

/** Something that an agent wants to do and asks for before. */
export interface PermissionRequest {
  /** The tool, in the agent's own word. */
  tool: string;
  title: string;
  /** The shell command it would run; null: it runs none. */
  command: string | null;
  /** Files that it is about, as the agent names them. */
  paths: string[];
  /** The change it would make, as lines that go and come. */
  diff: string | null;
}

export type PermissionDecision = { allow: true } | { allow: false; reason: string };

/** Who asks, and since when. */
export interface PermissionAsker {
  iteration: number;
  agent: string;
  about: string;
  /** Epoch ms. */
  now: number;
}

/** Of a command and of a change, so much is shown. */
const SHOWN = 2000;

/** What the request is about, to be known again. */
export function wantedIn({ tool, title, command, paths }: PermissionRequest): string {
  return (command ?? `${tool}: ${paths.join(', ') || title}`).slice(0, 10_000);
}

const cut = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}\n… (cut)` : text);

/** Two different requests look different also where they are cut. */
function words(request: PermissionRequest, { rule, unread }: PermissionVerdict): string {
  const wanted = wantedIn(request);
  const what = request.command === null ? `use ${wanted}` : 'run this command';
  const shown = request.command === null ? (request.diff ?? '') : wanted;
  const by = rule === null ? 'permissions.default' : `the rule "${rule}"`;
  const why = unread ?? `${by} says: ask`;
  return [`May the agent ${what}? (${why})`, ...(shown === '' ? [] : ['', cut(shown)])].join('\n');
}

/** The question to people. Silence is a no, and so is anything that is no yes. */
export function permissionQuestion(
  state: State,
  asker: PermissionAsker,
  asked: { request: PermissionRequest; verdict: PermissionVerdict },
): Question {
  const seconds = state.policy?.questions.interactTimeoutS ?? 0;
  return {
    id: questionId(state),
    kind: 'permission',
    about: asker.about,
    text: words(asked.request, asked.verdict),
    options: [
      { key: 'allow', text: 'Allow once' },
      { key: 'always', text: 'Allow always in this run' },
      { key: 'deny', text: 'Deny' },
    ],
    default: 'deny',
    hold: 'task',
    deadline: seconds > 0 ? asker.now + seconds * 1000 : null,
    onTimeout: 'default',
    askedBy: asker.agent,
    iteration: asker.iteration,
    askedAt: asker.now,
    interact: true,
    permission: { wanted: wantedIn(asked.request) },
  };
}

/** A person has allowed exactly this for the whole run. */
export function isAllowedInRun(state: State, request: PermissionRequest): boolean {
  const since = state.run?.startedAt ?? 0;
  const wanted = wantedIn(request);
  for (const { question, state: is, option } of state.questions.values()) {
    if (
      is === 'answered' &&
      option === 'always' &&
      question.askedAt >= since &&
      question.permission?.wanted === wanted
    )
      return true;
  }
  return false;
}

/** Open questions of this attempt that its agent stands still for. */
export function openPermissions(state: State, iteration: number): QuestionState[] {
  return [...state.openQuestions]
    .map((id) => state.questions.get(id)!)
    .filter(({ question }) => question.permission !== undefined && question.iteration === iteration);
}

const YES = /^\W*(?:y|yes|ok|okay|allow(?:ed)?|approve[d]?|go ahead)\b/i;

/** What the agent is told; null: nobody has answered yet. */
export function permissionDecision({
  state,
  question,
  option,
  answer,
  by,
}: QuestionState): PermissionDecision | null {
  if (state === 'open') return null;
  if (state === 'answered') {
    if (option === 'allow' || option === 'always') return { allow: true };
    const said = answer ?? '';
    if (option === null && YES.test(said)) return { allow: true };
    const reason = option === null && said !== '' ? `: ${said.slice(0, 500)}` : '';
    return { allow: false, reason: `${by ?? 'a person'} said no${reason}` };
  }
  const why = state === 'expired' ? 'nobody answered in time' : 'the question was withdrawn';
  return { allow: false, reason: `${question.id}: ${why}` };
}
