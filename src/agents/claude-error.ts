/**
 * What Claude Code's error marks mean. `subtype` says "success" even behind an API error, so the marks
 * that count are `is_error`, `api_error_status`, `terminal_reason` and the `error` of an assistant line.
 */
import type { AgentError, ProviderErrorKind } from '../core/index.ts';

export interface ErrorMarks {
  /** HTTP status of the provider; null when there was no answer. */
  status: number | null;
  /** Claude's own words, the most exact first: usage_limit_reached, rate_limit, connection_failed ... */
  words: string[];
  /** terminal_reason or subtype of the result. */
  reason: string;
  message: string;
  /** Epoch ms, from the last rejected `rate_limit_event`. */
  resetsAt: number | null;
}

const BY_WORD: Record<string, ProviderErrorKind> = {
  rate_limit: 'limit',
  rate_limit_error: 'limit',
  usage_limit_reached: 'limit',
  authentication_failed: 'auth',
  authentication_error: 'auth',
  permission_error: 'auth',
  oauth_org_not_allowed: 'auth',
  billing_error: 'billing',
  overloaded: 'overload',
  overloaded_error: 'overload',
  connection_failed: 'network',
  connection_timeout: 'network',
};

const BY_TEXT: [RegExp, ProviderErrorKind][] = [
  [/prompt is too long|input is too long|context (?:length|window) exceeded/i, 'prompt_too_long'],
  [/credit balance|billing|payment/i, 'billing'],
  [/hit your .{0,40}limit|usage limit|limit reached|rate.?limit/i, 'limit'],
  [/not logged in|\/login|invalid api key|oauth token|authentication/i, 'auth'],
  [/overloaded/i, 'overload'],
  [
    /unable to connect|connection (?:error|refused|reset)|econn|enotfound|eai_again|timed? ?out|socket|network/i,
    'network',
  ],
];

function kindOf({ status, words, reason, message }: ErrorMarks): ProviderErrorKind {
  if (reason === 'prompt_too_long') return 'prompt_too_long';
  const known = words.find((word) => Object.hasOwn(BY_WORD, word));
  if (known !== undefined) return BY_WORD[known] ?? 'crash';
  // 400 covers long prompts and empty accounts alike: only the words tell them apart.
  if (status === 429) return 'limit';
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'billing';
  if (status === 413) return 'prompt_too_long';
  if (status !== null && status >= 500) return 'overload';
  return BY_TEXT.find(([pattern]) => pattern.test(message))?.[1] ?? 'crash';
}

/** What only a person can put right, and how with this agent. */
const FIXES: Partial<Record<ProviderErrorKind, string>> = {
  auth: 'Log in (start `claude` and type /login) or set a valid ANTHROPIC_API_KEY, then run again.',
  billing: "Add credit or pay in the provider's console, or log in with another account, then run again.",
};

/** The provider error behind Claude's marks, with the fix where a person is needed. A reset time belongs to limits only. */
export function classifyClaudeError(marks: ErrorMarks): AgentError {
  const kind = kindOf(marks);
  const said = marks.message.slice(0, 2000);
  const fix = FIXES[kind];
  const message = fix === undefined ? said : `${said.replace(/[.\s]*$/, '.')} ${fix}`;
  return { kind, message, resetsAt: kind === 'limit' ? marks.resetsAt : null };
}
