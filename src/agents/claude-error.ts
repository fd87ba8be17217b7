/**
 * What Claude Code's error marks mean. `subtype` says "success" even behind an API error, so the marks
 * that count are `is_error`, `api_error_status`, `terminal_reason` and the `error` of an assistant line.
 */
import type { AgentError } from '../core/index.ts';
import { classifyError, type ErrorMarks } from './provider-error.ts';

const LOGIN = 'Log in (start `claude` and type /login) or set a valid ANTHROPIC_API_KEY, then run again.';

/** The provider error behind Claude's marks. `words`: its own, the most exact first. */
export function classifyClaudeError(marks: ErrorMarks): AgentError {
  return classifyError(marks, LOGIN);
}
