/** Caps in money: what an agent's stream reveals stops it in the middle of its work, told or reckoned. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
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
