/** A checkout that cannot be written is told as what it is, by every command that writes there. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { DONE, makeProject, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

const bind = (folder: string) => {
  execFileSync('mount', ['--bind', folder, folder], { stdio: 'pipe' });
  execFileSync('mount', ['-o', 'remount,ro,bind', folder], { stdio: 'pipe' });
};
const unbind = (folder: string) => execFileSync('umount', ['-l', folder], { stdio: 'pipe' });

/** Why nothing can be mounted here; null where it can. */
const refusal = ((): string | null => {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-mount-'));
  try {
    bind(folder);
    unbind(folder);
    return null;
  } catch (error) {
    return `mounting is not permitted here: ${(error as Error).message.split('\n').at(-2)}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
})();
if (refusal !== null) console.log(`skipped: ${refusal}`);

test.skipIf(refusal !== null)(
  'a checkout that is mounted read-only is no full disk and no defect, whichever command meets it',
  async ({ onTestFinished }) => {
    const project = makeProject({
      files: { 'prd.json': taskList([story('US-001'), story('US-002')]) },
      config: 'land: branch\n',
      runs: [{ do: [{ run: 'echo x > {{task}}.txt' }, { say: DONE }] }],
    });
    onTestFinished(() => project.remove());
    expect((await project.ralph(['run', '--worktree', 'one'])).code).toBe(0);
    expect((await project.ralph(['run', '--max-iterations', '1'])).code).toBe(1);
    const rows = JSON.parse((await project.ralph(['loops', '--json'])).out) as {
      loop_id: string;
      worktree: string;
    }[];
    writeFileSync(join(rows.find(({ loop_id: id }) => id === 'one')!.worktree, 'more.txt'), 'uncommitted\n');
    bind(project.dir);
    const commands = [
      ['loops', 'discard', 'one', '--yes'],
      ['loops', 'merge', 'one'],
      ['run', '--worktree', 'two'],
      ['run'],
      ['stop'],
      ['tell', 'hi'],
      ['interventions', '--reset'],
      ['import', 'prd.json', '--to', 'x.json', '--yes'],
    ];
    const told: string[] = [];
    for (const args of commands) {
      const { code, err } = await project.ralph(args);
      told.push(`${args.join(' ')}: ${code} ${err}`);
    }
    unbind(project.dir);
    for (const text of told) {
      expect(text).toMatch(/: 5 /);
      expect(text).toMatch(/mounted read-only \(EROFS\)/);
      expect(text).toMatch(/fix: Mount it so that it can be written/);
      expect(text).not.toMatch(/defect|free some/i);
    }
    const discarded = await project.ralph(['loops', 'discard', 'one', '--yes']);
    expect(discarded.code, discarded.err).toBe(0);
    expect(project.git('show', 'refs/ralph/discarded/one:more.txt')).toBe('uncommitted');
  },
);

test('a file where `.ralph` has to be is named as that', async ({ onTestFinished }) => {
  const project = makeProject({ files: { 'prd.json': taskList([story('US-001')]) } });
  onTestFinished(() => project.remove());
  project.write('.ralph', 'mine\n');
  const { code, err, out } = await project.ralph(['interventions', '--reset', '--json']);
  expect(code, err).toBe(5);
  expect(err).toContain('a file lies where a folder has to be');
  expect(JSON.parse(out.trim().split('\n').at(-1)!)).toMatchObject({
    exit: { code: 5, word: 'PROBLEM' },
    problems: [
      { code: expect.stringMatching(/^system\./), fix: expect.stringContaining('Move that file away') },
    ],
  });
  expect(project.read('.ralph')).toBe('mine\n');
});
