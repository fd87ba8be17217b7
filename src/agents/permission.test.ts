/** Agents that ask for permission by their own protocols: what is read of a request, and what each is told. */
import { describe, expect, it } from 'vitest';
import type { PermissionDecision, PermissionRequest } from '../core/index.ts';
import type { AgentCall } from '../engine/index.ts';
import { acpRequest } from './acp-permission.ts';
import { claudeLive } from './claude-live.ts';
import { readCodex } from './codex.ts';
import { codexLive } from './codex-live.ts';
import { openDesk } from './permission.ts';
import type { LiveInput } from './talk.ts';

const line = (message: object) => JSON.stringify(message);
const ALLOW: PermissionDecision = { allow: true };
const DENY: PermissionDecision = { allow: false, reason: 'the rule "x" says deny' };

/** A run in which everything that is asked gets this decision; null: it is never decided. */
function asked(decision: PermissionDecision | null) {
  const requests: PermissionRequest[] = [];
  const gone: AbortSignal[] = [];
  const call = {
    cwd: '/repo',
    model: null,
    permission(request: PermissionRequest, isGone: AbortSignal) {
      requests.push(request);
      gone.push(isGone);
      return decision === null ? new Promise(() => {}) : Promise.resolve(decision);
    },
  } as unknown as AgentCall;
  return { requests, gone, call };
}

/** What stdin gets for these lines, at once and later. */
async function told(live: LiveInput, lines: string[]): Promise<unknown[]> {
  const words: string[] = [];
  for (const one of lines) words.push(live.answer?.(one, (later) => words.push(later)) ?? '');
  await new Promise((resolve) => setImmediate(resolve));
  return words.filter((word) => word !== '').map((word) => JSON.parse(word));
}

describe('claude code asks', () => {
  // As version 2.1.332 says it.
  const asks = (tool: string, input: object) =>
    line({
      type: 'control_request',
      request_id: 'r1',
      request: {
        subtype: 'can_use_tool',
        tool_name: tool,
        input,
        description: 'said of it',
        tool_use_id: 't',
      },
    });
  const PUSH = { command: 'git push origin main', description: 'publish' };

  it('for a command, and hears the decision with its own input in it', async () => {
    const { call, requests } = asked(ALLOW);
    expect(await told(claudeLive(call), [asks('Bash', PUSH)])).toEqual([
      {
        type: 'control_response',
        response: {
          subtype: 'success',
          request_id: 'r1',
          response: { behavior: 'allow', updatedInput: PUSH },
        },
      },
    ]);
    expect(requests).toEqual([
      { tool: 'Bash', title: 'said of it', command: 'git push origin main', paths: [], diff: null },
    ]);
  });

  it('and reads of a no why, and that it is no riddle to be solved', async () => {
    const { call } = asked(DENY);
    expect(await told(claudeLive(call), [asks('Bash', PUSH)])).toMatchObject([
      {
        response: {
          response: {
            behavior: 'deny',
            message: expect.stringMatching(/the rule "x" says deny.*another way/),
          },
        },
      },
    ]);
  });

  it.each([
    ['Write', { file_path: '/repo/a.txt', content: 'one\ntwo\n' }, '/repo/a.txt\n+one\n+two'],
    ['Edit', { file_path: '/repo/a.txt', old_string: 'x', new_string: 'y' }, '/repo/a.txt\n-x\n+y'],
    ['NotebookEdit', { notebook_path: '/repo/a.txt', new_source: 'z' }, '/repo/a.txt\n+z'],
    ['Edit', { file_path: '/repo/a.txt', old_string: 'gone', new_string: '' }, '/repo/a.txt\n-gone'],
  ])('for a change by %s, with its path and its lines', async (tool, input, diff) => {
    const { call, requests } = asked(ALLOW);
    await told(claudeLive(call), [asks(tool, input)]);
    expect(requests).toMatchObject([{ tool, command: null, paths: ['/repo/a.txt'], diff }]);
  });

  it.each([
    ['mcp__db__run', { command: 'ls', file_path: 'a', sql: 'drop table x' }],
    ['WebFetch', { url: 'https://example.org', prompt: 'read it' }],
  ])('for %s, with all that it is given', async (tool, input) => {
    const { call, requests } = asked(ALLOW);
    await told(claudeLive(call), [asks(tool, input)]);
    expect(requests).toMatchObject([{ tool, command: null, paths: [], input }]);
  });

  it('for a command out of its sandbox, and says so', async () => {
    const { call, requests } = asked(ALLOW);
    await told(claudeLive(call), [asks('Bash', { ...PUSH, timeout: 5, dangerouslyDisableSandbox: true })]);
    expect(requests).toMatchObject([{ command: PUSH.command, input: { dangerouslyDisableSandbox: true } }]);
  });

  it('no more after it took the question back', async () => {
    const { call, gone } = asked(null);
    const back = line({ type: 'control_cancel_request', request_id: 'r1' });
    expect(await told(claudeLive(call), [asks('Bash', PUSH), back])).toEqual([]);
    expect(gone.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('nobody where everything is allowed', () => {
    expect(claudeLive({} as AgentCall).answer).toBeUndefined();
  });
});

describe('codex asks', () => {
  const request = (method: string, params: object) =>
    line({ method, id: 3, params: { threadId: 't', turnId: 'u', itemId: 'c', ...params } });
  const COMMAND = request('item/commandExecution/requestApproval', {
    kind: 'command',
    command: "/bin/bash -lc 'git push origin main'",
  });
  const item = {
    type: 'fileChange',
    id: 'c',
    changes: [
      { path: '/repo/a.txt', kind: { type: 'add' }, diff: 'one\ntwo\n' },
      { path: '/repo/b', kind: { type: 'update', move_path: '/repo/d' }, diff: '@@\n-x\n+y\n' },
    ],
  };
  const CHANGE = [
    line({ method: 'item/started', params: { item, threadId: 't' } }),
    request('item/fileChange/requestApproval', {}),
  ];

  it('only under its strictest policy, which is set where rules hold', async () => {
    const policy = (call: AgentCall) =>
      JSON.parse(codexLive(call).message('x', '1').split('\n')[2] ?? '').params.approvalPolicy;
    expect([policy(asked(ALLOW).call), policy({ cwd: '', model: null } as AgentCall)]).toEqual([
      'untrusted',
      'never',
    ]);
  });

  it('for a command, out of its wrapping', async () => {
    const { call, requests } = asked(DENY);
    expect(await told(codexLive(call), [COMMAND])).toEqual([{ id: 3, result: { decision: 'decline' } }]);
    expect(requests).toMatchObject([{ tool: 'shell', command: 'git push origin main', paths: [] }]);
  });

  it('for a change, whose paths and lines it told before', async () => {
    const { call, requests } = asked(ALLOW);
    expect(await told(codexLive(call), CHANGE)).toEqual([{ id: 3, result: { decision: 'accept' } }]);
    expect(requests).toMatchObject([
      {
        command: null,
        paths: ['/repo/a.txt', '/repo/b', '/repo/d'],
        diff: '/repo/a.txt\n+one\n+two\n/repo/b\n@@\n-x\n+y',
      },
    ]);
  });

  it('for a change that was told long before, and of the oldest one nobody knows its files', async () => {
    const { call, requests } = asked(ALLOW);
    const many = Array.from({ length: 1000 }, (_, at) =>
      line({ method: 'item/started', params: { item: { ...item, id: `c${at}` }, threadId: 't' } }),
    );
    const about = (itemId: string) => request('item/fileChange/requestApproval', { itemId });
    await told(codexLive(call), [CHANGE[0]!, ...many, about('c0'), about('c')]);
    expect(requests.map(({ paths }) => paths.length)).toEqual([3, 0]);
  });

  it('for a tool of a server, with what it is given', async () => {
    const { call, requests } = asked(ALLOW);
    const about = { serverName: 'notes', message: 'May it?', _meta: { tool_params: { text: 'x' } } };
    await told(codexLive(call), [request('mcpServer/elicitation/request', about)]);
    expect(requests).toMatchObject([{ tool: 'notes', input: { message: 'May it?', text: 'x' } }]);
  });

  it('for a tool of a server, and what else a server wants to know nobody tells it', async () => {
    const { call, requests } = asked(ALLOW);
    const about = { serverName: 'notes', mode: 'form', message: 'Allow notes to run tool "add"?' };
    const empty = request('mcpServer/elicitation/request', {
      ...about,
      requestedSchema: { type: 'object', properties: {} },
    });
    const form = request('mcpServer/elicitation/request', {
      ...about,
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    });
    expect(await told(codexLive(call), [empty])).toMatchObject([{ id: 3, result: { action: 'accept' } }]);
    expect(await told(codexLive(call), [form])).toMatchObject([{ id: 3, error: { code: -32601 } }]);
    expect(requests).toMatchObject([{ tool: 'notes', title: about.message }]);
  });

  it('no more after the question was settled elsewhere', async () => {
    const { call, gone } = asked(null);
    const settled = line({ method: 'serverRequest/resolved', params: { threadId: 't', requestId: 3 } });
    expect(await told(codexLive(call), [COMMAND, settled])).toEqual([]);
    expect(gone.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('in lines that its reader knows', () => {
    const reader = readCodex();
    for (const one of [COMMAND, ...CHANGE]) reader.line(one);
    expect(reader.told().unknownEvents).toBe(0);
  });
});

describe('an agent behind the protocol asks', () => {
  const of = (call: object) => acpRequest({ ...CALL, ...call }, {});
  const CALL = { id: '1', title: 'a title', kind: 'other', input: {}, paths: [], begun: false };

  it.each(['other', 'execute', 'fetch', 'think', ''])(
    'for a command, which is one though it is called %j',
    (kind) => {
      const input = { command: 'git push', description: 'x', workdir: 'sub' };
      expect(of({ kind, input })).toMatchObject({
        command: 'git push',
        input: { workdir: 'sub' },
        from: 'sub',
      });
    },
  );

  it('for anything else with all that it is given, and for a change with its files', () => {
    expect(of({ input: { url: 'x' } })).toMatchObject({ tool: 'other', command: null, input: { url: 'x' } });
    const edit = of({ kind: 'edit', input: { filePath: 'a', command: 'create' }, paths: ['a'] });
    expect(edit).toMatchObject({ command: null, paths: ['a'], input: { command: 'create' } });
  });
});

describe('whoever is asked', () => {
  const REQUEST = { tool: 'shell', title: '', command: 'ls', paths: [], diff: null };

  it('and breaks has said no', async () => {
    const call = { permission: () => Promise.reject(new Error('the journal is gone')) };
    const decisions: PermissionDecision[] = [];
    openDesk(call as unknown as AgentCall).ask('1', REQUEST, (decision) => decisions.push(decision));
    await new Promise((resolve) => setImmediate(resolve));
    expect(decisions).toEqual([{ allow: false, reason: 'nobody could be asked' }]);
  });
});
