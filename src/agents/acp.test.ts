/** Agents behind the Agent Client Protocol: the exam with a stand-in, and what only a conversation can do. */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Move, sitAgentExam } from '../../test/exams/agent-exam.ts';
import { removeFolder } from '../../test/remove-folder.ts';
import type { AgentReport } from '../core/index.ts';
import type { Agent, AgentCall, AgentEvent, AgentHandle } from '../engine/index.ts';
import { acpAgent, commandWords, greet } from './acp.ts';

const STANDIN = fileURLToPath(new URL('../../test/standins/acp-agent.mjs', import.meta.url));
const TAG = '<promise>COMPLETE</promise>';
type Step = Record<string, unknown>;

interface Script {
  about?: object;
  session?: object;
  refuses?: Record<string, object>;
  cancels?: boolean;
  deaf?: boolean;
  turns: Step[][];
}

function standIn(folder: string, script: Script): Agent {
  const path = join(folder, 'script.json');
  writeFileSync(path, JSON.stringify({ log: join(folder, 'heard'), ...script }));
  return acpAgent({ name: 'acp', command: [process.execPath, STANDIN, path] });
}

const REFUSALS = {
  auth: { code: -32000, message: 'Authentication required' },
  limit: { code: -32603, message: "You've hit your usage limit." },
  prompt_too_long: { code: -32603, message: 'Internal error: prompt is too long' },
  overload: { code: -32603, message: 'Internal error', data: { details: 'API Error: 529 overloaded_error' } },
};

function stepsOf(move: Move): Step[] {
  if ('sayUnended' in move) return [{ say: move.sayUnended }, { unended: true }, { pause: 50 }, { exit: 0 }];
  if ('sayInPieces' in move) {
    const content = { type: 'text', text: move.sayInPieces };
    const params = {
      sessionId: 'session-of-the-stand-in',
      update: { sessionUpdate: 'agent_message_chunk', content },
    };
    const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })}\n`);
    const cut = bytes.indexOf(Buffer.from('漢')) + 1;
    const part = (from: number, to: number) => ({ bytes: bytes.subarray(from, to).toString('base64') });
    return [part(0, cut), { pause: 100 }, part(cut, bytes.length)];
  }
  if ('unknownEvent' in move) return [{ update: { sessionUpdate: 'brand_new', x: 1 } }];
  if ('breakOff' in move) return [{ say: move.breakOff }];
  if ('complain' in move) return [{ err: move.complain }];
  if ('ignoreSigterm' in move) return [{ trap: true }];
  if ('refuse' in move) {
    const error = REFUSALS[move.refuse];
    const reset =
      move.resetsAt === undefined ? '' : ` Resets at ${new Date(move.resetsAt * 1000).toISOString()}.`;
    return [{ error: { ...error, message: error.message + reset } }, { pause: 50 }];
  }
  return [{ ...move }];
}

sitAgentExam({
  name: 'an agent behind the Agent Client Protocol',
  agent: (moves, folder) => standIn(folder, { deaf: true, turns: [moves.flatMap(stepsOf)] }),
  skips: {
    echo: 'what a user said comes as an update of its own',
    'reset time': 'the protocol has no word for it',
  },
});

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'acp-'));
});
afterEach(() => removeFolder(folder));

interface Begun {
  handle: AgentHandle;
  events: AgentEvent[];
}

async function begin(script: Script, over: Partial<AgentCall> = {}, agent?: Agent): Promise<Begun> {
  const events: AgentEvent[] = [];
  const handle = await (agent ?? standIn(folder, script)).start({
    prompt: 'Do the work.',
    promptPath: join(folder, 'prompt.md'),
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder },
    marker: `acp-${process.pid}`,
    allowance: { wallMs: 30_000, idleMs: 20_000 },
    logPath: join(folder, 'agent.log'),
    model: null,
    readOnly: false,
    spawned: () => Promise.resolve(),
    event: (event) => void events.push(event),
    groundMoved: () => Promise.resolve(false),
    ...over,
  });
  return { handle, events };
}
const finish = async (script: Script, over: Partial<AgentCall> = {}): Promise<AgentReport> =>
  (await begin(script, over)).handle.done;

type Heard = { method?: string; params?: { [key: string]: unknown }; result?: unknown };
function heard(): Heard[] {
  const path = join(folder, 'heard');
  const whole = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  return whole.map((text) => JSON.parse(text) as Heard);
}
const methods = () => heard().flatMap(({ method }) => method ?? []);
const said = () =>
  heard()
    .filter(({ method }) => method === 'session/prompt' || method === '_session/steering')
    .map(({ params }) => (params?.prompt as { text: string }[] | undefined)?.[0]?.text);
async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 400 && !holds(); turn++) await new Promise((resolve) => setTimeout(resolve, 25));
  expect(holds()).toBe(true);
}

describe('a conversation over the Agent Client Protocol', () => {
  it('offers neither its files nor a terminal, and says who it is', async () => {
    await finish({ turns: [[{ say: TAG }]] });
    expect(methods()).toEqual(['initialize', 'session/new', 'session/prompt']);
    expect(heard()[0]?.params).toMatchObject({
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    expect(heard()[1]?.params).toMatchObject({ cwd: folder, mcpServers: [] });
  });

  it('tells its session, files, commands, tokens and cost; the final message is the last one', async () => {
    const usage = (amount: number) => ({
      update: { sessionUpdate: 'usage_update', used: 9, size: 99, cost: { amount, currency: 'USD' } },
    });
    const turn = [
      { say: `I begin. ${TAG}` },
      { write: { path: 'hello.txt', content: 'hi' } },
      { run: 'exit 3' },
      usage(0.25),
      { say: 'All ' },
      { say: 'done.\n<promise>COM' },
      { say: 'PLETE</promise>' },
      usage(0.75),
    ];
    const { handle, events } = await begin({ turns: [turn] });
    expect(await handle.done).toMatchObject({
      ending: 'ended',
      sessionId: 'session-of-the-stand-in',
      finalMessage: `All done.\n${TAG}`,
      toolCalls: 2,
      toolFiles: ['hello.txt'],
      commands: [{ command: 'exit 3', exitCode: 3, denied: false }],
      usage: { inputTokens: 100, outputTokens: 10, costUsd: 0.75 },
      unknownEvents: 0,
    });
    expect(events.filter(({ kind }) => kind === 'text')).toEqual([
      { kind: 'text', text: `I begin. ${TAG}` },
      { kind: 'text', text: `All done.\n${TAG}` },
    ]);
    expect(events.filter(({ kind }) => kind === 'tool')).toHaveLength(2);
  });

  it('an error while it opens is a death of its kind', async () => {
    const refuses = { 'session/new': { code: -32000, message: 'Authentication required' } };
    const report = await finish({ refuses, turns: [] });
    expect(report).toMatchObject({ ending: 'died', error: { kind: 'auth' } });
    expect(await finish({ about: { protocolVersion: 7 }, turns: [] })).toMatchObject({
      ending: 'died',
      error: { kind: 'crash', message: expect.stringContaining('version 7') },
    });
  });

  it.each(['max_tokens', 'max_turn_requests', 'cancelled'])(
    'a turn that stops for %s is not done',
    async (stop) => {
      const report = await finish({ turns: [[{ say: TAG }, { stop }]] });
      expect(report).toMatchObject({ ending: 'died', error: { kind: 'crash' }, finalMessage: '' });
    },
  );

  it('a program that does not answer when it is greeted is given up, and how to start it is said', async () => {
    const mute = acpAgent(
      { name: 'mute', command: [process.execPath, '-e', 'setInterval(() => {}, 1000)'] },
      300,
    );
    const report = await (await begin({ turns: [] }, {}, mute)).handle.done;
    expect(report).toMatchObject({ ending: 'died', error: { kind: 'crash' } });
    expect(report.error?.message).toMatch(
      /did not answer `initialize` within 0\.3 s.*an argument such as `acp`/,
    );
  });

  it('goes on in an earlier session where it can, and what was said there is not said again', async () => {
    const report = await finish({ turns: [[{ say: 'Now.' }]] }, { resume: 'session-of-the-stand-in' });
    expect(methods()).toEqual(['initialize', 'session/load', 'session/prompt']);
    expect(report.finalMessage).toBe('Now.');
  });

  it('begins a new session where the earlier one is gone', async () => {
    const refuses = { 'session/load': { code: -32002, message: 'Resource not found' } };
    expect(await finish({ refuses, turns: [[{ say: 'Now.' }]] }, { resume: 'old' })).toMatchObject({
      ending: 'ended',
      sessionId: 'session-of-the-stand-in',
    });
  });

  it('chooses the model where the agent offers a choice, and says so where it does not', async () => {
    const configOptions = [{ id: 'model', category: 'model', options: [] }];
    await finish({ session: { configOptions }, turns: [[{ say: TAG }]] }, { model: 'big' });
    expect(heard()[2]).toMatchObject({
      method: 'session/set_config_option',
      params: { configId: 'model', value: 'big' },
    });
    expect(await finish({ turns: [[{ say: TAG }]] }, { model: 'big' })).toMatchObject({
      ending: 'died',
      error: { message: expect.stringContaining('big') },
    });
  });

  it('a stop lets the agent end its own turn, and is an interruption', async () => {
    const { handle } = await begin({ turns: [[{ say: 'Half.' }, { wait: true }]] });
    await until(() => methods().includes('session/prompt'));
    await handle.stop(5000);
    expect(await handle.done).toMatchObject({ ending: 'interrupted', exitCode: 0, error: null });
    expect(methods().at(-1)).toBe('session/cancel');
  });

  it('an agent that asks is allowed everything where nobody decides', async () => {
    const permission = { command: 'git push', allowed: [{ say: 'Pushed.' }], refused: [{ say: 'Held.' }] };
    expect((await finish({ turns: [[{ permission }]] })).finalMessage).toBe('Pushed.');
  });

  it('what it asks for is decided by whoever is asked, with the command or the change', async () => {
    const asked: unknown[] = [];
    const ways = { allowed: [{ say: 'Did.' }], refused: [{ say: 'Held.' }] };
    const turn = [
      { permission: { command: 'git push', ...ways } },
      { permission: { diff: { path: 'a.txt', oldText: 'old\n', newText: 'new\n' }, ...ways } },
    ];
    const report = await finish(
      { turns: [turn] },
      {
        permission: (request) => {
          asked.push(request);
          return Promise.resolve({ allow: false, reason: 'no' });
        },
      },
    );
    expect(report.finalMessage).toBe('Held.Held.');
    expect(asked).toMatchObject([
      { command: 'git push', diff: null },
      { command: null, paths: ['a.txt'], diff: 'a.txt\n-old\n+new' },
    ]);
  });
});

const QUEUES = { agentInfo: { name: 'OpenCode', version: '1' } };
const STEERS = { _meta: { steering: { supported: true } } };

describe('words to an agent at work over the Agent Client Protocol', () => {
  const turn = [{ say: 'Begun.' }, { wait: true }, { say: ' Heard: {{said}}' }];

  it.each([
    ['a second prompt', QUEUES, 'session/prompt'],
    ['its own method', STEERS, '_session/steering'],
  ])('are given by %s where the agent takes them in that way', async (_way, about, method) => {
    const { handle } = await begin({ about, turns: [turn] });
    await until(() => methods().includes('session/prompt'));
    expect(await handle.send?.('STEER')).toBe(true);
    expect(await handle.done).toMatchObject({ ending: 'ended', finalMessage: 'Begun. Heard: STEER' });
    expect([methods().at(-1), said().at(-1)]).toEqual([method, 'STEER']);
  });

  it('are not sent in the middle of a turn where nobody knows what that would do', async () => {
    const go = join(folder, 'go');
    const { handle } = await begin({
      cancels: true,
      turns: [[{ say: 'Begun.' }, { wait: go }, { say: ' Done.' }]],
    });
    await until(() => methods().includes('session/prompt'));
    const sent = handle.send?.('STEER');
    writeFileSync(go, '');
    expect([await sent, (await handle.done).finalMessage]).toEqual([false, 'Begun. Done.']);
    expect(said()).toEqual(['Do the work.']);
  });

  it('that are urgent end the turn and begin the next one in the same session', async () => {
    const { handle } = await begin({ cancels: true, turns: [turn, [{ say: 'Anew.' }]] });
    await until(() => methods().includes('session/prompt'));
    expect(await handle.send?.('STEER', { urgent: true })).toBe(true);
    expect(await handle.done).toMatchObject({ ending: 'ended', exitCode: 0 });
    expect(methods().slice(2)).toEqual(['session/prompt', 'session/cancel', 'session/prompt']);
    expect(said()).toEqual(['Do the work.', 'STEER']);
  });
});

describe('an agent named by its command', () => {
  it.each([
    ['opencode acp', ['opencode', 'acp']],
    ['"gemini --acp"', ['gemini', '--acp']],
    [`node 'my agent.mjs' --name="a b"`, ['node', 'my agent.mjs', '--name=a b']],
    ['"/opt/my agent/run" --acp', ['/opt/my agent/run', '--acp']],
    ['', []],
  ])('%s is started as %j', (line, words) => {
    expect(commandWords(line)).toEqual(words);
  });

  it('tells its name, version and abilities when it is greeted, and nothing when it is something else', async () => {
    const script = join(folder, 'script.json');
    writeFileSync(script, JSON.stringify({ about: STEERS, turns: [] }));
    const env = { PATH: process.env.PATH ?? '' };
    expect(await greet({ name: 'a', command: [process.execPath, STANDIN, script] }, env)).toEqual({
      name: 'Stand-in',
      version: '1.2.3',
      resume: 'session/load',
      live: 'steering',
    });
    expect(await greet({ name: 'a', command: ['true'] }, env)).toBeNull();
  });
});
