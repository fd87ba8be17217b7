import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Move, sitAgentExam } from '../../test/exams/agent-exam.ts';
import type { AgentReport } from '../core/index.ts';
import type { AgentCall } from '../engine/index.ts';
import { claudeAgent } from './claude.ts';

const FOLDER = new URL('../../test/fixtures/agents/claude-2.1.332/', import.meta.url);
const puppet = fileURLToPath(new URL('../../test/exams/puppet.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'claude-agent-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const recorded = (name: string): string => readFileSync(new URL(`${name}.jsonl`, FOLDER), 'utf8').trimEnd();
const INIT = recorded('success').split('\n')[0] ?? '';

/** The recorded end of a good run with other words in it. */
function saying(text: string): string {
  const [words, result] = recorded('success').split('\n').slice(-2);
  const was = JSON.stringify('All done.\n\n<promise>COMPLETE</promise>');
  const put = (line: string | undefined): string => (line ?? '').replace(was, () => JSON.stringify(text));
  return [INIT, put(words), put(result)].join('\n');
}

/** Claude Code's language: recorded lines of the real program. */
function stepsOf(move: Move): object[] {
  if ('say' in move) return [{ out: `${saying(move.say)}\n` }];
  if ('sayUnended' in move) return [{ out: saying(move.sayUnended) }];
  if ('giant' in move) return [{ giant: move.giant }, { out: '\n' }];
  if ('complain' in move) return [{ err: move.complain }];
  if ('ignoreSigterm' in move) return [{ trap: true }];
  if ('unknownEvent' in move) return [{ out: '{"type":"brand_new_event","subtype":"x"}\n' }];
  if ('breakOff' in move) return [{ out: `${saying(move.breakOff).split('\n').slice(0, 2).join('\n')}\n` }];
  if ('echoPrompt' in move) {
    const content = [{ type: 'text', text: '{{prompt}}' }];
    return [
      { out: `${JSON.stringify({ type: 'user', message: { role: 'user', content }, isReplay: true })}\n` },
    ];
  }
  if ('refuse' in move) {
    const limit = move.resetsAt === undefined ? 'limit-now' : 'limit-with-reset';
    const name = { auth: 'auth', overload: 'overload', prompt_too_long: 'prompt-too-long', limit }[
      move.refuse
    ];
    return [{ out: `${recorded(name)}\n` }];
  }
  if ('sayInPieces' in move) {
    const bytes = Buffer.from(`${saying(move.sayInPieces)}\n`);
    const cut = bytes.indexOf(Buffer.from('漢')) + 1;
    const part = (from: number, to: number) => ({ bytes: bytes.subarray(from, to).toString('base64') });
    return [part(0, cut), { pause: 100 }, part(cut, bytes.length)];
  }
  return [move];
}

/** A program called `claude` in the folder, which stands first on PATH. */
function putClaude(home: string, steps: object[]): void {
  writeFileSync(join(home, 'steps.json'), JSON.stringify(steps));
  const line = `exec '${process.execPath}' '${puppet}' '${join(home, 'steps.json')}' "$@"`;
  writeFileSync(join(home, 'claude'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${home}/args'\n${line}\n`);
  chmodSync(join(home, 'claude'), 0o755);
}

sitAgentExam({
  name: 'claude',
  agent(moves, home) {
    putClaude(home, moves.flatMap(stepsOf));
    return claudeAgent({ name: 'claude' });
  },
  skips: {},
});

interface Over {
  model?: string;
  readOnly?: boolean;
  wallMs?: number;
  idleMs?: number;
  resume?: string;
  permission?: AgentCall['permission'];
}

function begin(steps: object[], over: Over = {}, agent = claudeAgent({ name: 'claude' })) {
  putClaude(folder, steps);
  return agent.start({
    prompt: 'x',
    promptPath: '',
    cwd: folder,
    env: { PATH: `${folder}:${process.env.PATH ?? ''}` },
    marker: `claude-${process.pid}`,
    allowance: { wallMs: over.wallMs ?? 20_000, idleMs: over.idleMs ?? 20_000 },
    logPath: join(folder, 'log'),
    model: over.model ?? null,
    readOnly: over.readOnly ?? false,
    ...(over.resume === undefined ? {} : { resume: over.resume }),
    ...(over.permission === undefined ? {} : { permission: over.permission }),
    spawned: () => Promise.resolve(),
    event: () => {},
    groundMoved: () => Promise.resolve(true),
  });
}

async function play(steps: object[], over: Over = {}, agent = claudeAgent({ name: 'claude' })) {
  const handle = await begin(steps, over, agent);
  const report: AgentReport = await handle.done;
  return { report, args: readFileSync(join(folder, 'args'), 'utf8').split('\n') };
}

describe('the claude agent', () => {
  it('starts headless, with a session id of its own, the model that was asked for and without file tools for readers', async () => {
    const { args, report } = await play([{ out: `${saying('x')}\n` }], { model: 'opus', readOnly: true });
    expect(args).toContain('--dangerously-skip-permissions');
    expect(args[args.indexOf('--output-format') + 1]).toBe('stream-json');
    expect(args[args.indexOf('--session-id') + 1]).toMatch(/^[0-9a-f-]{36}$/);
    expect(args[args.indexOf('--model') + 1]).toBe('opus');
    expect(args[args.indexOf('--disallowedTools') + 1]).toContain('Edit');
    expect(report.ending).toBe('ended');
  });

  it('is ended after two retries with a refused login, although it would go on for minutes', async () => {
    const { report } = await play([{ out: `${recorded('auth-retrying')}\n` }, { hang: true }]);
    expect(report).toMatchObject({ ending: 'died', error: { kind: 'auth' } });
  });

  it('has ended when it closed its stream and then never leaves', async () => {
    const { report } = await play([{ out: `${saying('Done.')}\n` }, { hang: true }], { idleMs: 700 });
    expect(report).toMatchObject({ ending: 'ended', timeout: null, error: null, finalMessage: 'Done.' });
  });

  it('died of the provider, not of its own slowness, when the time runs out in the middle of retries', async () => {
    const retry = {
      type: 'system',
      subtype: 'api_retry',
      attempt: 1,
      error: 'overloaded',
      error_status: 529,
    };
    const { report } = await play([{ out: `${JSON.stringify(retry)}\n` }, { hang: true }], { wallMs: 600 });
    expect(report).toMatchObject({ ending: 'died', error: { kind: 'overload' } });
  });

  it('is checked for its presence and its age', async () => {
    const at = (home: string) => ({ ...process.env, PATH: `${home}:/usr/bin:/bin` });
    const codes = async (env: Record<string, string | undefined>) =>
      (await claudeAgent({ name: 'claude', env }).check()).map((problem) => problem.code);
    const version = (text: string) => {
      writeFileSync(join(folder, 'claude'), `#!/bin/sh\necho '${text}'\n`);
      chmodSync(join(folder, 'claude'), 0o755);
      return codes(at(folder));
    };
    expect(await codes({ PATH: '/nowhere' })).toEqual(['agent.not_found']);
    expect(await version('1.0.128 (Claude Code)')).toEqual(['agent.too_old']);
    expect(await version('hello')).toEqual(['agent.version_unreadable']);
    expect(await version('2.1.332 (Claude Code)')).toEqual([]);
  });
});

/** Waits for a message and repeats it, as Claude Code does when it takes one in. */
const TAKEN = {
  take: '{"type":"user","message":{"role":"user","content":"{{said}}"},"uuid":"{{uuid}}","isReplay":true}\n',
};
const NOTED = { take: '{"type":"control_response","said":"{{said}}"}\n' };
const log = () => readFileSync(join(folder, 'log'), 'utf8');

describe('talked to while it works, the claude agent', () => {
  it('has taken a message in when it repeats it', async () => {
    const handle = await begin([{ out: `${INIT}\n` }, TAKEN, { out: `${saying('Firefox.')}\n` }]);
    expect(await handle.send?.('Firefox only')).toBe(true);
    expect(await handle.done).toMatchObject({ ending: 'ended', finalMessage: 'Firefox.', unknownEvents: 0 });
    expect(log().includes('"content":"Firefox only"')).toBe(true);
    expect(await handle.send?.('too late')).toBe(false);
  });

  it('that ends without repeating a message has not been reached by it', async () => {
    const handle = await begin([{ take: true }, { out: `${saying('Done.')}\n` }]);
    expect(await handle.send?.('unheard')).toBe(false);
    expect(await handle.done).toMatchObject({ ending: 'ended', finalMessage: 'Done.' });
  });

  it('finds its stdin at its end after the last word, and only then', async () => {
    const { report } = await play([{ pause: 200 }, { out: `${saying('Done.')}\n` }, NOTED]);
    expect(report).toMatchObject({ ending: 'ended', exitCode: 0, finalMessage: 'Done.' });
    expect(log().includes('"said":"end of input"')).toBe(true);
  });

  it('is interrupted before an urgent message, and what it says after a further turn is its last word', async () => {
    const steps = [{ out: `${INIT}\n` }, NOTED, { out: `${saying('First.')}\n` }, TAKEN];
    const handle = await begin([...steps, { pause: 300 }, { out: `${saying('Second.')}\n` }]);
    expect(await handle.send?.('now', { urgent: true })).toBe(true);
    expect(await handle.done).toMatchObject({ ending: 'ended', finalMessage: 'Second.' });
    expect(log().includes('"said":"interrupt"')).toBe(true);
  });

  it('that begins a further turn and is cut off in it has not ended', async () => {
    const { report } = await play([{ out: `${saying('First.')}\n${INIT}\n` }]);
    expect(report).toMatchObject({ ending: 'died', error: { kind: 'crash' } });
  });

  it('goes on in an earlier session where it is told to', async () => {
    const { args } = await play([{ out: `${saying('x')}\n` }], { resume: 'abc' });
    expect(args[args.indexOf('--resume') + 1]).toBe('abc');
    expect(args).not.toContain('--session-id');
  });

  it('is given the prompt as text, and nothing more, where its version is too old', async () => {
    const env = { ...process.env, PATH: `${folder}:/usr/bin:/bin` };
    const old = claudeAgent({ name: 'claude', env });
    putClaude(folder, [{ out: '2.0.76 (Claude Code)\n' }]);
    expect(await old.check()).toEqual([]);
    expect(old.capabilities).toMatchObject({ liveInput: false, interrupt: false, sessionResume: true });
    const handle = await begin([{ out: `${saying('{{prompt}}')}\n` }], {}, old);
    expect(handle.send).toBeUndefined();
    expect(await handle.done).toMatchObject({ ending: 'ended', finalMessage: 'x' });
    expect(readFileSync(join(folder, 'args'), 'utf8')).not.toContain('--input-format');
  });
});

describe('under rules that ask or deny, the claude agent', () => {
  beforeAll(async () => {
    putClaude(folder, [{ out: '2.1.332 (Claude Code)\n' }]);
    await claudeAgent({ name: 'claude', env: { PATH: `${folder}:/usr/bin:/bin` } }).check();
  });

  const asks = {
    type: 'control_request',
    request_id: 'r',
    request: { subtype: 'can_use_tool', tool_name: 'Bash' },
  };
  const ASKS = {
    out: `${JSON.stringify({ ...asks, request: { ...asks.request, input: { command: 'git push' } } })}\n`,
  };
  const permission = () => Promise.resolve({ allow: false as const, reason: 'no' });
  const background = (tasks: object[]) => ({
    out: `${JSON.stringify({ type: 'system', subtype: 'background_tasks_changed', tasks })}\n`,
  });

  it('is started so that it asks for commands and changes, whatever its settings allow, and reads the answer', async () => {
    const { args, report } = await play([ASKS, NOTED, { out: `${saying('x')}\n` }], { permission });
    expect(args).not.toContain('--dangerously-skip-permissions');
    expect(args[args.indexOf('--permission-mode') + 1]).toBe('default');
    expect(args[args.indexOf('--permission-prompt-tool') + 1]).toBe('stdio');
    const settings = args.find((arg) => arg.startsWith('--settings='))?.replace('--settings=', '') ?? '{}';
    expect(JSON.parse(settings).permissions.ask).toEqual(expect.arrayContaining(['Bash', 'Write', 'Edit']));
    expect(JSON.parse(settings).sandbox).toEqual({ autoAllowBashIfSandboxed: false });
    expect([report.ending, log().includes('"said":"deny"')]).toEqual(['ended', true]);
  });

  it('is heard and answered in the turn that begins when what it left in the background ends', async () => {
    const left = background([{ description: 'tests', task_type: 'local_bash' }]);
    const turn = [{ pause: 300 }, background([]), { pause: 100 }, { out: `${INIT}\n` }, ASKS, NOTED];
    const steps = [left, { out: `${saying('First.')}\n` }, ...turn, { out: `${saying('Second.')}\n` }];
    const { report } = await play(steps, { permission });
    expect(report).toMatchObject({ ending: 'ended', finalMessage: 'Second.' });
    expect(log().includes('"said":"deny"')).toBe(true);
  });

  it('that is too old to be asked is not started', async () => {
    const env = { ...process.env, PATH: `${folder}:/usr/bin:/bin` };
    const old = claudeAgent({ name: 'claude', env });
    putClaude(folder, [{ out: '2.0.76 (Claude Code)\n' }]);
    await old.check();
    expect(old.capabilities.permissions).toBeUndefined();
    expect(() => begin([], { permission }, old)).toThrow(/asks nobody/);
  });
});
