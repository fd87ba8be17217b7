/**
 * Records streams of the real agent CLIs beside Claude Code against the scripted model, started as their adapters
 * start them, into test/fixtures/agents/<cli>-<version>. Run it after a pinned version changed:
 * `npx tsx test/agents/record-clis.ts <cli> [scene…]`. Paths and ports of this machine are replaced.
 */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Cli } from '../../src/agents/cli.ts';
import { CLIS, type CliKind } from '../../src/agents/clis.ts';
import { startTalk } from '../../src/agents/talk.ts';
import type { AgentCall } from '../../src/engine/index.ts';
import { homeOf } from './homes.ts';
import { programOf, versionOf } from './installed.ts';
import { always, type Fault, startModelServer, type Turn } from './model-server.ts';

interface Scene {
  turns: Turn[];
  /** The provider cannot be reached. */
  unplugged?: boolean;
  /** SIGTERM two seconds after the first tool call. */
  interrupted?: boolean;
  seconds?: number;
  /** Said while the first tool runs, to a program that can be talked to. */
  said?: string;
}

const DONE: Turn = { text: 'All done.\n\n<promise>COMPLETE</promise>' };
const WORK: Turn[] = [
  {
    text: 'I write the file.',
    write: { path: 'hello.txt', content: 'hello\n' },
    usage: { input: 900, output: 40, cacheRead: 200 },
  },
  { text: 'Now I commit.', run: 'git add -A && git commit -qm "Add hello"' },
];
const RESETS_AT = 4_102_444_800;
const used: Fault = always(429, {
  body: {
    error: {
      type: 'usage_limit_reached',
      message: 'The usage limit has been reached',
      plan_type: 'pro',
      resets_at: RESETS_AT,
    },
  },
});
const ENDLESS = { times: Number.MAX_SAFE_INTEGER };
const TOO_LONG =
  "This model's maximum context length is 200000 tokens. However, your messages resulted in 250000 tokens.";

const SCENES: Record<string, Scene> = {
  success: { turns: [...WORK, DONE] },
  'command-fails': { turns: [{ run: 'echo broken >&2; exit 3' }, { run: 'exit 0' }, DONE] },
  'limit-now': {
    turns: [{ fault: always(429, { message: 'Rate limit reached for requests.' }) }],
    seconds: 25,
  },
  'limit-with-reset': { turns: [{ fault: used }] },
  auth: { turns: [{ fault: always(401, { message: 'Incorrect API key provided.' }) }] },
  overload: { turns: [{ fault: always(529, { message: 'Overloaded' }) }], seconds: 45 },
  billing: {
    turns: [
      {
        fault: always(429, {
          message: 'You exceeded your current quota, please check your plan and billing details.',
          code: 'insufficient_quota',
        }),
      },
    ],
    seconds: 25,
  },
  'prompt-too-long': {
    turns: [{ fault: always(400, { message: TOO_LONG, code: 'context_length_exceeded' }) }],
    seconds: 12,
  },
  network: { turns: [DONE], unplugged: true },
  'cut-off': { turns: [{ ...WORK[0], fault: { kind: 'truncate' } }, DONE] },
  'broken-off': { turns: [...WORK, { ...DONE, fault: { kind: 'truncate', ...ENDLESS } }], seconds: 30 },
  empty: { turns: [{ text: '' }] },
  steered: {
    turns: [{ text: 'I wait.', run: 'timeout 4 tail -f /dev/null; echo ran' }, DONE],
    said: 'Target Firefox only.',
  },
  interrupted: { turns: [{ run: 'tail -f /dev/null' }, DONE], interrupted: true },
};

const [cli, ...wanted] = process.argv.slice(2);
if (cli === undefined || !Object.hasOwn(CLIS, cli)) {
  throw new Error(`Name one of ${Object.keys(CLIS).join(', ')}.`);
}
const name = cli as CliKind;
const row: Cli = CLIS[name];

/** Gives it the prompt as its adapter does; answers who hears each line of its stdout. */
function begin(
  child: ChildProcessWithoutNullStreams,
  call: AgentCall,
  said?: string,
): (line: string) => void {
  if (row.live === undefined) {
    child.stdin.end(call.prompt);
    return () => {};
  }
  const input = {
    write: (text: string) => child.stdin.write(text) || true,
    endInput: () => void child.stdin.end(),
  };
  const talk = startTalk(input, row.live(call), call.prompt);
  const reader = row.read(call);
  let silent = said === undefined;
  return (line) => {
    talk.heard(line);
    const events = reader.line(line);
    if (!silent && events.some((event) => event.kind === 'tool')) {
      silent = true;
      setTimeout(() => void talk.send(said ?? ''), 500);
    }
    if (reader.leaving() === 'no') talk.goOn();
    else talk.hush({ failed: reader.told().error !== null, busy: false });
  };
}

async function record(title: string, scene: Scene): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'recording-'));
  const [home, repo] = [join(root, 'home'), join(root, 'repo')];
  for (const folder of [home, repo]) mkdirSync(folder);
  const server = await startModelServer({ conversations: [{ turns: scene.turns }] });
  const url = scene.unplugged === true ? 'http://127.0.0.1:1' : server.url;
  const env = { ...row.env, ...homeOf(name, url, home) };
  const prompt = `Do the scripted work: ${title}.`;
  const call = { model: null, readOnly: false, cwd: repo, prompt, env: {} } as unknown as AgentCall;
  execFileSync('git', ['init', '-qb', 'main', repo], { env });
  execFileSync('git', ['-C', repo, 'commit', '-q', '--allow-empty', '-m', 'init'], { env });
  const child = spawn(programOf(name), row.args(call), { cwd: repo, env, detached: true });
  const end = (signal: NodeJS.Signals): void =>
    void (child.pid !== undefined && child.exitCode === null && process.kill(-child.pid, signal));
  const wall = setTimeout(end, (scene.seconds ?? 30) * 1000, 'SIGKILL');
  let [out, complaints, told] = ['', '', false];
  child.stdout.on('data', (bytes: Buffer) => {
    out += bytes.toString('utf8');
    if (scene.interrupted !== true || told || server.requests.length === 0) return;
    told = true;
    setTimeout(end, 2000, 'SIGTERM');
  });
  child.stderr.on('data', (bytes: Buffer) => {
    complaints += bytes.toString('utf8');
  });
  const hear = begin(child, call, scene.said);
  createInterface({ input: child.stdout }).on('line', hear);
  const code = await new Promise((resolve) => child.on('exit', (exit, signal) => resolve(exit ?? signal)));
  clearTimeout(wall);
  await server.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  const folder = new URL(`../fixtures/agents/${name}-${versionOf(name)}/`, import.meta.url);
  mkdirSync(folder, { recursive: true });
  const scrub = (text: string) =>
    text
      .replaceAll(root, '/home/dev')
      .replaceAll(/\/\$bunfs\/[a-z]+\//g, '')
      .replaceAll(server.url.replace('http://', ''), '127.0.0.1:4000');
  writeFileSync(new URL(`${title}.jsonl`, folder), scrub(out));
  if (row.read().complaint !== undefined && complaints !== '') {
    writeFileSync(new URL(`${title}.stderr`, folder), scrub(complaints));
  }
  const replies = server.requests.map((request) => request.reply).join(' ');
  return `${title}: exit ${code}, ${out.split('\n').length - 1} lines, ${replies.slice(0, 200)}`;
}

for (const [title, scene] of Object.entries(SCENES)) {
  if (wanted.length > 0 && !wanted.includes(title)) continue;
  if (scene.said !== undefined && row.live === undefined) continue;
  process.stdout.write(`${await record(title, scene)}\n`);
}
