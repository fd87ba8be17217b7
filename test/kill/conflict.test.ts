/** Killed while an agent that was hired settles the conflict of a landing: the next start goes on, never half. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readLoops } from '../../src/store/index.ts';
import { DONE, makeProject, type Project, type ScriptedRun, story, taskList } from '../e2e/project.ts';
import { kill, marked, told, until } from './killing.ts';

const SHARED = 'top\nas it was\nend\n';

const SLOWLY: ScriptedRun['do'] = [
  { run: 'echo x >> "$HOME/began"' },
  { sleep_ms: 1500 },
  { write: { path: 'shared.txt', content: 'top\nboth\nend\n' } },
  { say: DONE },
];

/** A loop that is done beside a main branch that changed the same line, and an agent that is slow to settle it. */
async function conflicting(config: string, slowly: ScriptedRun['do'] = SLOWLY): Promise<Project> {
  const project = makeProject({
    files: { 'shared.txt': SHARED, 'A.json': taskList([story('A')]) },
    config: `land: branch\nmerge: { resolve: scripted }\n${config}`,
    runs: [
      { when: { task: 'A' }, do: [{ run: 'sed -i s/as.it.was/mine/ shared.txt' }, { say: DONE }] },
      { do: slowly },
    ],
  });
  expect((await project.ralph(['run', '--worktree', 'one', '--tasks', 'A.json'])).code).toBe(0);
  project.write('shared.txt', SHARED.replace('as it was', 'yours'));
  project.git('commit', '-qam', 'Say yours');
  return project;
}

const loop = ({ dir }: Project) => readLoops(dir).find(({ id }) => id === 'one')!;

/** One merge, one session of the agent's, and nothing left of it. */
async function goesOn(project: Project): Promise<void> {
  const [main, tip] = ['main', 'ralph/one'].map((name) => project.git('rev-parse', name));
  const again = await project.ralph(['loops', 'merge', 'one']);
  expect([again.code, again.out]).toEqual([0, expect.stringContaining('its conflict settled by scripted')]);
  expect(project.git('log', '-1', '--format=%P')).toBe(`${main} ${tip}`);
  expect(project.git('show', 'main:shared.txt')).toBe('top\nboth\nend');
  expect(project.git('status', '--porcelain')).toBe('');
  expect(project.git('worktree', 'list').split('\n')).toHaveLength(2);
  const sessions = readdirSync(join(project.dir, '.ralph-sessions')).filter((name) => /^\d/.test(name));
  expect(sessions).toHaveLength(2);
  expect(project.git('fsck', '--no-dangling')).not.toContain('missing');
}

test('while it works, it goes on in the session that it was hired in', async ({ onTestFinished }) => {
  const project = await conflicting('');
  onTestFinished(() => project.remove());
  const started = project.start(['loops', 'merge', 'one']);
  await until('the agent', () => existsSync(join(project.home, 'began')));
  await kill(started);
  expect([started.child.signalCode, loop(project).standing]).toEqual(['SIGKILL', 'queued']);
  await goesOn(project);
});

test('while the gates run on what it made, that is not made again', async ({ onTestFinished }) => {
  const project = await conflicting(
    'gates: [{ name: slow, run: "if grep -q both shared.txt && [ ! -e $HOME/gate ]; then touch $HOME/gate; sleep 20; fi" }]\n',
  );
  onTestFinished(() => project.remove());
  const started = project.start(['loops', 'merge', 'one']);
  await until('the gate', () => existsSync(join(project.home, 'gate')));
  await kill(started);
  expect(loop(project)).toMatchObject({ standing: 'queued', hired: { settled: null } });
  await goesOn(project);
  expect(project.git('config', '--get', 'user.name')).toBe('Test');
});

test.each([
  ['on main', ['merge', '-q', '--no-edit', 'ralph/one']],
  ['in the loop', ['merge', '-q', '--no-edit', 'main']],
])(
  'a person who merges by hand %s after that finds nothing left of the agent, and what it made is kept',
  async (where, args) => {
    const project = await conflicting('', [
      { write: { path: 'half.txt', content: 'half\n' } },
      { run: 'echo $$ > "$HOME/agent.pid"; exec sleep 600' },
    ]);
    onTestFinished(() => project.remove());
    const started = project.start(['loops', 'merge', 'one']);
    await told(project, 'agent.pid');
    await kill(started);
    expect([loop(project).standing, marked(project).length > 0]).toEqual(['queued', true]);
    const there = where === 'on main' ? project.dir : loop(project).worktree;
    expect(() => project.git('-C', there, ...args)).toThrow();
    writeFileSync(join(there, 'shared.txt'), 'top\nby hand\nend\n');
    project.git('-C', there, 'commit', '-qam', 'Both, by hand');
    const again = await project.ralph(['loops', 'merge', 'one']);
    expect([again.code, loop(project).standing]).toEqual([0, 'landed']);
    expect(project.git('show', 'main:shared.txt')).toBe('top\nby hand\nend');
    expect(marked(project)).toEqual([]);
    expect(project.git('worktree', 'list').split('\n')).toHaveLength(2);
    const [, ref] = /it is kept: (refs\/ralph\/hired\/\S+)\./.exec(again.err)!;
    expect(project.git('show', `${ref}:half.txt`)).toBe('half');
  },
);
