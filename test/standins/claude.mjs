#!/usr/bin/env node
// Claude Code as far as it asks for permission: `claude …` with the tool call of CLAUDE_ASKS (JSON: { name, input }) as
// its whole turn. Allowed it writes pushed.txt, refused held.txt, interrupted it takes the question back and plays on;
// then it does its task and says so. The lines are those of version 2.1.332.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

if (process.argv.includes('--version')) {
  process.stdout.write('2.1.332 (Claude Code)\n');
  process.exit(0);
}
const { name, input } = JSON.parse(process.env.CLAUDE_ASKS);
if (input.file_path !== undefined) input.file_path = resolve(input.file_path);
const say = (event) => process.stdout.write(`${JSON.stringify({ session_id: 's', ...event })}\n`);
const assistant = (block) =>
  say({
    type: 'assistant',
    message: { id: 'm', model: 'claude-x', content: [block] },
    parent_tool_use_id: null,
  });
const asked = process.argv.includes('--permission-prompt-tool');
const task = process.env.RALPH_TASK_ID;

function finish(how) {
  writeFileSync(how === 'allow' ? 'pushed.txt' : 'held.txt', 'yes\n');
  writeFileSync(`${task}.txt`, 'made\n');
  const text = 'All of it is done.\n\n<promise>COMPLETE</promise>';
  assistant({ type: 'text', text });
  say({ type: 'result', subtype: 'success', is_error: false, result: text, total_cost_usd: 0 });
}

for await (const line of createInterface({ input: process.stdin })) {
  const event = JSON.parse(line);
  if (event.type === 'user' && event.message.content.includes('Task `')) {
    say({ type: 'system', subtype: 'init', cwd: process.cwd(), model: 'claude-x', tools: [] });
    assistant({ type: 'tool_use', id: 't1', name, input });
    if (!asked) finish('allow');
    else
      say({
        type: 'control_request',
        request_id: 'r1',
        request: { subtype: 'can_use_tool', tool_name: name, input, tool_use_id: 't1' },
      });
  } else if (event.type === 'user') {
    say({ ...event, isReplay: true });
    finish('interrupted');
  } else if (event.request?.subtype === 'interrupt') {
    say({ type: 'control_cancel_request', request_id: 'r1' });
    say({ type: 'result', subtype: 'error_during_execution', is_error: true });
  } else if (event.type === 'control_response') finish(event.response.response.behavior);
}
