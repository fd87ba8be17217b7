/** What is wrong is told once, with its place and a way on, before anything is started. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HONEST, makeProject, type Project, result, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
const LIST = { 'ralph/tasks.json': taskList([story('a')]) };
beforeEach(() => {
  project = makeProject({ files: LIST, runs: HONEST });
});
afterEach(() => project.remove());

const CONFIG =
  'agent: scripted\nagents:\n  scripted: { command: ["ralph", "__script-agent", "agent.json"] }\n';

async function refused(args: string[], ...words: (string | RegExp)[]): Promise<string> {
  const ran = await project.ralph(args);
  expect(ran.code, ran.err).toBe(5);
  for (const word of words) expect(ran.err).toMatch(word);
  expect(existsSync(join(project.dir, '.ralph-sessions'))).toBe(false);
  return ran.err;
}

test('the configuration: an unknown key with its line and the nearest one, a wrong value, several at once', async () => {
  project.write('ralph.yml', `${CONFIG}max_iteration: 3\nlimits: { max_stck: 2 }\nmode: fast\n`);
  const err = await refused(
    ['run'],
    /ralph\.yml:4/,
    /max_iteration/,
    /ralph\.yml:5/,
    /max_stck/,
    /did you mean "?max_stuck/i,
    /ralph\.yml:6/,
    /speed/,
  );
  expect(err.match(/fix: /g)!.length).toBeGreaterThanOrEqual(3);
  project.write('ralph.yml', `${CONFIG}gates: [\n`);
  await refused(['run'], /ralph\.yml:\d/);
  project.write('ralph.yml', CONFIG);
  project.write('.ralph/ralph.toml', 'mode = "speed"\n');
  await refused(['run'], /ralph\.yml/, /ralph\.toml/);
});

test('the command line: unknown flags, commands and values, each with the nearest', async () => {
  await refused(['run', '--max-iteration', '3'], /--max-iteration/, /did you mean --max-iterations/i);
  await refused(['rum'], /rum/, /run/);
  await refused(['run', '--mode', 'fast'], /speed/);
  await refused(['run', '-n', '0'], /max[-_]iterations/);
  await refused(['run', '--max-time', 'soon'], /max[-_]time/);
  await refused(['run', '--max-cost', '-2'], /max[-_]cost/);
  await refused(['run', '--agent', 'scriptd'], /scripted/);
  await refused(['run', '--team', 'trio'], /solo/);
  await refused(['run', '--session', '260231-250000'], /no session/);
  await refused(['run', '--task', 'zz'], /no task zz/);
  await refused(['status'], /no session/i);
  const json = await project.ralph(['run', '--agent', 'nobody', '--json']);
  expect(result(json).exit).toMatchObject({ code: 5, word: 'PROBLEM' });
  for (const args of [['--help'], ['run', '--help'], ['--version']]) {
    const ran = await project.ralph(args);
    expect([ran.code, ran.err]).toEqual([0, '']);
  }
});

test('what this version does not play is refused, not left out', async () => {
  project.write('ralph.yml', `${CONFIG}interventions: { live: true }\n`);
  await refused(['run'], /interventions\.live/);
});

test('the agent: a program that is missing is told before anything is made', async () => {
  project.write('ralph.yml', 'agent: mine\nagents:\n  mine: { command: [no-such-agent-program] }\n');
  await refused(['run'], /no-such-agent-program/);
});

test('the task list: empty, broken with its line, invalid, missing', async () => {
  const list = async (text: string, ...words: (string | RegExp)[]) => {
    project.write('ralph/tasks.json', text);
    await refused(['run'], /ralph\/tasks\.json/, ...words);
  };
  await list(taskList([]), /no task/);
  await list('{"project":"p"}', /userStories|no task/);
  await list('{\n  "userStories": [\n    { "id": "a", }\n  ]\n}\n', /tasks\.json:3/);
  await list('{ // words\n "userStories": [] }', /tasks\.json:1/);
  await list(taskList([story('a'), story('A')]), /a/i);
  await list(taskList([story('a', { reviewCount: true })]), /reviewCount/);
  await list('{"userStories":["a"]}', /story 1/);
  await list(taskList([story('a', { priority: 'urgent-ish' })]), /priority/);
  await list('', /tasks\.json/);
  await refused(['run', '--tasks', 'nope.json'], /nope\.json/);
});
