/** Who holds a session: a machine that is gone, several terminals at the same moment. */
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, sessionDir, until, verdicts } from './journal.ts';
import { HONEST, makeProject, type Project, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project?.remove());

const LIST = { 'ralph/tasks.json': taskList([story('a'), story('b')]) };

/** A run that was killed on a machine of another name, last seen that long ago. */
async function leftByAnotherMachine(agoMs: number): Promise<void> {
  project = makeProject({
    files: LIST,
    runs: [
      { when: { iteration: 1 }, do: [{ run: 'echo $PPID > .git/agent.pid' }, { hang: true }] },
      ...HONEST,
    ],
  });
  const running = project.start(['run']);
  await until(() => existsSync(join(project.dir, '.git/agent.pid')), 'an agent');
  running.child.kill('SIGKILL');
  await running.done;
  // With that machine its agent is gone; nobody here may end what another machine started.
  process.kill(Number(project.read('.git/agent.pid')), 'SIGKILL');
  const seen = (Date.now() - agoMs) / 1000;
  for (const folder of [sessionDir(project), join(project.dir, '.ralph')]) {
    for (const name of readdirSync(folder).filter((name) => /^\.?(?:loop\.)?lock(?:-\d+)?$/.test(name))) {
      const file = join(folder, name);
      const claim = JSON.parse(readFileSync(file, 'utf8')) as object;
      writeFileSync(file, JSON.stringify({ ...claim, host: 'elsewhere' }));
      utimesSync(file, seen, seen);
    }
  }
}

test('a session of a machine that is silent is no live run: resume says so, and --force takes it over', async () => {
  await leftByAnotherMachine(20 * 60_000);
  expect((await project.ralph(['status'])).out).toMatch(/no runner.*last seen .* on elsewhere/);
  const refused = await project.ralph(['resume']);
  expect([refused.code, refused.err]).toEqual([5, expect.stringMatching(/elsewhere[\s\S]*--force/)]);
  const told = await project.ralph(['pause', 'wait']);
  expect([told.code, told.out]).toEqual([0, expect.stringMatching(/elsewhere.*--force/)]);
  expect((await project.ralph(['resume', '--force'])).code).toBe(0);
  expect(verdicts(project)).toEqual(['a accepted', 'b accepted']);
});

test('a machine that was just seen still holds its session', async () => {
  await leftByAnotherMachine(30_000);
  expect((await project.ralph(['status'])).out).toMatch(/runner pid/);
  const told = await project.ralph(['resume']);
  expect([told.code, told.out]).toEqual([0, expect.stringContaining('elsewhere')]);
  expect((await project.ralph(['resume', '--force'])).code).toBe(5);
});

test('several terminals say something at the same moment: each is heard, and none speaks of a runner', async () => {
  project = makeProject({ files: LIST });
  expect((await project.ralph(['run', '--max-iterations', '1'])).code).toBe(1);
  const told = await Promise.all(
    [1, 2, 3, 4, 5].map((n) => project.ralph(['pause', `terminal ${n}`], { timeoutMs: 60_000 })),
  );
  expect(told.map(({ code, err }) => [code, err])).toEqual(told.map(() => [0, '']));
  expect(told.map(({ out }) => out).join('')).not.toMatch(/its runner|mailbox/);
  expect(facts(project, 'message.received')).toHaveLength(5);
});
