/** pi talked to while it works: what stdin gets, what counts as a receipt, and when it is over. */
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeFolder } from '../../test/remove-folder.ts';
import type { AgentEvent } from '../engine/index.ts';
import { cliAgent } from './cli.ts';
import { PI } from './pi.ts';
import { piLive } from './pi-live.ts';
import type { LiveInput } from './talk.ts';

const FOLDER = new URL('../../test/fixtures/agents/pi-0.73.1/', import.meta.url);
const puppet = fileURLToPath(new URL('../../test/exams/puppet.mjs', import.meta.url));
const recorded = (name: string): string => readFileSync(new URL(`${name}.jsonl`, FOLDER), 'utf8').trimEnd();

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pi-live-'));
});
afterEach(() => removeFolder(folder));

/** Starts the puppet as pi, with these steps. */
function begin(steps: object[], event: (event: AgentEvent) => void = () => {}) {
  writeFileSync(join(folder, 'steps.json'), JSON.stringify(steps));
  const line = `exec '${process.execPath}' '${puppet}' '${join(folder, 'steps.json')}' "$@"`;
  writeFileSync(join(folder, 'pi'), `#!/bin/sh\n${line}\n`);
  chmodSync(join(folder, 'pi'), 0o755);
  return cliAgent(PI, { name: 'pi' }).start({
    prompt: 'x',
    promptPath: '',
    cwd: folder,
    env: { PATH: `${folder}:${process.env.PATH ?? ''}` },
    marker: `pi-live-${process.pid}`,
    allowance: { wallMs: 20_000, idleMs: 20_000 },
    logPath: join(folder, 'log'),
    model: null,
    readOnly: false,
    spawned: () => Promise.resolve(),
    event,
    groundMoved: () => Promise.resolve(true),
  });
}
const log = () => readFileSync(join(folder, 'log'), 'utf8');
const lines = (...events: object[]) => ({
  out: `${events.map((event) => JSON.stringify(event)).join('\n')}\n`,
});
const ECHO = {
  take: '{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"{{said}}"}]}}\n',
};
const NOTED = { take: '{"type":"session_info_changed","said":"{{said}}"}\n' };

/** What stdin gets for this line at once. */
const heard = (live: LiveInput, said: string) => live.answer?.(said, () => {});

describe('the lines of pi', () => {
  it('a recorded message that was taken in between two tools is known by its words', () => {
    const live = piLive();
    live.message('Do the scripted work: steered.', '1');
    live.message('Target Firefox only.', '2');
    live.message('Target Firefox only.', '3');
    const taken = recorded('steered')
      .split('\n')
      .map((line) => live.taken(line));
    expect(taken.filter((id) => id !== null)).toEqual(['2']);
  });

  it('what follows an abort waits until pi says that the turn has ended', () => {
    const live = piLive();
    live.message('x', '1');
    expect(JSON.parse(live.interrupt?.('2') ?? '')).toEqual({ id: '2', type: 'abort' });
    expect(live.message('now', '3')).toBe('');
    expect(heard(live, '{"type":"agent_end"}')).toBeNull();
    const told = heard(live, '{"id":"2","type":"response","command":"abort","success":true}');
    expect(JSON.parse(told ?? '')).toMatchObject({ type: 'prompt', message: 'now' });
    expect(live.message('later', '4')).toContain('later');
  });

  it('the dialogs of extensions are left, and what only shows something is not answered', () => {
    const live = piLive();
    const asked = (method: string) =>
      heard(live, JSON.stringify({ type: 'extension_ui_request', id: 'q', method }));
    expect(JSON.parse(asked('confirm') ?? '')).toEqual({
      type: 'extension_ui_response',
      id: 'q',
      cancelled: true,
    });
    expect(asked('notify')).toBeNull();
  });
});

describe('talked to while it works, pi', () => {
  it('has taken a message in when it repeats it, and finds its stdin at its end after its last word', async () => {
    const handle = await begin([
      lines({ type: 'agent_start' }),
      ECHO,
      { out: `${recorded('success')}\n` },
      NOTED,
    ]);
    expect(await handle.send?.('Firefox only')).toBe(true);
    expect(await handle.done).toMatchObject({ ending: 'ended', exitCode: 0, unknownEvents: 0 });
    expect(log().includes('"said":"end of input"')).toBe(true);
    expect(await handle.send?.('too late')).toBe(false);
  });

  it('keeps its stdin open from a failure to its next try', async () => {
    const failed = { role: 'assistant', stopReason: 'error', errorMessage: '429: Rate limit reached.' };
    const failure = lines({ type: 'message_end', message: failed }, { type: 'agent_end' });
    const retry = lines({ type: 'auto_retry_start', attempt: 1, errorMessage: failed.errorMessage });
    let retried = () => {};
    const retries = new Promise<void>((resolve) => {
      retried = resolve;
    });
    const handle = await begin(
      [failure, { pause: 200 }, retry, ECHO, { out: `${recorded('success')}\n` }],
      ({ kind }) => void (kind === 'retry' && retried()),
    );
    await retries;
    expect(await handle.send?.('go on')).toBe(true);
    expect(await handle.done).toMatchObject({ ending: 'ended', error: null });
  });

  it('that refuses the prompt has died of it', async () => {
    const error = 'No API key found for scripted. Use /login.';
    const handle = await begin([
      lines({ type: 'response', command: 'prompt', success: false, error }),
      NOTED,
    ]);
    const report = await handle.done;
    expect(report).toMatchObject({ ending: 'died', exitCode: 0, error: { kind: 'auth' } });
  });
});
