/** What silence means, end to end: the agent asks, nobody answers, and its next prompt says what came of it. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { facts, prompt, until } from './journal.ts';
import { DONE, makeProject, type Project, type ScriptedRun } from './project.ts';
import { onTerminal, type Terminal, whyNoPty } from './pty.ts';

vi.setConfig({ testTimeout: 120_000 });
const GUIDE = readFileSync(resolve(import.meta.dirname, '../../docs/guides/questions.md'), 'utf8');
let project: Project;
let terminal: Terminal | null = null;
afterEach(async () => {
  terminal?.kill();
  await terminal?.done;
  terminal = null;
  project?.remove();
});

const ASKED = 'Which colour? Options: (A) red (B) blue';
/** The question as the next call reads it. */
const CHOICES = /Which colour\?\s+\(A\) red\s+\(B\) blue/;
const emit = (payload: string) => ({ emit: { topic: 'human.interact', payload } });
const asks = (iteration: number, payload = ASKED, more: Record<string, unknown>[] = []): ScriptedRun => ({
  when: { iteration },
  do: [
    { write: { path: 'half.txt', content: `${iteration}\n` } },
    ...more,
    emit(payload),
    { say: 'I asked and stop here.' },
  ],
});
const paints: ScriptedRun = {
  do: [{ write: { path: 'shed.txt', content: 'painted {{iteration}}\n' } }, { say: DONE }],
};

function shed(robot: string, runs: ScriptedRun[], more = ''): void {
  project = makeProject({ runs, config: `RObot: ${robot}\n${more}` });
}
const run = (...args: string[]) => {
  terminal = onTerminal(project, ['run', ...args]);
  return terminal;
};
const expired = () => facts(project, 'question.expired').map(({ id, outcome, text }) => [id, outcome, text]);
const questions = () => facts(project, 'question.asked').map(({ question }) => question);
const asked = (count = 1) => until(() => questions().length === count, `question ${count}`);

const why = whyNoPty();
describe.skipIf(why !== null)(`where somebody could answer${why === null ? '' : ` (${why})`}`, () => {
  test('proceed: the agent is told that nobody answered, and decides', async () => {
    shed('{ timeout_seconds: 1, on_timeout: proceed }', [asks(1), paints]);
    expect(await run('paint').done).toBe(0);
    expect(expired()).toEqual([['q1', 'proceed', '']]);
    expect(prompt(project, 2)).toMatch(CHOICES);
    expect(prompt(project, 2)).toContain('Nobody answered in time. Decide yourself');
  });

  test('default: what the agent said it would do is told as decided', async () => {
    shed('{ timeout_seconds: 1, on_timeout: default }', [
      asks(1, `${ASKED} Default if no response: B`),
      paints,
    ]);
    expect(await run('paint').done).toBe(0);
    expect(expired()).toEqual([['q1', 'default', 'blue']]);
    expect(prompt(project, 2)).toMatch(CHOICES);
    expect(prompt(project, 2)).toMatch(/so your default stands:\s+```text\s+blue/);
  });

  test('the guide: what its agent asks and what its configuration says, with a shorter time', async () => {
    const [, command] = /<!-- agent: asks -->\n```bash\n(.*)\n/.exec(GUIDE)!;
    const [, config] = /<!-- config: silence -->\n```yaml\n([\s\S]*?)```/.exec(GUIDE)!;
    const asksAsTold = { when: { iteration: 1 }, do: [{ run: command! }, { say: 'I asked.' }] };
    project = makeProject({ runs: [asksAsTold, paints], config: config!.replace('300', '1') });
    expect(await run('paint').done).toBe(0);
    expect(questions()).toMatchObject([{ text: 'Which colour?', default: 'B' }]);
    expect(expired()).toEqual([['q1', 'default', 'blue']]);
  });

  test('default without one is proceed', async () => {
    shed('{ timeout_seconds: 1, on_timeout: default }', [asks(1), paints]);
    expect(await run('paint').done).toBe(0);
    expect(expired()).toEqual([['q1', 'proceed', '']]);
  });

  test('re_ask: the question comes again with a new deadline, and the second can be answered', async () => {
    shed('{ timeout_seconds: 4, on_timeout: re_ask }', [asks(1), paints]);
    const shown = run('paint');
    await asked(2);
    await shown.sees('answer q2> ');
    shown.type('B\r');
    expect(await shown.done).toBe(0);
    const [first, second] = questions();
    expect([first!.text, first!.options]).toEqual([second!.text, second!.options]);
    expect(second!.deadline! - first!.deadline!).toBeGreaterThanOrEqual(4_000);
    expect(expired()[0]).toEqual(['q1', 're_ask', '']);
    const told = prompt(project, 2);
    expect(told.match(/Which colour\?/g)).toHaveLength(1);
    expect(told).toMatch(/Answer of \S+@\S+:\s+```text\s+blue/);
    expect(told).not.toContain('Nobody answered');
  });

  test('stop: the run ends once with 3, the question stays open and waits without a deadline', async () => {
    shed('{ timeout_seconds: 1, on_timeout: stop }', [asks(1), paints]);
    expect(await run('paint').done).toBe(3);
    expect(expired()).toEqual([['q1', 'stop', '']]);
    const inbox = JSON.parse((await project.ralph(['inbox', '--json'])).out);
    expect(inbox).toMatchObject([{ id: 'q1' }]);
    expect(inbox[0]).not.toHaveProperty('deadline');
    const again = run();
    await again.sees('answer q1> ');
    await new Promise((done) => setTimeout(done, 1_500));
    again.type('A\r');
    expect(await again.done).toBe(0);
    expect(prompt(project, 2)).toContain('red');
  });

  test('timeout_seconds 0 has no deadline', async () => {
    shed('{ timeout_seconds: 0, on_timeout: stop }', [asks(1), paints]);
    const shown = run('paint');
    await shown.sees('answer q1> ');
    expect(questions()[0]!.deadline).toBeNull();
    expect(shown.screen).not.toContain('deadline');
    shown.type('A\r');
    expect(await shown.done).toBe(0);
    expect(expired()).toEqual([]);
  });

  test('the deadline is a time of day: it passes while no runner lives', async () => {
    shed('{ timeout_seconds: 6, on_timeout: proceed }', [asks(1), paints]);
    const first = run('paint');
    await first.sees('answer q1> ');
    first.type('\u0003');
    expect(await first.done).toBe(130);
    const { deadline, askedAt } = questions()[0]!;
    expect(deadline! - askedAt).toBe(6_000);
    await until(() => Date.now() > deadline!, 'the deadline');
    expect(await run().done).toBe(0);
    expect(expired()).toEqual([['q1', 'proceed', '']]);
    expect(questions()).toHaveLength(1);
  });

  test('a pause counts against no deadline', async () => {
    shed('{ timeout_seconds: 8, on_timeout: stop }', [asks(1), paints]);
    const shown = run('paint');
    await shown.sees('answer q1> ');
    expect((await project.ralph(['pause'])).code).toBe(0);
    await until(() => facts(project, 'session.paused').length === 1, 'the pause');
    const { deadline } = questions()[0]!;
    await until(() => Date.now() > deadline!, 'the first deadline');
    await new Promise((done) => setTimeout(done, 300));
    expect(expired()).toEqual([]);
    expect((await project.ralph(['resume'])).code).toBe(0);
    await until(() => facts(project, 'session.resumed').length === 1, 'the end of the pause');
    expect((await project.ralph(['answer', 'q1', 'green'])).code).toBe(0);
    expect(await shown.done).toBe(0);
    expect(prompt(project, 2)).toContain('green');
  });

  test('an answer skips the cooldown', async () => {
    shed('{ timeout_seconds: 0 }', [asks(1), paints], 'limits: { cooldown_delay_seconds: 90 }\n');
    const shown = run('paint');
    await shown.sees('answer q1> ');
    shown.type('B\r');
    await until(() => facts(project, 'attempt.started').length === 2, 'the next attempt');
    const answered = facts(project, 'question.answered')[0]!;
    expect(answered.text).toBe('blue');
    expect(await shown.done).toBe(0);
  });

  test('a question and a progress notice in one turn: the next prompt says that it was too much', async () => {
    const notice = { run: 'ralph tools interact progress "half of it is painted"' };
    shed('{ timeout_seconds: 1 }', [asks(1, ASKED, [notice]), paints]);
    expect(await run('paint').done).toBe(0);
    const findings = facts(project, 'verdict.reached').flatMap(({ findings }) => findings);
    expect(findings.map(({ kind }) => kind)).toContain('asked_and_notified');
    expect(prompt(project, 2)).toContain('a person was asked and notified in the same turn');
  });
});

test('without a terminal and a channel the run does not wait: it is told as a decision', async () => {
  shed('{ timeout_seconds: 1, on_timeout: proceed }', [asks(1), paints]);
  expect((await project.ralph(['run', 'paint'])).code).toBe(3);
  expect(questions()[0]!.deadline).toBeNull();
});

test('carry is for approvals and refused for what an agent asks', async () => {
  shed('{ timeout_seconds: 1, on_timeout: carry }', [paints]);
  const refused = await project.ralph(['run', 'paint']);
  expect([refused.code, refused.err]).toEqual([5, expect.stringContaining('RObot.on_timeout is "carry"')]);
});
