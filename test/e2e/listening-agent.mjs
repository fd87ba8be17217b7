#!/usr/bin/env node
// An agent that speaks Claude Code's language and can be talked to. What it does stands in the first line of
// `.git/manner`, which every run takes off; without one it does its work at once.
//   listen    waits for one message, takes it in, then does its work and tells what it heard
//   deaf      never takes a message in; does its work once `.git/go` is there
//   safe      takes a request to stop in and ends; finished: as a completion
//   hang      does half of its work and goes on for ever
//   stubborn  takes a request to stop in and goes on; `immune`: ignores SIGTERM too
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

// `.git/version`: another version than the newest that is known.
const version = existsSync('.git/version') ? readFileSync('.git/version', 'utf8').trim() : '2.1.332';
if (process.argv.includes('--version')) {
  console.log(`${version} (Claude Code)`);
  process.exit(0);
}
const isLive = process.argv.includes('--input-format');
const print = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const task = process.env.RALPH_TASK_ID;
const argument = (name) => process.argv[process.argv.indexOf(name) + 1];
const isResumed = process.argv.includes('--resume');
const session = argument(isResumed ? '--resume' : '--session-id');
const manners = existsSync('.git/manner') ? readFileSync('.git/manner', 'utf8').split('\n') : [];
const [manner = 'honest', ...rest] = manners.filter((line) => line !== '');
if (manners.length > 0) writeFileSync('.git/manner', rest.join('\n'));

async function next() {
  const { value, done } = await lines.next();
  if (done) process.exit(0);
  const event = JSON.parse(value);
  appendFileSync('.git/heard', `${JSON.stringify(event)}\n`);
  return event.type === 'control_request' ? next() : event;
}
function take(event) {
  print({ ...event, isReplay: true, session_id: session });
  return event.message.content;
}
function end(text) {
  print({ type: 'assistant', message: { id: 'm1', content: [{ type: 'text', text }] }, session_id: session });
  const usage = { input_tokens: 10, output_tokens: 5 };
  print({ type: 'result', subtype: 'success', is_error: false, result: text, usage, total_cost_usd: 0.01 });
}
function work(said) {
  writeFileSync(`${task}.txt`, `${said}\n`);
  end('Done.\n\n<promise>COMPLETE</promise>');
}
const until = async (path) => {
  while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 20));
};

if (isLive) take(await next());
else for await (const _ of lines);
if (isResumed) appendFileSync('.git/resumed', `${session}\n`);
print({ type: 'system', subtype: 'init', cwd: process.cwd(), session_id: session, model: 'm' });
writeFileSync('.git/at-work', String(process.pid));
if (manner === 'honest') work('honest');
if (manner === 'hang') {
  writeFileSync('half.txt', 'half\n');
  await until('.git/never');
}
if (manner === 'listen') work(/Firefox/.test(take(await next())) ? 'firefox' : 'chrome');
if (manner === 'deaf') {
  await until('.git/go');
  work('deaf');
}
if (manner === 'safe' || manner === 'finished') {
  const asked = take(await next());
  writeFileSync('half.txt', 'half\n');
  if (!asked.startsWith('## PAUSE')) end('That was no request to stop.');
  else if (manner === 'finished') work('finished');
  else end('```json\n{"status":"paused","summary":"half of it stands"}\n```');
}
if (manner === 'stubborn' || manner === 'immune') {
  if (manner === 'immune') process.on('SIGTERM', () => appendFileSync('.git/ignored', 'x'));
  take(await next());
  appendFileSync('.git/heard', 'went on\n');
}
while (isLive) await next();
process.exit(0);
