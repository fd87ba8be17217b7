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
    expect(agentFor(state, item('executor', 'implement'))).toBe('e');
    expect(agentFor(state, item('reviewer', 'TASK_REVIEW'))).toBe('r');
    expect(agentFor(state, item('librarian', 'STAGE'))).toBe('a');
    expect(agentFor(emptyState(), item('executor', 'implement'))).toBe('');
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
