/** Which commands a run of Claude Code is seen to have called, and how they ended. */
import { describe, expect, it } from 'vitest';
import { readClaude } from './claude-stream.ts';

interface Call {
  name?: string;
  input?: object;
  words?: string;
  failed?: boolean;
  refused?: boolean;
  outcome?: object;
  by?: string;
}

function commandsOf(calls: Call[], more: object[] = []) {
  const reader = readClaude();
  for (const [at, { name = 'Bash', input = {}, words = '', ...call }] of calls.entries()) {
    const id = `t${at}`;
    const parent_tool_use_id = call.by ?? null;
    const use = { type: 'tool_use', id, name, input };
    const result = { type: 'tool_result', tool_use_id: id, content: words, is_error: call.failed ?? false };
    reader.line(JSON.stringify({ type: 'assistant', parent_tool_use_id, message: { content: [use] } }));
    reader.line(
      JSON.stringify({
        type: 'user',
        parent_tool_use_id,
        message: { content: [result] },
        ...(call.outcome ? { tool_use_result: call.outcome } : {}),
        ...(call.refused ? { tool_result_meta: [{ id, permission_decision: { decision: 'reject' } }] } : {}),
      }),
    );
  }
  for (const event of more) reader.line(JSON.stringify(event));
  return reader
    .told()
    .commands.map(
      ({ command, exitCode, denied, unseen }) =>
        `${command} = ${denied ? 'denied' : exitCode}${unseen ? ' unseen' : ''}`,
    );
}

const bash = (command: string, call: Call = {}): Call => ({ ...call, input: { command, ...call.input } });

describe('the exit code of a call of the shell', () => {
  it.each<[string, Call, number | null]>([
    ['a good end', { words: '12 passed' }, 0],
    ['a bad end', { words: 'Exit code 2\nfailed', failed: true }, 2],
    ['an error without a code', { words: 'Command timed out after 2m', failed: true }, null],
    ['an interruption', { outcome: { interrupted: true } }, null],
    ['a cd that failed before it', { words: 'Exit code 1\nbash: cd: app: No such file or directory' }, null],
    ['a 1 that is told as no error', { outcome: { returnCodeInterpretation: 'No matches found' } }, null],
    ['the background by its answer', { words: 'Command running in background with ID: b1' }, null],
    ['the background by its structure', { outcome: { backgroundTaskId: 'b1' } }, null],
    ['the background by its call', { input: { run_in_background: true }, words: 'started' }, null],
    ['a person who sent it there', { words: 'Command was manually backgrounded with ID: b1' }, null],
  ])('%s', (_, call, code) => expect(commandsOf([bash('npm test', call)])).toEqual([`npm test = ${code}`]));
});

describe('a command in the background', () => {
  const started = bash('npm test', { words: 'Command running in background with ID: b1' });
  const look = (words: string, call: Call = {}): Call => ({
    name: 'BashOutput',
    input: { bash_id: 'b1' },
    words,
    ...call,
  });

  it.each<[string, Call, number | null]>([
    ['failed', look('<status>failed</status>\n\n<exit_code>1</exit_code>\n<stdout>x</stdout>'), 1],
    ['ended well', look('<status>completed</status><exit_code>0</exit_code>'), 0],
    ['still runs', look('<status>running</status>'), null],
    ['prints a code', look('<status>running</status><stdout><exit_code>0</exit_code></stdout>'), null],
    ['has a structure', look('', { outcome: { exitCode: 3 } }), 3],
    [
      'is a task',
      look('', { name: 'TaskOutput', input: { task_id: 'b1' }, outcome: { task: { exitCode: 3 } } }),
      3,
    ],
    ['is another one', look('<exit_code>0</exit_code>', { input: { bash_id: 'b2' } }), null],
  ])('%s', (_, answer, code) => expect(commandsOf([started, answer])).toEqual([`npm test = ${code}`]));

  it.each<[string, number | null]>([
    ['Background command "npm test" completed (exit code 0)', 0],
    ['Background command "npm test" failed with exit code 1', 1],
    ['Background command "exit code 0" was stopped', null],
  ])('is told at its end: %s', (summary, code) => {
    const event = { type: 'system', subtype: 'task_notification', tool_use_id: 't0', summary };
    expect(commandsOf([started], [event])).toEqual([`npm test = ${code}`]);
  });
});

describe('another tool that can run commands', () => {
  it.each<[string, string, object]>([
    ['npm test', 'mcp__shell__run', { command: 'npm test' }],
    ['npm test', 'mcp__shell__run', { cmd: ['npm', 'test'] }],
    ['npm test', 'PowerShell', { command: 'npm test' }],
    ['', 'Task', { prompt: 'run the tests' }],
    ['', 'mcp__tests__all', {}],
  ])('is noted as unseen: %s by %s', (command, name, input) =>
    expect(commandsOf([{ name, input, words: '12 passed' }])).toEqual([`${command} = null unseen`]),
  );

  it('is none where it only reads and writes, or was refused', () => {
    const quiet = ['Read', 'Write', 'Edit', 'Grep', 'Glob', 'TodoWrite', 'WebFetch'].map((name) => ({
      name,
    }));
    expect(commandsOf([...quiet, { name: 'mcp__x__run', refused: true, failed: true }])).toEqual([]);
  });

  it('is seen where the calls of a sub-agent stand in the stream', () => {
    const task = { name: 'Task', input: { prompt: 'test' } };
    expect(commandsOf([task, bash('npm test', { by: 't0' })])).toEqual(['npm test = 0']);
    expect(commandsOf([task, task, bash('npm test', { by: 't9' })])).toEqual([
      ' = null unseen',
      'npm test = 0',
    ]);
  });
});
