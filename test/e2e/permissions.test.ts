/** An agent asks before it pushes: people see the command, and what they say is what happens. */
import { existsSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { removeFolder } from '../remove-folder.ts';
import { type TelegramStandin, TOKEN, telegramStandin } from '../standins/telegram.ts';
import { facts, json, until, verdicts } from './journal.ts';
import { DONE, makeProject, type Project, result, type Started, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

const STANDIN = resolve(import.meta.dirname, '../standins/acp-agent.mjs');
const ASK_PUSH = '{ rules: [{ match: "git push*", policy: ask }, { match: "rm *", policy: deny }] }';
const COMMAND = 'git status; git push origin main';

let folder = '';
let phone: TelegramStandin;
let project: Project;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ralph-permissions-'));
  phone = await telegramStandin();
});
afterEach(async () => {
  project?.remove();
  await phone.close();
  removeFolder(folder);
});

const env = () => ({ RALPH_TELEGRAM_BOT_TOKEN: TOKEN, RALPH_TELEGRAM_API_URL: phone.url });
const asks = (command: string) => ({
  permission: {
    command,
    allowed: [{ write: { path: 'pushed.txt', content: 'yes\n' } }],
    refused: [{ write: { path: 'held.txt', content: 'yes\n' } }],
  },
});
const ends = [{ write: { path: '{{task}}.txt', content: 'made\n' } }, { say: DONE }];

interface Given {
  turns: object[][];
  permissions?: string;
  /** Seconds that a question waits. */
  wait?: number;
  telegram?: boolean;
}

function begin({ turns, permissions = ASK_PUSH, wait = 600, telegram = true }: Given): Started {
  const script = join(folder, 'script.json');
  writeFileSync(script, JSON.stringify({ turns, log: join(folder, 'heard') }));
  const command = JSON.stringify([process.execPath, STANDIN, script]);
  const chat = `RObot: { enabled: true, timeout_seconds: ${wait}, telegram: { allowed_users: [1] } }\n`;
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('a')]) },
    config: `  asker: { command: ${command}, output: acp }\n${telegram ? chat : ''}permissions: ${permissions}\n`,
  });
  return run();
}
const run = () => project.start(['run', '--json', '--agent', 'asker'], { env: env() });
async function shown(text: string) {
  await until(() => phone.sentTo(1).some((one) => one.text.includes(text)), `the question ${text}`);
  return phone.sentTo(1).find((one) => one.text.includes(text))!;
}
const has = (path: string) => existsSync(join(project.dir, path));

test('a secret in the command is shown to nobody, the rules see it, and always in this run holds for it', async () => {
  const secret = ['ghp_', 'q7Zr2WmX9tKc4VbN8sLd3FgH6jPy1RuT5aEo'].join('');
  const command = `git push https://ann:${secret}@git.example.org/a.git main`;
  const { done } = begin({ turns: [[asks(command), asks(command), ...ends]] });
  const asked = await shown('git push https://ann:[secret: GitHub token]@git.example.org/a.git main');
  phone.press(asked, asked.buttons[1]!.callback_data);
  const ran = await done;
  expect(result(ran).exit).toMatchObject({ code: 0 });
  expect([has('pushed.txt'), has('held.txt')]).toEqual([true, false]);
  expect(facts(project, 'question.asked')).toHaveLength(1);
  for (const text of [
    ran.out,
    ran.err,
    JSON.stringify(phone.sentTo(1)),
    JSON.stringify(facts(project, 'attempt.ended')),
  ])
    expect(text).not.toContain(secret);
});

test('the command stands in the chat, a press on Allow lets it go on, and always in this run asks once', async () => {
  const { done } = begin({ turns: [[asks(COMMAND), asks(COMMAND), ...ends]] });
  const asked = await shown(COMMAND);
  expect(asked.text).toContain('the rule "git push*" says: ask');
  const open = json<{ kind: string; text: string }[]>(await project.ralph(['inbox', '--json']));
  expect(open).toMatchObject([{ kind: 'permission', text: expect.stringContaining(COMMAND) }]);
  expect(has('pushed.txt')).toBe(false);
  phone.press(asked, asked.buttons[1]!.callback_data);
  expect(result(await done).exit).toMatchObject({ code: 0 });
  expect([has('pushed.txt'), has('held.txt')]).toEqual([true, false]);
  expect(facts(project, 'question.asked')).toHaveLength(1);
  expect(facts(project, 'question.answered')).toMatchObject([{ option: 'always' }]);
  expect(facts(project, 'guidance.reached')).toMatchObject([{ questions: ['q1'], how: 'live' }]);
  expect(verdicts(project)).toEqual(['a accepted']);
});

test('a press on Deny is a no to the agent, and the work goes on', async () => {
  const { done } = begin({ turns: [[asks(COMMAND), ...ends]] });
  const asked = await shown(COMMAND);
  phone.press(asked, asked.buttons[2]!.callback_data);
  expect(result(await done).exit).toMatchObject({ code: 0 });
  expect([has('pushed.txt'), has('held.txt')]).toEqual([false, true]);
});

test('status, inbox and why show it while the agent stands still; answered with ralph answer from any terminal', async () => {
  const { done } = begin({ turns: [[asks(COMMAND), ...ends]] });
  await until(() => facts(project, 'question.asked').length === 1, 'the question');
  for (const command of [['status'], ['inbox'], ['why', 'a']])
    expect((await project.ralph(command)).out, command[0]).toContain(COMMAND);
  expect((await project.ralph(['answer', 'q1', 'allow'], { env: env() })).code).toBe(0);
  expect(result(await done).exit).toMatchObject({ code: 0 });
  expect(has('pushed.txt')).toBe(true);
});

test('what stands in decide.txt is no answer: the agent that asks could have written it', async () => {
  const { done } = begin({ turns: [[asks(COMMAND), ...ends]], wait: 4 });
  await until(() => facts(project, 'question.asked').length === 1, 'the question');
  project.write('ralph/decide.txt', '## q1\n\n### Answer\n\nallow\n');
  expect(result(await done).exit).toMatchObject({ code: 0 });
  expect([has('pushed.txt'), has('held.txt')]).toEqual([false, true]);
  expect(facts(project, 'question.answered')).toEqual([]);
});

test('silence is a no, with a word', async () => {
  const { done } = begin({ turns: [[asks(COMMAND), ...ends]], wait: 2 });
  expect(result(await done).exit).toMatchObject({ code: 0 });
  expect(has('held.txt')).toBe(true);
  expect(facts(project, 'question.expired')).toHaveLength(1);
  expect(facts(project, 'notice.given').map(({ text }) => text)).toContainEqual(
    expect.stringContaining('it is refused'),
  );
});

test('what a rule denies is asked of nobody; where nobody can be asked, ask is a no with a word', async () => {
  const { done } = begin({ turns: [[asks('ls && rm -rf /'), asks('git push'), ...ends]], telegram: false });
  expect(result(await done).exit).toMatchObject({ code: 0 });
  expect([has('pushed.txt'), has('held.txt')]).toEqual([false, true]);
  const told = facts(project, 'notice.given').map(({ text }) => text);
  expect(told).toContainEqual(expect.stringContaining('the rule "rm *" says deny'));
  expect(told).toContainEqual(expect.stringContaining('nobody can be asked'));
  expect(facts(project, 'question.asked')).toEqual([]);
});

test('the question of an attempt that a kill cut off is withdrawn, and the next one asks for itself', async () => {
  const { child, done } = begin({ turns: [[asks(COMMAND), ...ends]] });
  await until(() => facts(project, 'question.asked').length === 1, 'the question');
  child.kill('SIGKILL');
  await done;
  const again = run();
  await until(() => facts(project, 'question.asked').length === 2, 'the second question');
  expect(facts(project, 'question.closed')).toMatchObject([
    { id: 'q1', why: expect.stringContaining('withdrawn') },
  ]);
  await project.ralph(['answer', 'q2', 'deny', 'not today'], { env: env() });
  expect(result(await again.done).exit).toMatchObject({ code: 0 });
});

/** The same rules, with Claude Code at work: on PATH stands one that asks as the real one does. */
function beginClaude(asks: object, permissions = ASK_PUSH): Started {
  symlinkSync(resolve(import.meta.dirname, '../standins/claude.mjs'), join(folder, 'claude'));
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('a')]) },
    config: `RObot: { enabled: true, timeout_seconds: 600, telegram: { allowed_users: [1] } }\npermissions: ${permissions}\n`,
  });
  const path = `${folder}:${process.env.PATH}`;
  const more = { ...env(), PATH: path, CLAUDE_ASKS: JSON.stringify(asks) };
  return project.start(['run', '--json', '--agent', 'claude'], { env: more });
}
const PUSH = { name: 'Bash', input: { command: COMMAND } };
const EDIT = { name: 'Edit', input: { file_path: 'src/key.ts', old_string: 'old', new_string: 'new' } };

test('claude code asks for a command: allowed from the chat it runs, and the same attempt ends well', async () => {
  const { done } = beginClaude(PUSH);
  const asked = await shown(COMMAND);
  expect(has('pushed.txt')).toBe(false);
  phone.press(asked, asked.buttons[0]!.callback_data);
  expect(result(await done).exit).toMatchObject({ code: 0 });
  expect([has('pushed.txt'), has('held.txt')]).toEqual([true, false]);
  expect(facts(project, 'guidance.reached')).toMatchObject([{ questions: ['q1'], how: 'live' }]);
  expect(verdicts(project)).toEqual(['a accepted']);
});

test('claude code asks for a change, by its path in the project, and the question shows its lines', async () => {
  const { done } = beginClaude(EDIT, '{ rules: [{ match: "src/*", policy: ask }] }');
  await until(() => facts(project, 'question.asked').length === 1, 'the question');
  expect(facts(project, 'question.asked')[0]?.question.text).toContain('src/key.ts\n-old\n+new');
  await project.ralph(['answer', 'q1', 'deny'], { env: env() });
  expect(result(await done).exit).toMatchObject({ code: 0 });
  expect([has('held.txt'), has('pushed.txt')]).toEqual([true, false]);
});

test('an urgent word ends what the agent asks for: the question is withdrawn and the work goes on', async () => {
  const { done } = beginClaude(PUSH);
  await until(() => facts(project, 'question.asked').length === 1, 'the question');
  await project.ralph(['tell', '--urgent', 'Leave the push.'], { env: env() });
  expect(result(await done).exit).toMatchObject({ code: 0 });
  expect(facts(project, 'question.closed')).toMatchObject([
    { id: 'q1', why: 'withdrawn: the agent does not ask it any more' },
  ]);
  expect([has('held.txt'), facts(project, 'attempt.started').length]).toEqual([true, 1]);
});

test('claude code is not made to ask where everything is allowed', async () => {
  const { done } = beginClaude(PUSH, '{ rules: [{ match: "git push*", policy: allow }] }');
  expect(result(await done).exit).toMatchObject({ code: 0 });
  expect([has('pushed.txt'), facts(project, 'question.asked')]).toEqual([true, []]);
});

const ENDS_AT_NO = {
  permission: { command: COMMAND, refused: [{ say: 'I may not.' }, { stop: 'end_turn' }] },
};

test('an agent that ends its turn at a no was held and not idle, and its next prompt tells what was refused', async () => {
  const { done } = begin({ turns: [[ENDS_AT_NO]] });
  await until(() => facts(project, 'question.asked').length === 1, 'the question');
  writeFileSync(join(folder, 'script.json'), JSON.stringify({ turns: [ends] }));
  await project.ralph(['answer', 'q1', 'not on a Friday'], { env: env() });
  expect(result(await done).exit).toMatchObject({ code: 0 });
  expect(verdicts(project)).toEqual([
    expect.stringMatching(/^a rejected .*permission_refused/),
    'a accepted',
  ]);
  const [first] = facts(project, 'verdict.reached');
  expect(first?.reason).toBe('permission was refused, and it ended without a claim or a change');
  expect(first?.findings.map(({ kind }) => kind)).toEqual(['permission_refused']);
  expect(facts(project, 'attempt.started')[1]?.reminded).toMatchObject([
    expect.stringMatching(/git status; git push origin main.*not on a Friday.*by another way/),
  ]);
});

test('an agent that cannot be asked is not started under rules that it would not keep', async () => {
  begin({ turns: [ends] }).child.kill('SIGKILL');
  const ran = await project.ralph(['run', '--agent', 'scripted'], { env: env() });
  expect(ran.code).not.toBe(0);
  expect(ran.err + ran.out).toContain(
    'permissions asks or denies, and scripted asks nobody before a command',
  );
});
