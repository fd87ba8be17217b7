import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { csv, facts, json, until, verdicts } from '../e2e/journal.ts';
import { type Ran, result } from '../e2e/project.ts';
import { claudeVersion } from './installed.ts';
import {
  claims,
  ENDLESS,
  type LoopOptions,
  type LoopProject,
  limitedFor,
  loopProject,
  resultOf,
  SUBSCRIBED,
  task,
  works,
} from './loop-project.ts';
import { always, type Conversation, type Fault, type Turn } from './model-server.ts';

let project: LoopProject;
afterEach(() => project?.close());

const START = ['run', '--agent', 'claude', '--json'];
/** A project with the tasks that the conversations name. */
async function open(
  conversations: Conversation[],
  { tasks = ['a'], ...rest }: Partial<LoopOptions> = {},
): Promise<void> {
  project = await loopProject({ ...rest, tasks, script: { conversations } });
}
/** Each run at task a plays the next list of turns, the last one again and again. */
const tries = (...turns: Turn[][]): Conversation[] => turns.map((one) => ({ match: task('a'), turns: one }));

/** The result of a run; its exit code is the same as the one it tells. */
function endOf(ran: Ran): { code: number; word: string; reason: string } {
  expect(ran.out, ran.err).toContain('"type":"result"');
  const { exit } = result(ran);
  expect(ran.code).toBe(exit.code);
  return exit;
}

/** Instants at which facts of this type were written, as the run told them. Epoch ms. */
function times(ran: Ran, type: string): number[] {
  const lines = ran.out.trimEnd().split('\n');
  return lines.flatMap((line) => {
    const fact = JSON.parse(line) as { type: string; at: string };
    return fact.type === type ? [Date.parse(fact.at)] : [];
  });
}
const passes = () => {
  const { userStories } = JSON.parse(project.read('ralph/tasks.json')) as {
    userStories: { passes: boolean }[];
  };
  return userStories.map((story) => story.passes);
};
const commits = () => project.git('log', '--format=%s', '--reverse').split('\n');
const charged = () => facts(project, 'task.charged').length;
const toolRuns = () => until(() => existsSync(join(project.home, 'started')), 'the tool runs');
interface TaskWhy {
  task: { attempts: number; runs: number };
  iterations: { outcome: string; findings: { kind: string }[]; evidence: { lost: string | null } }[];
}
const why = async () => json<TaskWhy>(await project.loop('why', 'a', '--json'));

describe(`the loop with Claude Code ${claudeVersion()}`, () => {
  it('works off two tasks; tokens are the server’s and the cost is the agent’s own', async () => {
    const tasks = ['a', 'b'];
    await open(
      tasks.map((id) => ({ match: task(id), turns: works(id) })),
      { tasks },
    );
    expect(endOf(await project.loop(...START))).toMatchObject({ code: 0, word: 'COMPLETE' });
    expect(commits().filter((subject) => tasks.includes(subject.slice(-1)))).toEqual(
      expect.arrayContaining(['feat: a', 'feat: b']),
    );
    expect(project.git('show', 'HEAD:a.txt')).toBe('made a');
    expect(passes()).toEqual([true, true]);
    expect(project.git('status', '--porcelain')).toBe('');
    expect(verdicts(project)).toEqual(['a accepted', 'b accepted']);
    expect(project.leftovers()).toEqual([]);

    const sent = project.server.usage();
    const { rows } = csv(project);
    const sum = (column: string) => rows.reduce((total, row) => total + Number(row[column]), 0);
    expect(rows.map((row) => [row.task_id, row.outcome, row.agent])).toEqual([
      ['a', 'accepted', 'claude'],
      ['b', 'accepted', 'claude'],
    ]);
    expect(sum('input_tokens')).toBe(sent.input + sent.cacheRead + sent.cacheWrite);
    expect(sum('output_tokens')).toBe(sent.output);
    for (const [index, row] of rows.entries()) {
      expect(Number(row.cost_usd)).toBe(resultOf(project, index + 1).total_cost_usd);
      expect(Number(row.cost_usd)).toBeGreaterThan(0);
      expect(row.model).toMatch(/^claude-/);
      expect(row.commit_hash).toMatch(/^[0-9a-f]{7}$/);
    }
  });

  it('does not believe a claim without work, says what was wrong, and the second try does it', async () => {
    await open(tries([claims()], works('a')));
    expect(endOf(await project.loop(...START))).toMatchObject({ code: 0 });
    const { iterations } = await why();
    expect(iterations.map(({ outcome }) => outcome)).toEqual(['rejected', 'accepted']);
    const kinds = iterations[0]?.findings.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['no_files_detected', 'false_completion_detected']));
    const [first, second] = project.server.requests.filter(
      ({ step, reply }) => step === 0 && reply !== 'aux',
    );
    expect(first?.prompt).not.toContain('PREVIOUS ITERATION FEEDBACK');
    expect(second?.prompt).toMatch(
      /## PREVIOUS ITERATION FEEDBACK \(DO NOT IGNORE\)[^#]*iteration 1[^#]*no file/i,
    );
    expect(passes()).toEqual([true]);
    expect(charged()).toBe(1);
  });

  it('waits for a used-up subscription until exactly the time it comes back, then goes on', async () => {
    const [write, ...rest] = works('a');
    const limited = limitedFor(6, write ?? {});
    await open(tries([limited.turn, ...rest]), { env: SUBSCRIBED });
    const ran = await project.loop(...START);
    expect(endOf(ran)).toMatchObject({ code: 0 });
    expect(facts(project, 'provider.parked')).toMatchObject([{ agent: 'claude', until: limited.resetsAt() }]);
    expect(verdicts(project)).toEqual(['a died', 'a accepted']);
    expect(charged()).toBe(0);
    expect(times(ran, 'attempt.started')[1]).toBeGreaterThanOrEqual(limited.resetsAt());
  });

  it('with --no-wait it ends with 6 and names that time', async () => {
    const limited = limitedFor(3600, claims());
    await open(tries([limited.turn]), { env: SUBSCRIBED });
    const exit = endOf(await project.loop(...START, '--no-wait'));
    expect(exit).toMatchObject({ code: 6, word: 'AGENT_FAILURE' });
    expect(exit.reason).toContain(new Date(limited.resetsAt()).toISOString());
    expect(charged()).toBe(0);
  });

  it('killed while a tool runs, it is resumed: the attempt is named, uncharged, and nothing is left', async () => {
    const half: Turn = { write: { path: 'half.txt', content: 'half\n' } };
    await open(tries([half, ENDLESS], works('a')));
    const { child, done } = project.begin(...START);
    await toolRuns();
    child.kill('SIGKILL');
    await done;
    expect(project.leftovers().length).toBeGreaterThan(0);

    expect(endOf(await project.loop('resume', '--agent', 'claude', '--json'))).toMatchObject({ code: 0 });
    expect(project.leftovers()).toEqual([]);
    expect(facts(project, 'attempt.lost')).toMatchObject([{ iteration: 1 }]);
    expect(facts(project, 'notice.given').map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/^Iteration 1 at task a was interrupted\. It is not charged/),
    );
    expect(await why()).toMatchObject({
      task: { attempts: 0, runs: 2 },
      iterations: [{ outcome: 'lost' }, { outcome: 'accepted' }],
    });
    expect(charged()).toBe(0);
    expect(project.read('half.txt')).toBe('half\n');
    const again = project.server.requests.findLast(({ step }) => step === 0);
    expect(again?.prompt).toContain('half.txt');
  });

  it('a refused login ends it with 6 after one run and within five seconds of its first word of it, and it says how to log in', async () => {
    await open(tries([{ fault: always(401, { message: 'invalid x-api-key' }) }]));
    const ran = await project.loop(...START);
    const over = Date.now();
    const exit = endOf(ran);
    expect(exit).toMatchObject({ code: 6, word: 'AGENT_FAILURE' });
    const first = project.server.requests.find(({ reply }) => reply.startsWith('status'));
    expect(over - (first?.at ?? 0)).toBeLessThan(5_000);
    expect(exit.reason).toMatch(/HTTP 401.*Log in \(start `claude` and type \/login\)/);
    expect(facts(project, 'attempt.started')).toHaveLength(1);
    expect(charged()).toBe(0);
  });

  it('a stream that is cut off again and again is no work done', async () => {
    const cut: Fault = { kind: 'truncate', times: Number.MAX_SAFE_INTEGER };
    const turns = works('a').map((turn, at) => (at === 0 ? { ...turn, fault: cut } : turn));
    const rest = { env: { CLAUDE_CODE_MAX_RETRIES: '1' }, config: 'limits: { max_subagent_retries: 0 }\n' };
    await open(tries(turns), rest);
    const exit = endOf(await project.loop(...START));
    expect(exit).toMatchObject({ code: 6, reason: expect.stringContaining('Connection lost') });
    expect([verdicts(project), passes(), charged()]).toEqual([['a died'], [false], 0]);
    expect(project.leftovers()).toEqual([]);
  });

  it('SIGINT while a tool runs: 130, not judged, nothing left running', async () => {
    await open(tries([ENDLESS]));
    const { child, done } = project.begin(...START);
    await toolRuns();
    child.kill('SIGINT');
    expect(endOf(await done)).toMatchObject({ code: 130 });
    expect(project.leftovers()).toEqual([]);
    expect(facts(project, 'attempt.ended')).toMatchObject([{ stoppedFor: 'signal' }]);
    expect(verdicts(project)).toEqual([]);
    expect(charged()).toBe(0);
  });

  it('a reviewer is Claude Code too, in a conversation of its own, and reports with ralph emit', async () => {
    const report = {
      status: 'completed',
      mode: 'TASK_REVIEW',
      verdict: 'Qualified',
      criteria_results: [{ criterion: 'a.txt exists', met: true, note: 'it does' }],
    };
    await open(
      [
        {
          match: /TASK_REVIEW/,
          turns: [
            { run: `ls a.txt && ralph emit ralph.result '${JSON.stringify(report)}' --payload-json` },
            { text: 'Reviewed.' },
          ],
        },
        { match: task('a'), turns: works('a') },
      ],
      { fields: { reviewStatus: null, reviewCount: 0, reviewFeedback: '' } },
    );
    expect(endOf(await project.loop(...START))).toMatchObject({ code: 0 });
    expect(csv(project).rows.map(({ mode, role, outcome }) => [mode, role, outcome])).toEqual([
      ['implement', 'executor', 'accepted'],
      ['review', 'reviewer', 'accepted'],
    ]);
    expect(JSON.parse(project.read('ralph/tasks.json'))).toMatchObject({
      userStories: [{ passes: true, reviewStatus: 'approved', reviewCount: 1 }],
    });
    expect(new Set([1, 2].map((iteration) => resultOf(project, iteration).session_id)).size).toBe(2);
    const [work, review] = project.server.requests.filter(({ step, reply }) => step === 0 && reply !== 'aux');
    expect(review?.messages).toBe(work?.messages);
  });
});
