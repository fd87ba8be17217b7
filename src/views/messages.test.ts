/** How far guidance came, as its sender sees it. */
import { describe, expect, it } from 'vitest';
import type { Fact } from '../core/index.ts';
import {
  begun,
  ended,
  given,
  itemOn,
  listed,
  messageOf,
  started,
  taskOf,
  tried,
  waved,
} from '../core/test-facts.ts';
import { messagesJson, undeliveredLines } from './messages.ts';

const steer = (id: string): Fact => ({
  type: 'message.received',
  message: messageOf('STEER', { id, text: `use ${id}` }),
  action: 'queued',
});
const work = [started(), listed(taskOf('t1'))];
const attempt = (iteration: number, ...delivered: string[]): Fact[] => [
  waved(iteration, itemOn('t1')),
  { ...(begun(iteration, itemOn('t1')) as Extract<Fact, { type: 'attempt.started' }>), delivered },
];
const abort: Fact[] = [
  { type: 'abort.asked', by: 'anna', text: '' },
  { type: 'abort.done', tasks: [] },
];

function came(...facts: Fact[]) {
  const state = given(...facts);
  const messages = state.guidance.map(({ message }) => ({
    at: 0,
    id: message.id,
    message,
    action: 'queued',
  }));
  return messagesJson(state, messages).map(({ delivery }) => delivery);
}

describe('guidance is', () => {
  it('queued until a prompt carries it', () => {
    expect(came(...work, steer('a'))).toEqual(['queued']);
  });
  it('delivered while the agent that has it works', () => {
    expect(came(...work, steer('a'), ...attempt(1, 'a'))).toEqual(['delivered']);
  });
  it('acknowledged once that agent has reported', () => {
    expect(came(...work, steer('a'), ...attempt(1, 'a'), ended(1))).toEqual(['acknowledged']);
  });
  it('superseded when an agent has later guidance for the same', () => {
    const first = [...work, steer('a'), ...tried(1, 't1'), steer('b'), ...attempt(2, 'a')];
    expect(came(...first)).toEqual(['delivered', 'queued']);
    const state = came(...first, ended(2), ...tried(3, 't1'), ...attempt(4, 'b'));
    expect(state).toEqual(['superseded', 'delivered']);
  });
  it('undelivered when the work was over before', () => {
    expect(came(...work, steer('a'), ...abort)).toEqual(['undelivered']);
  });
  it('named at the end of a run that gave it to nobody', () => {
    expect(undeliveredLines(given(...work, steer('a')))).toEqual([
      'no agent was given this yet: STEER from anna@desk: use a; it stands in the next prompt',
    ]);
    expect(undeliveredLines(given(...work, steer('a'), ...abort))).toEqual([
      'no agent was given this: STEER from anna@desk: use a; the work was over before',
    ]);
    expect(undeliveredLines(given(...work, steer('a'), ...attempt(1, 'a')))).toEqual([]);
  });
});
