#!/usr/bin/env node
// An agent that speaks the Agent Client Protocol and does what a file tells it: node acp-agent.mjs SCRIPT.json
// The script: { about?, session?, log?, cancels?, turns: Step[][] }. `about` is laid over its answer to `initialize`,
// `session` over the one to `session/new`; each fresh prompt plays the next turn, the last one again and again;
// what it hears is written to `log`, a line each. `cancels`: a second prompt ends the first, else it is taken in.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const script = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const SESSION = 'session-of-the-stand-in';
const print = (bytes) => new Promise((resolve) => process.stdout.write(bytes, resolve));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const line = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const update = (told) => line({ method: 'session/update', params: { sessionId: SESSION, update: told } });
const waiting = new Map();
let lastId = 100;
let played = 0;
/** The turn that runs: ids of its prompts, what was said in them, and whether it shall end. */
let turn = null;

const fill = (text) =>
  text
    .replaceAll('{{task}}', process.env.RALPH_TASK_ID ?? '')
    .replaceAll('{{said}}', () => turn.said.slice(1).join(' '))
    .replaceAll('{{sha}}', () => createHash('sha256').update(turn.said[0]).digest('hex'));
const chunk = (text) =>
  update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: fill(text) } });
const answer = (stopReason) =>
  turn.ids
    .map((id) => line({ id, result: { stopReason, usage: { inputTokens: 100, outputTokens: 10 } } }))
    .join('');

function ask(method, params) {
  const id = lastId++;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    void print(line({ id, method, params }));
  });
}

async function tool(call, work) {
  const toolCallId = `call-${lastId++}`;
  await print(
    update({
      sessionUpdate: 'tool_call',
      toolCallId,
      status: 'pending',
      ...call,
      // OpenCode tells first where a command will run, and then which.
      rawInput: call.kind === 'execute' ? { cwd: process.cwd() } : {},
      title: call.kind,
    }),
  );
  await print(update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress', ...call }));
  const done = await work();
  await print(update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', ...done }));
}

function shell(command) {
  return tool({ kind: 'execute', title: command, rawInput: { command } }, () => {
    const { status, stdout } = spawnSync(command, { shell: true, encoding: 'utf8' });
    return { rawOutput: { output: stdout, exit_code: status } };
  });
}

const STEPS = {
  say: (words) => print(chunk(words)),
  update: (told) => print(update(told)),
  run: (command) => shell(fill(command)),
  write: ({ path, content }) =>
    tool({ kind: 'edit', title: fill(path), locations: [{ path: fill(path) }] }, () => {
      writeFileSync(fill(path), fill(content));
      return {};
    }),
  // Asks first, and plays one of two rows of steps.
  async permission({ command, diff, allowed = [], refused = [] }) {
    const call =
      command === undefined ? { kind: 'edit', title: diff.path } : { kind: 'execute', title: command };
    const { result } = await ask('session/request_permission', {
      sessionId: SESSION,
      toolCall: {
        toolCallId: `call-${lastId++}`,
        status: 'pending',
        ...call,
        ...(command === undefined ? { content: [{ type: 'diff', ...diff }] } : { rawInput: { command } }),
      },
      options: [
        { optionId: 'once', kind: 'allow_once', name: 'Allow once' },
        { optionId: 'always', kind: 'allow_always', name: 'Always allow' },
        { optionId: 'no', kind: 'reject_once', name: 'Reject' },
      ],
    });
    await play(result?.outcome?.optionId === 'once' ? allowed : refused);
  },
  // Until somebody says something more, ends the turn, or the file is there.
  async wait(path) {
    while (turn.said.length < 2 && !turn.cancelled && !(typeof path === 'string' && existsSync(path)))
      await pause(20);
  },
  raw: (text) => print(fill(text)),
  bytes: (base64) => print(Buffer.from(base64, 'base64')),
  giant: (length) => print(`${'x'.repeat(length)}\n`),
  err: (text) => void process.stderr.write(text),
  pause,
  trap: () => void process.on('SIGTERM', () => {}),
  leave: (command, { away = false }) =>
    void spawn(command, { shell: true, detached: away, stdio: 'inherit' }).unref(),
  hang: () => new Promise(() => setInterval(() => {}, 60_000)),
  exit: (code) => process.exit(code),
  error(error) {
    turn.over = true;
    return print(turn.ids.map((id) => line({ id, error })).join(''));
  },
  stop(reason) {
    turn.over = true;
    return print(answer(reason));
  },
  /** The answer as text that another step writes, whole or in part. */
  unended() {
    turn.over = true;
    return print(answer('end_turn').trimEnd());
  },
};

async function play(steps) {
  for (const step of steps) {
    if (turn.over || turn.cancelled) return;
    const [name] = Object.keys(step);
    await STEPS[name](step[name], step);
  }
}

async function prompted({ id, params }) {
  const text = params.prompt.map((part) => part.text).join('');
  if (turn !== null) {
    if (script.cancels === true) {
      turn.next = { id, params };
      turn.cancelled = true;
    } else {
      turn.ids.push(id);
      turn.said.push(text);
    }
    return;
  }
  turn = { ids: [id], said: [text], over: false, cancelled: false, next: null };
  await play(script.turns[Math.min(played++, script.turns.length - 1)]);
  if (!turn.over) await print(answer(turn.cancelled ? 'cancelled' : 'end_turn'));
  const { next } = turn;
  turn = null;
  if (next !== null) await prompted(next);
}

const METHODS = {
  initialize: () => ({
    protocolVersion: 1,
    agentCapabilities: { loadSession: true },
    agentInfo: { name: 'Stand-in', version: '1.2.3' },
    ...script.about,
  }),
  'session/new': () => ({ sessionId: SESSION, ...script.session }),
  async 'session/load'() {
    await print(chunk('This was said long ago.'));
    return {};
  },
  'session/set_model': () => ({}),
  'session/set_config_option': () => ({}),
  '_session/steering'({ prompt }) {
    turn?.said.push(prompt.map((part) => part.text).join(''));
    return { outcome: turn === null ? 'dropped' : 'injected' };
  },
};

for await (const text of createInterface({ input: process.stdin })) {
  const message = JSON.parse(text);
  if (script.log !== undefined) appendFileSync(script.log, `${text}\n`);
  if (message.method === undefined) {
    waiting.get(message.id)?.(message);
  } else if (message.method === 'session/prompt') void prompted(message);
  else if (message.method === 'session/cancel') {
    if (turn !== null && script.deaf !== true) turn.cancelled = true;
  } else if (script.refuses?.[message.method] !== undefined) {
    await print(line({ id: message.id, error: script.refuses[message.method] }));
  } else await print(line({ id: message.id, result: await METHODS[message.method](message.params) }));
}
process.exit(0);
