import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../engine/index.ts';
import { readClaude } from './claude-stream.ts';
import type { Told } from './stream.ts';

const FOLDER = new URL('../../test/fixtures/agents/claude-2.1.332/', import.meta.url);
const recorded = (name: string): string[] =>
  readFileSync(new URL(`${name}.jsonl`, FOLDER), 'utf8').split('\n');
const DONE = 'All done.\n\n<promise>COMPLETE</promise>';

function read(lines: string[]): { told: Told; events: AgentEvent[]; reader: ReturnType<typeof readClaude> } {
  const reader = readClaude();
  const events = lines.flatMap((line) => reader.line(line));
  return { told: reader.told(), events, reader };
}
const line = (event: object): string => JSON.stringify(event);
const said = (text: string, over: object = {}, id = 'm'): string =>
  line({ type: 'assistant', message: { id, model: 'x', content: [{ type: 'text', text }] }, ...over });

it('keeps the end of a message that never ends, and not all of it', () => {
  const { told } = read([
    ...Array.from({ length: 3_000 }, (_, i) => said(`${i} ${'x'.repeat(1_000)}`)),
    said('the end'),
  ]);
  expect(told.finalMessage.length).toBeLessThanOrEqual(256 * 1024);
  expect(told.finalMessage.endsWith(`2999 ${'x'.repeat(1_000)}\nthe end`)).toBe(true);
});

describe('a recorded run of Claude Code', () => {
  it('tells files, commands, tokens with the cache, and its own cost', () => {
    const { told, events } = read(recorded('success'));
    expect(told).toMatchObject({
      closed: true,
      error: null,
      finalMessage: DONE,
      toolCalls: 2,
      toolFiles: ['/home/dev/repo/hello.txt'],
      commands: [{ command: 'git add -A && git commit -qm "Add hello"', exitCode: 0, denied: false }],
      usage: { inputTokens: 3200, outputTokens: 140, model: 'claude-opus-5-5' },
      unknownEvents: 0,
    });
    expect(told.usage.costUsd).toBeCloseTo(0.01494, 8);
    expect(told.sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(events).toContainEqual({ kind: 'tool', name: 'Write', detail: '/home/dev/repo/hello.txt' });
    expect(events.at(-1)).toMatchObject({ kind: 'usage', inputTokens: 3200, outputTokens: 140 });
  });

  it.each(['-3', '1e999', '1e308', '"7"', 'null'])(
    'is not told a cost of %s, and keeps what is known',
    (cost) => {
      const lines = recorded('success').map((line) =>
        line.replace(/"total_cost_usd":[\d.]+/, `"total_cost_usd":${cost}`),
      );
      const { usage } = read(lines).told;
      expect(usage.costUsd ?? 0).toBeLessThan(1);
      expect(usage.costUsd).not.toBe(0);
    },
  );

  it('tells that a subscription pays where it works without a key, and nobody else answers', () => {
    expect(read(recorded('success')).told.usage.byPlan).toBeUndefined();
    const { told, events } = read(recorded('limit-warned'));
    expect(told.usage.byPlan).toBe(true);
    expect(events.findLast((event) => event.kind === 'usage')).toMatchObject({ byPlan: true });
    const elsewhere = readClaude({ planPays: false });
    for (const line of recorded('limit-warned')) elsewhere.line(line);
    expect(elsewhere.told().usage.byPlan).toBeUndefined();
  });

  it('tells edited files once, and the exit code of each command', () => {
    expect(read(recorded('edit')).told.toolFiles).toEqual(['/home/dev/repo/a.txt']);
    expect(read(recorded('command-fails')).told.commands.map((row) => row.exitCode)).toEqual([3, 0]);
  });

  it('tells a refused command as denied and not as run', () => {
    const { told } = read(recorded('denied'));
    expect(told.commands).toEqual([{ command: 'touch x && npm publish', exitCode: null, denied: true }]);
    expect(told.error).toBeNull();
  });

  it.each([
    ['limit-with-reset', 'limit', 4_102_444_800_000],
    ['limit-now', 'limit', null],
    ['auth', 'auth', null],
    ['billing', 'billing', null],
    ['overload', 'overload', null],
    ['network', 'network', null],
    ['prompt-too-long', 'prompt_too_long', null],
    ['max-turns', 'crash', null],
    ['interrupted-sigint', 'crash', null],
  ])('%s ends with an error of kind %s', (name, kind, resetsAt) => {
    const { told } = read(recorded(name));
    expect(told).toMatchObject({ closed: true, error: { kind, resetsAt }, finalMessage: '' });
  });

  it.each(['limit-retried', 'limit-warned', 'cut-off', 'subagent', 'subagent-in-background'])(
    '%s gets over it and ends well',
    (name) => {
      const { told, reader } = read(recorded(name));
      expect(told).toMatchObject({ closed: true, error: null, trouble: null, finalMessage: DONE });
      expect(reader.hopeless()).toBeNull();
    },
  );

  it('is hopeless after two retries with a refused login, and says so before the third', () => {
    const lines = recorded('auth-retrying');
    expect(read(lines.slice(0, 2)).reader.hopeless()).toBeNull();
    expect(read(lines.slice(0, 3)).reader.hopeless()).toMatchObject({ kind: 'auth' });
  });

  it('that was ended in the middle has no closing event', () => {
    expect(read(recorded('interrupted')).told).toMatchObject({ closed: false, error: null, toolCalls: 1 });
  });

  it('is not leaving while a sub-agent works in the background, and busy with a command there', () => {
    const lines = recorded('command-in-background');
    const result = lines.findIndex((text) => text.includes('"type":"result"'));
    expect(read(lines.slice(0, result)).reader.leaving()).toBe('no');
    const { reader, told } = read(lines.slice(0, result + 1));
    expect(reader.leaving()).toBe('busy');
    expect(told.background).toEqual([{ what: 'server', agent: false }]);
    expect(read(recorded('success')).reader.leaving()).toBe('yes');
  });

  it('counts the tokens of a sub-agent in', () => {
    expect(read(recorded('subagent')).told.usage).toMatchObject({ inputTokens: 4000, outputTokens: 200 });
  });

  it('knows every event that was recorded', () => {
    for (const name of readdirSync(FOLDER)) {
      expect([name, read(recorded(name.replace('.jsonl', ''))).told.unknownEvents]).toEqual([name, 0]);
    }
  });
});

describe('the reader of Claude Code', () => {
  it('takes the last result, not the first', () => {
    const result = (text: string) => line({ type: 'result', subtype: 'success', result: text });
    const { told } = read([said('one'), result('one'), said('two', {}, 'n'), result('two')]);
    expect(told).toMatchObject({ finalMessage: 'two', closed: true });
    expect(read([said('one'), result('one'), said('two', {}, 'n')]).told).toMatchObject({
      finalMessage: 'two',
      closed: false,
    });
  });

  it('joins the lines of the last message when no result comes, without the words of a sub-agent', () => {
    const sub = said('<promise>COMPLETE</promise>', { parent_tool_use_id: 'toolu_1' });
    expect(read([said('a'), said('b'), sub]).told.finalMessage).toBe('a\nb');
  });

  it('believes is_error behind the subtype success', () => {
    const { told } = read([
      line({ type: 'result', subtype: 'success', is_error: true, result: 'Not logged in' }),
    ]);
    expect(told).toMatchObject({ error: { kind: 'auth' }, finalMessage: '' });
    expect(told.error?.message).toMatch(/^Not logged in\. Log in \(.*ANTHROPIC_API_KEY/);
  });

  it('calls a retry delay of an hour a limit', () => {
    const retry = {
      type: 'system',
      subtype: 'api_retry',
      attempt: 1,
      error: 'rate_limit',
      error_status: 429,
    };
    expect(read([line({ ...retry, retry_delay_ms: 1000 })]).reader.hopeless()).toBeNull();
    expect(read([line({ ...retry, retry_delay_ms: 3_600_000 })]).reader.hopeless()).toMatchObject({
      kind: 'limit',
    });
  });

  it('forgets its trouble when the model answers', () => {
    const retry = line({
      type: 'system',
      subtype: 'api_retry',
      attempt: 1,
      error: 'overloaded',
      error_status: 529,
    });
    expect(read([retry]).told.trouble).toMatchObject({ kind: 'overload' });
    expect(read([retry, said('back')]).told.trouble).toBeNull();
  });

  it('counts a message once although its lines repeat the usage', () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 };
    const event = (id: string) =>
      line({ type: 'assistant', message: { id, model: 'x', content: [], usage } });
    const { told } = read([event('a'), event('a'), event('b'), event('a')]);
    expect(told.usage).toMatchObject({ inputTokens: 30, outputTokens: 2, costUsd: null });
  });

  it('keeps the end of a huge final message', () => {
    const result = line({ type: 'result', subtype: 'success', result: `${'ü'.repeat(400_000)}\n${DONE}` });
    const { finalMessage } = read([result]).told;
    expect(Buffer.byteLength(finalMessage)).toBeLessThanOrEqual(256 * 1024);
    expect(finalMessage.endsWith(DONE)).toBe(true);
    expect(finalMessage).not.toContain('\ufffd');
  });

  it('counts what it does not know', () => {
    const lines = ['warning: no json', '[1,2', '7', 'null', line({ type: 'brand_new' }), line({})];
    expect(read(lines).told.unknownEvents).toBe(6);
    expect(read(['', '  ']).told.unknownEvents).toBe(0);
  });

  it('never throws, whatever a line holds', () => {
    const type = fc.constantFrom('assistant', 'user', 'system', 'result', 'rate_limit_event', 'x');
    const subtype = fc.constantFrom(
      'init',
      'api_retry',
      'permission_denied',
      'background_tasks_changed',
      'success',
    );
    const any = fc.jsonValue({ maxDepth: 4 });
    const keys = fc.constantFrom(
      'message',
      'content',
      'usage',
      'modelUsage',
      'tool_use_result',
      'error',
      'tasks',
      'permission_denials',
      'tool_result_meta',
      'rate_limit_info',
      'api_error_params',
      'result',
      'errors',
      '__proto__',
    );
    const event = fc.tuple(type, subtype, fc.dictionary(keys, any), fc.array(fc.dictionary(keys, any)));
    const anyLine = fc.oneof(
      fc.string(),
      fc.json(),
      event.map(([name, sub, rest, content]) =>
        line({ ...rest, type: name, subtype: sub, ...(content.length > 0 ? { message: { content } } : {}) }),
      ),
    );
    fc.assert(
      fc.property(fc.array(anyLine), (lines) => {
        const { told } = read(lines);
        expect(told.usage.inputTokens).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 500 },
    );
  });

  it('never throws on a recorded line that is cut or damaged anywhere', () => {
    const all = readdirSync(FOLDER).flatMap((name) => recorded(name.replace('.jsonl', '')));
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.nat(), fc.string(), (text, cut, junk) => {
        const at = cut % (text.length + 1);
        read([text.slice(0, at), text.slice(0, at) + junk + text.slice(at)]);
      }),
    );
  });
});
