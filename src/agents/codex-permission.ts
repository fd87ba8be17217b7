/**
 * How Codex asks for permission: a request of its app server to us, whose answer is one decision. With the approval
 * policy `untrusted` it asks for every command that no rule of its own allows, reads included, and for every change of
 * files; what a change holds stood in the item that was told before. Its protocol names what is typed into a program
 * that runs as well.
 */
import type { PermissionDecision, PermissionRequest } from '../core/index.ts';
import { isObject, type Json, object, objects, parseLine, text } from './json.ts';
import { type Desk, restOf } from './permission.ts';
import { LISTED } from './stream.ts';
import { unwrapShell } from './unwrap-shell.ts';

/** What a thread is begun with where rules hold, and where they do not. */
export const approvalPolicy = (asks: boolean): string => (asks ? 'untrusted' : 'never');

/** Looked for before a line is parsed: most lines are long and are none of these. */
const ASKS =
  /^\{"method":"(?:item\/(?:commandExecution|fileChange)\/requestApproval|mcpServer\/elicitation\/request)"/;
const RESOLVED = /^\{"method":"serverRequest\/resolved"/;
const CHANGE = /^\{"method":"item\/started".{0,80}"type":"fileChange"/;

/** A whole new or deleted file is told as its content, a change of one as a diff. */
function changeText(changes: Json[]): string {
  return changes
    .map(({ path, diff, kind }) => {
      const mark = { add: '+', delete: '-' }[text(object(kind).type)] ?? '';
      const lines = text(diff).replace(/\n$/, '').split('\n');
      return [text(path), ...lines.map((line) => `${mark}${line}`)].join('\n');
    })
    .join('\n');
}

function commandRequest(params: Json): PermissionRequest {
  const command = unwrapShell(text(params.command));
  const typed = params.kind === 'writeStdin';
  return {
    tool: typed ? 'stdin' : 'shell',
    title: text(params.reason) || (typed ? 'input for a command that runs' : 'a command'),
    command: command === '' ? null : command,
    paths: [],
    diff: null,
    ...(text(params.cwd) === '' ? {} : { from: text(params.cwd) }),
  };
}

function changeRequest(params: Json, changes: Json[]): PermissionRequest {
  const moved = changes.map(({ kind }) => text(object(kind).move_path));
  const paths = [...changes.map(({ path }) => text(path)), ...moved].filter((path) => path !== '');
  return {
    tool: 'file_change',
    title: text(params.reason) || 'a change of files',
    command: null,
    paths,
    diff: changes.length === 0 ? null : changeText(changes),
  };
}

/** A server of tools whose call has to be agreed to; anything else that it wants to know, nobody is there to tell. */
function serverRequest({ serverName, message, requestedSchema, _meta }: Json): PermissionRequest | null {
  if (Object.keys(object(object(requestedSchema).properties)).length > 0) return null;
  const title = text(message) || 'a tool';
  const request = { tool: text(serverName) || 'mcp', title, command: null, paths: [], diff: null };
  const meta = object(_meta);
  const input = restOf(isObject(meta.tool_params) ? { message: title, ...meta.tool_params } : meta, []);
  return input === undefined ? request : { ...request, input };
}

/** Hears the requests of one run. */
export function codexEar(desk: Desk): (line: string, later: (words: string) => void) => boolean {
  const changes = new Map<string, Json[]>();

  function requestOf(method: string, params: Json): PermissionRequest | null {
    if (method.startsWith('item/commandExecution/')) return commandRequest(params);
    if (method.startsWith('item/fileChange/'))
      return changeRequest(params, changes.get(text(params.itemId)) ?? []);
    return serverRequest(params);
  }

  /** True: this line was a request, which is answered by `later`, unless it is taken back. */
  return (line, later) => {
    if (CHANGE.test(line)) {
      const item = object(object(object(parseLine(line)).params).item);
      const [oldest] = changes.keys();
      if (changes.size >= LISTED && oldest !== undefined) changes.delete(oldest);
      changes.set(text(item.id), objects(item.changes));
      return false;
    }
    if (RESOLVED.test(line)) {
      desk.gone(JSON.stringify(object(object(parseLine(line)).params).requestId ?? null));
      return false;
    }
    if (!ASKS.test(line)) return false;
    const { id, method, params } = object(parseLine(line));
    const request = requestOf(text(method), object(params));
    if (request === null) return false;
    const answer = text(method).startsWith('item/') ? itemAnswer : serverAnswer;
    desk.ask(JSON.stringify(id), request, (decision) =>
      later(JSON.stringify({ id, result: answer(decision) })),
    );
    return true;
  };
}

const itemAnswer = ({ allow }: PermissionDecision) => ({ decision: allow ? 'accept' : 'decline' });
const serverAnswer = ({ allow }: PermissionDecision) => ({
  action: allow ? 'accept' : 'decline',
  content: allow ? {} : null,
  _meta: null,
});
