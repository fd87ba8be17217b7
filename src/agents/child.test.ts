import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { type AgentReport, redactorOf } from '../core/index.ts';
import type { AgentCall, AgentEvent } from '../engine/index.ts';
import { findByMarker } from '../process/index.ts';
import { type ChildPlan, startChild } from './child.ts';
import { readClaude } from './claude-stream.ts';
import { readText } from './text-stream.ts';

const FIXTURES = new URL('../../test/fixtures/agents/claude-2.1.332/', import.meta.url);
const puppet = fileURLToPath(new URL('../../test/exams/puppet.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'agent-child-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const MARKER = `child-${process.pid}`;
const events: AgentEvent[] = [];

function start(steps: object[], over: { plan?: Partial<ChildPlan>; call?: Partial<AgentCall> } = {}) {
  const path = join(folder, 'steps.json');
  writeFileSync(path, JSON.stringify(steps));
  const env = { PATH: process.env.PATH ?? '' };
  const call: AgentCall = {
    prompt: '',
    promptPath: '',
    cwd: folder,
    env,
    marker: MARKER,
    allowance: { wallMs: 20_000, idleMs: 20_000 },
    logPath: join(folder, 'log'),
    model: null,
    readOnly: false,
    spawned: () => Promise.resolve(),
    event: (event) => void events.push(event),
    groundMoved: () => Promise.resolve(false),
    ...over.call,
  };
  return startChild(call, {
    command: [process.execPath, puppet, path],
    env,
    reader: readClaude(),
    ...over.plan,
  });
}
const finish = (...given: Parameters<typeof start>): Promise<AgentReport> => start(...given).done;
const leaveMs = { yes: 300, busy: 300 };

describe('a run', () => {
  it('whose agent does not leave after its last word is ended, and still counts as ended', async () => {
    const out = readFileSync(new URL('success.jsonl', FIXTURES), 'utf8');
    const report = await finish([{ out }, { hang: true }], { plan: { leaveMs } });
    expect(report).toMatchObject({ ending: 'ended', error: null, toolCalls: 2, leftBehind: [] });
  });

  it('whose agent waits for a forgotten server names the server', async () => {
    const lines = readFileSync(new URL('command-in-background.jsonl', FIXTURES), 'utf8').split('\n');
    const result = lines.findIndex((line) => line.includes('"type":"result"'));
    const out = `${lines.slice(0, result + 1).join('\n')}\n`;
    const report = await finish([{ out }, { hang: true }], { plan: { leaveMs } });
    expect(report).toMatchObject({ ending: 'ended', leftBehind: ['server'] });
  });

  it('that ran out of wall time in the middle of its work timed out, whatever its exit code', async () => {
    const out = readFileSync(new URL('interrupted.jsonl', FIXTURES), 'utf8');
    const allowance = { wallMs: 1500, idleMs: 20_000 };
    const report = await finish([{ out }, { hang: true }], { call: { allowance } });
    expect(report).toMatchObject({ ending: 'timed_out', timeout: 'wall', toolCalls: 1, error: null });
  });

  it('whose start the engine refuses to write down is ended and told as dead', async () => {
    const spawned = () => Promise.reject(new Error('the journal is fenced'));
    const report = await finish([{ hang: true }], { call: { spawned } });
    expect(report).toMatchObject({ ending: 'died', error: { kind: 'crash' } });
    expect(report.error?.message).toContain('the journal is fenced');
    expect(findByMarker({ name: 'RALPH_MARKER', value: MARKER })).toEqual([]);
  });

  it('that ended by itself before the stop arrived has ended', async () => {
    const handle = start([{ out: 'done' }], { plan: { reader: readText() } });
    const report = await handle.done;
    await handle.stop(100);
    expect(report).toMatchObject({ ending: 'ended', finalMessage: 'done' });
  });

  it('shows a window the beginning of a long text only', async () => {
    events.length = 0;
    const report = await finish([{ giant: 100_000 }], { plan: { reader: readText() } });
    expect(report.finalMessage).toHaveLength(100_000);
    expect(events.map((event) => event.kind === 'text' && event.text.length)).toEqual([4001]);
  });

  it('keeps the last 256 KiB of an endless text, never beginning inside a character', async () => {
    const report = await finish([{ out: `${'漢'.repeat(300_000)}end` }], { plan: { reader: readText() } });
    expect(Buffer.byteLength(report.finalMessage)).toBeLessThanOrEqual(256 * 1024);
    expect(report.finalMessage.endsWith('漢end')).toBe(true);
    expect(report.finalMessage).not.toContain('\ufffd');
    expect(report.outputBytes).toBe(900_003);
  });
});

describe('half a secret is never told', () => {
  const value = 'q7Zr2WmX9tKc4VbN8sLd3FgH6jPy1RuT5aEo';
  const redactor = redactorOf([{ name: 'A_TOKEN', value }]);
  const parts = [0, 9, 18, 27].map((at) => value.slice(at, at + 9));
  const leftIn = (told: unknown) => parts.filter((part) => JSON.stringify(told).includes(part));

  it('at the end of what stderr said last', async () => {
    const err = `${value}${' said'.repeat(196)} end\n`;
    const report = await finish([{ err }, { exit: 1 }], { call: { redactor } });
    expect(report.error?.message).toContain('said end');
    expect(leftIn(report)).toEqual([]);
  });

  it('at the end of a command, a message or the name of a tool, wherever the line is cut', async () => {
    const lines = [480, 1_980, 3_980].flatMap((length, n) => {
      const command = `${'x '.repeat(length / 2)}${value}`;
      const content = [
        { type: 'tool_use', id: `t${n}`, name: 'Bash', input: { command } },
        { type: 'text', text: command },
      ];
      return [JSON.stringify({ type: 'assistant', message: { id: `m${n}`, role: 'assistant', content } })];
    });
    const out = `${lines.join('\n')}\n`;
    for (const at of [700, 1_100, 2_600]) {
      events.splice(0);
      const steps = [{ out: out.slice(0, at) }, { pause: 50 }, { out: out.slice(at) }, { exit: 1 }];
      const report = await finish(steps, { call: { redactor } });
      expect(events.filter(({ kind }) => kind === 'tool')).toHaveLength(3);
      expect(leftIn([report, events])).toEqual([]);
    }
  });

  it('at the beginning of what is kept of a text', async () => {
    const out = `${'a word\n'.repeat(100)}${value}\n${'a word\n'.repeat(37_446)}`;
    const report = await finish([{ out }], { call: { redactor }, plan: { reader: readText() } });
    expect(report.finalMessage.length).toBeGreaterThan(200_000);
    expect(leftIn(report)).toEqual([]);
  });
});
