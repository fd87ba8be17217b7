/** A person's words to the work: guidance, signals, approvals, from any terminal. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, json, prompt, sessionDir, until, verdicts } from './journal.ts';
import { DONE, HONEST, makeProject, type Project, story, taskList } from './project.ts';

/** A signal that was written in place is read once nobody has written to it for 200 ms. */
const RIPE_MS = 400;

vi.setConfig({ testTimeout: 120_000 });
const GUIDE = resolve(import.meta.dirname, '../../docs/guides/steering.md');
let project: Project;
afterEach(() => project?.remove());

const LIST = { 'ralph/tasks.json': taskList([story('a'), story('b'), story('c')]) };
interface Message {
  text: string;
  action: string;
  deliveries: number[];
}
const messages = async () =>
  json<{ messages: Message[] }>(await project.ralph(['status', '--json'])).messages.map(
    ({ text, action, deliveries }) => [text, action, deliveries],
  );

test('guidance said between two runs stands in the next prompt of its role, once', async () => {
  project = makeProject({ files: LIST });
  expect((await project.ralph(['run', '-n', '1'])).code).toBe(1);
  const said = await project.ralph(['tell', 'use the bar library']);
  expect([said.code, said.out]).toEqual([0, expect.stringContaining('it stands in the next prompt')]);
  expect((await project.ralph(['tell', '--note', 'the team prefers tabs'])).code).toBe(0);
  expect(
    (await project.ralph(['signal', 'steer', 'no new dependency', '--target', 'Ralph-v2-Executor'])).code,
  ).toBe(0);
  const stale = await project.ralph(['signal', 'INFO', 'only then', '--iteration', '7']);
  expect(stale.out).toContain('stale: iteration 7 is not 1');

  // The file of the guide, as another program would write it.
  const [, name, text] = /inputs\/(\S+)\n([\s\S]*?)```/.exec(readFileSync(GUIDE, 'utf8'))!;
  writeFileSync(join(sessionDir(project), 'signals/inputs', name!), text!);
  await sleep(RIPE_MS);

  expect((await project.ralph(['run'])).code).toBe(0);
  const guided = prompt(project, 2);
  expect(guided).toMatch(
    /\(changes your work\):\s[\s\S]*use the bar library[\s\S]*\(a note\):\s[\s\S]*the team prefers tabs/,
  );
  expect(guided).toContain('no new dependency');
  expect(guided).toContain('Use the bar library.');
  expect(guided).not.toContain('only then');
  expect(prompt(project, 3)).not.toMatch(/bar library|prefers tabs|no new dependency/);
  expect(await messages()).toEqual([
    ['use the bar library', 'queued', [2]],
    ['the team prefers tabs', 'queued', [2]],
    ['no new dependency', 'queued', [2]],
    ['only then', 'stale: iteration 7 is not 1', []],
    ['Use the bar library.', 'queued', [2]],
  ]);
  const processed = readFileSync(join(sessionDir(project), 'signals/processed', name!), 'utf8');
  expect(processed).toContain(text!.trim());
  expect(processed).toMatch(/deliveries:\s+- to: executor\s+iteration: "?2"?\s/);
});

test('guidance for work that is being done is read at once, and keeps the task from being done without it', async () => {
  const wait = { run: 'for i in $(seq 400); do [ -e .git/said ] && break; sleep 0.05; done' };
  project = makeProject({
    files: LIST,
    runs: [
      {
        when: { iteration: 1 },
        do: [
          { run: 'touch .git/at-work' },
          wait,
          { write: { path: 'a.txt', content: 'a\n' } },
          { say: DONE },
        ],
      },
      ...HONEST,
    ],
  });
  const running = project.start(['run']);
  await until(() => existsSync(join(project.dir, '.git/at-work')), 'the agent at work');
  const said = await project.ralph(['tell', 'name it alpha']);
  expect(said.out).toContain('its runner reads it within a second, and it stands in the next prompt');
  await until(() => facts(project, 'message.received').length === 1, 'the words taken in');
  project.write('.git/said', '');
  expect((await running.done).code).toBe(0);
  expect(prompt(project, 1)).not.toContain('name it alpha');
  expect(prompt(project, 2)).toContain('name it alpha');
  expect(verdicts(project)[0]).toBe('a unfinished undelivered_steer');
});

test('what cannot be said is refused with what can, and nothing is written', async () => {
  project = makeProject({ files: LIST });
  expect((await project.ralph(['run', '-n', '1'])).code).toBe(1);
  for (const [args, words] of [
    [['tell', ' '], 'the text is empty'],
    [['tell', '--to', 'reviewer', 'x'], 'executor'],
    [['signal', 'INFO'], 'the text is empty'],
    [['signal', 'STEERR', 'x'], 'Did you mean STEER?'],
    [['signal', 'ANSWER', 'x'], 'Use `ralph answer`'],
    [['signal', 'UNBLOCK', 'a'], 'Use `ralph unblock ID`'],
    [['signal', 'INFO', 'x', '--iteration', '0'], '--iteration cannot be "0"'],
  ] as const) {
    const refused = await project.ralph([...args]);
    expect([refused.code, refused.err], args.join(' ')).toEqual([5, expect.stringContaining(words)]);
  }
  expect(facts(project, 'message.received')).toEqual([]);
  const unknown = await project.ralph(['tell', '--to', 'gardener', 'x']);
  expect([unknown.code, unknown.err]).toEqual([5, expect.stringMatching(/gardener[\s\S]*executor/)]);
});

test('an approval lies in the mailbox until a question wants it, and STOP is read as ABORT', async () => {
  project = makeProject({ files: LIST });
  expect((await project.ralph(['run', '-n', '1'])).code).toBe(1);
  for (const command of ['approve', 'skip'])
    expect((await project.ralph([command])).out).toContain('left in the mailbox until it can be used');
  expect(readdirSync(join(sessionDir(project), 'signals/inputs'))).toHaveLength(2);
  expect((await project.ralph(['signal', 'stop', 'wrong direction'])).out).toContain('aborted');
  expect((await project.ralph(['run'])).code).not.toBe(0);
});
