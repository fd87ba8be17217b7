import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { type Move, sitAgentExam } from '../../test/exams/agent-exam.ts';
import type { Agent, AgentCall } from '../engine/index.ts';
import { commandAgent } from './command.ts';

const puppet = fileURLToPath(new URL('../../test/exams/puppet.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'command-agent-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A text agent's language: what it prints is what it says. */
function stepsOf(move: Move): object[] {
  if ('say' in move) return [{ out: `${move.say}\n` }];
  if ('sayUnended' in move) return [{ out: move.sayUnended }];
  if ('giant' in move) return [{ giant: move.giant }, { out: '\n' }];
  if ('complain' in move) return [{ err: move.complain }];
  if ('ignoreSigterm' in move) return [{ trap: true }];
  if ('sayInPieces' in move) {
    return [...Buffer.from(move.sayInPieces)].flatMap((byte) => [
      { bytes: Buffer.from([byte]).toString('base64') },
      { pause: byte > 127 ? 10 : 0 },
    ]);
  }
  return [move];
}

sitAgentExam({
  name: 'command',
  agent(moves, home) {
    const steps = join(home, 'steps.json');
    writeFileSync(steps, JSON.stringify(moves.flatMap(stepsOf)));
    return commandAgent({ name: 'mine', command: [process.execPath, puppet, steps] });
  },
  skips: {
    'unknown events': 'plain text has no events',
    'errors inside': 'plain text has no error events; the exit code alone tells',
    'reset time': 'plain text has no error events',
    'broken off': 'plain text has no closing event',
    echo: 'stdout as a whole is the message; the judge marks echoes',
  },
});

function call(over: Partial<AgentCall>): AgentCall {
  return {
    prompt: 'Grüße',
    promptPath: join(folder, 'prompt.md'),
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    marker: `command-${process.pid}`,
    allowance: { wallMs: 15_000, idleMs: 15_000 },
    logPath: join(folder, 'log'),
    model: null,
    readOnly: false,
    spawned: () => Promise.resolve(),
    event: () => {},
    groundMoved: () => Promise.resolve(false),
    ...over,
  };
}
const finish = async (agent: Agent, over: Partial<AgentCall> = {}) => (await agent.start(call(over))).done;

describe('a command agent', () => {
  it('gets its prompt as the last argument, and stdin at its end', async () => {
    const command = ['sh', '-c', 'cat; printf "%s" "$1"', 'agent'];
    const report = await finish(commandAgent({ name: 'mine', command, prompt: 'arg' }));
    expect(report).toMatchObject({ ending: 'ended', finalMessage: 'Grüße', toolCalls: null });
  });

  it('gets its prompt where the command says {prompt}', async () => {
    const command = ['printf', '%s-%s', '{prompt}', 'end'];
    expect((await finish(commandAgent({ name: 'mine', command, prompt: 'arg' }))).finalMessage).toBe(
      'Grüße-end',
    );
  });

  it('gets its prompt as a file', async () => {
    writeFileSync(join(folder, 'prompt.md'), 'from the file');
    const report = await finish(commandAgent({ name: 'mine', command: ['cat'], prompt: 'file' }));
    expect(report.finalMessage).toBe('from the file');
  });

  it('says what to do when the prompt is too big for an argument', async () => {
    const agent = commandAgent({ name: 'mine', command: ['echo'], prompt: 'arg' });
    const report = await finish(agent, { prompt: 'x'.repeat(300_000) });
    expect(report).toMatchObject({ ending: 'died', exitCode: null, error: { kind: 'crash' } });
    expect(report.error?.message).toContain('prompt: stdin');
  });

  it('ends well although it never reads its prompt', async () => {
    const agent = commandAgent({ name: 'mine', command: ['sh', '-c', 'exec <&-; echo done'] });
    expect(await finish(agent, { prompt: 'x'.repeat(1_000_000) })).toMatchObject({
      ending: 'ended',
      finalMessage: 'done\n',
    });
  });

  it('is dead, with the reason, when its program is missing', async () => {
    const report = await finish(commandAgent({ name: 'mine', command: ['no-such-agent-program'] }));
    expect(report).toMatchObject({ ending: 'died', error: { kind: 'crash' } });
    expect(report.error?.message).toContain('no-such-agent-program');
  });

  it('may speak the event stream of Claude Code', async () => {
    const stream = fileURLToPath(
      new URL('../../test/fixtures/agents/claude-2.1.332/success.jsonl', import.meta.url),
    );
    const agent = commandAgent({ name: 'mine', command: ['cat', stream], output: 'claude-json' });
    const report = await finish(agent);
    expect(report).toMatchObject({
      ending: 'ended',
      toolCalls: 2,
      usage: { inputTokens: 3200, outputTokens: 140 },
    });
    expect(agent.capabilities).toMatchObject({ toolEvents: true, cost: true });
  });

  it('is checked for its program before anything starts', async () => {
    expect(await commandAgent({ name: 'mine', command: ['sh'] }).check()).toEqual([]);
    const [missing] = await commandAgent({ name: 'mine', command: ['no-such-agent-program'] }).check();
    expect(missing).toMatchObject({ code: 'agent.not_found' });
    expect((await commandAgent({ name: 'mine', command: [] }).check())[0]?.code).toBe('agent.command_empty');
  });
});

describe('a command agent that died and said why on stderr only', () => {
  const dies = (script: string, over: { output?: 'text' | 'claude-json'; prompt?: string } = {}) =>
    finish(
      commandAgent({ name: 'mine', command: ['sh', '-c', script], output: over.output ?? 'claude-json' }),
      over.prompt === undefined ? {} : { prompt: over.prompt },
    );

  it.each(['text', 'claude-json'] as const)(
    'has met its provider, whatever it speaks: %s',
    async (output) => {
      const limited = await dies('echo "API Error: 429 rate limited. Try again in 2 hours" >&2; exit 1', {
        output,
      });
      expect(limited).toMatchObject({ ending: 'died', error: { kind: 'limit' } });
      expect(limited.error?.resetsAt).toBeGreaterThan(Date.now() + 3_600_000);
      const out = await dies('echo "Not logged in" >&2; exit 1', { output });
      expect(out.error).toMatchObject({
        kind: 'auth',
        message: expect.stringContaining('Log in to this agent'),
      });
    },
  );

  it('is a crash where stdout, the prompt or a program of its own says such words', async () => {
    const prose = await dies('echo "Error: HTTP 429 is handled now"; exit 1', { output: 'text' });
    expect(prose.error?.kind).toBe('crash');
    const echoed = await dies('cat >&2; exit 1', { prompt: 'Handle this one:\nError: HTTP 429\n' });
    expect(echoed.error?.kind).toBe('crash');
    const tests = await dies('echo "FAIL network.test.ts > socket" >&2; exit 1');
    expect(tests.error?.kind).toBe('crash');
  });

  it('ended well is no error, whatever stderr says', async () => {
    const report = await dies('echo done; echo "Error: HTTP 429" >&2', { output: 'text' });
    expect(report).toMatchObject({ ending: 'ended', error: null });
  });
});
