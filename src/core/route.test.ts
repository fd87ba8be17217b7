import { describe, expect, test } from 'vitest';
import type { Fact } from './event.ts';
import { MESSAGE_TYPES, type Message } from './message.ts';
import { receive } from './route.ts';
import type { State } from './state.ts';
import { asked, further, given, listed, messageOf, moved, NOON, started, taskOf } from './test-facts.ts';

/** t1 depends on t2, which is not done. */
const waits: Fact = listed(taskOf('t1', { dependsOn: ['t2'] }), taskOf('t2'));
const running = () => given(started(), listed(taskOf('t1'), taskOf('t2')));
const paused: Fact = { type: 'session.paused', at: NOON, text: '', by: 'anna' };
const over: Fact = { type: 'phase.entered', phase: 'COMPLETE' };
const stopped: Fact = { type: 'run.stopped', code: 1, word: 'LIMIT', reason: '' };
const aborted: Fact = { type: 'abort.asked', by: 'anna', text: '' };
const feedback: Fact = { type: 'session.resumed', at: NOON, text: '', by: 'anna@desk' };

function effect(state: State, type: Message['type'], given: Partial<Message> = {}, live = false): string {
  const facts = receive(state, messageOf(type, given), live);
  if (facts === null) return 'left';
  return facts.map((fact) => (fact.type === 'message.received' ? fact.action : fact.type)).join(' + ');
}

describe('each message in each state', () => {
  test.each<[string, Fact[], Message['type'], Partial<Message>, string | RegExp]>([
    ['PAUSE while running', [], 'PAUSE', {}, 'paused + session.paused'],
    ['PAUSE while paused', [paused], 'PAUSE', {}, /^no effect: already paused$/],
    ['PAUSE after an abort', [aborted], 'PAUSE', {}, /^no effect/],
    ['PAUSE of a completed session', [over, { ...stopped, code: 0 }], 'PAUSE', {}, /^no effect: .* over$/],
    ['PAUSE in COMPLETE, work not landed', [over, { ...stopped, code: 8 }], 'PAUSE', {}, /^paused/],
    ['RESUME while paused', [paused], 'RESUME', {}, 'resumed + session.resumed'],
    ['RESUME while running', [], 'RESUME', {}, /^no effect: not paused$/],
    ['RESUME older than the pause', [paused], 'RESUME', { createdAt: NOON - 1 }, /^no effect: older/],
    ['STEER while running', [], 'STEER', {}, 'queued'],
    ['STEER while paused', [paused], 'STEER', {}, 'queued + session.resumed'],
    ['STEER older than the pause', [paused], 'STEER', { createdAt: NOON - 1 }, 'queued'],
    ['INFO while paused', [paused], 'INFO', {}, 'queued'],
    ['ABORT while running', [], 'ABORT', {}, 'aborted + abort.asked'],
    ['ABORT while paused', [paused], 'ABORT', {}, 'aborted + abort.asked'],
    ['ABORT of a completed session', [over, { ...stopped, code: 0 }], 'ABORT', {}, /^no effect: .* over$/],
    ['ABORT while it lands', [over], 'ABORT', {}, 'aborted + abort.asked'],
    ['ABORT in COMPLETE, work not landed', [over, { ...stopped, code: 8 }], 'ABORT', {}, /^aborted/],
    ['ABORT twice', [aborted], 'ABORT', {}, /^no effect/],
    ['HALT while running', [], 'HALT', {}, 'stopping + stop.asked'],
    ['HALT while paused', [paused], 'HALT', {}, 'stopping + stop.asked'],
    ['HALT after the run', [stopped], 'HALT', {}, /^no effect: no run was alive$/],
    ['HALT older than the run', [], 'HALT', { createdAt: NOON - 1 }, /^no effect/],
    ['APPROVE with no question', [], 'APPROVE', {}, 'left'],
    ['APPROVE with another question', [asked('q1')], 'APPROVE', {}, 'left'],
    ['APPROVE', [asked('q1', { kind: 'approval' })], 'APPROVE', {}, 'answered + question.answered'],
    ['SKIP', [asked('q1', { kind: 'approval' })], 'SKIP', {}, 'answered + question.answered'],
    ['ANSWER with no question', [], 'ANSWER', { text: 'x' }, /^no effect: no question is open$/],
    ['ANSWER to an unknown one, none open', [], 'ANSWER', { text: 'x', question: 'q9' }, 'message.rejected'],
    ['ANSWER', [asked('q1')], 'ANSWER', { text: 'x' }, 'answered + question.answered'],
    ['ANSWER without words', [asked('q1')], 'ANSWER', {}, 'message.rejected'],
    [
      'ANSWER to one of two',
      [asked('q1'), asked('q2')],
      'ANSWER',
      { text: 'x', question: 'q2' },
      /^answered/,
    ],
    ['ANSWER to neither of two', [asked('q1'), asked('q2')], 'ANSWER', { text: 'x' }, 'message.rejected'],
    ['ANSWER to an unknown one', [asked('q1')], 'ANSWER', { text: 'x', question: 'q9' }, 'message.rejected'],
    [
      'UNBLOCK',
      [asked('q1')],
      'UNBLOCK',
      { task: 't1' },
      'unblocked + question.closed + task.moved + task.unblocked',
    ],
    ['UNBLOCK of nothing', [], 'UNBLOCK', { task: 't9' }, 'message.rejected'],
    ['UNBLOCK of a done task', [moved('t1', 'done')], 'UNBLOCK', { task: 't1' }, /^no effect/],
    ['UNBLOCK of a cancelled task', [moved('t1', 'cancelled')], 'UNBLOCK', { task: 't1' }, /^no effect/],
    ['UNBLOCK of one that waits', [waits], 'UNBLOCK', { task: 't1' }, /^no effect: it waits for t2$/],
    [
      'UNBLOCK of one that waits and is asked about',
      [waits, asked('q1')],
      'UNBLOCK',
      { task: 't1' },
      /^unblocked/,
    ],
    ['TASK cancel', [], 'TASK', { op: 'cancel', task: 't1' }, 'cancelled + task.moved'],
    ['TASK cancel twice', [moved('t1', 'cancelled')], 'TASK', { op: 'cancel', task: 't1' }, /^no effect/],
    ['TASK reopen', [moved('t1', 'done')], 'TASK', { op: 'reopen', task: 't1' }, 'reopened + task.moved'],
    ['TASK reopen of an open one', [], 'TASK', { op: 'reopen', task: 't1' }, /^no effect/],
    ['TASK with another op', [], 'TASK', { op: 'paint', task: 't1' }, 'message.rejected'],
    ['FEEDBACK', [], 'FEEDBACK', { text: 'x' }, 'queued + feedback.received'],
    [
      'FEEDBACK for the next cycle',
      [],
      'FEEDBACK',
      { text: 'x', iteration: 2 },
      'queued + feedback.received',
    ],
    ['another cycle', [], 'STEER', { iteration: 7 }, /^stale/],
    ['PAUSE of another cycle', [], 'PAUSE', { iteration: 7 }, 'paused + session.paused'],
  ])('%s', (_says, facts, type, message, expected) => {
    const state = given(started(), listed(taskOf('t1'), taskOf('t2')), ...facts);
    const done = effect(state, type, message);
    if (typeof expected === 'string') expect(done).toBe(expected);
    else expect(done).toMatch(expected);
  });

  test('a second reading of the same file does nothing', () => {
    const message = messageOf('PAUSE');
    const state = given(started(), { type: 'message.received', message, action: 'paused' });
    expect(receive(state, message, false)).toEqual([]);
  });
  test('STEER that wakes says who resumed', () => {
    const state = given(started(), paused);
    expect(receive(state, messageOf('STEER', { text: 'go' }), false)?.at(-1)).toEqual(feedback);
  });
  test('every type is understood, whatever it carries', () => {
    for (const type of MESSAGE_TYPES) {
      expect(() => receive(running(), messageOf(type), false)).not.toThrow();
      expect(() => receive(given(), messageOf(type), false)).not.toThrow();
    }
  });
});

describe('who an answer counts from', () => {
  const open = () => given(started(), listed(taskOf('t1')), asked('q1'));
  test('an unsigned file that arrives while an agent works is shown and not taken', () => {
    expect(effect(open(), 'ANSWER', { text: 'x', confirmed: false }, true)).toBe(
      'unconfirmed + notice.given',
    );
    expect(effect(open(), 'ANSWER', { text: 'x', confirmed: false }, false)).toMatch(/^answered/);
    expect(effect(open(), 'ANSWER', { text: 'x', confirmed: true }, true)).toMatch(/^answered/);
  });
  test.each([
    ['UNBLOCK', { task: 't1' }],
    ['TASK', { op: 'cancel', task: 't1' }],
    ['FEEDBACK', { text: 'do more' }],
  ] as const)('an unsigned %s that arrives while an agent works is shown and not taken', (type, given) => {
    expect(effect(open(), type, { ...given, confirmed: false }, true)).toBe('unconfirmed + notice.given');
    expect(effect(open(), type, { ...given, confirmed: true }, true)).not.toMatch(/^unconfirmed/);
    expect(effect(open(), type, { ...given, confirmed: false }, false)).not.toMatch(/^unconfirmed/);
  });
  test('an unconfirmed answer stands with its question, which stays open', () => {
    const answered = further(
      open(),
      receive(open(), messageOf('ANSWER', { text: 'x', confirmed: false }), true)!,
    );
    expect(answered.questions.get('q1')).toMatchObject({
      state: 'open',
      unconfirmed: { text: 'x', from: 'anna@desk (unsigned file)' },
    });
  });
  test('work is opened again by whoever says so', () => {
    const state = given(started(), listed(taskOf('t1')), moved('t1', 'done'));
    const again = { op: 'reopen', task: 't1', confirmed: false };
    expect(effect(state, 'TASK', again, true)).toBe('reopened + task.moved');
  });
  test('a name in an unsigned file is told as what the file says', () => {
    const [fact] = receive(
      open(),
      messageOf('STEER', { text: 'x', from: 'telegram:1 (Ann)', confirmed: false }),
      false,
    )!;
    expect(fact).toMatchObject({ message: { from: 'telegram:1 (Ann) (unsigned file)' } });
  });
  test('a later answer is told who answered first', () => {
    const answered: Fact = {
      type: 'question.answered',
      id: 'q1',
      text: 'left',
      option: null,
      by: 'bob',
      via: 'message',
    };
    const state = given(started(), listed(taskOf('t1')), asked('q1'), answered);
    expect(effect(state, 'ANSWER', { text: 'x', question: 'q1' })).toBe('no effect: already answered by bob');
  });
  test('an option is answered by its key, in words or as such', () => {
    const options = [{ key: 'A', text: 'left' }];
    const state = given(started(), listed(taskOf('t1')), asked('q1', { options }));
    for (const message of [{ option: 'a' }, { text: 'a' }]) {
      expect(receive(state, messageOf('ANSWER', message), false)?.[1]).toMatchObject({
        text: 'left',
        option: 'A',
      });
    }
    expect(effect(state, 'ANSWER', { option: 'Z' })).toBe('message.rejected');
  });
});

describe('targets', () => {
  test.each([
    ['', 'ALL'],
    ['all', 'ALL'],
    ['Ralph-v2-Executor', 'executor'],
    ['builder', 'executor'],
    ['ORCHESTRATOR', 'orchestrator'],
  ])('"%s" is %s', (target, role) => {
    expect(receive(running(), messageOf('INFO', { target }), false)?.[0]).toMatchObject({
      message: { target: role },
    });
  });
  test('a role that is not in this session is rejected with the list', () => {
    expect(receive(running(), messageOf('INFO', { target: 'excutor' }), false)?.[0]).toMatchObject({
      type: 'message.rejected',
      reason: expect.stringMatching(/valid: ALL, orchestrator, executor.*Did you mean executor/),
    });
    expect(effect(running(), 'INFO', { target: 'planner' })).toBe('message.rejected');
  });
  test('before the first run every role is known', () => {
    expect(effect(given(), 'STEER', { target: 'reviewer' })).toBe('queued');
  });
  test.each(['PAUSE', 'ABORT', 'HALT'] as const)('%s is for the session, whatever it names', (type) => {
    expect(effect(running(), type, { target: 'librarian' })).not.toBe('message.rejected');
  });
});
