/** What stands with an open question. */
import { expect, it } from 'vitest';
import { asked, given, listed, messageOf, NOON, started, taskOf } from '../core/test-facts.ts';
import { inboxJson, inboxText } from './inbox.ts';

it('an answer that was not taken is quoted with its question, where it can be given again', () => {
  const message = messageOf('ANSWER', { text: 'left', from: 'ann (unsigned file)', question: 'q2' });
  const state = given(started(), listed(taskOf('t1')), asked('q1'), asked('q2'), {
    type: 'message.received',
    message,
    action: 'unconfirmed',
  });
  const told = inboxJson(state).map(({ id, unconfirmed }) => [id, unconfirmed]);
  expect(told).toEqual([
    ['q1', undefined],
    ['q2', { text: 'left', from: 'ann (unsigned file)' }],
  ]);
  expect(inboxText(state, NOON)).toContain('“left” from ann (unsigned file)');
});
