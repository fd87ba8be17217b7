/** The real agent CLIs beside Claude Code, each alone and in the whole loop, offline against the scripted model. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAgent } from '../../src/agents/index.ts';
import type { AgentReport } from '../../src/core/index.ts';
import type { AgentCall } from '../../src/engine/index.ts';
import { csv, facts, verdicts } from '../e2e/journal.ts';
import { type Ran, result } from '../e2e/project.ts';
import { removeFolder } from '../remove-folder.ts';
import { homeOf } from './homes.ts';
import { isInstalled, programOf, versionOf } from './installed.ts';
import { type LoopOptions, type LoopProject, loopProject, task, works } from './loop-project.ts';
import { always, type Fault, type ModelServer, startModelServer, type Turn } from './model-server.ts';

const NAMES = ['codex', 'opencode', 'pi', 'gemini', 'qwen', 'copilot'] as const;
type Name = (typeof NAMES)[number];

/** Why it is not asked for a limit here. */
const NO_LIMIT: Partial<Record<Name, string>> = {
  gemini: 'it goes on trying for minutes',
  qwen: 'it goes on trying for minutes',
  copilot: 'it goes on trying for minutes',
};
const ENDLESS = { times: Number.MAX_SAFE_INTEGER };

let root = '';
let server: ModelServer | null = null;
let project: LoopProject | null = null;
afterEach(async () => {
  await server?.close();
  await project?.close();
  if (root !== '') removeFolder(root);
  server = null;
  project = null;
  root = '';
});

function place(): string {
  root = mkdtempSync(join(tmpdir(), 'real-cli-'));
  for (const folder of ['home', 'repo']) mkdirSync(join(root, folder));
  execFileSync('git', ['init', '-qb', 'main', join(root, 'repo')]);
  return join(root, 'repo');
}

/** One run of the CLI at the place, with the model as it stands. */
async function play(name: Name, repo: string, over: Partial<AgentCall> = {}): Promise<AgentReport> {
  const home = join(root, 'home');
  const agent = createAgent({ kind: name, name, program: programOf(name) });
  const handle = await agent.start({
    prompt: 'Do the scripted work.',
    promptPath: '',
    cwd: repo,
    marker: `real-${name}-${process.pid}`,
    allowance: { wallMs: 60_000, idleMs: 40_000 },
    logPath: join(root, 'log'),
    model: null,
    readOnly: false,
    spawned: () => Promise.resolve(),
    event: () => {},
    groundMoved: () => Promise.resolve(false),
    ...over,
    env: { ...homeOf(name, server?.url ?? '', home), RALPH_RUN_TOKEN: 'a-token', ...over.env },
  });
  return handle.done;
}

/** A project whose only task plays these turns; the last ones again and again. */
async function open(cli: Name, tries: Turn[][], rest: Partial<LoopOptions> = {}): Promise<LoopProject> {
  const conversations = tries.map((turns) => ({ match: task('a'), turns }));
  return loopProject({ ...rest, cli, tasks: ['a'], script: { conversations } });
}
const run = (at: LoopProject, cli: Name, ...args: string[]): Promise<Ran> =>
  at.loop('run', '--agent', cli, '--json', ...args);
const endOf = (ran: Ran) => {
  expect(ran.out, ran.err).toContain('"type":"result"');
  return result(ran).exit;
};

for (const name of NAMES) {
  const why = isInstalled(name) ? '' : ' (skipped: not installed here, the reason stands at the beginning)';
  describe.skipIf(why !== '')(`${name} ${versionOf(name)}, the real one${why}`, () => {
    it('works off a task; tokens are the server’s', async () => {
      project = await open(name, [works('a')]);
      expect(endOf(await run(project, name))).toMatchObject({ code: 0, word: 'COMPLETE' });
      expect(project.git('show', 'HEAD:a.txt')).toBe('made a');
      expect(project.git('status', '--porcelain')).toBe('');
      expect(verdicts(project)).toEqual(['a accepted']);
      expect(project.leftovers()).toEqual([]);
      const [row] = csv(project).rows;
      const sent = project.server.usage('script');
      expect(row).toMatchObject({ agent: name, outcome: 'accepted' });
      const { tokens, cost } = createAgent({ kind: name, name }).capabilities;
      const input = sent.input + sent.cacheRead + sent.cacheWrite;
      expect(Number(row?.input_tokens)).toBe(tokens ? input : 0);
      expect(Number(row?.output_tokens)).toBe(tokens ? sent.output : 0);
      const { report } = facts(project, 'attempt.ended')[0] as unknown as { report: AgentReport };
      expect(report.unknownEvents).toBe(0);
      // What the price table reckons is not told by the agent.
      expect(report.usage.costFrom === undefined && Number(row?.cost_usd) > 0).toBe(cost);
    });

    it('goes on in the session of an earlier run, hands the whole environment to its tools, and reads a big prompt', async () => {
      const repo = place();
      server = await startModelServer({
        conversations: [{ turns: [{ run: 'echo "$RALPH_RUN_TOKEN" > token' }, { text: 'First.' }] }],
      });
      const prompt = `BEGIN ${'lorem ipsum 漢字 '.repeat(18_000)} END-OF-PROMPT`;
      const first = await play(name, repo, { prompt });
      expect(first).toMatchObject({ ending: 'ended', finalMessage: 'First.', unknownEvents: 0 });
      expect(execFileSync('cat', [join(repo, 'token')], { encoding: 'utf8' })).toBe('a-token\n');
      const asked = server.requests.filter(({ reply }) => reply !== 'aux');
      expect(asked[0]?.promptBytes).toBeGreaterThanOrEqual(Buffer.byteLength(prompt));
      await server.close();
      server = await startModelServer({ conversations: [{ turns: [{ text: 'I remember.' }] }] });
      const again = await play(name, repo, { prompt: 'And now?', resume: first.sessionId ?? '' });
      expect(again).toMatchObject({
        ending: 'ended',
        finalMessage: 'I remember.',
        sessionId: first.sessionId,
      });
      const { input, cacheRead, cacheWrite } = server.usage('script');
      const { tokens } = createAgent({ kind: name, name }).capabilities;
      // Qwen Code asks once more beside, and leaves that out of its stream.
      if (name !== 'qwen') expect(again.usage.inputTokens).toBe(tokens ? input + cacheRead + cacheWrite : 0);
      const more = server.requests.find(({ reply }) => reply === 'text');
      expect(more?.messages).toBeGreaterThan(asked.at(-1)?.messages ?? 0);
    });

    it('a refused login ends the run with 6 within five seconds of its first word of it, uncharged', async () => {
      project = await open(name, [[{ fault: always(401, { message: 'Incorrect API key provided.' }) }]]);
      const ran = await run(project, name);
      const over = Date.now();
      const exit = endOf(ran);
      expect(exit).toMatchObject({ code: 6, word: 'AGENT_FAILURE' });
      expect(exit.reason).toMatch(/Log in/);
      const first = project.server.requests.find(({ reply }) => reply.startsWith('status'));
      expect(over - (first?.at ?? 0)).toBeLessThan(5_000);
      expect(facts(project, 'attempt.started')).toHaveLength(1);
      expect(facts(project, 'task.charged')).toEqual([]);
    });

    const patient = NO_LIMIT[name];
    it.skipIf(patient !== undefined)(
      `a limit is told as one${patient === undefined ? '' : ` (skipped: ${patient})`}`,
      async () => {
        server = await startModelServer({
          conversations: [
            { turns: [{ fault: always(429, { message: 'Rate limit reached for requests.' }) }] },
          ],
        });
        const report = await play(name, place());
        expect(report).toMatchObject({ ending: 'died', error: { kind: 'limit' }, finalMessage: '' });
      },
    );

    const holdsOn = name === 'qwen' ? ' (skipped: it goes on trying for minutes)' : '';
    it.skipIf(holdsOn !== '')(
      `a stream that is cut off again and again is no work done${holdsOn}`,
      async () => {
        // Gemini's tool calls arrive in one piece, before the cut, and are carried out; its claim is cut in two.
        const cut = name === 'gemini' ? works('a').length - 1 : 0;
        const fault: Fault = { kind: 'truncate', ...ENDLESS };
        const turns = works('a').map((turn, at) => (at === cut ? { ...turn, fault } : turn));
        project = await open(name, [turns]);
        const exit = endOf(await run(project, name, '--max-iterations', '1'));
        expect(exit.code).not.toBe(0);
        expect(verdicts(project)).not.toContain('a accepted');
        expect(JSON.parse(project.read('ralph/tasks.json'))).toMatchObject({
          userStories: [{ passes: false }],
        });
      },
    );
  });
}

describe.skipIf(!isInstalled('codex'))(
  'codex, whose limit ends at a time that it tells to the minute',
  () => {
    let at: LoopProject;
    let done: Promise<Ran>;
    let resetsAt = 0;

    // It waits for up to a minute, and so the others go on meanwhile.
    beforeAll(async () => {
      const limited: Turn = {
        ...works('a')[0],
        get fault(): Fault[] {
          resetsAt ||= Math.ceil(Date.now() / 1000) + 1;
          if (Date.now() >= resetsAt * 1000) return [];
          const error = {
            type: 'usage_limit_reached',
            message: 'used up',
            plan_type: 'pro',
            resets_at: resetsAt,
          };
          return [always(429, { body: { error } })];
        },
      };
      at = await open('codex', [[limited, ...works('a').slice(1)]]);
      done = run(at, 'codex');
    });
    afterAll(() => at?.close());

    it('is parked until that minute is over, and goes on', async () => {
      const ran = await done;
      expect(endOf(ran)).toMatchObject({ code: 0 });
      const [parked] = facts(at, 'provider.parked') as unknown as { agent: string; until: number }[];
      expect(parked?.agent).toBe('codex');
      expect(parked?.until).toBeGreaterThanOrEqual(resetsAt * 1000);
      expect(parked?.until).toBeLessThanOrEqual(resetsAt * 1000 + 60_000);
      expect(verdicts(at)).toEqual(['a died', 'a accepted']);
      expect(facts(at, 'task.charged')).toEqual([]);
    });
  },
);
