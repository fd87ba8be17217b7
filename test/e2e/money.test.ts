/** Caps in money: what an agent's stream reveals stops it in the middle of its work, told or reckoned. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, json, sessionDir } from './journal.ts';
import { makeProject, type Project, result, story, taskList } from './project.ts';

let project: Project;
afterEach(() => project.remove());

/** One line of Claude Code's language: an answer of a model that read so many tokens. */
const answer = (model: string, tokens: number) =>
  JSON.stringify({
    type: 'assistant',
    message: {
      id: `m${tokens}`,
      model,
      content: [],
      usage: { input_tokens: tokens, output_tokens: 0 },
    },
    parent_tool_use_id: null,
    session_id: 's',
  });

/** An agent that does half of its work, tells what it has used, and works on for ever. */
function spender(line: string, over: { limits: string; stories?: number }): Project {
  const made = makeProject({
    files: {
      'prd.json': taskList(Array.from({ length: over.stories ?? 1 }, (_, n) => story(`t${n + 1}`))),
      'agent.sh': `echo half > half.txt\ncat <<'END'\n${line}\nEND\nsleep 300\n`,
    },
  });
  made.write(
    'ralph.yml',
    `agent: spender\nagents:\n  spender: { command: [sh, agent.sh], output: claude-json }\nlimits: ${over.limits}\n`,
  );
  made.git('commit', '-qam', 'agent');
  return made;
}

const run = (...args: string[]) =>
  project.ralph(['run', '--no-wait', '--json', ...args], { timeoutMs: 120_000 });

test('--max-cost stops an agent that tells only its tokens in the middle of its work, uncharged', async () => {
  // 1,000,000 tokens into claude-opus-5-5.
  project = spender(answer('claude-opus-5-5', 1_000_000), { limits: '{ max_cost_usd: 3 }' });
  const ran = await run();
  expect(result(ran).exit).toMatchObject({
    code: 1,
    reason: expect.stringMatching(
      /^about \$4\.00 \(estimated from the price table of 20\d\d-\d\d-\d\d\) of \$3 are spent \(--max-cost\)$/,
    ),
  });
  expect(result(ran)).toMatchObject({ cost_usd: 4, cost_source: 'estimated' });
  const [ended] = facts(project, 'attempt.ended');
  expect(ended).toMatchObject({ stoppedFor: 'limit', report: { ending: 'interrupted' } });
  expect(ended?.report.usage).toMatchObject({ costUsd: 4, costFrom: { usd: 4 }, inputTokens: 1_000_000 });
  expect(facts(project, 'task.charged')).toEqual([]);
  // Its work is kept, and what it cost counts for the day.
  expect(existsSync(join(project.dir, 'half.txt'))).toBe(true);
  const status = json(await project.ralph(['status', '--json']));
  expect(status).toMatchObject({ cost_usd: 4, cost_source: 'estimated' });
  expect((await project.ralph(['status'])).out).toContain('about $4.00 (estimated from the price table of');
  const journal = readFileSync(join(project.dir, '.ralph/journal.jsonl'), 'utf8');
  expect(journal).toContain('"type":"cost.spent"');
  const agents = json<{ name: string }[]>(await project.ralph(['agents', '--json']));
  expect(agents.find(({ name }) => name === 'spender')).toMatchObject({
    spent_today_usd: 4,
    spent_today_source: 'estimated',
  });
  expect(existsSync(join(sessionDir(project), 'logs/iteration-001.log'))).toBe(true);
});

test("a task's own cap stops the agent at work on it, and the others go on", async () => {
  project = spender(answer('claude-opus-5-5', 1_000_000), {
    limits: '{ max_cost_usd_per_task: 3, max_iterations: 2 }',
    stories: 2,
  });
  expect(result(await run()).exit.code).not.toBe(0);
  expect(facts(project, 'attempt.ended').map(({ stoppedFor }) => stoppedFor)).toEqual(['limit', 'limit']);
  expect(facts(project, 'attempt.started').map(({ item }) => item.task)).toEqual(['t1', 't2']);
});

test('where no price is known a cap in tokens binds inside the attempt all the same', async () => {
  project = spender(answer('nobody-knows-1', 50_000), { limits: '{ max_cost_usd: 1, max_tokens: 40000 }' });
  const { exit } = result(await run());
  expect(exit.code).toBe(1);
  expect(exit.reason).toBe('50000 of 40000 tokens are used (--max-tokens)');
  expect(facts(project, 'attempt.ended')[0]?.report.usage.costUsd).toBeNull();
});

test('two loops at once share the cap of the day: what one spends stops the other in the middle', async () => {
  // Each tells 60 cents at once; the loop of the project folder also ends, with four dollars told.
  const bill = JSON.stringify({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: '',
    total_cost_usd: 4,
    session_id: 's',
  });
  project = spender(answer('claude-opus-5-5', 150_000), { limits: '{ max_cost_usd_per_day: 4.3 }' });
  project.write(
    'agent.sh',
    `cat <<'END'\n${answer('claude-opus-5-5', 150_000)}\nEND\ntouch "$HOME/at-work-$(basename "$PWD")"
case "$PWD" in */second) sleep 300 ;; esac
until [ -e "$HOME/at-work-second" ]; do sleep 0.1; done
echo made > t1.txt\necho '${bill}'\n`,
  );
  project.git('commit', '-qam', 'two manners');
  const second = join(project.home, 'second');
  project.git('worktree', 'add', '-q', second);
  const args = ['run', '--no-wait', '--json'];
  const [, stopped] = await Promise.all([
    project.ralph([...args, '--max-iterations', '1'], { timeoutMs: 120_000 }),
    project.ralph(args, { cwd: second, timeoutMs: 120_000 }),
  ]);
  expect(result(stopped!).exit).toMatchObject({
    code: 1,
    reason: 'about $4.60 of $4.3 are spent today by all loops of the project (limits.max_cost_usd_per_day)',
  });
});

test('what another loop has at work counts, too: both stop in the middle once the day is used up', async () => {
  // Each tells three dollars and works on; neither bill stands in the project's journal before both were stopped.
  const line = answer('claude-opus-5-5', 750_000);
  project = spender(line, { limits: '{ max_cost_usd_per_day: 5 }' });
  project.write(
    'agent.sh',
    `touch "$HOME/at-work-$(basename "$PWD")"\nuntil [ -e "$HOME/at-work-second" ] && [ -e "$HOME/at-work-$(basename "${project.dir}")" ]; do sleep 0.1; done\ncat <<'END'\n${line}\nEND\nsleep 300\n`,
  );
  project.git('commit', '-qam', 'both at once');
  const second = join(project.home, 'second');
  project.git('worktree', 'add', '-q', second);
  const args = ['run', '--no-wait', '--json'];
  const both = await Promise.all([
    project.ralph(args, { timeoutMs: 120_000 }),
    project.ralph(args, { cwd: second, timeoutMs: 120_000 }),
  ]);
  for (const ran of both)
    expect(result(ran).exit).toMatchObject({
      code: 1,
      reason: 'about $6.00 of $5 are spent today by all loops of the project (limits.max_cost_usd_per_day)',
    });
  // What was told of attempts at work is gone with them, and each bill stands once.
  expect(readdirSync(join(project.dir, '.ralph/spending'))).toEqual([]);
  const journal = readFileSync(join(project.dir, '.ralph/journal.jsonl'), 'utf8');
  expect(journal.split('"type":"cost.spent"')).toHaveLength(3);
});

const spentToday = async () => {
  const agents = json<{ name: string; spent_today_usd: number | null }[]>(
    await project.ralph(['agents', '--json']),
  );
  return agents.find(({ name }) => name === 'spender')?.spent_today_usd;
};
const atWork = (log: string) =>
  vi.waitFor(
    () => expect(readFileSync(join(sessionDir(project), 'logs', log), 'utf8')).toContain('usage'),
    30_000,
  );

test('a killed runner: what the attempt had used is counted at the next start, once, and caps hold with it', async () => {
  project = spender(answer('claude-opus-5-5', 500_000), { limits: '{ max_cost_usd: 3 }' });
  const { child, done } = project.start(['run', '--no-wait', '--json']);
  await vi.waitFor(() => expect(facts(project, 'attempt.spawned')).toHaveLength(1), 30_000);
  await atWork('iteration-001.log');
  child.kill('SIGKILL');
  await done;
  // The second attempt tells two dollars more, which is too much together with the lost ones.
  const ran = await run();
  expect(result(ran).exit).toMatchObject({
    code: 1,
    reason: expect.stringMatching(/^about \$4\.00 .* of \$3 are spent/),
  });
  const [lost] = facts(project, 'attempt.lost');
  expect(lost?.usage).toMatchObject({
    costUsd: 2,
    costFrom: { usd: 2 },
    inputTokens: 500_000,
    partial: true,
  });
  expect(facts(project, 'attempt.lost')).toHaveLength(1);
  expect(result(ran)).toMatchObject({ cost_usd: 4, cost_source: 'estimated' });
  expect(await spentToday()).toBe(4);
  expect((await project.ralph(['why', '1'])).out).toContain('at least about $2.00');
  // Nobody resumes it a second time.
  await project.ralph(['run', '--no-wait', '--max-cost', '1']);
  expect(facts(project, 'attempt.lost')).toHaveLength(1);
  expect(await spentToday()).toBeLessThanOrEqual(6);
  expect(facts(project, 'attempt.lost').map(({ iteration }) => iteration)).toEqual([1]);
});

test('a killed agent: what it had told is counted', async () => {
  project = spender(answer('claude-opus-5-5', 500_000), { limits: '{ max_subagent_retries: 0 }' });
  project.write('agent.sh', project.read('agent.sh').replace('sleep 300', 'sleep 1\nkill -9 $$'));
  project.git('commit', '-qam', 'it dies');
  await run();
  expect(facts(project, 'attempt.ended')[0]?.report).toMatchObject({ ending: 'died', usage: { costUsd: 2 } });
  expect(await spentToday()).toBe(2);
});
