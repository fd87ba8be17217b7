import { describe, expect, test } from 'vitest';
import { agentFor, choiceFor, modelFor, nextAgent, passesOn } from './fallback.ts';
import type { Policy } from './policy.ts';
import { emptyState, type State, type TaskState } from './state.ts';
import { policyOf } from './test-facts.ts';

const general = { ...policyOf({ agent: 'a' }), model: 'large', fallback: ['b'] };
const roles: Policy['roles'] = {
  executor: { agent: 'e', model: null, fallback: ['f'] },
  reviewer: { agent: 'r', model: 'small', fallback: null },
  planner: { agent: null, model: 'wide', fallback: null },
};

function stateWith(policy: Policy): State {
  return { ...emptyState(), policy };
}

describe('who plays a role', () => {
  test('the agent of the policy, where the policy says nothing of the role', () => {
    expect(choiceFor(general, 'reviewer')).toEqual({ agent: 'a', model: 'large', fallback: ['b'] });
    // A name that every object has is no role.
    expect(choiceFor({ ...general, roles: {} }, 'constructor').agent).toBe('a');
  });

  test.each([
    ['executor', { agent: 'e', model: null, fallback: ['f'] }],
    ['reviewer', { agent: 'r', model: 'small', fallback: ['b'] }],
    ['planner', { agent: 'a', model: 'wide', fallback: ['b'] }],
  ])('the %s of its own row', (role, choice) => {
    expect(choiceFor({ ...general, roles }, role)).toEqual(choice);
  });

  test('an agent that has taken over has a model of its own', () => {
    const policy = { ...general, roles };
    expect(modelFor(policy, 'reviewer', 'r')).toBe('small');
    expect(modelFor(policy, 'reviewer', 'b')).toBeNull();
    expect(modelFor(policy, 'executor', 'e')).toBeNull();
    expect(modelFor(general, 'executor', 'a')).toBe('large');
  });

  test('and each item goes to the agent of its role', () => {
    const state = stateWith({ ...general, roles });
    const item = (role: string, mode: 'implement' | 'TASK_REVIEW' | 'STAGE') => ({
      role,
      mode,
      subject: 'x',
    });
    expect(agentFor(state, item('executor', 'implement'), 0)).toBe('e');
    expect(agentFor(state, item('reviewer', 'TASK_REVIEW'), 0)).toBe('r');
    expect(agentFor(state, item('librarian', 'STAGE'), 0)).toBe('a');
    expect(agentFor(emptyState(), item('executor', 'implement'), 0)).toBe('');
  });
});

test('the executor’s own fallback takes over, and passes on what its own agent has', () => {
  const state = stateWith({ ...general, roles });
  const task = { attempts: [], ladderFrom: 0, status: 'todo', agent: null } as unknown as TaskState;
  expect(nextAgent(state, task, 'e', 0)).toBe('f');
  expect(nextAgent(state, task, 'f', 0)).toBeNull();
  expect(nextAgent(stateWith(general), task, 'a', 0)).toBe('b');
  expect(passesOn(state, task, { from: 'e', to: 'f' })).toBe(true);
  expect(passesOn(state, task, { from: 'a', to: 'f' })).toBe(false);
});

describe('while the provider of an agent says no', () => {
  const limit = (until: number) => ({
    until,
    reason: 'usage limit',
    kind: 'limit' as const,
    told: true,
    row: 1,
    since: 0,
    from: 0,
  });
  const review = { role: 'reviewer', mode: 'TASK_REVIEW', subject: 'x' } as const;

  test('another of the choice stands in, in every role, until that is over', () => {
    const state = stateWith({ ...general, roles });
    state.parked.set('r', limit(100));
    expect(agentFor(state, review, 99)).toBe('b');
    expect(agentFor(state, review, 100)).toBe('r');
    state.down.set('r', { kind: 'auth', message: 'log in' });
    expect(agentFor(state, review, 100)).toBe('b');
  });

  test('of several that must wait it is the one whose wait ends first', () => {
    const state = stateWith({ ...general, roles });
    state.parked.set('r', limit(100));
    state.parked.set('b', limit(50));
    expect(agentFor(state, review, 10)).toBe('b');
    state.down.set('b', { kind: 'billing', message: 'pay' });
    expect(agentFor(state, review, 10)).toBe('r');
  });

  test('a task that was given to another goes to the one it was taken from meanwhile', () => {
    const state = stateWith(general);
    state.tasks.set('x', { agent: 'b' } as unknown as TaskState);
    state.parked.set('b', limit(100));
    const item = { role: 'executor', mode: 'implement', subject: 'x', task: 'x' } as const;
    expect([agentFor(state, item, 0), agentFor(state, item, 100)]).toEqual(['a', 'b']);
  });
});
