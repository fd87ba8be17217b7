/**
 * The APIs that the scripted model speaks: how each names tools, history and tokens, how it words an error, and how
 * an answer is cut into the frames of a stream.
 */
import type { Fault, TokenCounts } from './model-script.ts';

/** A message of the history. Results of tools count as words of the user, without text. */
export interface Heard {
  role: 'user' | 'assistant';
  text: string;
  /** Ids of the tool calls in it. */
  calls: string[];
}

export interface ModelRequest {
  model: string;
  tools: string[];
  messages: Heard[];
}

/** One call of a tool; `patch`: the call's text in a tool without fields. */
export interface ToolCall {
  id: string;
  name: string;
  input: Record<string, unknown>;
  patch?: string;
}

export interface Answer {
  text: string;
  calls: ToolCall[];
  tokens: TokenCounts;
}

export interface Dialect {
  hear(body: string, path: string): ModelRequest;
  /** Whole frames of a server-sent stream; half of them is half an answer. */
  frames(answer: Answer, model: string): string[];
  /** The same answer in one piece, for requests that want no stream. */
  whole?(answer: Answer, model: string): object;
  errorBody(fault: Fault): object;
  /** An error inside a stream that began well. */
  errorFrame(fault: Fault): string;
}

type Data = Record<string, unknown>;
const frame = (data: Data | string, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const listed = (value: unknown): Data[] => (Array.isArray(value) ? (value as Data[]) : []);
const textIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listed(content)
        .map((part) => String(part.text ?? ''))
        .join('\n');
/** Pieces of a text, so that a stream that is cut off cuts the text too. */
const pieces = (text: string): string[] => text.match(/[\s\S]{1,16}/g) ?? [''];
const messageOf = (fault: Fault): string => fault.message ?? `scripted error ${fault.status ?? 529}`;
let number = 0;

const ANTHROPIC_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** POST /v1/messages. */
const anthropic: Dialect = {
  hear(body) {
    const request = JSON.parse(body) as { model?: string; tools?: { name: string }[]; messages?: Data[] };
    const messages = (request.messages ?? []).flatMap(({ role, content }): Heard[] => {
      const blocks: Data[] = typeof content === 'string' ? [{ text: content }] : listed(content);
      const calls = blocks.map((block) => String(block.id ?? '')).filter((id) => id.startsWith('toolu_'));
      if (role !== 'user' && role !== 'assistant') return [];
      return [{ role, text: textIn(blocks), calls: role === 'assistant' ? calls : [] }];
    });
    return {
      model: request.model ?? 'scripted-model',
      tools: (request.tools ?? []).map(({ name }) => name),
      messages,
    };
  },
  frames(answer, model) {
    const { tokens } = answer;
    const usage = {
      input_tokens: tokens.input,
      cache_creation_input_tokens: tokens.cacheWrite,
      cache_read_input_tokens: tokens.cacheRead,
      output_tokens: 1,
    };
    const head = { id: `msg_${++number}`, type: 'message', role: 'assistant', model, content: [] };
    const message = { ...head, stop_reason: null, stop_sequence: null, usage };
    const frames: [string, Data][] = [['message_start', { message }]];
    const blocks: { start: Data; delta: Data }[] = [];
    if (answer.text !== '' || answer.calls.length === 0) {
      blocks.push({ start: { type: 'text', text: '' }, delta: { type: 'text_delta', text: answer.text } });
    }
    for (const { id, name, input } of answer.calls) {
      const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
      blocks.push({ start: { type: 'tool_use', id, name, input: {} }, delta });
    }
    for (const [index, { start, delta }] of blocks.entries()) {
      frames.push(['content_block_start', { index, content_block: start }]);
      frames.push(['content_block_delta', { index, delta }]);
      frames.push(['content_block_stop', { index }]);
    }
    const closing = {
      delta: { stop_reason: answer.calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
    };
    frames.push(['message_delta', { ...closing, usage: { ...usage, output_tokens: tokens.output } }]);
    frames.push(['message_stop', {}]);
    return frames.map(([event, data]) => frame({ type: event, ...data }, event));
  },
  errorBody(fault) {
    const type = ANTHROPIC_TYPES[fault.status ?? 529] ?? 'api_error';
    return { type: 'error', error: { type, message: messageOf(fault) } };
  },
  errorFrame: (fault) => frame(anthropic.errorBody(fault) as Data, 'error'),
};

const OPENAI_CODES: Record<number, string> = { 401: 'invalid_api_key', 429: 'rate_limit_exceeded' };

function openaiError(fault: Fault): object {
  const code = fault.code ?? OPENAI_CODES[fault.status ?? 529] ?? null;
  const type = (fault.status ?? 529) < 500 ? 'invalid_request_error' : 'server_error';
  return { error: { message: messageOf(fault), type, code, param: null } };
}

/** POST /v1/responses. */
const responses: Dialect = {
  hear(body) {
    const request = JSON.parse(body) as { model?: string; tools?: Data[]; input?: Data[] | string };
    const input: Data[] =
      typeof request.input === 'string' ? [{ role: 'user', content: request.input }] : (request.input ?? []);
    const messages = input.flatMap((item): Heard[] => {
      const type = String(item.type ?? 'message');
      if (type.endsWith('_call')) return [{ role: 'assistant', text: '', calls: [String(item.call_id)] }];
      if (type.endsWith('_call_output')) return [{ role: 'user', text: '', calls: [] }];
      if (item.role !== 'user' && item.role !== 'assistant') return [];
      return [{ role: item.role, text: textIn(item.content), calls: [] }];
    });
    const tools = (request.tools ?? []).flatMap((tool) => [tool, ...listed(tool.tools)]);
    return {
      model: request.model ?? 'scripted-model',
      tools: tools.map(({ name, type }) => String(name ?? type)),
      messages,
    };
  },
  frames(answer, model) {
    const id = `resp_${++number}`;
    let sequence = 0;
    const event = (type: string, data: Data) => frame({ type, sequence_number: sequence++, ...data }, type);
    const response = {
      id,
      object: 'response',
      created_at: 1,
      model,
      status: 'in_progress',
      output: [] as Data[],
    };
    const frames = [event('response.created', { response })];
    const { output } = response;
    const add = (item: Data, deltas: Data[] = []) => {
      const place = { output_index: output.length, item_id: item.id };
      frames.push(
        event('response.output_item.added', { ...place, item: { ...item, status: 'in_progress' } }),
      );
      for (const data of deltas)
        frames.push(event('response.output_text.delta', { ...place, content_index: 0, ...data }));
      frames.push(event('response.output_item.done', { ...place, item }));
      output.push(item);
    };
    if (answer.text !== '') {
      const content = [{ type: 'output_text', text: answer.text, annotations: [] }];
      const item = {
        id: `msg_${++number}`,
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content,
      };
      add(
        item,
        pieces(answer.text).map((delta) => ({ delta })),
      );
    }
    for (const { id: call_id, name, input, patch } of answer.calls) {
      const common = { id: `fc_${++number}`, status: 'completed', call_id, name };
      if (patch === undefined) add({ ...common, type: 'function_call', arguments: JSON.stringify(input) });
      else add({ ...common, type: 'custom_tool_call', input: patch });
    }
    const { input, cacheRead, cacheWrite, output: out } = answer.tokens;
    const all = input + cacheRead + cacheWrite;
    const usage = {
      input_tokens: all,
      input_tokens_details: { cached_tokens: cacheRead },
      output_tokens: out,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: all + out,
    };
    frames.push(event('response.completed', { response: { ...response, status: 'completed', usage } }));
    return frames;
  },
  errorBody: openaiError,
  errorFrame(fault) {
    const error = { code: fault.code ?? 'server_is_overloaded', message: messageOf(fault) };
    return frame(
      { type: 'response.failed', response: { id: 'resp_0', status: 'failed', error } },
      'response.failed',
    );
  },
};

function chatMessage({ text, calls }: Answer): Data {
  const toolCalls = calls.map(({ id, name, input }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  return { role: 'assistant', content: text, ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}) };
}

function chatUsage({ input, cacheRead, cacheWrite, output }: TokenCounts): Data {
  const all = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: all,
    completion_tokens: output,
    total_tokens: all + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
}

/** POST /v1/chat/completions. */
const chat: Dialect = {
  hear(body) {
    const request = JSON.parse(body) as { model?: string; tools?: Data[]; messages?: Data[] };
    const messages = (request.messages ?? []).flatMap(({ role, content, tool_calls }): Heard[] => {
      const calls = listed(tool_calls).map(({ id }) => String(id));
      if (role === 'assistant') return [{ role, text: textIn(content), calls }];
      if (role === 'tool') return [{ role: 'user', text: '', calls: [] }];
      return role === 'user' ? [{ role, text: textIn(content), calls: [] }] : [];
    });
    const tools = (request.tools ?? []).map((tool) =>
      String((tool.function as Data | undefined)?.name ?? ''),
    );
    return { model: request.model ?? 'scripted-model', tools, messages };
  },
  frames(answer, model) {
    const base = { id: `chatcmpl-${++number}`, object: 'chat.completion.chunk', created: 1, model };
    const delta = (data: Data, finish: string | null = null) =>
      frame({ ...base, choices: [{ index: 0, delta: data, finish_reason: finish }] });
    const { tool_calls: calls } = chatMessage(answer);
    return [
      delta({ role: 'assistant', content: '' }),
      ...(answer.text === '' ? [] : pieces(answer.text).map((content) => delta({ content }))),
      ...listed(calls).flatMap((call) => {
        const { name, arguments: args } = call.function as { name: string; arguments: string };
        const begun = delta({ tool_calls: [{ ...call, function: { name, arguments: '' } }] });
        const more = (part: string) =>
          delta({ tool_calls: [{ index: call.index, function: { arguments: part } }] });
        return [begun, ...pieces(args).map(more)];
      }),
      delta({}, calls === undefined ? 'stop' : 'tool_calls'),
      frame({ ...base, choices: [], usage: chatUsage(answer.tokens) }),
      frame('[DONE]'),
    ];
  },
  whole: (answer, model) => ({
    id: `chatcmpl-${++number}`,
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: chatMessage(answer), finish_reason: 'stop' }],
    usage: chatUsage(answer.tokens),
  }),
  errorBody: openaiError,
  errorFrame: (fault) => frame(openaiError(fault) as Data, 'error'),
};

const GEMINI_STATUS: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  429: 'RESOURCE_EXHAUSTED',
};

/** POST /v1beta/models/<model>:streamGenerateContent. */
const gemini: Dialect = {
  hear(body, path) {
    const request = JSON.parse(body) as { tools?: Data[]; contents?: Data[] };
    const messages = (request.contents ?? []).map(({ role, parts }): Heard => {
      const blocks = listed(parts);
      const calls = blocks.flatMap(({ functionCall }) =>
        functionCall ? [String((functionCall as Data).id ?? 'call')] : [],
      );
      return { role: role === 'model' ? 'assistant' : 'user', text: textIn(blocks), calls };
    });
    const tools = (request.tools ?? []).flatMap((tool) => listed(tool.functionDeclarations));
    const model = /models\/([^:]+)/.exec(path)?.[1] ?? 'scripted-model';
    return { model, tools: tools.map(({ name }) => String(name)), messages };
  },
  frames(answer, model) {
    const base = { modelVersion: model, responseId: `r${++number}` };
    const said = (parts: Data[], rest: Data = {}, top: Data = {}) =>
      frame({ candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }], ...base, ...top });
    const { input, cacheRead, cacheWrite, output } = answer.tokens;
    const all = input + cacheRead + cacheWrite;
    const usageMetadata = {
      promptTokenCount: all,
      candidatesTokenCount: output,
      cachedContentTokenCount: cacheRead,
      totalTokenCount: all + output,
    };
    return [
      ...(answer.text === '' ? [] : pieces(answer.text).map((text) => said([{ text }]))),
      ...answer.calls.map(({ id, name, input: args }) => said([{ functionCall: { id, name, args } }])),
      said([{ text: '' }], { finishReason: 'STOP' }, { usageMetadata }),
    ];
  },
  errorBody(fault) {
    const code = fault.status ?? 529;
    return { error: { code, message: messageOf(fault), status: GEMINI_STATUS[code] ?? 'UNAVAILABLE' } };
  },
  errorFrame: (fault) => frame(gemini.errorBody(fault) as Data),
};

/** The API behind a path; null: none that the model speaks. */
export function dialectOf(path: string): Dialect | null {
  if (path.endsWith('/messages')) return anthropic;
  if (path.endsWith('/responses')) return responses;
  if (path.endsWith('/chat/completions')) return chat;
  return /:(?:streamG|g)enerateContent$/.test(path) ? gemini : null;
}
