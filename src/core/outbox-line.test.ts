import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hear } from './hear.ts';
import { type OutboxLine, readOutboxLine } from './outbox-line.ts';

const live = { verify: (token: string) => token === 'live' };
const line = (topic: string, payload: unknown, token = 'live'): OutboxLine =>
  readOutboxLine(JSON.stringify({ topic, payload, token }), live);
const heard = (outbox: OutboxLine[], finalMessage = '') =>
  hear({
    finalMessage,
    outbox,
    prompt: 'Do the work.',
    completionWord: null,
    taskIds: ['t1'],
    activeTask: 't1',
    publishes: null,
  });

describe('a line of the outbox', () => {
  it('that speaks for a person is refused, with the live token too', () => {
    for (const topic of ['human.response', 'human.guidance', 'HUMAN.RESPONSE'])
      expect(line(topic, 'yes')).toEqual({ kind: 'forged', topic, as: 'person' });
    expect(line('human.interact', 'A or B?').kind).toBe('topic');
    expect(heard([line('human.response', 'yes')])).toMatchObject({ topics: [], marks: ['forged_claim'] });
  });

  it('says what was read, and claims nothing by it', () => {
    expect(line('ralph.ack', { messages: ['m1', 7, ''], questions: ['q1'] })).toEqual({
      kind: 'ack',
      messages: ['m1'],
      questions: ['q1'],
    });
    expect(line('ralph.ack', {}).kind).toBe('unreadable');
    expect(line('ralph.ack', { messages: ['m1'] }, 'old').kind).toBe('forged');
    expect(heard([line('ralph.ack', { messages: ['m1'] })])).toMatchObject({ kind: 'none', topics: [] });
  });

  it('names work that no task of the list names', () => {
    expect(line('ralph.task', { title: ' Fix\nthe  docs ' })).toEqual({
      kind: 'task',
      title: 'Fix the docs',
      description: '',
    });
    expect(line('ralph.task', { description: 'x' }).kind).toBe('unreadable');
  });

  it('of evidence joins the report, and is none by itself', () => {
    const proof = line('ralph.evidence', {
      criterion: 'it works',
      kind: 'command',
      value: 'npm test',
      exit_code: 0,
    });
    const evidence = [{ criterion: 'it works', kind: 'command', value: 'npm test', exitCode: 0 }];
    expect(proof).toEqual({ kind: 'evidence', evidence: evidence[0] });
    expect(line('ralph.evidence', { criterion: 'it works' }).kind).toBe('unreadable');
    expect(heard([proof])).toMatchObject({ kind: 'none', result: null });
    const tagged = heard([proof], '<promise>COMPLETE</promise>');
    expect(tagged).toMatchObject({ kind: 'complete', via: 'tag', result: { status: 'completed', evidence } });
    expect(tagged.told?.commands).toEqual([{ command: 'npm test', exitCode: 0, via: 'outbox' }]);
    const report = line('ralph.result', { status: 'failed', evidence: [{ kind: 'file', value: 'a.txt' }] });
    expect(heard([proof, report])).toMatchObject({ kind: 'failed', result: { status: 'failed' } });
    expect(heard([proof, report]).result?.evidence).toHaveLength(2);
  });

  it('never fails, whatever it holds', () => {
    const topic = fc.constantFrom('ralph.ack', 'ralph.evidence', 'ralph.task', 'human.interact', 'x');
    fc.assert(fc.property(topic, fc.jsonValue(), (name, payload) => void line(name, payload)));
  });
});
