// A program that does what a file tells it, byte by byte: the body of every agent that sits the exam.
// node puppet.mjs STEPS.json [anything…]
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const steps = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const print = (bytes) => new Promise((resolve) => process.stdout.write(bytes, resolve));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
// Talked to while it works: the lines of stdin say something, and the prompt is the first of it. What a line says
// stands here by the argument that opens the talk; undefined: nothing.
const TALKS = {
  '--input-format': ({ message, request, response, uuid }) => ({
    said: message?.content ?? request?.subtype ?? response.response.behavior,
    id: uuid,
  }),
  rpc: ({ type, message, id }) => ({ prompt: { said: message, id }, abort: { said: type, id } })[type],
  'app-server': ({ method, id, params }) => {
    if (method === 'thread/start') process.stdout.write('{"id":"thread","result":{"thread":{"id":"t"}}}\n');
    const input = params?.input?.[0];
    return input
      ? { said: input.text, id: params.clientUserMessageId }
      : method === 'turn/interrupt'
        ? { said: method, id }
        : undefined;
  },
};
const talk = TALKS[process.argv.find((argument) => Object.hasOwn(TALKS, argument))];
const lines = talk ? createInterface({ input: process.stdin })[Symbol.asyncIterator]() : null;
const nextMessage = async () => {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) return { said: 'end of input' };
    const message = talk(JSON.parse(value));
    if (message !== undefined) return message;
  }
};
let prompt = Buffer.alloc(0);
try {
  prompt = talk ? Buffer.from((await nextMessage()).said) : readFileSync(0);
} catch {
  // stdin is closed: there is no prompt.
}
const fill = (text) =>
  text
    .replaceAll('{{sha}}', createHash('sha256').update(prompt).digest('hex'))
    .replaceAll('{{prompt}}', () => JSON.stringify(prompt.toString()).slice(1, -1));

for (const step of steps) {
  if (step.out !== undefined) await print(fill(step.out));
  if (step.bytes !== undefined) await print(Buffer.from(step.bytes, 'base64'));
  if (step.giant !== undefined) await print('x'.repeat(step.giant));
  if (step.err !== undefined) process.stderr.write(step.err);
  if (step.pause !== undefined) await pause(step.pause);
  if (step.trap) process.on('SIGTERM', () => {});
  if (step.leave !== undefined) {
    spawn(step.leave, { shell: true, detached: step.away === true, stdio: 'inherit' }).unref();
  }
  // `{{said}}` in its text is what the next message says; true: it only waits for one.
  if (step.take !== undefined) {
    const { said, id } = await nextMessage();
    if (step.take !== true) await print(step.take.replace('{{said}}', said).replace('{{uuid}}', id));
  }
  if (step.hang) await new Promise(() => setInterval(() => {}, 60_000));
  if (step.exit !== undefined) process.exit(step.exit);
}
process.exit(0);
