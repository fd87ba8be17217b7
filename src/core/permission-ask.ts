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
  /** What else the tool is given; absent: the command or the change says it all. */
  input?: Readonly<Record<string, unknown>>;
  /** The folder that the command is run in; absent: the project. */
  from?: string;
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

/** Of a command, a change and what a tool is given, so much is shown. */
const SHOWN = 2000;

const isEmpty = (input: object | undefined): boolean => Object.keys(input ?? {}).length === 0;

/** All that the request is about. */
function whole({ tool, title, command, paths, input, from }: PermissionRequest): string {
  const given = isEmpty(input) ? '' : JSON.stringify(input);
  if (command === null) return `${tool}: ${[paths.join(', '), given].filter(Boolean).join(' ') || title}`;
  const place = from === undefined ? '' : `\n(in ${from})`;
  return `${command}${place}${given === '' ? '' : `\n(with ${given})`}`;
}

/** What the request is about, to be known again. */
export const wantedIn = (request: PermissionRequest): string => whole(request).slice(0, 10_000);

/** Whether people see all of it: only then can they know what they allow beyond this once. */
function isSeen(request: PermissionRequest): boolean {
  const { command, paths, input } = request;
  return (command !== null || paths.length > 0 || !isEmpty(input)) && whole(request).length <= SHOWN;
}

const cut = (text: string): string =>
  text.length > SHOWN
    ? `${text.slice(0, SHOWN)}\n… (${text.length - SHOWN} more characters are not shown)`
    : text;

function words(request: PermissionRequest, { rule, unread }: PermissionVerdict): string {
  const { command, tool, title, paths, input, diff } = request;
  const about = paths.length > 0 ? `${tool}: ${paths.join(', ')}` : tool;
  const what = command === null ? `use ${cut(about)}` : 'run this command';
  const by = rule === null ? 'permissions.default' : `the rule "${rule}"`;
  const why = unread ?? `${by} says: ask`;
  const given = isEmpty(input) ? '' : JSON.stringify(input, null, 2);
  const said = command !== null || paths.length > 0 || title === tool ? '' : `It is called: ${cut(title)}`;
  const shown = command === null ? [diff ?? '', given, said] : [whole(request)];
  return [`May the agent ${what}? (${why})`, ...shown.filter(Boolean).flatMap((one) => ['', cut(one)])].join(
    '\n',
  );
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
      ...(isSeen(asked.request) ? [{ key: 'always', text: 'Allow always in this run' }] : []),
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
