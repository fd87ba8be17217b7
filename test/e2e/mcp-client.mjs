// An agent that speaks MCP: starts `ralph mcp`, makes the calls of the file named first, one after the
// other, and writes the answers as one JSON list into the file named second.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [callsFile, answersFile] = process.argv.slice(2);
const server = spawn('ralph', ['mcp'], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
createInterface({ input: server.stdout }).on('line', (line) => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message.result ?? message.error);
});
let last = 0;
const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const request = (method, params) =>
  new Promise((resolve) => {
    last += 1;
    waiting.set(last, resolve);
    send({ id: last, method, params });
  });

await request('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'an agent', version: '1' },
});
send({ method: 'notifications/initialized' });
const answers = [await request('tools/list', {})];
for (const [name, args] of JSON.parse(readFileSync(callsFile, 'utf8'))) {
  const { content, isError = false } = await request('tools/call', { name, arguments: args });
  answers.push({ text: content[0].text, isError });
}
writeFileSync(answersFile, JSON.stringify(answers));
server.stdin.end();
