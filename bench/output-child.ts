/**
 * A runner whose agent writes very much: plays one attempt and tells the peak of its own memory. It is
 * bundled and started as a process of its own, because a loader would count too.
 * Arguments: bytes, the agent's output format, the folder to work in.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createAgent, type OutputFormat } from '../src/agents/index.ts';

const [bytes = '0', output = 'text', cwd = '.'] = process.argv.slice(2);

// The worst case of the event stream: one message that never ends. Then the end of a good run.
const WRITER = `
const wanted = Number(process.argv[1]);
const json = process.argv[2] === 'claude-json';
const text = 'x'.repeat(2000);
const line = json
  ? JSON.stringify({ type: 'assistant', message: { id: 'm', content: [{ type: 'text', text }], usage: {} } })
  : text;
let left = wanted;
const more = () => {
  while (left > 0) {
    left -= line.length + 1;
    if (!process.stdout.write(line + '\\n')) return process.stdout.once('drain', more);
  }
  const last = json ? JSON.stringify({ type: 'result', subtype: 'success', result: 'done', usage: {} }) : 'done';
  process.stdout.write(last + '\\n');
};
more();
`;

const agent = createAgent({
  kind: 'command',
  name: 'writer',
  command: [process.execPath, '-e', WRITER, bytes, output],
  prompt: 'stdin',
  output: output as OutputFormat,
});
const handle = await agent.start({
  prompt: 'write',
  promptPath: join(cwd, 'prompt.md'),
  cwd,
  env: { PATH: process.env.PATH ?? '' },
  marker: `bench-${process.pid}`,
  allowance: { wallMs: 300_000, idleMs: 60_000 },
  logPath: join(cwd, 'agent.log'),
  model: null,
  readOnly: false,
  spawned: async () => undefined,
  event: () => undefined,
  groundMoved: async () => false,
});
const report = await handle.done;
process.stdout.write(
  JSON.stringify({
    ending: report.ending,
    outputBytes: report.outputBytes,
    logBytes: statSync(join(cwd, 'agent.log')).size,
    peakMb: process.resourceUsage().maxRSS / 1024,
  }),
);
