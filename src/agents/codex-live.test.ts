/** Codex talked to while it works: what stdin gets and when, what counts as a receipt, and when it is over. */
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeFolder } from '../../test/remove-folder.ts';
import type { AgentCall } from '../engine/index.ts';
import { cliAgent } from './cli.ts';
import { CODEX, readCodex } from './codex.ts';
import { codexLive } from './codex-live.ts';
import type { LiveInput } from './talk.ts';

const FOLDER = new URL('../../test/fixtures/agents/codex-0.171.0/', import.meta.url);
const puppet = fileURLToPath(new URL('../../test/exams/puppet.mjs', import.meta.url));
const recorded = (name: string): string[] =>
  readFileSync(new URL(`${name}.jsonl`, FOLDER), 'utf8')
    .trimEnd()
    .split('\n');

const CALL = { cwd: '/repo', model: null } as AgentCall;
const json = (lines: string | null | undefined) =>
  (lines ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const line = (message: object) => JSON.stringify(message);
const THREAD = line({ id: 'thread', result: { thread: { id: 't' } } });
const turn = (event: string, id: string, threadId = 't') =>
  line({ method: `turn/${event}`, params: { threadId, turn: { id, status: 'completed' } } });

/** What stdin gets for this line at once. */
const heard = (live: LiveInput, said: string) => live.answer?.(said, () => {});

/** A talk in whose first turn the model is at work. */
function atWork() {
  const live = codexLive(CALL);
  live.message('x', '1');
  heard(live, THREAD);
  heard(live, turn('started', 'u'));
  return live;
}

describe('the lines of codex', () => {
  it('the prompt waits until its thread stands, which is begun or gone on with', () => {
    const live = codexLive({ ...CALL, model: 'm' });
    const methods = json(live.message('x', '1')).map(({ method }) => method);
    expect(methods).toEqual(['initialize', 'initialized', 'thread/start']);
    expect(live.message('more', '2')).toBe('');
    expect(json(heard(live, THREAD))).toMatchObject([
      { method: 'turn/start', params: { threadId: 't', clientUserMessageId: '1', input: [{ text: 'x' }] } },
    ]);
    expect(json(heard(live, turn('started', 'u')))).toMatchObject([
      { method: 'turn/steer', params: { expectedTurnId: 'u', clientUserMessageId: '2' } },
    ]);
    const again = json(codexLive({ ...CALL, resume: 'old' }).message('x', '1'));
    expect(again[2]).toMatchObject({ method: 'thread/resume', params: { threadId: 'old', cwd: '/repo' } });
  });

  it('names no folder of a new thread, so that nothing is noted as trusted', () => {
    expect(codexLive(CALL).message('x', '1')).not.toContain('/repo');
  });

  it('a recorded message that was taken in between two tools is known by its id', () => {
    const taken = recorded('steered').map((row) => codexLive(CALL).taken(row));
    const said = recorded('steered').filter((row) => row.includes('Target Firefox only.'));
    const id = /"clientId":"([^"]+)"/.exec(said[0] ?? '')?.[1];
    expect(id).toBeDefined();
    expect(taken).toContain(id);
    expect(new Set(taken.filter((row) => row !== null)).size).toBe(2);
  });

  it('what follows an interrupt waits for the end of the turn and begins a further one', () => {
    const live = atWork();
    expect(json(live.interrupt?.('2'))).toMatchObject([
      { method: 'turn/interrupt', params: { threadId: 't', turnId: 'u' } },
    ]);
    expect(live.message('now', '3')).toBe('');
    expect(heard(live, line({ id: '2', result: {} }))).toBe('');
    const told = json(heard(live, turn('completed', 'u')));
    expect(told).toMatchObject([{ method: 'turn/start', id: '3', params: { input: [{ text: 'now' }] } }]);
  });

  it('a message that came too late for its turn begins a further one', () => {
    const live = atWork();
    live.message('late', '2');
    heard(live, turn('completed', 'u'));
    const told = json(heard(live, line({ id: '2', error: { code: -32600, message: 'no active turn' } })));
    expect(told).toMatchObject([{ method: 'turn/start', params: { clientUserMessageId: '2' } }]);
  });

  it('turns of agents that it hired are none of ours, and what it asks a person is refused', () => {
    const live = atWork();
    expect(heard(live, turn('completed', 'v', 'other'))).toBeNull();
    expect(json(live.message('more', '2'))).toMatchObject([{ method: 'turn/steer' }]);
    const asked = line({ method: 'item/tool/requestUserInput', id: 7, params: {} });
    expect(json(heard(live, asked))).toMatchObject([{ id: 7, error: { code: -32601 } }]);
  });
});

describe('the stream of codex', () => {
  const usage = (threadId: string, total: number, last: number) =>
    line({
      method: 'thread/tokenUsage/updated',
      params: { threadId, tokenUsage: { total: { inputTokens: total }, last: { inputTokens: last } } },
    });

  it('sums over a thread that goes on count what is new, told once or twice', () => {
    const reader = readCodex();
    const rows = [THREAD, usage('t', 500, 100), turn('started', 'u'), usage('t', 700, 200)];
    for (const row of [...rows, usage('t', 700, 200), usage('hired', 40, 40)]) reader.line(row);
    expect(reader.told().usage.inputTokens).toBe(240);
  });

  it('the end of a turn of an agent that it hired ends nothing', () => {
    const reader = readCodex();
    for (const row of [THREAD, turn('started', 'u'), turn('completed', 'v', 'hired')]) reader.line(row);
    expect(reader.leaving()).toBe('no');
    reader.line(turn('completed', 'u'));
    expect(reader.leaving()).toBe('yes');
  });
});

describe('talked to while it works, codex', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'codex-live-'));
  });
  afterEach(() => removeFolder(folder));

  /** Starts the puppet as codex, with these steps. */
  function begin(steps: object[]) {
    writeFileSync(join(folder, 'steps.json'), JSON.stringify(steps));
    const words = `exec '${process.execPath}' '${puppet}' '${join(folder, 'steps.json')}' "$@"`;
    writeFileSync(join(folder, 'codex'), `#!/bin/sh\n${words}\n`);
    chmodSync(join(folder, 'codex'), 0o755);
    return cliAgent(CODEX, { name: 'codex' }).start({
      prompt: 'x',
      promptPath: '',
      cwd: folder,
      env: { PATH: `${folder}:${process.env.PATH ?? ''}` },
      marker: `codex-live-${process.pid}`,
      allowance: { wallMs: 20_000, idleMs: 20_000 },
      logPath: join(folder, 'log'),
      model: null,
      readOnly: false,
      spawned: () => Promise.resolve(),
      event: () => {},
      groundMoved: () => Promise.resolve(true),
    });
  }

  it('has taken a message in when it repeats its id, and finds its stdin at its end after its last word', async () => {
    const item = '{"type":"userMessage","id":"i","clientId":"{{uuid}}","content":[]}';
    const handle = await begin([
      { out: `${turn('started', 'u')}\n` },
      { take: `{"method":"item/started","params":{"item":${item},"threadId":"t"}}\n` },
      { out: `${recorded('success').join('\n')}\n` },
      { take: '{"method":"warning","said":"{{said}}"}\n' },
    ]);
    expect(await handle.send?.('Firefox only')).toBe(true);
    expect(await handle.done).toMatchObject({ ending: 'ended', exitCode: 0, unknownEvents: 0 });
    expect(readFileSync(join(folder, 'log'), 'utf8')).toContain('"said":"end of input"');
    expect(await handle.send?.('too late')).toBe(false);
  });

  it('that refuses the session has died of it', async () => {
    const error = { code: -32600, message: 'no rollout found for thread id old' };
    const handle = await begin([{ out: `${line({ id: 'thread', error })}\n` }, { take: true }]);
    const report = await handle.done;
    expect(report).toMatchObject({ ending: 'died', exitCode: 0, error: { kind: 'crash' } });
    expect(report.error?.message).toContain('no rollout found');
  });
});
