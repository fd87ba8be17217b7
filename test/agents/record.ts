/**
 * Records streams of the real Claude Code against the scripted model into test/fixtures/agents/claude-<version>.
 * Run it after the pinned version changed: `npx tsx test/agents/record.ts [name…]`. Paths, ports and ids of
 * this machine are replaced, so that two recordings differ only where the program does.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claudeProgram, claudeVersion } from './installed.ts';
import {
  always,
  type Conversation,
  claudeEnv,
  startModelServer,
  subscriptionLimit,
  type Turn,
} from './model-server.ts';

interface Recording {
  turns: Turn[];
  others?: Conversation[];
  env?: Record<string, string>;
  args?: string[];
  /** Signal sent a second after the first tool call. */
  signal?: NodeJS.Signals;
  /** Ends the program after so many retries. */
  retries?: number;
  /** Keep its permission prompts, which nobody answers. */
  asks?: boolean;
}

const DONE: Turn = { text: 'All done.\n\n<promise>COMPLETE</promise>' };
const SUBSCRIPTION = { CLAUDE_CODE_OAUTH_TOKEN: 'scripted', ANTHROPIC_API_KEY: '' };
const RESETS_AT = 4_102_444_800;
const LONG = 'tail -f /dev/null';
const LOOK = {
  description: 'look around',
  prompt: 'SUBAGENT: look around',
  subagent_type: 'general-purpose',
};
const WARNING = {
  'anthropic-ratelimit-unified-status': 'allowed_warning',
  'anthropic-ratelimit-unified-reset': String(RESETS_AT),
  'anthropic-ratelimit-unified-representative-claim': 'five_hour',
  'anthropic-ratelimit-unified-5h-status': 'allowed_warning',
  'anthropic-ratelimit-unified-5h-reset': String(RESETS_AT),
  'anthropic-ratelimit-unified-5h-utilization': '0.92',
};

const RECORDINGS: Record<string, Recording> = {
  success: {
    turns: [
      {
        text: 'I write the file.',
        write: { path: 'hello.txt', content: 'hello\n' },
        usage: { input: 900, output: 40, cacheRead: 200, cacheWrite: 100 },
      },
      { text: 'Now I commit.', run: 'git add -A && git commit -qm "Add hello"' },
      DONE,
    ],
  },
  edit: {
    turns: [
      { write: { path: 'a.txt', content: 'one\n' } },
      { run: 'test -f a.txt' },
      { tools: [{ name: 'Edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'two' } }] },
      DONE,
    ],
  },
  'command-fails': { turns: [{ run: 'echo broken >&2; exit 3' }, { run: 'exit 0' }, DONE] },
  denied: { turns: [{ run: 'touch x && npm publish' }, DONE], asks: true },
  'limit-with-reset': { turns: [{ fault: subscriptionLimit(RESETS_AT) }], env: SUBSCRIPTION },
  'limit-warned': { turns: [{ run: 'echo 1', headers: WARNING }, DONE], env: SUBSCRIPTION },
  'limit-now': { turns: [{ fault: always(429, { headers: { 'retry-after': '7200' } }) }] },
  'limit-retried': {
    turns: [
      { run: 'echo 1', fault: { kind: 'status', status: 429, headers: { 'retry-after': '1' }, times: 2 } },
      DONE,
    ],
  },
  auth: {
    turns: [{ fault: always(401, { message: 'invalid x-api-key' }) }],
    env: { CLAUDE_CODE_MAX_RETRIES: '0' },
  },
  'auth-retrying': { turns: [{ fault: always(401, { message: 'invalid x-api-key' }) }], retries: 3 },
  overload: {
    turns: [{ fault: always(529, { message: 'Overloaded' }) }],
    env: { CLAUDE_CODE_MAX_RETRIES: '1' },
  },
  billing: {
    turns: [{ fault: always(400, { message: 'Your credit balance is too low to access the API.' }) }],
  },
  'prompt-too-long': {
    turns: [{ fault: always(400, { message: 'prompt is too long: 250000 tokens > 200000 maximum' }) }],
  },
  network: { turns: [DONE], env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', CLAUDE_CODE_MAX_RETRIES: '1' } },
  'cut-off': {
    turns: [{ text: 'One.', write: { path: 'a.txt', content: 'a\n' }, fault: { kind: 'truncate' } }, DONE],
  },
  empty: { turns: [{ text: '' }] },
  'max-turns': { turns: [{ run: 'echo 1' }, DONE], args: ['--max-turns', '1'] },
  interrupted: { turns: [{ run: LONG }, DONE], signal: 'SIGTERM' },
  'interrupted-sigint': { turns: [{ run: LONG }, DONE], signal: 'SIGINT' },
  subagent: {
    turns: [{ tools: [{ name: 'Task', input: { ...LOOK, run_in_background: false } }] }, DONE],
    others: [
      {
        match: /SUBAGENT/,
        turns: [{ text: 'Looking.', run: 'ls' }, { text: 'Seen. <promise>COMPLETE</promise>' }],
      },
    ],
  },
  'subagent-in-background': {
    turns: [{ tools: [{ name: 'Task', input: LOOK }] }, { text: 'I wait for the look.' }],
    others: [
      { match: /task-notification/, turns: [DONE] },
      {
        match: /SUBAGENT/,
        turns: [{ delayMs: 1000, run: 'ls' }, { text: 'Seen. <promise>BLOCKED:x</promise>' }],
      },
    ],
  },
  'command-in-background': {
    turns: [
      { tools: [{ name: 'Bash', input: { command: LONG, description: 'server', run_in_background: true } }] },
      DONE,
    ],
    signal: 'SIGTERM',
  },
};

function scrub(text: string, root: string, url: string): string {
  const folder = root.replaceAll('/', '-');
  return text
    .replaceAll(root, '/home/dev')
    .replaceAll(folder, '-home-dev')
    .replaceAll(url, 'http://127.0.0.1:4000')
    .replaceAll(url.replace('http://', ''), '127.0.0.1:4000');
}

async function record(name: string, recording: Recording): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'recording-'));
  const [home, repo] = [join(root, 'home'), join(root, 'repo')];
  for (const folder of [home, repo]) mkdirSync(folder);
  const { others = [], turns } = recording;
  const server = await startModelServer({ conversations: [...others, { turns }] });
  const env = { ...claudeEnv(server.url, home), IS_SANDBOX: '1', ...recording.env };
  execFileSync('git', ['init', '-qb', 'main', repo], { env });
  execFileSync('git', ['-C', repo, 'commit', '-q', '--allow-empty', '-m', 'init'], { env });
  const mode = recording.asks === true ? [] : ['--dangerously-skip-permissions'];
  const args = ['-p', '--output-format', 'stream-json', '--verbose', ...mode, ...(recording.args ?? [])];
  const child = spawn(claudeProgram(), args, { cwd: repo, env, detached: true });
  const end = (signal: NodeJS.Signals): void =>
    void (child.pid !== undefined && process.kill(child.pid, signal));
  const wall = setTimeout(() => end('SIGKILL'), 40_000);
  let out = '';
  let signalled = false;
  child.stdout.on('data', (bytes: Buffer) => {
    out += bytes.toString('utf8');
    const retried = out.split('"api_retry"').length - 1;
    if (signalled) return;
    if (recording.retries !== undefined && retried >= recording.retries) end('SIGTERM');
    else if (recording.signal !== undefined && /"tool_use"/.test(out))
      setTimeout(end, 2000, recording.signal);
    else return;
    signalled = true;
  });
  child.stdin.end(`Do the scripted work: ${name}.`);
  const code = await new Promise((resolve) => child.on('exit', (exit, signal) => resolve(exit ?? signal)));
  clearTimeout(wall);
  await server.close();
  rmSync(root, { recursive: true, force: true });
  const replies = server.requests.map((request) => request.reply).join(' ');
  const folder = new URL(`../fixtures/agents/claude-${claudeVersion()}/`, import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(`${name}.jsonl`, folder), scrub(out, root, server.url));
  return `${name}: exit ${code}, ${out.split('\n').length - 1} lines, ${replies}`;
}

const wanted = process.argv.slice(2);
for (const [name, recording] of Object.entries(RECORDINGS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stdout.write(`${await record(name, recording)}\n`);
}
