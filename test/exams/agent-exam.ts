/**
 * The exam every agent sits. An agent's own tests say how its program speaks (`Sitting`); the exam makes
 * that program behave well and badly, as a real child process, and looks at the reports. A question may
 * be skipped only with a written reason.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentReport } from '../../src/core/index.ts';
import type { Agent, AgentCall, AgentEvent, AgentHandle } from '../../src/engine/index.ts';
import { findByMarker, isAlive } from '../../src/process/index.ts';
import { removeFolder } from '../remove-folder.ts';

/** What the agent's program does next, said without its language. */
export type Move =
  /** Says its final message and closes its stream. `{{sha}}` and `{{prompt}}` stand for the prompt's. */
  | { say: string }
  /** The same, without a newline behind the last line. */
  | { sayUnended: string }
  /** The same, with the pipe cut inside a character. */
  | { sayInPieces: string }
  /** A line of so many bytes that means nothing, ended by a newline. */
  | { giant: number }
  | { unknownEvent: true }
  /** Repeats the prompt the way this agent echoes it. */
  | { echoPrompt: true }
  /** Begins to speak, but its stream is never closed. */
  | { breakOff: string }
  /** Tells a provider error in its stream. `resetsAt` in epoch seconds. */
  | { refuse: Refusal; resetsAt?: number }
  | { complain: string }
  | { ignoreSigterm: true }
  /** A shell line left running; `away`: in a session of its own, where no group signal reaches it. */
  | { leave: string; away?: boolean }
  | { hang: true }
  | { exit: number };

export type Refusal = 'limit' | 'auth' | 'prompt_too_long' | 'overload';

/** A question that not every agent can be asked. */
export type Question =
  | 'pieces'
  | 'unknown events'
  | 'errors inside'
  | 'reset time'
  | 'broken off'
  | 'echo'
  | 'prompt arrives'
  | 'left in a session of its own';

export interface Sitting {
  name: string;
  /** Makes the agent whose program makes these moves. `folder` is the candidate's own, removed afterwards. */
  agent(moves: Move[], folder: string): Agent;
  skips: Partial<Record<Question, string>>;
  /** Errors that its stream can tell; default: all. */
  refuses?: readonly Refusal[];
}

interface Desk {
  handle: AgentHandle;
  events: AgentEvent[];
  spawned: { pid: number; startTime: string }[];
}

const REFUSALS: readonly Refusal[] = ['auth', 'prompt_too_long', 'overload', 'limit'];
const WAIT = 'tail -f /dev/null';
const TAG = '<promise>COMPLETE</promise>';
let folder = '';
let markers = 0;

function callOf(over: Partial<AgentCall>, desk: Omit<Desk, 'handle'>): AgentCall {
  const marker = `exam-${process.pid}-${++markers}`;
  return {
    prompt: 'Do the work.',
    promptPath: join(folder, 'prompt.md'),
    cwd: folder,
    env: { PATH: `${folder}:${process.env.PATH ?? ''}`, HOME: folder, RALPH_MARKER: marker },
    marker,
    allowance: { wallMs: 20_000, idleMs: 15_000 },
    logPath: join(folder, 'agent.log'),
    model: null,
    readOnly: false,
    spawned: (pid, startTime) => Promise.resolve(void desk.spawned.push({ pid, startTime })),
    event: (event) => void desk.events.push(event),
    groundMoved: () => Promise.resolve(false),
    ...over,
  };
}

async function begin(agent: Agent, over: Partial<AgentCall> = {}): Promise<Desk> {
  const desk = { events: [], spawned: [] };
  return { ...desk, handle: await agent.start(callOf(over, desk)) };
}

async function finish(agent: Agent, over: Partial<AgentCall> = {}): Promise<AgentReport> {
  return (await begin(agent, over)).handle.done;
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 400; turn++) {
    if (holds()) return;
    await sleep(25);
  }
  throw new Error(`waited in vain until ${what}`);
}

/** Registers the exam for one agent. */
export function sitAgentExam({ name, agent, skips, refuses = REFUSALS }: Sitting): void {
  const ask = (question: Question) => (title: string, body: () => Promise<void>) => {
    const reason = skips[question];
    if (reason === undefined) it(title, body);
    else it.skip(`${title} (skipped: ${reason})`, body);
  };
  const play = (...moves: Move[]): Agent => agent(moves, folder);

  describe(`the agent exam, sat by ${name}`, () => {
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'agent-exam-'));
    });
    afterEach(() => removeFolder(folder));

    it('a well-behaved run ends with its final message, and its process was told', async () => {
      const desk = await begin(play({ say: `All done.\n${TAG}` }));
      const report = await desk.handle.done;
      expect(report).toMatchObject({
        ending: 'ended',
        timeout: null,
        exitCode: 0,
        error: null,
        leftBehind: [],
      });
      expect(report.finalMessage.trim()).toBe(`All done.\n${TAG}`);
      expect(desk.spawned).toHaveLength(1);
      expect(isAlive(desk.spawned[0]!.pid, desk.spawned[0]!.startTime)).toBe(false);
      expect(desk.events.length).toBeGreaterThan(0);
      expect(readFileSync(join(folder, 'agent.log'), 'utf8')).toContain('COMPLETE');
      expect(report.outputBytes).toBeGreaterThan(0);
    });

    it('a last line without a newline is read', async () => {
      const report = await finish(play({ sayUnended: `Done.\n${TAG}` }));
      expect(report.ending).toBe('ended');
      expect(report.finalMessage).toBe(`Done.\n${TAG}`);
    });

    ask('pieces')('a character that the pipe cuts in two is whole again', async () => {
      const report = await finish(play({ sayInPieces: `Grüße, 漢字 🚀\n${TAG}` }));
      expect(report.finalMessage.trim()).toBe(`Grüße, 漢字 🚀\n${TAG}`);
    });

    it('a giant line neither fills the memory nor hides what comes after it', async () => {
      const report = await finish(play({ giant: 20 * 1024 * 1024 }, { say: `Done.\n${TAG}` }));
      expect(report.ending).toBe('ended');
      expect(report.finalMessage.endsWith(TAG) || report.finalMessage.endsWith(`${TAG}\n`)).toBe(true);
      expect(report.finalMessage.length).toBeLessThanOrEqual(256 * 1024);
      expect(report.outputBytes).toBeGreaterThan(20 * 1024 * 1024);
    });

    ask('unknown events')('unknown events are counted and change nothing', async () => {
      const report = await finish(play({ unknownEvent: true }, { unknownEvent: true }, { say: TAG }));
      expect(report).toMatchObject({ ending: 'ended', unknownEvents: 2, finalMessage: TAG });
    });

    it('a silent agent is ended by the idle clock', async () => {
      const report = await finish(play({ hang: true }), { allowance: { wallMs: 20_000, idleMs: 800 } });
      expect(report).toMatchObject({ ending: 'timed_out', timeout: 'idle', error: null });
    });

    it('a silent agent whose files move is not ended by the idle clock', async () => {
      let asked = 0;
      const groundMoved = () => Promise.resolve(++asked < 3);
      const report = await finish(play({ hang: true }), {
        allowance: { wallMs: 20_000, idleMs: 400 },
        groundMoved,
      });
      expect(report.timeout).toBe('idle');
      expect(asked).toBe(3);
    });

    it('an agent that takes too long is ended by the wall clock', async () => {
      const report = await finish(play({ hang: true }), { allowance: { wallMs: 900, idleMs: 15_000 } });
      expect(report).toMatchObject({ ending: 'timed_out', timeout: 'wall' });
    });

    it('an exit code other than 0 is a death, told with the last words of stderr', async () => {
      const report = await finish(play({ complain: 'out of cheese\n' }, { exit: 7 }));
      expect(report).toMatchObject({ ending: 'died', exitCode: 7, error: { kind: 'crash', resetsAt: null } });
      expect(report.error?.message).toContain('out of cheese');
    });

    ask('broken off')('a stream without its closing event is a death, even with exit code 0', async () => {
      const report = await finish(play({ breakOff: `Half way. ${TAG}` }, { exit: 0 }));
      expect(report).toMatchObject({ ending: 'died', exitCode: 0, error: { kind: 'crash' } });
    });

    ask('errors inside')(
      'an error inside the stream is a death of its kind, even with exit code 0',
      async () => {
        for (const kind of refuses) {
          const report = await finish(play({ refuse: kind }, { exit: 0 }));
          expect(report).toMatchObject({ ending: 'died', exitCode: 0, error: { kind, resetsAt: null } });
          expect(report.finalMessage).not.toContain('promise');
        }
      },
    );

    ask('reset time')('a limit tells when it ends', async () => {
      const report = await finish(play({ refuse: 'limit', resetsAt: 4_102_444_800 }, { exit: 1 }));
      expect(report).toMatchObject({ ending: 'died', error: { kind: 'limit' } });
      // Some say it in a sentence, in local time, to the minute.
      const off = Math.abs((report.error?.resetsAt ?? 0) - 4_102_444_800_000);
      expect(off).toBeLessThanOrEqual(14 * 3_600_000);
    });

    ask('echo')('an echo of the prompt is not the final message', async () => {
      const prompt = `Say ${TAG} when done.\n${TAG}`;
      const report = await finish(play({ echoPrompt: true }, { say: 'I did nothing.' }), { prompt });
      expect(report).toMatchObject({ ending: 'ended', finalMessage: 'I did nothing.' });
    });

    ask('prompt arrives')('a prompt of 300 KB arrives whole', async () => {
      const prompt = 'Grüße 🚀 '.repeat(25_000);
      const report = await finish(play({ say: 'prompt {{sha}}' }), { prompt });
      const { createHash } = await import('node:crypto');
      expect(report.finalMessage.trim()).toBe(`prompt ${createHash('sha256').update(prompt).digest('hex')}`);
    });

    it('a stop in the middle is an interruption, not a death', async () => {
      const desk = await begin(play({ hang: true }));
      await until('it was spawned', () => desk.spawned.length > 0);
      await desk.handle.stop(2000);
      expect(await desk.handle.done).toMatchObject({ ending: 'interrupted', error: null });
    });

    it('an agent that ignores SIGTERM is killed after the grace', async () => {
      const log = join(folder, 'agent.log');
      const desk = await begin(play({ ignoreSigterm: true }, { complain: 'ready' }, { hang: true }));
      await until('it is ready', () => readLog(log).includes('ready'));
      await desk.handle.stop(200);
      const report = await desk.handle.done;
      expect(report).toMatchObject({ ending: 'interrupted', signal: 'SIGKILL' });
    });

    it('a child that keeps the pipe open does not hold up the end, and is ended', async () => {
      const report = await finish(play({ leave: WAIT }, { say: TAG }));
      expect(report.ending).toBe('ended');
      expect(report.leftBehind.join('\n')).toContain(WAIT);
    });

    ask('left in a session of its own')(
      'a shell that left our process group is found and ended',
      async () => {
        const agentPlayed = play({ leave: WAIT, away: true }, { say: TAG });
        const report = await finish(agentPlayed, {});
        expect(report.leftBehind.join('\n')).toContain(WAIT);
        expect(findByMarker({ name: 'RALPH_MARKER', value: `exam-${process.pid}-${markers}` })).toEqual([]);
      },
    );
  });
}

function readLog(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
