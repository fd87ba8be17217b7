/** The question about a permission: people are shown what they allow, and allow no more than they were shown. */
import { expect, it } from 'vitest';
import { type PermissionRequest, permissionQuestion, wantedIn } from './permission-ask.ts';
import { emptyState } from './state.ts';

const TOOL: PermissionRequest = {
  tool: 'mcp__db__run',
  title: 'Looks',
  command: null,
  paths: [],
  diff: null,
};
function asked(request: PermissionRequest) {
  const asker = { iteration: 1, agent: 'claude', about: 'a', now: 0 };
  const { text, options } = permissionQuestion(emptyState(), asker, {
    request,
    verdict: { word: 'ask', rule: null },
  });
  return { text, keys: options.map(({ key }) => key) };
}

it('what a tool is given is shown, and its title as what the agent calls it', () => {
  const { text, keys } = asked({ ...TOOL, input: { sql: 'drop table x' } });
  expect(text).toMatch(
    /May the agent use mcp__db__run\?[\s\S]*"sql": "drop table x"[\s\S]*It is called: Looks/,
  );
  expect(keys).toEqual(['allow', 'always', 'deny']);
});

it('a call with another input is another one', () => {
  expect(wantedIn({ ...TOOL, input: { sql: 'a' } })).not.toBe(wantedIn({ ...TOOL, input: { sql: 'b' } }));
});

it('what is not told, or not shown whole, is allowed once and not always', () => {
  for (const request of [TOOL, { ...TOOL, command: `echo ${'x'.repeat(3000)}; git push` }])
    expect(asked(request).keys).toEqual(['allow', 'deny']);
  expect(asked({ ...TOOL, command: 'x'.repeat(3000) }).text).toContain('1000 more characters are not shown');
});

it('where a command runs, and what it is given beside, is shown with it', () => {
  const { text } = asked({ ...TOOL, command: 'make', from: '/elsewhere', input: { env: { A: '1' } } });
  expect(text).toContain('make\n(in /elsewhere)\n(with {"env":{"A":"1"}})');
});
