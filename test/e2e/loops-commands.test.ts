/**
 * What is printed about a loop is typed in the main checkout: each command names the loop, so that none begins the list
 * in the person's checkout or answers another loop's question.
 */
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, json, sessions } from './journal.ts';
import { DONE, makeProject, type Project, type ScriptedRun, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

let project: Project;
afterEach(() => project?.remove());

const asks: ScriptedRun = {
  when: { iteration: 1 },
  do: [{ say: '<promise>DECIDE:Which colour?</promise>' }],
};
const works: ScriptedRun = { do: [{ run: 'echo made > {{task}}.txt' }, { say: DONE }] };

/** Each place where `ralph run`, or a word to one session, stands without the loop it is for. */
const plainCommands = (text: string): string[] =>
  (text.match(/ralph (?:run|resume|answer|approve|skip|tell|why|unblock)\b[^`\n]*/g) ?? []).filter(
    (command) => !command.includes('--worktree a') && !command.includes('@a'),
  );

const sessionOf = (loop: string): string => {
  const root = join(project.dir, '.ralph/worktrees', loop);
  const real = project.git('-C', root, 'rev-parse', '--show-toplevel');
  return sessions(project).find((id) => facts(project, 'session.created', id)[0]?.ground === real)!;
};
const answersOf = (loop: string) =>
  facts(project, 'question.answered', sessionOf(loop)).map(({ text }) => text);

test('every window that tells of a loop names it in its commands, and what they say is what happens', async () => {
  project = makeProject({ files: { 'prd.json': taskList([story('US-001')]) }, runs: [asks, works] });
  const ran = await project.ralph(['run', '--worktree', 'a']);
  expect(ran.code).toBe(3);
  expect(ran.out).toContain('`ralph answer q1 "…" --session @a`');
  expect(ran.out).toContain('`ralph run --worktree a` goes on');
  const shown = [ran.out, (await project.ralph(['run', '--worktree', 'a', '--json'])).out];
  for (const args of [['status'], ['inbox'], ['why'], ['why', 'US-001'], ['loops'], ['blocked', '--suggest']])
    for (const more of [[], ['--json']]) {
      const { code, out } = await project.ralph([...args, ...more]);
      expect([args, code]).toEqual([args, 0]);
      shown.push(out);
    }
  expect(shown.flatMap(plainCommands)).toEqual([]);

  const answered = await project.ralph(['answer', 'q1', 'red', '--session', '@a']);
  expect([answered.code, answered.out]).toEqual([0, expect.stringMatching(/^Session \S+ of loop a: /)]);
  expect((await project.ralph(['run', '--worktree', 'a'])).code).toBe(0);
  expect(sessions(project)).toHaveLength(1);
});

test('a question of that name in two loops is answered in none of them before one is named', async () => {
  project = makeProject({ files: { 'prd.json': taskList([story('US-001')]) }, runs: [asks, works] });
  for (const loop of ['a', 'b']) expect((await project.ralph(['run', '--worktree', loop])).code).toBe(3);
  const { code, err } = await project.ralph(['answer', 'q1', 'red']);
  expect(code).toBe(5);
  expect(err).toContain('`ralph answer q1 "…" --session @a`');
  expect(err).toContain('`ralph answer q1 "…" --session @b`');
  expect([answersOf('a'), answersOf('b')]).toEqual([[], []]);
  const told = await project.ralph(['tell', 'use green']);
  expect([told.code, told.err]).toEqual([5, expect.stringContaining('--session @a or --session @b')]);

  const answered = await project.ralph(['answer', 'q1', 'red', '--session', '@a', '--json']);
  expect(json(answered)).toMatchObject({ loop_id: 'a' });
  expect([answersOf('a'), answersOf('b')]).toEqual([['red'], []]);
  // Only one asks now, so that it need not be named.
  expect((await project.ralph(['answer', 'q1', 'blue'])).out).toMatch(/^Session \S+ of loop b: /);
});

test('inside its work tree a bare answer is for the loop of that tree', async () => {
  project = makeProject({ files: { 'prd.json': taskList([story('US-001')]) }, runs: [asks, works] });
  for (const loop of ['a', 'b']) expect((await project.ralph(['run', '--worktree', loop])).code).toBe(3);
  const cwd = join(project.dir, '.ralph/worktrees/a');
  expect((await project.ralph(['answer', 'q1', 'red'], { cwd })).code).toBe(0);
  expect([answersOf('a'), answersOf('b')]).toEqual([['red'], []]);
});
