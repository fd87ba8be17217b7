/** A real agent behind the Agent Client Protocol, built on the protocol's own library: OpenCode, driven by `opencode acp`. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { facts, json, started, until, verdicts } from '../e2e/journal.ts';
import { result, type Started } from '../e2e/project.ts';
import { TOKEN, telegramStandin } from '../standins/telegram.ts';
import { isInstalled, versionOf } from './installed.ts';
import { type LoopOptions, type LoopProject, loopProject, task, works } from './loop-project.ts';
import { always, type Fault, type Turn } from './model-server.ts';

// It takes half a minute to its first word on a busy machine.
const SLOW_MS = 90_000;
vi.setConfig({ testTimeout: 180_000 });

let project: LoopProject | null = null;
afterEach(async () => {
  await project?.close();
  project = null;
});

/** A tool that runs until somebody lets it go. */
const HELD: Turn = {
  run: 'touch "$HOME/started"; while ! test -e "$HOME/go"; do timeout 0.1 tail -f /dev/null; done; echo ran',
};

/** A project whose only task plays these turns, and its run. */
async function begin(
  turns: Turn[],
  rest: Partial<LoopOptions> = {},
): Promise<{ at: LoopProject; done: Started['done'] }> {
  const script = { conversations: [{ match: task('a'), turns }] };
  const at = await loopProject({ ...rest, cli: 'opencode', tasks: ['a'], script });
  project = at;
  return { at, done: at.begin('run', '--agent', 'acp:opencode acp', '--json').done };
}

const why = isInstalled('opencode')
  ? ''
  : ' (skipped: not installed here, the reason stands at the beginning)';
describe.skipIf(why !== '')(`opencode acp ${versionOf('opencode')}, the real one${why}`, () => {
  it('works off a task, and tells nothing that is not known', async () => {
    const { at, done } = await begin(works('a'));
    const ran = await done;
    expect(ran.out, ran.err).toContain('"type":"result"');
    expect(result(ran).exit).toMatchObject({ code: 0, word: 'COMPLETE' });
    expect(at.git('show', 'HEAD:a.txt')).toBe('made a');
    expect(verdicts(at)).toEqual(['a accepted']);
    expect(facts(at, 'attempt.ended')[0]).toMatchObject({
      report: {
        ending: 'ended',
        unknownEvents: 0,
        commands: [{ command: 'git add a.txt && git commit -qm "feat: a"', exitCode: 0 }],
      },
    });
    expect(at.leftovers()).toEqual([]);
  });

  it('said while a tool runs, it is in the next model request, receipted, and one run is enough', async () => {
    const { at, done } = await begin([HELD, ...works('a')]);
    await until(() => existsSync(join(at.home, 'started')), 'the tool runs', SLOW_MS);
    const before = at.server.requests.length;
    await at.loop('tell', 'Target Firefox only, not Chrome.');
    await until(() => facts(at, 'message.received').length === 1, 'the signal taken in');
    expect(facts(at, 'guidance.reached')).toEqual([]);
    writeFileSync(join(at.home, 'go'), '');
    expect(result(await done).exit).toMatchObject({ code: 0 });
    const next = at.server.requests.slice(before).find(({ reply }) => reply !== 'aux');
    expect(next?.told).toContain('Target Firefox only, not Chrome.');
    expect(facts(at, 'guidance.reached')).toMatchObject([{ iteration: 1, how: 'live' }]);
    expect([started(at), verdicts(at)]).toEqual([1, ['a accepted']]);
  });

  it('a refused login ends the run with 6 within five seconds of its first word of it, uncharged', async () => {
    const { at, done } = await begin([{ fault: always(401, { message: 'Incorrect API key provided.' }) }]);
    const ran = await done;
    const over = Date.now();
    const { exit } = result(ran);
    expect(exit).toMatchObject({ code: 6, word: 'AGENT_FAILURE' });
    expect(exit.reason).toMatch(/Log in/);
    const first = at.server.requests.find(({ reply }) => reply.startsWith('status'));
    expect(over - (first?.at ?? 0)).toBeLessThan(5_000);
    expect(facts(at, 'attempt.started')).toHaveLength(1);
    expect(facts(at, 'task.charged')).toEqual([]);
  });

  it('a stream that is cut off again and again is no work done', async () => {
    const fault: Fault = { kind: 'truncate', times: Number.MAX_SAFE_INTEGER };
    const [first, ...rest] = works('a');
    const script = { conversations: [{ match: task('a'), turns: [{ ...first, fault }, ...rest] }] };
    const at = await loopProject({ cli: 'opencode', tasks: ['a'], script });
    project = at;
    const ran = await at.loop('run', '--agent', 'acp:opencode acp', '--json', '--max-iterations', '1');
    expect(result(ran).exit.code).not.toBe(0);
    expect(verdicts(at)).not.toContain('a accepted');
    expect(at.leftovers()).toEqual([]);
  });

  it('ends its turn at a no; the verdict says so, and the next prompt tells what was refused', async () => {
    // It adds the address of its schema to a file that has none.
    const $schema = 'https://opencode.ai/config.json';
    const asks = { $schema, permission: { bash: { '*': 'allow', 'touch *': 'ask' } } };
    const turns = [{ run: 'touch "$HOME/asked"' }, ...works('a')];
    const conversations = [turns, works('a')].map((each) => ({ match: task('a'), turns: each }));
    project = await loopProject({
      cli: 'opencode',
      tasks: ['a'],
      script: { conversations },
      files: { 'opencode.json': JSON.stringify(asks) },
      config: 'permissions: { rules: [{ match: "touch *", policy: deny }] }\n',
    });
    const ran = await project.begin('run', '--agent', 'acp:opencode acp', '--json').done;
    expect(result(ran).exit).toMatchObject({ code: 0 });
    expect(existsSync(join(project.home, 'asked'))).toBe(false);
    expect(verdicts(project)).toEqual([
      expect.stringMatching(/^a rejected .*permission_refused/),
      'a accepted',
    ]);
    expect(facts(project, 'attempt.started')[1]?.reminded).toMatchObject([
      expect.stringMatching(/touch "\$HOME\/asked".*the rule "touch \*" says deny/),
    ]);
  });

  it('asks before a command, which stands in the inbox, and runs it when a person allows it', async () => {
    const phone = await telegramStandin();
    onTestFinished(() => phone.close());
    const asks = { permission: { bash: { '*': 'allow', 'touch *': 'ask' } } };
    const { at, done } = await begin([{ run: 'touch "$HOME/asked"' }, ...works('a')], {
      env: { RALPH_TELEGRAM_BOT_TOKEN: TOKEN, RALPH_TELEGRAM_API_URL: phone.url },
      files: { 'opencode.json': JSON.stringify(asks) },
      config:
        'RObot: { enabled: true, timeout_seconds: 600, telegram: { allowed_users: [1] } }\npermissions: { rules: [{ match: "touch *", policy: ask }] }\n',
    });
    await until(() => facts(at, 'question.asked').length === 1, 'the question', SLOW_MS);
    const open = json<{ kind: string; text: string }[]>(await at.loop('inbox', '--json'));
    expect(open).toMatchObject([
      { kind: 'permission', text: expect.stringContaining('touch "$HOME/asked"') },
    ]);
    expect(existsSync(join(at.home, 'asked'))).toBe(false);
    expect((await at.loop('answer', 'q1', 'allow')).code).toBe(0);
    expect(result(await done).exit).toMatchObject({ code: 0 });
    expect(existsSync(join(at.home, 'asked'))).toBe(true);
    expect(facts(at, 'guidance.reached')).toMatchObject([{ questions: ['q1'], how: 'live' }]);
    expect(verdicts(at)).toEqual(['a accepted']);
  });
});
