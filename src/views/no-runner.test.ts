import { expect, it } from 'vitest';
import * as views from './index.ts';
import { journal, type Move, START } from './test-journal.ts';

const NOW = START + 3_600_000;
const nobody: views.LiveInfo = { runner: null };
const someone: views.LiveInfo = { runner: { pid: 4711, host: 'box', startedAt: START } };
const open: Move = { move: 'attempt', n: 1, value: 'open', text: '' };

const status = (...moves: Move[]) => views.statusText(views.fold(journal(moves)), NOW, nobody);

it('a session that was aborted after its run ended names the way back, and not the old exit', () => {
  const moves: Move[] = [{ move: 'exit', code: 1 }, { move: 'abort' }];
  const text = status(...moves);
  expect(text).toContain('aborted since then');
  expect(text).toMatch(/next: `ralph run --reopen` takes it up again/);
  expect(text).not.toContain('fresh limit');
  const line = views.sessionsText([views.sessionJson(views.fold(journal(moves)), nobody)]);
  expect(line).toContain('aborted');
  expect(line).not.toContain('exit 1');
  expect(status({ move: 'exit', code: 1 })).toContain('fresh limit');
});

it('a session that was aborted after a crash is taken up by --reopen', () => {
  expect(status({ move: 'abort' })).toMatch(/next: `ralph run --reopen`/);
});

it('a session that was paused after its run ended goes on by resume, whatever the exit was', () => {
  for (const code of [1, 4, 6]) {
    expect(status({ move: 'exit', code }, { move: 'pause' })).toMatch(/next: `ralph resume` goes on/);
  }
});

it('a question that holds every start is told before the fresh limit', () => {
  const ask: Move = { move: 'ask', about: 'session', text: 'which one?', deadlineMs: null };
  expect(status(ask, { move: 'exit', code: 1 })).toMatch(/next: q1: answer with/);
});

it('an attempt whose runner is gone is not at work', () => {
  const story = views.readStory(journal([open]));
  const told = story.iterations.get(1)!;
  const gone = views.iterationText(story, told, { now: NOW, live: nobody });
  expect(gone).toContain('— left open');
  expect(gone).toContain('its run is gone');
  expect(gone).not.toContain('at work');
  expect(views.iterationJson(story, told, { now: NOW, live: nobody }).outcome).toBe('left_open');
  const alive = views.iterationText(story, told, { now: NOW, live: someone });
  expect(alive).toMatch(/— running[\s\S]*still at work/);
});

it('an attempt that a pause ended was not left open', () => {
  const text = status({ ...open, value: 'interrupted' }, { move: 'pause' }, { move: 'exit', code: 7 });
  expect(text).not.toContain('left open');
});

it('a wait that is over already is no sentence', () => {
  const records = journal([{ ...open, value: 'died' }]);
  const state = views.fold(structuredClone(records));
  state.deadUntil = state.lastAt - 1;
  const fact = {
    type: 'wave.ended' as const,
    wave: 1,
    progress: false,
    neutral: false,
    dead: true,
    started: 1,
    returned: [],
  };
  expect(views.describeFact(fact, NOW, state)).toBe('the agent died; this is not counted as a try');
  state.deadUntil = state.lastAt + 30_000;
  expect(views.describeFact(fact, NOW, state)).toMatch(/the next starts at the earliest in 30s \(/);
  const parked = { type: 'provider.parked' as const, agent: 'a', until: NOW + 60_000, reason: 'limit' };
  expect(views.describeFact(parked, NOW)).toMatch(/which ends in 1m 00s \(.* UTC\): limit$/);
  expect(views.describeFact({ ...parked, until: NOW - 1 }, NOW)).toMatch(/which is over by now: limit$/);
});
