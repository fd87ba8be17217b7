// A program that does what a file tells it, byte by byte: the body of every agent that sits the exam.
// node puppet.mjs STEPS.json [anything…]
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const steps = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const print = (bytes) => new Promise((resolve) => process.stdout.write(bytes, resolve));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
// Talked to while it works: each line of stdin is a message, and the prompt is the first of them.
const isLive = process.argv.includes('--input-format');
const messages = isLive ? createInterface({ input: process.stdin })[Symbol.asyncIterator]() : null;
const nextMessage = async () => {
  const { value, done } = await messages.next();
  return done ? null : JSON.parse(value);
};
let prompt = Buffer.alloc(0);
try {
  prompt = isLive ? Buffer.from((await nextMessage()).message.content) : readFileSync(0);
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
    const message = await nextMessage();
    const said = message?.message?.content ?? (message === null ? 'end of input' : message.request.subtype);
    if (step.take !== true)
      await print(step.take.replace('{{said}}', said).replace('{{uuid}}', message?.uuid));
  }
  if (step.hang) await new Promise(() => setInterval(() => {}, 60_000));
  if (step.exit !== undefined) process.exit(step.exit);
}
process.exit(0);
