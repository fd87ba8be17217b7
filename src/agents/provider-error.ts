/**
 * What an agent's error marks mean, whichever agent shows them: the provider's own word for it first, then
 * the HTTP status, then the sentence.
 */
import type { AgentError, ProviderErrorKind } from '../core/index.ts';
import { resetTimeIn } from './reset-time.ts';

export interface ErrorMarks {
  /** HTTP status of the provider; null when there was no answer, or none is told. */
  status: number | null;
  /** Words of a fixed meaning, the most exact first: usage_limit_reached, rate_limit, connection_failed … */
  words: string[];
  message: string;
  /** Epoch ms at which a limit ends; null: nobody says. */
  resetsAt: number | null;
}

const BY_WORD: Record<string, ProviderErrorKind> = {
  rate_limit: 'limit',
  rate_limit_error: 'limit',
  rate_limit_exceeded: 'limit',
  usage_limit_reached: 'limit',
  RESOURCE_EXHAUSTED: 'limit',
  authentication: 'auth',
  authentication_failed: 'auth',
  authentication_error: 'auth',
  invalid_api_key: 'auth',
  permission_error: 'auth',
  oauth_org_not_allowed: 'auth',
  UNAUTHENTICATED: 'auth',
  billing_error: 'billing',
  insufficient_quota: 'billing',
  overloaded: 'overload',
  overloaded_error: 'overload',
  connection_failed: 'network',
  connection_timeout: 'network',
  prompt_too_long: 'prompt_too_long',
  context_length_exceeded: 'prompt_too_long',
  ContextOverflowError: 'prompt_too_long',
};

/** The same words stand in the answer of a free tier that only asks to wait; there it is a limit. */
const NO_CREDIT = /exceeded your current quota(?![\s\S]*(?:rate-limits|retry in))|insufficient_quota/i;

const BY_TEXT: [RegExp, ProviderErrorKind][] = [
  [
    /(?:prompt|input) is too long|context (?:length|window) exceeded|maximum context length|context window/i,
    'prompt_too_long',
  ],
  [/credit balance|billing|payment/i, 'billing'],
  [/hit your .{0,40}limit|usage limit|limit reached|rate.?limit/i, 'limit'],
  [/not logged in|\/login|(?:invalid|incorrect|no) api.?key|oauth token|authentication/i, 'auth'],
  [/overloaded|at capacity/i, 'overload'],
  [
    /unable to connect|connection (?:error|refused|reset)|econn|enotfound|eai_again|timed? ?out|socket|network|disconnected|fetch failed|error sending request|terminated/i,
    'network',
  ],
];

/** A status as the agents write it into a sentence. */
const STATUS = /(?:^|unexpected status |last status: |status code:? |HTTP |API Error: )([45]\d\d)\b/i;

function byStatus(status: number): ProviderErrorKind | null {
  if (status === 429) return 'limit';
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'billing';
  if (status === 413) return 'prompt_too_long';
  return status >= 500 ? 'overload' : null;
}

function kindOf({ status, words, message }: ErrorMarks): ProviderErrorKind {
  const known = words.find((word) => Object.hasOwn(BY_WORD, word));
  if (known !== undefined) return BY_WORD[known] ?? 'crash';
  if (NO_CREDIT.test(message)) return 'billing';
  const told = status ?? Number(STATUS.exec(message)?.[1] ?? 0);
  // 400 covers long prompts and empty accounts alike: only the words tell them apart.
  return byStatus(told) ?? BY_TEXT.find(([pattern]) => pattern.test(message))?.[1] ?? 'crash';
}

/** Sentences that say it even where nothing marks them as an error of the provider's. */
const SURE: readonly RegExp[] = [
  /(?:prompt|input) is too long|context (?:length|window) exceeded|maximum context length/i,
  /credit balance is too low|insufficient (?:credits?|funds|quota|balance)|payment required/i,
  /hit your .{0,40}limit|usage limit (?:reached|exceeded)|rate.?limit(?:ed|s)?(?: (?:was|is|has been|already))? (?:exceeded|reached|hit)|rate.?limit error|too many requests|exceeded your current quota|quota exceeded/i,
  /not logged in|please .{0,20}\/login|(?:invalid|incorrect|missing|no) api.?key|oauth token (?:has expired|is invalid|expired)|authentication (?:failed|error|required)/i,
  /(?<!call of )\boverloaded\b(?! (?:call|constructor|function|member|method|operator|signature|['‘"`]))|\bat capacity\b|service unavailable/i,
  /unable to connect|connection (?:error|refused|reset)|\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)\b|fetch failed|error sending request/i,
];

/** Of the fixed words only those that no sentence of somebody's own holds. */
const MARKS = new RegExp(
  `\\b(?:${Object.keys(BY_WORD)
    .filter((word) => /_|Error$/.test(word) || word === word.toUpperCase())
    .join('|')})\\b`,
  'g',
);

/** A status beside a word that makes it one, or in front of its name; a number of things is none. */
const TOLD_STATUS =
  /\b(?:HTTP(?:\/[\d.]+)?|status(?:[ _]?code)?|API error|error(?:[ _]?code)?)["']?\s?[:=(]?\s?([45]\d\d)\b(?! \w*[^\Ws]s\b)/i;
const STATUS_LINE = /^\W*([45]\d\d) [A-Z]/;

/**
 * What the last lines of a program's stderr say of its provider where its stream said nothing; null: nothing that is
 * sure. Anything may stand on stderr, so a word such as "network" alone is none. `prompt`: what it may only be repeating.
 */
export function complaintIn(
  lines: readonly string[],
  { prompt, now }: { prompt: string; now: number },
): Pick<AgentError, 'kind' | 'resetsAt'> | null {
  const own = lines.map((line) => line.trim()).filter((line) => line !== '' && !prompt.includes(line));
  for (const line of own.reverse()) {
    const words = line.match(MARKS) ?? [];
    const status = Number((TOLD_STATUS.exec(line) ?? STATUS_LINE.exec(line))?.[1] ?? 0);
    if (words.length === 0 && byStatus(status) === null && !SURE.some((pattern) => pattern.test(line)))
      continue;
    const marks = { status: status === 0 ? null : status, words, message: line, resetsAt: null };
    const kind = kindOf(marks);
    if (kind !== 'crash')
      return { kind, resetsAt: kind === 'limit' ? resetTimeIn(own.toReversed().join('\n'), now) : null };
  }
  return null;
}

const PAY = "Add credit or pay in the provider's console, or log in with another account, then run again.";

/**
 * The provider error behind the marks, with what a person does where one is needed. `login`: how to log in to
 * this agent, as a sentence. A reset time belongs to limits only.
 */
export function classifyError(marks: ErrorMarks, login: string): AgentError {
  const kind = kindOf(marks);
  const message = withFix(kind, marks.message.slice(0, 2000), login);
  return { kind, message, resetsAt: kind === 'limit' ? marks.resetsAt : null };
}

/** The sentence with what a person does, where one is needed. */
export function withFix(kind: ProviderErrorKind, said: string, login: string): string {
  const fix = { auth: login, billing: PAY }[kind as string];
  return fix === undefined ? said : `${said.replace(/[.\s]*$/, '.')} ${fix}`;
}
