import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAgent } from '../../src/agents/index.ts';
import type { AgentCall, AgentEvent, AgentHandle } from '../../src/engine/index.ts';
import { findByMarker } from '../../src/process/index.ts';
import { removeFolder } from '../remove-folder.ts';
import { claudeProgram, claudeVersion } from './installed.ts';
import {
  always,
  claudeEnv,
  type ModelScript,
  type ModelServer,
  startModelServer,
  subscriptionLimit,
} from './model-server.ts';

const RESETS_AT = 4_102_444_800;
const MARKER = `real-claude-${process.pid}`;
const DONE = { text: 'All done.\n\n<promise>COMPLETE</promise>' };
const agent = createAgent({ kind: 'claude', name: 'claude', program: claudeProgram() });

let root = '';
let repo = '';
let server: ModelServer | null = null;
let events: AgentEvent[] = [];
const git = (...args: string[]): string => execFileSync('git', ['-C', repo, ...args], { encoding: 'utf8' });

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'real-claude-'));
  repo = join(root, 'repo');
  events = [];
  mkdirSync(join(root, 'home'));
  execFileSync('git', ['init', '-qb', 'main', repo]);
  git(
    '-c',
    'user.name=t',
    '-c',
    'user.email=t@example.invalid',
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'init',
  );
});
afterEach(async () => {
  await server?.close();
  server = null;
  removeFolder(root);
});

/** `env` is laid over the clean environment. */
async function start(script: ModelScript, over: Partial<AgentCall> = {}): Promise<AgentHandle> {
  const started = await startModelServer(script);
  server = started;
  return agent.start({
    prompt: 'Do the scripted work.',
    promptPath: '',
    cwd: repo,
    marker: MARKER,
    allowance: { wallMs: 60_000, idleMs: 40_000 },
    logPath: join(root, 'log'),
    model: null,
    readOnly: false,
    spawned: () => Promise.resolve(),
    event: (event) => void events.push(event),
    groundMoved: () => Promise.resolve(false),
    ...over,
    env: { ...claudeEnv(started.url, join(root, 'home')), ...over.env },
  });
}
function used(): ModelServer {
  if (server === null) throw new Error('no server was started');
  return server;
}
const play = async (turns: ModelScript['conversations'][0]['turns'], over: Partial<AgentCall> = {}) =>
  (await start({ conversations: [{ turns }] }, over)).done;

/** The CLI's own bill, from the raw log. */
function billed(): { costUsd: number } {
  const line = readFileSync(join(root, 'log'), 'utf8')
    .split('\n')
    .find((text) => text.includes('"type":"result"'));
  return { costUsd: (JSON.parse(line ?? '{}') as { total_cost_usd: number }).total_cost_usd };
}

describe(`Claude Code ${claudeVersion()}, the real one`, () => {
  it('is found, and its version is the pinned one', async () => {
    expect(await agent.check()).toEqual([]);
    expect(execFileSync(claudeProgram(), ['--version'], { encoding: 'utf8' })).toContain(claudeVersion());
  });

  it('writes a file, commits it and says so; tokens are the server’s and the cost is its own', async () => {
    const report = await play([
      {
        text: 'I write.',
        write: { path: 'hello.txt', content: 'hello\n' },
        usage: { input: 700, output: 30, cacheRead: 5000, cacheWrite: 200 },
      },
      { run: 'git add -A && git commit -qm "feat: hello"', usage: { input: 800, output: 20 } },
      DONE,
    ]);
    expect(report).toMatchObject({
      ending: 'ended',
      exitCode: 0,
      error: null,
      toolCalls: 2,
      toolFiles: [join(repo, 'hello.txt')],
      commands: [{ command: 'git add -A && git commit -qm "feat: hello"', exitCode: 0, denied: false }],
      leftBehind: [],
      unknownEvents: 0,
    });
    expect(report.finalMessage).toBe(DONE.text);
    expect(git('log', '-1', '--format=%s').trim()).toBe('feat: hello');
    expect(git('status', '--porcelain')).toBe('');
    const sent = used().usage();
    expect(report.usage.inputTokens).toBe(sent.input + sent.cacheRead + sent.cacheWrite);
    expect(report.usage.outputTokens).toBe(sent.output);
    expect(report.usage.costUsd).toBe(billed().costUsd);
    expect(report.usage.costUsd).toBeGreaterThan(0);
    expect(report.sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(report.usage.model).toMatch(/^claude-/);
    expect(events.filter((event) => event.kind === 'tool')).toHaveLength(2);
  });

  it('gets a prompt of 300 KB whole', async () => {
    const prompt = `BEGIN ${'lorem ipsum 漢字 '.repeat(18_000)} END-OF-PROMPT`;
    const report = await play([{ text: 'Read.' }], { prompt });
    expect(report).toMatchObject({ ending: 'ended', finalMessage: 'Read.' });
    expect(used().requests.find((request) => request.reply === 'text')?.promptBytes).toBeGreaterThan(
      Buffer.byteLength(prompt),
    );
  });

  it('tells a used-up subscription with the time it comes back', async () => {
    const env = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'scripted' };
    const report = await play([{ fault: subscriptionLimit(RESETS_AT) }], { env });
    expect(report).toMatchObject({ ending: 'died', error: { kind: 'limit', resetsAt: RESETS_AT * 1000 } });
  });

  it('with a refused login is ended after two retries instead of ten', async () => {
    const report = await play([{ fault: always(401, { message: 'invalid x-api-key' }) }]);
    expect(report).toMatchObject({ ending: 'died', error: { kind: 'auth' }, finalMessage: '' });
    expect(used().requests.length).toBeLessThanOrEqual(4);
    expect(events.filter((event) => event.kind === 'retry')).toHaveLength(2);
  });

  it('gets over two refusals and a broken stream', async () => {
    const report = await play([
      {
        write: { path: 'a.txt', content: 'a\n' },
        fault: { kind: 'status', status: 429, headers: { 'retry-after': '1' }, times: 2 },
      },
      { run: 'git add -A && git commit -qm a', fault: { kind: 'truncate' } },
      DONE,
    ]);
    expect(report).toMatchObject({ ending: 'ended', error: null, finalMessage: DONE.text });
    expect(git('log', '-1', '--format=%s').trim()).toBe('a');
  });

  it.each([
    [529, 'Overloaded', 'overload'],
    [400, 'prompt is too long: 250000 tokens > 200000 maximum', 'prompt_too_long'],
  ])('tells a %s "%s" as %s', async (status, message, kind) => {
    const env = { CLAUDE_CODE_MAX_RETRIES: '0' };
    const report = await play([{ fault: always(status, { message }) }], { env });
    expect(report).toMatchObject({ ending: 'died', error: { kind, resetsAt: null } });
  });

  it('leaves nothing of ours behind when it is stopped in the middle of a command', async () => {
    const line = 'setsid tail -f /dev/null & echo $$ > started; trap "" TERM; tail -f /dev/null';
    const handle = await start({ conversations: [{ turns: [{ run: line }, DONE] }] });
    for (let turn = 0; turn < 400 && !existsSync(join(repo, 'started')); turn++) await sleep(50);
    expect(findByMarker({ name: 'RALPH_MARKER', value: MARKER }).length).toBeGreaterThan(2);
    await handle.stop(5000);
    expect(await handle.done).toMatchObject({ ending: 'interrupted', error: null });
    expect(findByMarker({ name: 'RALPH_MARKER', value: MARKER })).toEqual([]);
  });

  it('believes the words of the main conversation only, not those of a sub-agent', async () => {
    const task = {
      description: 'look',
      prompt: 'SUBAGENT: look',
      subagent_type: 'general-purpose',
      run_in_background: false,
    };
    const handle = await start({
      conversations: [
        { match: /SUBAGENT/, turns: [{ text: '<promise>COMPLETE</promise>' }] },
        { turns: [{ tools: [{ name: 'Task', input: task }] }, { text: 'It looked.' }] },
      ],
    });
    const report = await handle.done;
    expect(report).toMatchObject({ ending: 'ended', finalMessage: 'It looked.' });
    const sent = used().usage();
    expect(report.usage).toMatchObject({ inputTokens: sent.input, outputTokens: sent.output });
  });
});

/** Runs until the file `go` is there. */
const HELD = { run: 'touch started; while ! test -e go; do timeout 0.1 tail -f /dev/null; done; echo ran' };
const heldUp = async () => {
  for (let turn = 0; turn < 400 && !existsSync(join(repo, 'started')); turn++) await sleep(50);
};
const go = () => writeFileSync(join(repo, 'go'), '');

describe('the real Claude Code, talked to while it works', () => {
  it('has a word that comes while a tool runs in its next model request', async () => {
    const handle = await start({ conversations: [{ turns: [HELD, DONE] }] });
    await heldUp();
    const before = used().requests.length;
    const sent = handle.send?.('Target Firefox only, not Chrome.');
    go();
    expect(await sent).toBe(true);
    const report = await handle.done;
    expect(report).toMatchObject({ ending: 'ended', finalMessage: DONE.text, unknownEvents: 0 });
    expect(used().requests[before]?.told).toContain('Target Firefox only, not Chrome.');
    expect(used().requests[before]?.step).toBe(1);
  });

  it('goes on in a further turn with a word that comes after its last tool; the bill is of the whole', async () => {
    const handle = await start({
      conversations: [
        {
          match: /Firefox/,
          turns: [{ text: 'Firefox it is.', delayMs: 1000, usage: { input: 40, output: 4 } }],
        },
        { turns: [HELD, { ...DONE, delayMs: 2500 }] },
      ],
    });
    await heldUp();
    go();
    for (let turn = 0; turn < 400 && used().requests.length < 2; turn++) await sleep(50);
    expect(await handle.send?.('Target Firefox only.')).toBe(true);
    const report = await handle.done;
    expect(report).toMatchObject({ ending: 'ended', finalMessage: 'Firefox it is.' });
    const sent = used().usage();
    expect(report.usage).toMatchObject({ inputTokens: sent.input, outputTokens: sent.output });
    const bills = readFileSync(join(root, 'log'), 'utf8')
      .split('\n')
      .flatMap((line) => /"total_cost_usd":([\d.]+)/.exec(line)?.[1] ?? []);
    expect(bills).toHaveLength(2);
    expect(report.usage.costUsd).toBe(Number(bills[1]));
  });

  it('is interrupted by an urgent word, loses the tool and keeps its session', async () => {
    const turns = [{ run: 'touch started; tail -f /dev/null' }, { text: 'Firefox at once.' }];
    const handle = await start({
      conversations: [{ turns }],
    });
    await heldUp();
    expect(await handle.send?.('Firefox!', { urgent: true })).toBe(true);
    const report = await handle.done;
    expect(report).toMatchObject({
      ending: 'ended',
      error: null,
      finalMessage: 'Firefox at once.',
      leftBehind: [],
    });
    expect(report.commands).toMatchObject([{ denied: false }]);
  });

  it('goes on in the session of an earlier run', async () => {
    const handle = await start({ conversations: [{ turns: [HELD, DONE] }] });
    await heldUp();
    await handle.stop(5000);
    const { sessionId } = await handle.done;
    await server?.close();
    const again = await start(
      { conversations: [{ turns: [{ text: 'I remember.' }] }] },
      { prompt: 'Firefox.', resume: sessionId ?? '' },
    );
    expect(await again.done).toMatchObject({ ending: 'ended', finalMessage: 'I remember.', sessionId });
    expect(used().requests.find(({ reply }) => reply === 'text')?.messages).toBeGreaterThan(2);
  });
});
