/** Questions: a text file on the desk or one command answers them, and nothing else does. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, json, prompt, sessionDir, started, until, verdicts } from './journal.ts';
import {
  DONE,
  HONEST,
  makeProject,
  type Project,
  result,
  type ScriptedRun,
  story,
  taskList,
} from './project.ts';

/** A signal that was written in place is read once nobody has written to it for 200 ms. */
const RIPE_MS = 400;

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project?.remove());

const LIST = { 'ralph/tasks.json': taskList([story('a')]) };
/** The first iteration says this, the later ones work. */
const first = (...texts: string[]): ScriptedRun[] => [
  { when: { iteration: 1 }, do: texts.map((text) => ({ say: text })) },
  ...HONEST,
];
const lies = (path: string) => existsSync(join(project.dir, path));
const code = async (...args: string[]) => (await project.ralph(args)).code;
const asked = {
  question: 'Use sockets or polling?',
  tag: '<promise>DECIDE:Use sockets or polling?</promise>',
};

test('blocked.txt: there, the loop ends with 2 without an agent; deleted, it goes on', async () => {
  project = makeProject({ files: LIST, runs: first('<promise>BLOCKED:missing API key</promise>') });
  const ran = await project.ralph(['run']);
  expect(ran.code).toBe(2);
  expect(ran.out).toContain('ralph/blocked.txt');
  const text = project.read('ralph/blocked.txt');
  expect(text).toContain('missing API key');
  expect(text).toMatch(/delete/i);
  expect(facts(project, 'task.charged')).toEqual([]);
  expect(await code('run')).toBe(2);
  expect(await code('run', '--json')).toBe(2);
  expect(started(project)).toBe(1);
  expect(project.git('status', '--porcelain')).toBe('');

  rmSync(join(project.dir, 'ralph/blocked.txt'));
  expect(await code('run')).toBe(0);
  expect(started(project)).toBe(2);
  expect(lies('ralph/blocked.txt')).toBe(false);
});

test('decide.txt: an empty answer is 3 again; an answer reaches the prompt and the file is filed away', async () => {
  project = makeProject({ files: LIST, runs: first('I cannot choose.', '', asked.tag) });
  expect(await code('run')).toBe(3);
  const text = project.read('ralph/decide.txt');
  expect(text).toMatch(/^## Question \(from iteration 1, \d{4}-\d\d-\d\dT[\d:]+Z\)\n/);
  expect(text).toContain(asked.question);
  expect(text).toMatch(/\n---\n+## Answer/);
  for (const empty of [text, `${text}\n   \n\n`, `${text}\n<!-- later -->\n`]) {
    project.write('ralph/decide.txt', empty);
    expect(await code('run')).toBe(3);
  }
  expect(started(project)).toBe(1);

  project.write('ralph/decide.txt', `${text.trimEnd()}\nUse polling for now.\n`);
  expect(await code('run')).toBe(0);
  expect(prompt(project, 2)).toContain('Use polling for now.');
  expect(prompt(project, 2)).toContain(asked.question);
  expect(lies('ralph/decide.txt')).toBe(false);
  expect(readdirSync(join(sessionDir(project), 'desk')).join()).toContain('decide.txt');
  expect(facts(project, 'question.answered')).toMatchObject([
    { text: 'Use polling for now.', by: 'desk', via: 'decide.txt' },
  ]);
});

test('an answer without its heading counts when it is clearly new; a deleted decide.txt means: decide yourself', async () => {
  project = makeProject({ files: LIST, runs: first(asked.tag) });
  expect(await code('run')).toBe(3);
  const question = project.read('ralph/decide.txt').split('\n---')[0];
  project.write('ralph/decide.txt', `${question}\n\nUse polling.\n`);
  expect(await code('run')).toBe(0);
  expect(prompt(project, 2)).toContain('Use polling.');
  project.remove();

  project = makeProject({ files: LIST, runs: first(asked.tag) });
  expect(await code('run')).toBe(3);
  rmSync(join(project.dir, 'ralph/decide.txt'));
  expect(await code('run')).toBe(0);
  expect(prompt(project, 2)).toMatch(/decide yourself/i);
});

test('a question that holds --- and "## Answer" itself is answered below the last of them', async () => {
  const tricky = '<promise>DECIDE:Which header?\n---\n## Answer\nA or B?</promise>';
  project = makeProject({ files: LIST, runs: first(tricky) });
  expect(await code('run')).toBe(3);
  expect(await code('run')).toBe(3);
  project.write('ralph/decide.txt', `${project.read('ralph/decide.txt').trimEnd()}\nTake B.\n`);
  expect(await code('run')).toBe(0);
  expect(facts(project, 'question.answered').map(({ text }) => text)).toEqual(['Take B.']);
});

test('what is no signal: an empty reason, a tag in a sentence or a fence, a bare word', async () => {
  project = makeProject({
    files: LIST,
    runs: first(
      '<promise>BLOCKED:</promise>',
      '<promise>DECIDE:   </promise>',
      'I will not output <promise>COMPLETE</promise> yet.',
      '```\n<promise>COMPLETE</promise>\n```',
      'COMPLETE',
    ),
  });
  expect(await code('run')).toBe(0);
  expect(started(project)).toBe(2);
  expect(verdicts(project)[0]).toMatch(/^a rejected/);
  expect(facts(project, 'attempt.ended')[0]?.claim.kind).toBe('none');
  expect(facts(project, 'question.asked')).toEqual([]);
  expect(lies('ralph/blocked.txt') || lies('ralph/decide.txt')).toBe(false);
});

test('a signal survives colours and line breaks, and BLOCKED beats DECIDE', async () => {
  project = makeProject({
    files: LIST,
    runs: first(asked.tag, '\u001b[1m<promise>BLOCKED:the build server\nis down</promise>\u001b[0m'),
  });
  expect(await code('run')).toBe(2);
  expect(project.read('ralph/blocked.txt')).toMatch(/the build server\s+is down/);
});

test('BLOCKED with uncommitted work keeps the work, and the next attempt finishes it', async () => {
  project = makeProject({
    files: LIST,
    runs: [
      {
        when: { iteration: 1 },
        do: [
          { write: { path: 'half.txt', content: 'half\n' } },
          { say: '<promise>BLOCKED:no network</promise>' },
        ],
      },
      ...HONEST,
    ],
  });
  expect(await code('run')).toBe(2);
  expect(project.read('half.txt')).toBe('half\n');
  rmSync(join(project.dir, 'ralph/blocked.txt'));
  expect(await code('run')).toBe(0);
  expect(project.git('show', '--stat', '--format=', 'HEAD')).toContain('half.txt');
  expect(project.git('status', '--porcelain')).toBe('');
});

test('BLOCKED during a review leaves status and count of the story as they are', async () => {
  const reviewed = story('a', { reviewStatus: null, reviewCount: 0, reviewFeedback: '' });
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([reviewed]) },
    runs: [
      { when: { iteration: 2 }, do: [{ say: '<promise>BLOCKED:cannot start the app</promise>' }] },
      ...HONEST,
    ],
  });
  expect(await code('run')).toBe(2);
  const stand = () => JSON.parse(project.read('ralph/tasks.json')).userStories[0];
  expect(stand()).toMatchObject({ reviewStatus: 'needs_review', reviewCount: 0, passes: false });
  rmSync(join(project.dir, 'ralph/blocked.txt'));
  expect(await code('run')).toBe(0);
  expect(stand()).toMatchObject({ reviewStatus: 'approved', reviewCount: 1, passes: true });
});

test('`ralph answer`: by text, by option, without an open question, and for an unknown one', async () => {
  const ask = {
    emit: {
      topic: 'human.interact',
      payload: {
        text: 'Which store?',
        options: [
          { key: 'A', text: 'SQLite' },
          { key: 'B', text: 'PostgreSQL' },
        ],
      },
    },
  };
  project = makeProject({
    files: LIST,
    runs: [
      { when: { iteration: 1 }, do: [ask] },
      { when: { iteration: 2 }, do: [{ say: asked.tag }] },
      ...HONEST,
    ],
  });
  expect(await code('run')).toBe(3);
  const [open] = json<{ id: string; kind: string; text: string; options: unknown[] }[]>(
    await project.ralph(['inbox', '--json']),
  );
  expect(open).toMatchObject({
    kind: 'decision',
    options: [
      { key: 'A', text: 'SQLite' },
      { key: 'B', text: 'PostgreSQL' },
    ],
  });
  expect((await project.ralph(['inbox'])).out).toContain('Which store?');
  const wrong = await project.ralph(['answer', 'q77', 'yes']);
  expect([wrong.code, wrong.err]).toEqual([5, expect.stringContaining('q77')]);
  const badOption = await project.ralph(['answer', open!.id, '--option', 'Z']);
  expect([badOption.code, badOption.err]).toEqual([5, expect.stringMatching(/A, B|A.*B/)]);
  const empty = await project.ralph(['answer']);
  expect(empty.code).toBe(5);

  const sent = json(await project.ralph(['answer', open!.id, '--option', 'B', '--json']));
  expect(sent).toMatchObject({ outcome: expect.stringContaining('answer') });
  expect(json<unknown[]>(await project.ralph(['inbox', '--json']))).toEqual([]);
  const late = await project.ralph(['answer', open!.id, 'SQLite']);
  expect(late.out + late.err).toMatch(/already|answered/);

  expect(await code('run')).toBe(3);
  expect(prompt(project, 2)).toContain('PostgreSQL');
  expect(await code('answer', 'use', 'polling')).toBe(0);
  expect(await code('run')).toBe(0);
  expect(prompt(project, 3)).toContain('use polling');
  expect(facts(project, 'question.answered')[0]).toMatchObject({
    option: 'B',
    by: expect.stringContaining('@'),
  });
  expect((await project.ralph(['answer', 'more'])).out).toMatch(/no effect/);
});

test('an agent can neither answer nor steer nor control: it is refused inside an attempt', async () => {
  const orders = ['answer yes', 'abort', 'pause', 'stop', 'tasks cancel a', 'run', 'resume'];
  project = makeProject({
    files: LIST,
    runs: [
      { when: { iteration: 1 }, do: [{ say: asked.tag }] },
      {
        do: [
          ...orders.map((order) => ({
            run: `ralph ${order} >>refused.log 2>&1; echo "${order}: $?" >>codes.log`,
          })),
          // Without its own token in the environment, an ancestor still carries it.
          { run: 'env -u RALPH_RUN_TOKEN ralph abort >>refused.log 2>&1; echo "bare abort: $?" >>codes.log' },
          { write: { path: 'a.txt', content: 'a\n' } },
          { say: DONE },
        ],
      },
    ],
  });
  expect(await code('run')).toBe(3);
  expect(await code('answer', 'polling')).toBe(0);
  expect(await code('run')).toBe(0);
  expect(project.read('codes.log').trim().split('\n')).toEqual(
    [...orders, 'bare abort'].map((order) => `${order}: 5`),
  );
  expect(project.read('refused.log')).toContain('for people');
  expect(facts(project, 'message.received').map(({ message }) => message.type)).toEqual(['ANSWER']);
});

test('an agent that writes the answer file itself, or drops ANSWER signals, has answered nothing', async () => {
  const drop = (name: string) => ({
    run: `printf "type: ANSWER\\nmessage: yes\\n" > "$RALPH_SESSION_DIR/signals/inputs/signal.${name}.yaml"`,
  });
  project = makeProject({
    files: LIST,
    runs: [
      {
        when: { iteration: 1 },
        do: [
          drop('261128-000000-early'),
          {
            write: {
              path: 'ralph/decide.txt',
              content: '## Question\nMay I?\n\n---\n## Answer\nYes, do it.\n',
            },
          },
          { say: asked.tag },
          { sleep_ms: 500 },
          // Still being written when the question is asked, and read only afterwards.
          drop('261128-000001-late'),
        ],
      },
      ...HONEST,
    ],
  });
  const ran = await project.ralph(['run', '--json']);
  expect(result(ran).exit.code).toBe(3);
  await sleep(RIPE_MS);
  expect(await code('run')).toBe(3);
  expect(facts(project, 'question.answered')).toEqual([]);
  // Which of the two depends on when the mailbox looks; neither answers.
  const actions = facts(project, 'message.received').map(({ action }) => action);
  expect(actions).toHaveLength(2);
  for (const action of actions) expect(action).toMatch(/^(no effect|unconfirmed)/);
  expect(project.read('ralph/decide.txt')).toContain(asked.question);
  expect(await code('answer', 'polling')).toBe(0);
  expect(await code('run')).toBe(0);
});

test('with --wait the runner stays, and an answer from another terminal or the desk lets it go on', async () => {
  project = makeProject({
    files: LIST,
    runs: [
      { when: { iteration: 1 }, do: [{ say: asked.tag }] },
      { when: { iteration: 2 }, do: [{ say: '<promise>BLOCKED:no key</promise>' }] },
      ...HONEST,
    ],
  });
  const running = project.start(['run', '--wait', '--json']);
  await until(() => project.read('ralph/decide.txt').includes(asked.question), 'the question on the desk');
  const waiting = json(await project.ralph(['status', '--json']));
  expect(waiting).toMatchObject({ open_questions: [{ kind: 'decision' }] });
  expect(json(await project.ralph(['answer', 'polling', '--json']))).toMatchObject({ outcome: 'queued' });
  await until(() => project.read('ralph/blocked.txt').includes('no key'), 'the blocker on the desk');
  // Gone before that is noted, it may never have lain there for anybody, and is written again.
  const noted = () => facts(project, 'desk.written').some(({ file }) => file === 'blocked.txt');
  await until(noted, 'the file noted in the journal');
  rmSync(join(project.dir, 'ralph/blocked.txt'));
  const ran = await running.done;
  expect(result(ran).exit.code).toBe(0);
  expect(started(project)).toBe(3);
  expect(facts(project, 'run.started')).toHaveLength(1);
});
