/**
 * How Claude Code asks for permission (`--permission-prompt-tool stdio`): a `can_use_tool` request on stdout, the
 * decision on stdin, and a word of its own where the question is over before that. By itself it asks for what its
 * settings do not allow; an `ask` rule goes before every `allow` of theirs, so that it asks for every command and
 * every change of files, in its sub-agents too. What only reads is not asked for.
 */
import type { PermissionDecision, PermissionRequest } from '../core/index.ts';
import { type Json, object, objects, parseLine, text } from './json.ts';
import { changeText, type Desk, refusal, restOf } from './permission.ts';

/** Tools that run a command or change files. */
const ASKED_TOOLS = ['Bash', 'PowerShell', 'Monitor', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit'];
/** The agent's own way to the loop. */
const OWN_TOOLS = 'mcp__ralph';

const RULES = JSON.stringify({
  permissions: { ask: ASKED_TOOLS, allow: [OWN_TOOLS] },
  // Where its own sandbox is on it would ask for no command that runs in it.
  sandbox: { autoAllowBashIfSandboxed: false },
});

/** Arguments of a call for which rules hold, in place of the one that skips the asking. */
export const ASKING_ARGUMENTS = [
  ...['--permission-mode', 'default'],
  ...['--permission-prompt-tool', 'stdio'],
  `--settings=${RULES}`,
];

/** Tools that put something before a person at a terminal; without the asking they are not there either. */
export const PERSONS_TOOLS = 'AskUserQuestion,EnterPlanMode,ExitPlanMode';

/** Looked for before a line is parsed: most lines are long and are neither. */
const ASKS = '"control_request"';
const TAKES_BACK = '"control_cancel_request"';

function changeIn(input: Json, path: string): string | null {
  const pieces = [...objects(input.edits), input]
    .map((edit) => ({
      before: text(edit.old_string),
      after: text(edit.new_string) || text(edit.content) || text(edit.new_source),
    }))
    .filter(({ before, after }) => before + after !== '')
    .map((sides) => changeText(path, sides));
  return pieces.length === 0 ? null : pieces.join('\n');
}

/** Fields of a command that change nothing of what it does. */
const SAID = ['command', 'description', 'timeout', 'timeout_ms', 'run_in_background', 'persistent'];

function requestOf({ tool_name: name, input: given, description }: Json): PermissionRequest {
  const whole = object(given);
  // What fields of a server's tools mean nobody knows.
  const own = text(name).startsWith('mcp__') ? {} : whole;
  const command = text(own.command);
  const path = text(own.file_path) || text(own.notebook_path);
  const input = command !== '' ? restOf(whole, SAID) : path === '' ? restOf(whole, []) : undefined;
  return {
    tool: text(name) || 'tool',
    title: text(description) || text(name) || 'a tool',
    command: command || null,
    paths: path === '' ? [] : [path],
    diff: path === '' ? null : changeIn(own, path),
    ...(input === undefined ? {} : { input }),
  };
}

function answerTo({ request_id, request }: Json, decision: PermissionDecision): string {
  const response = decision.allow
    ? { behavior: 'allow', updatedInput: object(object(request).input) }
    : { behavior: 'deny', message: refusal(decision.reason) };
  return JSON.stringify({ type: 'control_response', response: { subtype: 'success', request_id, response } });
}

/** Hears the requests of one run; each is answered by `later`, unless it is taken back. */
export function hearClaude(desk: Desk, line: string, later: (words: string) => void): void {
  const asks = line.includes(ASKS);
  if (!asks && !line.includes(TAKES_BACK)) return;
  const event = object(parseLine(line));
  const id = text(event.request_id);
  if (event.type === 'control_cancel_request') desk.gone(id);
  const request = object(event.request);
  if (event.type !== 'control_request' || request.subtype !== 'can_use_tool') return;
  desk.ask(id, requestOf(request), (decision) => later(answerTo(event, decision)));
}
