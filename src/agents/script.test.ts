import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type Move, sitAgentExam } from '../../test/exams/agent-exam.ts';
import { Problem } from '../core/index.ts';
import { scriptAgent } from './script.ts';
import { fillIn, parseScript, pickRun } from './script-file.ts';

const runner = fileURLToPath(new URL('../../test/exams/script-runner.ts', import.meta.url));
const tsx = new URL(import.meta.resolve('tsx')).href;
const program = [process.execPath, '--import', tsx, runner];
const folder = mkdtempSync(join(tmpdir(), 'script-agent-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function actionsOf(move: Move): object[] {
  if ('sayUnended' in move) return [{ print: move.sayUnended }];
  if ('giant' in move) return [{ print: `${'x'.repeat(move.giant)}\n` }];
  if ('ignoreSigterm' in move) return [{ ignore_sigterm: true }];
  if ('complain' in move) return [{ run: `printf '%s' '${move.complain}'` }];
  if ('leave' in move) return [{ leave: move.leave }];
  return [move];
}

sitAgentExam({
  name: 'script',
  agent(moves, home) {
    const script = join(home, 'script.json');
    writeFileSync(script, JSON.stringify({ runs: [{ do: moves.flatMap(actionsOf) }] }));
    return scriptAgent({ name: 'script', script, program });
  },
  skips: {
    pieces: 'a script says whole texts',
    'unknown events': 'plain text has no events',
    'errors inside': 'plain text has no error events; the exit code alone tells',
    'reset time': 'plain text has no error events',
    'broken off': 'plain text has no closing event',
    echo: 'stdout as a whole is the message; the judge marks echoes',
    'prompt arrives': 'a script does not look at its prompt',
  },
});

const attempt = {
  task: 'US-1',
  mode: 'implement',
  role: 'executor',
  attempt: 2,
  iteration: 3,
  cycle: 1,
  category: '',
  session: '/s',
  topic: '',
};

async function play(runs: object[], env: Record<string, string> = {}) {
  const script = join(folder, 'script.json');
  writeFileSync(script, JSON.stringify({ runs }));
  const handle = await scriptAgent({ name: 'script', script, program }).start({
    prompt: 'x',
    promptPath: '',
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...env },
    marker: `script-${process.pid}`,
    allowance: { wallMs: 15_000, idleMs: 15_000 },
    logPath: join(folder, 'log'),
    model: null,
    readOnly: false,
    spawned: () => Promise.resolve(),
    event: () => {},
    groundMoved: () => Promise.resolve(false),
  });
  return handle.done;
}

describe('a script', () => {
  it('writes, appends, replaces, removes, runs and publishes, as the attempt it is', async () => {
    const outbox = join(folder, 'outbox.jsonl');
    const env = {
      RALPH_TASK_ID: 'US-1',
      RALPH_ATTEMPT: '2',
      RALPH_OUTBOX: outbox,
      RALPH_RUN_TOKEN: 'secret',
    };
    const report = await play(
      [
        { when: { task: 'US-1', attempt: 1 }, do: [{ exit: 9 }] },
        {
          when: { task: 'US-1', attempt: 2 },
          do: [
            { write: { path: 'a/{{task}}.txt', content: 'one\n' } },
            { append: { path: 'a/US-1.txt', content: 'two\n' } },
            { replace: { path: 'a/US-1.txt', find: 'one', with: '$& {{attempt}}' } },
            { write: { path: 'gone', content: '' } },
            { remove: 'gone' },
            { run: 'echo "$RALPH_TASK_ID" > shell.txt' },
            { emit: { topic: 'build.done', payload: 'ok' } },
            { say: 'Done {{task}}' },
          ],
        },
      ],
      env,
    );
    expect(report).toMatchObject({ ending: 'ended', finalMessage: 'Done US-1\n' });
    expect(readFileSync(join(folder, 'a/US-1.txt'), 'utf8')).toBe('$& 2\ntwo\n');
    expect(readFileSync(join(folder, 'shell.txt'), 'utf8')).toBe('US-1\n');
    expect(JSON.parse(readFileSync(outbox, 'utf8'))).toEqual({
      topic: 'build.done',
      payload: 'ok',
      token: 'secret',
    });
  });

  it('that has nothing for an attempt dies and says so', async () => {
    const report = await play([{ when: { task: 'other' }, do: [{ say: 'x' }] }]);
    expect(report).toMatchObject({ ending: 'died', exitCode: 1, finalMessage: '' });
    expect(report.error?.message).toContain('"when" fits');
  });

  it('is taken from the top: the first run that fits is played', () => {
    const runs = parseScript(
      '[{"when":{"attempt":1},"do":[]},{"when":{"mode":"implement"},"do":[{"exit":0}]},{"do":[]}]',
      's',
    );
    expect(pickRun(runs, attempt)).toBe(runs[1]);
    expect(pickRun(runs, { ...attempt, mode: 'TASK_REVIEW' })).toBe(runs[2]);
    expect(pickRun(runs.slice(0, 1), attempt)).toBeNull();
    expect(fillIn('{{task}} {{other}} {{iteration}}', attempt)).toBe('US-1 {{other}} 3');
  });

  it.each([
    ['not json', 's.json'],
    ['{}', 's.json'],
    ['[{"do":[{"fly":1}]}]', 's.json runs[0].do[0]'],
    ['[{"do":[{"write":{"path":"a"}}]}]', 's.json runs[0].do[0].write'],
    ['[{"do":[]},{"when":{"tsk":"a"},"do":[]}]', 's.json runs[1].when'],
    ['[{"when":{"attempt":"1"},"do":[]}]', 's.json runs[0].when.attempt'],
  ])('that is wrong names the place: %s', (text, at) => {
    try {
      parseScript(text, 's.json');
      expect.unreachable();
    } catch (error) {
      expect((error as Problem).facts).toMatchObject({ code: 'agent.script_invalid', at });
    }
  });

  it('of any content is a script or a problem, never a bug', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        try {
          expect(parseScript(text, 's').length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
        }
      }),
    );
  });

  it('is checked before anything starts', async () => {
    const script = join(folder, 'check.json');
    const agent = scriptAgent({ name: 'script', script, program });
    expect((await agent.check())[0]?.code).toBe('agent.script_missing');
    writeFileSync(script, '{}');
    expect((await agent.check())[0]?.code).toBe('agent.script_invalid');
    writeFileSync(script, '[{"do":[]}]');
    expect(await agent.check()).toEqual([]);
  });
});
