/** `ralph mcp`: the agent's side as an MCP server, called by an agent inside its attempt. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, prompt, until, verdicts } from './journal.ts';
import {
  DONE,
  HONEST,
  makeProject,
  PROGRAM,
  type Project,
  type ScriptedRun,
  story,
  taskList,
} from './project.ts';
import { onTerminal, whyNoPty } from './pty.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project?.remove());

type Call = [tool: string, args: Record<string, unknown>];
interface Answer {
  text: string;
  isError: boolean;
}
const CLIENT = 'node .git/client.mjs .git/calls.json .git/answers.json';

/** A project whose first attempt makes these calls and then plays `rest`. */
function calling(calls: Call[], { config = '', rest = WORK, line = CLIENT } = {}): void {
  const runs: ScriptedRun[] = [{ when: { iteration: 1 }, do: [{ run: line }, ...rest] }, ...HONEST];
  project = makeProject({ files: { 'ralph/tasks.json': taskList([story('a'), story('b')]) }, runs, config });
  copyFileSync(join(import.meta.dirname, 'mcp-client.mjs'), join(project.dir, '.git/client.mjs'));
  writeFileSync(join(project.dir, '.git/calls.json'), JSON.stringify(calls));
}
const WORK: ScriptedRun['do'] = [{ write: { path: 'a.txt', content: 'a\n' } }, { say: DONE }];
const answers = (): Answer[] => (JSON.parse(project.read('.git/answers.json')) as Answer[]).slice(1);
const asked = () => facts(project, 'question.asked').map(({ question }) => question);

test('a question is answered within the turn, past the attempt’s own time, and is no news in the next prompt', async () => {
  const ask: Call = [
    'ask_human',
    { text: 'Which store?', options: [{ key: 'A', text: 'SQLite' }], default: 'SQLite' },
  ];
  calling([ask, ask], {
    config: 'mode: speed\nmodes: { speed: 4 }\nadaptive_timeout: { enabled: false }\n',
  });
  const running = project.start(['run']);
  await until(() => asked().length === 1, 'the question');
  // Longer than the four seconds that the attempt has.
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  expect((await project.ralph(['answer', 'Postgres, please'])).code).toBe(0);
  const ran = await running.done;
  expect([ran.code, ran.err]).toEqual([0, expect.anything()]);
  const [first, again] = answers();
  expect(first).toEqual({
    text: expect.stringMatching(/^q1: Answer of \S+:\n```text\nPostgres, please\n```$/),
    isError: false,
  });
  expect(again).toEqual(first);
  expect(asked()).toHaveLength(1);
  expect(verdicts(project)).toEqual(['a accepted', 'b accepted']);
  expect(facts(project, 'guidance.reached')).toMatchObject([{ iteration: 1, questions: ['q1'] }]);
  expect(prompt(project, 2)).not.toContain('Postgres');
});

test('a wait that ends first leaves the question open: its answer stands in the next prompt', async () => {
  calling([['ask_human', { text: 'Which store?', wait_seconds: 0 }]], { rest: [] });
  const running = project.start(['run', '--wait']);
  await until(() => existsSync(join(project.dir, '.git/answers.json')), 'the answer of the tool');
  expect(answers()).toEqual([
    { text: expect.stringMatching(/^q1 is open still\. End this turn/), isError: false },
  ]);
  await until(() => facts(project, 'attempt.ended').length === 1, 'the end of the turn');
  expect((await project.ralph(['answer', 'Postgres'])).code).toBe(0);
  expect((await running.done).code).toBe(0);
  expect(prompt(project, 2)).toContain('Postgres');
});

test('kill -9 of the loop while a call waits: answered while down, the answer stands in the next prompt, once', async () => {
  calling([['ask_human', { text: 'Which store?' }]], { rest: [{ hang: true }] });
  const { child, done } = project.start(['run']);
  await until(() => asked().length === 1, 'the question');
  child.kill('SIGKILL');
  await done;
  expect((await project.ralph(['answer', 'Postgres'])).code).toBe(0);
  expect((await project.ralph(['resume'])).code).toBe(0);
  // The orphan may have read it in the journal before it was ended: what came of that is lost with it.
  expect([prompt(project, 2), prompt(project, 3)].map((text) => text.includes('Postgres'))).toEqual([
    true,
    false,
  ]);
  expect(asked()).toHaveLength(1);
});

const noPty = whyNoPty();
test.skipIf(noPty !== null)(
  `silence is heard within the turn${noPty === null ? '' : ` (${noPty})`}`,
  async () => {
    calling([['ask_human', { text: 'Which store?', default: 'SQLite' }]], {
      config: 'RObot: { timeout_seconds: 2, on_timeout: default }\n',
    });
    const terminal = onTerminal(project, ['run', '--quiet']);
    expect(await terminal.done).toBe(0);
    expect(answers()).toEqual([
      { text: 'q1: Nobody answered. Take the default that was named:\n```text\nSQLite\n```', isError: false },
    ]);
    expect(facts(project, 'question.expired')).toMatchObject([{ id: 'q1', outcome: 'default' }]);
    expect(verdicts(project)).toEqual(['a accepted', 'b accepted']);
    expect(prompt(project, 1)).toMatch(/<robot-skill>[\s\S]*\| neither \|[\s\S]*<\/robot-skill>/);
    expect(prompt(project, 2)).not.toContain('Which store?');
  },
);

test('what it tells, publishes, proves, keeps and looks up arrives; what is not its own is refused', async () => {
  calling([
    ['report_progress', { text: 'half way' }],
    ['emit', { topic: 'build.done', payload: { ok: true } }],
    ['emit', { topic: 'human.response', payload: 'yes' }],
    ['record_evidence', { criterion: 'a.txt exists', kind: 'command', value: 'test -f a.txt', exit_code: 0 }],
    ['memory_add', { text: 'Use tabs.', tags: ['style'] }],
    ['memory_search', { query: 'tabs' }],
    ['task_list', {}],
    ['task_show', { id: 'b' }],
    ['task_add', { title: 'Fix the docs' }],
    ['check_signals', {}],
    ['answer', { text: 'yes' }],
    ['ask_human', { text: ' ' }],
  ]);
  expect((await project.ralph(['run'])).code).toBe(0);
  const [list] = JSON.parse(project.read('.git/answers.json')) as [{ tools: { name: string }[] }];
  expect(list.tools.map(({ name }) => name)).toEqual([
    ...['ask_human', 'report_progress', 'emit', 'check_signals', 'record_evidence'],
    ...['task_list', 'task_show', 'task_add', 'memory_add', 'memory_search'],
  ]);
  expect(answers().map(({ text, isError }) => [isError, text.split('\n')[0]])).toEqual([
    [false, 'Told. Go on.'],
    [false, 'Published build.done.'],
    [true, '"human.response" is a person\'s word; it was refused and recorded.'],
    [false, 'Recorded. It stands in your report.'],
    [false, expect.stringMatching(/^Kept as mem-/)],
    [false, expect.stringMatching(/^- Use tabs\. \[mem-.*: style\]$/)],
    [false, expect.stringMatching(/^\[\/\] a /)],
    [false, '[ ] b: Make b'],
    [false, expect.stringMatching(/^Told\. A person decides/)],
    [false, 'Nothing new. Go on.'],
    [true, '"answer" is not a tool.'],
    [true, 'Nothing was asked.'],
  ]);
  expect(facts(project, 'topic.published')).toMatchObject([{ topic: 'build.done', payload: '{"ok":true}' }]);
  const [ended] = facts(project, 'attempt.ended');
  expect(ended!.claim.result?.evidence).toEqual([
    { criterion: 'a.txt exists', kind: 'command', value: 'test -f a.txt', exitCode: 0 },
  ]);
  expect(facts(project, 'verdict.reached')[0]!.findings.map(({ kind }) => kind)).toContain('forged_claim');
  expect(prompt(project, 2)).toContain('Use tabs.');
});

test('with an old token every tool is refused, and the live attempt’s record says so', async () => {
  calling(
    [
      ['check_signals', {}],
      ['memory_add', { text: 'x' }],
    ],
    {
      line: `RALPH_RUN_TOKEN=old ${CLIENT}`,
      rest: [{ sleep_ms: 1500 }, ...WORK],
    },
  );
  expect((await project.ralph(['run'])).code).toBe(0);
  for (const { text, isError } of answers())
    expect([isError, text]).toEqual([true, expect.stringContaining('The token is not that of iteration 1')]);
  expect(existsSync(join(project.dir, '.ralph/memories.md'))).toBe(false);
  expect(facts(project, 'notice.given').map(({ text }) => text)).toContain(
    'Iteration 1: a line "mcp.memory_add" in its outbox carried no token or an old one: refused.',
  );
});

test('outside of an attempt every tool says what is missing', () => {
  project = makeProject({ git: false });
  writeFileSync(join(project.dir, 'calls.json'), JSON.stringify([['task_list', {}]]));
  writeFileSync(join(project.dir, 'ralph'), `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`, {
    mode: 0o755,
  });
  execFileSync(
    process.execPath,
    [join(import.meta.dirname, 'mcp-client.mjs'), 'calls.json', 'answers.json'],
    {
      cwd: project.dir,
      env: { PATH: `${project.dir}:${process.env.PATH}` },
      timeout: 20_000,
    },
  );
  const [, answer] = JSON.parse(readFileSync(join(project.dir, 'answers.json'), 'utf8')) as Answer[];
  expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('not inside an attempt') });
});
