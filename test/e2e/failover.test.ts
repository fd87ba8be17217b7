/**
 * A provider that says no in the night, with the built program and real child processes: the other agent goes on,
 * the first is back when its limit ends, and every window tells it. The first agent speaks Claude Code's stream.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { facts, json, started, until } from './journal.ts';
import { makeProject, type Project, story, taskList } from './project.ts';

let project: Project;
afterEach(() => project.remove());

/** Works, but where `no-NAME` in its home says: `auth`, or `limit FILE SECONDS`, which begins once there is such a file. */
const AGENT = `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
readFileSync(0);
const [name, ms] = process.argv.slice(2);
const say = (line) => console.log(JSON.stringify(line));
say({ type: 'system', subtype: 'init', session_id: 's-' + name, model: 'm', tools: [] });
const no = process.env.HOME + '/no-' + name;
const [kind, after, length] = existsSync(no) ? readFileSync(no, 'utf8').split(' ') : [];
const result = { type: 'result', subtype: 'success', session_id: 's-' + name, usage: {}, total_cost_usd: 0 };
const refuse = (status, words) => {
  say({ ...result, is_error: true, api_error_status: status, result: words, terminal_reason: 'api_error' });
  process.exit(1);
};
if (kind === 'auth') refuse(401, 'Invalid API key');
if (kind === 'limit' && existsSync(after)) {
  const until = process.env.HOME + '/until-' + name;
  if (!existsSync(until)) writeFileSync(until, String(Math.ceil(Date.now() / 1000) + Number(length)));
  const resetsAt = Number(readFileSync(until, 'utf8'));
  if (Date.now() < resetsAt * 1000) {
    say({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt, rateLimitType: 'five_hour' } });
    refuse(429, "You've hit your 5-hour limit");
  }
}
await new Promise((done) => setTimeout(done, Number(ms)));
writeFileSync(process.env.RALPH_TASK_ID + '.txt', 'made by ' + name);
say({ ...result, is_error: false, result: 'Done.\\n\\n<promise>COMPLETE</promise>' });
`;

/** `no`: what the provider of an agent says, by its name. */
function makeTwo(tasks: number, no: Record<string, string>): void {
  const ids = Array.from({ length: tasks }, (_, index) => `t${index + 1}`);
  project = makeProject({
    files: {
      'agent.mjs': AGENT,
      'ralph/tasks.json': taskList(ids.map((id) => story(id))),
    },
  });
  const agent = (name: string, ms: number) =>
    `  ${name}: { command: [node, agent.mjs, ${name}, "${ms}"], output: claude-json }\n`;
  project.write(
    'ralph.yml',
    `agent: first\nfallback: [second]\nagents:\n${agent('first', 50)}${agent('second', 2_500)}`,
  );
  for (const [name, says] of Object.entries(no)) writeFileSync(join(project.home, `no-${name}`), says);
  project.git('add', '-A');
  project.git('commit', '-qm', 'agents');
}

const agents = () => facts(project, 'attempt.started').map(({ agent }) => agent);

describe('with another agent to fall back on', () => {
  test('a limit of one: the other goes on, the first is back at the reset, and why, status and the end tell it', async () => {
    makeTwo(6, { first: 'limit t1.txt 7' });
    const ran = await project.ralph(['run'], { timeoutMs: 110_000 });
    expect(ran.code, ran.out + ran.err).toBe(0);
    const order = agents().join(' ');
    expect(order).toMatch(/^first first( second)+( first)+$/);
    expect(facts(project, 'task.charged')).toEqual([]);
    const [parked] = facts(project, 'provider.parked');
    expect(parked).toMatchObject({ agent: 'first', kind: 'limit', told: true, row: 1 });
    const back = facts(project, 'notice.given').map(({ text }) => text);
    expect(back).toEqual([
      expect.stringMatching(
        /^first: limit until .* UTC; second goes on\. It said: You've hit your 5-hour limit/,
      ),
      expect.stringMatching(/^first is back: its limit ended at .* UTC; second went on meanwhile\.$/),
    ]);
    expect(ran.out).toMatch(/first: limit until \d/);
    expect(ran.out).toMatch(/first could not work in 1 run, last: limit: You've hit your 5-hour limit/);
    const why = (await project.ralph(['why'])).out;
    expect(why).toMatch(
      /agents that could not work:\n {2}iteration 2, .*: first: limit until .*; second went on \(.*\); back with iteration \d/,
    );
    const told = json<{ provider_story: string[]; outages: unknown[] }>(
      await project.ralph(['why', '--json']),
    );
    expect([told.provider_story.length, told.outages]).toEqual([1, []]);
    expect((await project.ralph(['why', 't2'])).out).toMatch(/second stands in: first: limit until/);
  }, 150_000);

  test('a lost login of one: the other does all of it, and the run says what to do', async () => {
    makeTwo(2, { first: 'auth' });
    const ran = await project.ralph(['run'], { timeoutMs: 110_000 });
    expect(ran.code, ran.out + ran.err).toBe(0);
    expect(agents()).toEqual(['first', 'second', 'second']);
    expect(ran.out).toMatch(/critical: first cannot work \(auth\): Invalid API key/);
    expect((await project.ralph(['status'])).out).toMatch(/first: cannot work \(auth\) until a person acts/);
  }, 150_000);

  test('killed while all are limited, a new start goes on waiting for the time that was named', async () => {
    makeTwo(1, { first: 'limit README.md 3600', second: 'limit README.md 15' });
    const run = project.start(['run']);
    await until(() => facts(project, 'provider.parked').length === 2, 'both are limited');
    run.child.kill('SIGKILL');
    await run.done;
    expect((await project.ralph(['status'])).out).toMatch(/first: limit until .*\nsecond: limit until/);
    const ran = await project.ralph(['run'], { timeoutMs: 110_000 });
    expect(ran.code, ran.out + ran.err).toBe(0);
    expect(agents()).toEqual(['first', 'second', 'second']);
    const [, parked] = facts(project, 'provider.parked');
    expect(Date.now()).toBeGreaterThanOrEqual(parked!.until);
  }, 150_000);

  test('with --no-wait nobody is waited for: exit 6 once all are limited', async () => {
    makeTwo(1, { first: 'limit README.md 3600', second: 'limit README.md 3600' });
    const ran = await project.ralph(['run', '--no-wait'], { timeoutMs: 110_000 });
    expect(ran.code, ran.out + ran.err).toBe(6);
    expect(started(project)).toBe(2);
    expect(facts(project, 'task.charged')).toEqual([]);
  }, 150_000);
});
