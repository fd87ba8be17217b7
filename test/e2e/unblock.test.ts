/** Twelve tasks blocked in the morning: what is told of each, and every way to give them their attempts back. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, json, started, until } from './journal.ts';
import { DONE, makeProject, type Project, result, type ScriptedRun, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 180_000 });
let project: Project;
afterEach(() => project?.remove());

interface Blocked {
  task_id: string;
  complexity: string;
  kind: string;
  why: string;
  since: string;
  attempts: { ended: string; allowance_s: number }[];
  suggestion: { strategy: string; reason: string; commands: string[] };
}
interface Blockage {
  blocked: Blocked[];
  waiting: { task_id: string; on: string[] }[];
}

const UI = ['ui-1', 'ui-2', 'ui-3', 'ui-4', 'ui-5', 'ui-6'];
const LIARS = ['fix-1', 'fix-2', 'fix-3'];
const RED = ['add-1', 'add-2'];
const ASKS = 'key-1';
const ALL = [...UI, ...LIARS, ...RED, ASKS];

/** An hour of the night is a second here: a simple attempt gets one, no attempt more than eight. */
const NIGHT = `
mode: speed
modes: { speed: 1 }
adaptive_timeout:
  min_timeout: 1
  max_timeout: 8
  complexity: { ui_heavy: { multiplier: 1.5 } }
limits: { max_stuck: 0, max_task_attempts: 2 }
questions: { hold: task }
gates:
  - { name: whole, run: "! ls broken-* 2>/dev/null" }
`;

const write = (path: string) => ({ write: { path, content: `${path}\n` } });
const honestly = [write('{{task}}.txt'), { say: DONE }];
const runs: ScriptedRun[] = [
  // Only the third attempt has enough time for the first screen; the others are quick by then.
  ...UI.flatMap((task): ScriptedRun[] => [
    { when: { task, attempt: 3 }, do: [...(task === 'ui-1' ? [{ sleep_ms: 3_500 }] : []), ...honestly] },
    { when: { task }, do: [write('half-{{task}}.txt'), { hang: true }] },
  ]),
  ...LIARS.map((task): ScriptedRun => ({ when: { task }, do: [{ say: DONE }] })),
  ...RED.map((task): ScriptedRun => ({ when: { task }, do: [write('broken-{{task}}.txt'), { say: DONE }] })),
  { when: { task: ASKS }, do: [{ say: '<promise>BLOCKED:no key for the mail server</promise>' }] },
  { do: honestly },
];

const tasks = [
  ...UI.map((id) => story(id, { title: `Build the dashboard view ${id}` })),
  ...LIARS.map((id) => story(id, { title: `Fix the rounding ${id}` })),
  ...RED.map((id) => story(id, { title: `Add the header ${id}` })),
  story(ASKS, { title: 'Mock the mail server' }),
  story('last', { title: 'Update the index', dependsOn: ['ui-2', 'fix-1'] }),
];

const attemptsAt = (task: string) =>
  facts(project, 'attempt.started').filter(({ item }) => item.task === task).length;
const unblockings = () => facts(project, 'task.unblocked');

test('twelve blocked tasks: told with strategies, unblocked by class, retried once each', async () => {
  project = makeProject({ files: { 'ralph/tasks.json': taskList(tasks) }, runs });
  project.write('agent2.json', '{"runs":[]}');
  project.write(
    'ralph.yml',
    `agent: scripted\nagents:\n  scripted: { command: ["ralph", "__script-agent", "agent.json"] }\n  spare: { command: ["ralph", "__script-agent", "agent2.json"] }\n${NIGHT}`,
  );
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'Another agent');
  const night = await project.ralph(['run', '-n', '60']);
  expect(night.code).toBe(2);
  // The end summary says what may help, unless it is told not to.
  expect(night.out).toContain('12 tasks blocked; what may help:');
  expect(night.out).toMatch(/ui-1: increase_timeout\./);
  expect(night.out).toContain('and 9 more');

  const { blocked, waiting } = json<Blockage>(await project.ralph(['blocked', '--suggest', '--json']));
  expect(blocked.map(({ task_id }) => task_id)).toEqual(ALL);
  expect(waiting).toEqual([{ task_id: 'last', title: 'Update the index', on: ['ui-2', 'fix-1'] }]);
  const ways = Object.fromEntries(blocked.map(({ task_id, suggestion }) => [task_id, suggestion.strategy]));
  for (const id of UI) expect(ways[id], id).toBe('increase_timeout');
  for (const id of LIARS) expect(ways[id], id).toBe('other_agent');
  for (const id of RED) expect(ways[id], id).toBe('fix_gate');
  expect(ways[ASKS]).toBe('manual_review');
  expect(blocked[0]).toMatchObject({ complexity: 'ui_heavy', kind: 'question' });
  expect(blocked[0]!.attempts.map(({ ended }) => ended)).toEqual([
    'ran out of its 1 s',
    'ran out of its 2 s',
  ]);
  expect(blocked[0]!.suggestion.commands).toEqual(['ralph unblock ui-1 --timeout-multiplier 2', 'ralph run']);
  expect(blocked[6]!.suggestion.commands.at(-1)).toBe('ralph run --task fix-1 --agent spare');
  expect(blocked[9]!.suggestion.reason).toContain('gate "whole" did not pass in each of 2 attempts');

  const text = (await project.ralph(['blocked', '--suggest'])).out;
  expect(text).toContain(
    'All 6 of class ui_heavy at once: ralph unblock --filter ui_heavy --timeout-multiplier 2',
  );
  expect(text).toContain('waits: last for ui-2, fix-1');

  // The way in which the screens come on, in one command; the bound is told where it holds.
  const wide = await project.ralph(['unblock', '--filter', 'ui_heavy', '--timeout-multiplier', '3.0']);
  expect([wide.code, wide.err]).toEqual([0, '']);
  for (const id of UI) expect(wide.out).toContain(`${id}: unblocked; its next attempt gets 8 s`);
  expect(wide.out).toContain('held to max 8 s: use --timeout or raise adaptive_timeout.max_timeout');
  expect(unblockings().map(({ task }) => task)).toEqual(UI);
  expect(unblockings()[0]).toMatchObject({ grant: { timeoutS: null, multiplier: 3 }, auto: false });
  const left = json<Blockage>(await project.ralph(['blocked', '--json']));
  expect(left.blocked.map(({ task_id }) => task_id)).toEqual([...LIARS, ...RED, ASKS]);
  expect(left.waiting).toMatchObject([{ task_id: 'last', on: ['fix-1'] }]);

  const screens = await project.ralph(['run', '-n', '60', '--json']);
  expect(result(screens).exit).toMatchObject({ code: 2 });
  const done = json<{ id: string; status: string }[]>(await project.ralph(['tasks', '--json']));
  expect(done.filter(({ status }) => status === 'done').map(({ id }) => id)).toEqual(UI);
  const third = facts(project, 'attempt.started').filter(({ item }) => item.task === 'ui-1')[2];
  expect(third?.allowance.wallMs).toBe(8_000);
  const why = (await project.ralph(['why', 'ui-1'])).out;
  expect(why).toMatch(
    /iteration \d+ · implement: rejected.*\n.*unblocked by .* with time × 3 .*\n\niteration \d+ · implement ui-1 · attempt 3/,
  );
  expect(
    json<{ unblockings: unknown[] }>(await project.ralph(['why', 'ui-1', '--json'])).unblockings,
  ).toMatchObject([{ timeout_multiplier: 3, timeout_s: null, auto: false }]);

  // The others get one more try each, and are blocked again after it.
  const before = started(project);
  const retried = await project.ralph(['retry-blocked', '--max-attempts', '1']);
  expect([retried.code, retried.err]).toEqual([0, '']);
  expect(retried.out).toContain('`ralph run` goes on');
  expect(started(project)).toBe(before);
  expect(json<Blockage>(await project.ralph(['blocked', '--json'])).blocked).toEqual([]);
  expect((await project.ralph(['run', '-n', '60'])).code).toBe(2);
  for (const id of [...LIARS, ...RED]) expect(attemptsAt(id), id).toBe(3);
  expect(attemptsAt('last')).toBe(0);
  const again = json<Blockage>(await project.ralph(['blocked', '--json']));
  expect(again.blocked.map(({ task_id }) => task_id)).toEqual([...LIARS, ...RED, ASKS]);
  expect(again.blocked[0]!.why).toContain('1 attempt was rejected');
});

const GUIDE = readFileSync(resolve(import.meta.dirname, '../../docs/guides/unblock.md'), 'utf8');

/** The blocks of the guide under `<!-- <kind>: <name> -->`, in their order. */
function labelled(kind: string): [string, string][] {
  const pattern = new RegExp(`<!-- ${kind}: (.+?) -->\\n\`\`\`\\w*\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...GUIDE.matchAll(pattern)].map(([, name = '', body = '']) => [name, body]);
}

/** Times, ids and people are other ones each time. */
const masked = (text: string): string =>
  text
    .replace(/\b\d{6}-\d{6}\b/g, '261128-221500')
    .replace(/\d+s ago \(\S+\)/g, '2s ago (2026-11-28T22:15:00.000Z)');

test('the guide: its example, command by command', async () => {
  const files = Object.fromEntries(labelled('file'));
  project = makeProject({ files: { 'PRD.md': files['PRD.md']! } });
  const night = `if (process.env.RALPH_TASK_ID === 'T1') setInterval(() => {}, 1000);\nelse console.log('<promise>COMPLETE</promise>');\n`;
  project.write('night.mjs', night);
  project.write('spare.mjs', '');
  project.write('ralph.yml', files['ralph.yml']!);
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'A night');
  const ran = await project.ralph(['run']);
  expect([ran.code, ran.err]).toEqual([2, '']);
  const examples = labelled('example');
  expect(examples).toHaveLength(3);
  for (const [line, output] of examples) {
    const args = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    const said = await project.ralph(args.slice(1));
    expect(masked(said.out + said.err), line).toBe(output);
  }
});

const LATE: ScriptedRun[] = [
  { when: { task: 'fix-1', iteration: 1 }, do: [{ say: DONE }] },
  { when: { task: 'fix-1' }, do: honestly },
  { when: { task: 'slow' }, do: [{ run: 'while ! test -e .git/go; do sleep 0.1; done' }, ...honestly] },
];

test('beside a live run it is a message, which is taken up before the run ends', async () => {
  const list = [
    story('quick', { priority: 0 }),
    story('fix-1', { priority: 1 }),
    story('slow', { priority: 2 }),
  ];
  const config = 'limits: { max_task_attempts: 1, max_stuck: 0 }\n';
  const runs = [{ when: { task: 'quick' }, do: honestly }, ...LATE].map((run, index) =>
    index === 1 ? { ...run, when: { task: 'fix-1', iteration: 2 } } : run,
  );
  project = makeProject({ files: { 'ralph/tasks.json': taskList(list) }, runs, config });
  const running = project.start(['run', '--json']);
  await until(
    () => facts(project, 'question.asked').length === 1 && attemptsAt('slow') === 1,
    'one is blocked',
  );
  expect(json<Blockage>(await project.ralph(['blocked', '--json'])).blocked).toMatchObject([
    { task_id: 'fix-1' },
  ]);
  const done = json<{ unblocked: object[] }>(await project.ralph(['unblock', 'quick', '--json']));
  expect(done.unblocked).toMatchObject([{ task_id: 'quick', outcome: 'no effect: the task is done' }]);
  expect((await project.ralph(['unblock', 'quick'])).out).toMatch(
    /nothing to do: the task is done\n.*nothing was/,
  );
  const sent = await project.ralph(['retry-blocked', '--max-attempts', '2', '--run']);
  expect([sent.code, sent.err]).toEqual([0, '']);
  expect(sent.out).toContain('its runner takes them up within a second');
  await until(() => unblockings().length === 1, 'the message was read');
  project.write('.git/go', '');
  expect(result(await running.done).exit).toMatchObject({ code: 0 });
  expect(unblockings()).toMatchObject([{ task: 'fix-1', attempts: 2, auto: false }]);
});

test('retry-blocked --run starts the loop, and ends as the loop does', async () => {
  const files = { 'ralph/tasks.json': taskList([story('fix-1')]) };
  const config = 'limits: { max_task_attempts: 1, max_stuck: 0 }\nunblock: { auto_suggest: false }\n';
  project = makeProject({ files, runs: LATE, config });
  const first = await project.ralph(['run']);
  expect([first.code, first.out]).toEqual([2, expect.not.stringContaining('what may help')]);
  const ran = await project.ralph(['retry-blocked', '--run', '--json']);
  const lines = ran.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
  expect(lines[0]).toMatchObject({
    type: 'retried',
    unblocked: [{ task_id: 'fix-1', outcome: 'unblocked' }],
  });
  expect([ran.code, result(ran).exit.word]).toEqual([0, 'COMPLETE']);
  const over = await project.ralph(['retry-blocked', '--run']);
  expect([over.code, over.out]).toEqual([0, expect.stringContaining('nothing is tried again')]);
  expect(facts(project, 'run.started')).toHaveLength(2);
  expect((await project.ralph(['blocked', '--suggest'])).out).toContain('No task is blocked.');
  const done = await project.ralph(['unblock', 'fix-1', '--timeout-multiplier', '99']);
  expect([done.code, done.out]).toEqual([
    0,
    expect.stringContaining('fix-1: nothing to do: the task is done'),
  ]);
  expect(done.out).toContain('nothing was changed');
  expect(done.out).not.toMatch(/goes on|held to max/);
});

test('what cannot be unblocked is told in three lines, and nothing is changed', async () => {
  const list = [story('fix-1'), story('fix-2', { dependsOn: ['fix-1'] })];
  const config = 'limits: { max_task_attempts: 1, max_stuck: 0 }\n';
  project = makeProject({
    files: { 'ralph/tasks.json': taskList(list) },
    runs: [{ do: [{ say: DONE }] }],
    config,
  });
  expect((await project.ralph(['unblock', 'fix-1'])).err).toContain('no session here');
  expect((await project.ralph(['run'])).code).toBe(2);
  const wrong: [string[], RegExp][] = [
    [['unblock', 'fxi-1'], /There is no task fxi-1\. Did you mean fix-1\?/],
    [
      ['unblock', '--filter', 'ui-hevy'],
      /no class "ui-hevy"\. Did you mean ui_heavy\?[\s\S]*simple, medium, complex, ui_heavy/,
    ],
    [['unblock', '--filter', 'complex'], /No blocked task is of class complex[\s\S]*Blocked: fix-1 \(/],
    [['unblock'], /No task was named/],
    [['unblock', 'fix-1', '--filter', 'simple'], /at once/],
    [['unblock', 'fix-1', '--timeout', '0'], /--timeout cannot be "0"/],
    [['unblock', 'fix-1', '--timeout', 'soon'], /--timeout cannot be "soon"/],
    [['unblock', 'fix-1', '--timeout-multiplier', '-2'], /--timeout-multiplier/],
    [['unblock', 'fix-1', '--timeout', '9', '--timeout-multiplier', '2'], /at once/],
    [['retry-blocked', '--max-attempts', '0'], /--max-attempts cannot be "0"/],
    [['unblock', 'fix-1', '--session', '260101-000000'], /There is no session/],
  ];
  for (const [args, words] of wrong) {
    const { code, err } = await project.ralph(args);
    expect([args, code, err]).toEqual([args, 5, expect.stringMatching(words)]);
    expect(err).not.toContain('defect');
  }
  const waits = await project.ralph(['unblock', 'fix-2']);
  expect([waits.code, waits.out]).toEqual([
    0,
    expect.stringContaining('fix-2: nothing to do: it waits for fix-1'),
  ]);
  expect(unblockings()).toEqual([]);
  expect((await project.ralph(['abort'])).code).toBe(0);
  const aborted = await project.ralph(['retry-blocked']);
  expect([aborted.code, aborted.err]).toEqual([5, expect.stringContaining('ralph run --reopen')]);
});
