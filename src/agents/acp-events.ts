/**
 * What an agent tells of its work over the Agent Client Protocol: the updates of a session. A message comes in
 * pieces, a tool call in several updates of which each tells more; tokens come with the end of a turn and the
 * cost as the sum of the session so far.
 */
import type { AgentEvent } from '../engine/index.ts';
import type { Handlers, Notes } from './event-reader.ts';
import { count, isObject, type Json, object, objects, text } from './json.ts';
import { LISTED } from './stream.ts';
import { unwrapShell } from './unwrap-shell.ts';

/** Kinds of tools that run no command; with any other, nobody knows. */
const QUIET = new Set(['read', 'edit', 'delete', 'move', 'search', 'think', 'fetch', 'switch_mode']);
const WRITING = new Set(['edit', 'delete', 'move']);
/** Known, and they tell nothing that is kept. */
const SILENT = [
  'agent_thought_chunk',
  'user_message_chunk',
  'plan',
  'available_commands_update',
  'current_mode_update',
  'config_option_update',
  'session_info_update',
];
/** Of a message that is still being said, so much is kept for the windows. */
const SHOWN = 4000;

/** What is known of a tool call so far. */
export interface ToolCall {
  id: string;
  title: string;
  kind: string;
  input: Json;
  paths: string[];
  /** It was counted and shown. */
  begun: boolean;
}

/** The updates of one session, and what else the conversation has to do with them. */
export interface Updates {
  handlers(notes: Notes): Handlers;
  /** The tool call of a request for permission, with what the updates told of it before. */
  toolCall(told: Json): ToolCall;
  /** A person or a rule refused this call. */
  refused(id: string): void;
  /** What of the message was not shown yet. */
  flush(): AgentEvent[];
  /** The cost so far belongs to earlier turns of this session. */
  costBefore(update: Json): void;
}

function lineIn({ input: { command } }: ToolCall): string {
  return Array.isArray(command)
    ? command.filter((part) => typeof part === 'string').join(' ')
    : text(command);
}

/** The command that a call is given, whatever kind its agent says it is; a change of files is given none. */
export function commandGiven(call: ToolCall): string {
  if (WRITING.has(call.kind) && call.paths.length > 0) return '';
  return commandOf(call) || unwrapShell(lineIn(call));
}

/** The command of a shell call; empty where it is none. */
export function commandOf(call: ToolCall): string {
  if (call.kind !== 'execute') return '';
  return unwrapShell(lineIn(call) || call.title.replace(/^`([\s\S]*)`$/, '$1'));
}

function pathsIn(update: Json): string[] {
  const places = [
    ...objects(update.locations),
    ...objects(update.content).filter(({ type }) => type === 'diff'),
  ];
  return [...new Set(places.map(({ path }) => text(path)).filter((path) => path !== ''))];
}

function printedBy(update: Json): string[] {
  const shown = objects(update.content).map(({ content }) => text(object(content).text));
  return [...shown, text(object(update.rawOutput).output)];
}

function exitCodeIn(update: Json): number | null {
  const output = object(update.rawOutput);
  const told = [output.exit_code, output.exitCode, output.exit, object(output.metadata).exit];
  const code = told.find((one) => typeof one === 'number');
  return typeof code === 'number' ? code : null;
}

/** Reads the updates of one session. */
export function acpUpdates(): Updates {
  const calls = new Map<string, ToolCall>();
  const refusals = new Set<string>();
  const said = { id: '', whole: true, unshown: '' };
  let costUsd = 0;

  function toolCall(told: Json): ToolCall {
    const id = text(told.toolCallId);
    const known = calls.get(id) ?? { id, title: '', kind: '', input: {}, paths: [], begun: false };
    const input = isObject(told.rawInput) ? told.rawInput : {};
    Object.assign(known, {
      title: text(told.title) || known.title,
      kind: text(told.kind) || known.kind,
      input: Object.keys(input).length > 0 ? input : known.input,
      paths: [...new Set([...known.paths, ...pathsIn(told)])].slice(0, LISTED),
    });
    if (calls.size < LISTED) calls.set(id, known);
    return known;
  }

  function flush(): AgentEvent[] {
    const { unshown } = said;
    said.unshown = '';
    return unshown.trim() === '' ? [] : [{ kind: 'text', text: unshown }];
  }

  function begin(call: ToolCall, notes: Notes): AgentEvent {
    call.begun = true;
    const command = commandOf(call);
    if (call.kind === 'execute') notes.command(call.id, command);
    else if (!QUIET.has(call.kind)) notes.unseen(text(call.input.command));
    const detail = command || (call.paths[0] ?? '') || call.title;
    return notes.tool(call.kind || 'tool', detail);
  }

  function readTool(update: Json, notes: Notes): AgentEvent[] {
    const call = toolCall(update);
    const status = text(update.status);
    const isOver = status === 'completed' || status === 'failed';
    const events = flush();
    said.whole = true;
    // The first update may know no more than that there is a call, or where a command will run and not yet which.
    const isKnown =
      call.kind === 'execute' ? call.input.command !== undefined : Object.keys(call.input).length > 0;
    if (!call.begun && (isOver || status === 'in_progress' || isKnown)) events.push(begin(call, notes));
    for (const words of printedBy(update)) if (words !== '') notes.printed(words);
    if (!isOver) return events;
    notes.ended(call.id, exitCodeIn(update), refusals.has(call.id));
    if (status === 'completed' && WRITING.has(call.kind)) for (const path of call.paths) notes.file(path);
    calls.delete(call.id);
    refusals.delete(call.id);
    return events;
  }

  function readPiece(update: Json, notes: Notes): AgentEvent[] {
    const piece = text(object(update.content).text);
    const id = text(update.messageId);
    const events = said.whole || (id !== '' && id !== said.id) ? flush() : [];
    if (said.whole || (id !== '' && said.id !== '' && id !== said.id)) notes.begin();
    if (id !== '') said.id = id;
    said.whole = false;
    notes.grow(piece);
    if (said.unshown.length < SHOWN) said.unshown += piece;
    return events;
  }

  function costIn(update: Json): number {
    const { amount, currency } = object(update.cost);
    return currency === 'USD' ? count(amount) : 0;
  }

  return {
    toolCall,
    flush,
    refused: (id) => void refusals.add(id),
    costBefore(update) {
      costUsd = Math.max(costUsd, costIn(update));
    },
    handlers: (notes) => ({
      ...Object.fromEntries(SILENT.map((name) => [name, null])),
      agent_message_chunk: (update) => readPiece(update, notes),
      tool_call: (update) => readTool(update, notes),
      tool_call_update: (update) => readTool(update, notes),
      usage_update(update) {
        const more = costIn(update) - costUsd;
        if (more <= 0) return [];
        costUsd += more;
        return [notes.spend({ input: 0, output: 0, costUsd: more })];
      },
    }),
  };
}
