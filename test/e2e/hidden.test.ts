/** An agent that tells git itself to hide what it changed: nothing of it is believed, and it is put back. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { facts, sessionDir, until, verdicts } from './journal.ts';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

let project: Project | null = null;
afterEach(() => project?.remove());

const LIST = { 'ralph/tasks.json': taskList([story('a')]), 'test/golden.txt': 'right\n' };
const PROTECT = 'protect: ["test/**"]\n';
/** A filter that shows git what was there before, whatever stands there now. */
const FILTER =
  'git config filter.calm.clean "echo right" && echo "test/golden.txt filter=calm" > .git/info/attributes';
const first = (run: string) => ({ when: { attempt: 1 }, do: [{ run }, { say: DONE }] });
const honest = { do: [{ run: 'echo {{task}} > {{task}}.txt' }, { say: DONE }] };

describe('a protected file', () => {
  test('changed behind a clean filter is seen, put back and held against the attempt', async () => {
    project = makeProject({
      files: LIST,
      runs: [first(`echo a > a.txt; ${FILTER} && echo wrong > test/golden.txt && git add -A`), honest],
      config: PROTECT,
    });
    const config = project.read('.git/config');
    const ran = await project.ralph(['run']);
    expect(ran.code).toBe(0);
    expect(verdicts(project)[0]).toMatch(/^a rejected protected_changed/);
    expect(verdicts(project)[1]).toBe('a accepted');
    expect(project.read('test/golden.txt')).toBe('right\n');
    expect(project.read('.git/config')).toBe(config);
    expect(existsSync(join(project.dir, '.git/info/attributes'))).toBe(false);
    expect(project.git('status', '--porcelain')).toBe('');
    const why = (await project.ralph(['why', '1'])).out;
    expect(why).toMatch(/\.git\/config .*filter\.calm\.clean.* was put back/);
    expect(why).toMatch(/\.git\/info\/attributes .*filter=calm.* was put back/);
    expect(why).toMatch(/test\/golden\.txt is protected and was put back/);
    const { keptAs } = facts(project, 'attempt.ended')[0]!.trespass[0]!;
    expect(readFileSync(join(sessionDir(project), keptAs!), 'utf8')).toContain('calm');
  });

  test('added behind a local ignore rule is seen too', async () => {
    project = makeProject({
      files: LIST,
      runs: [
        first('echo a > a.txt; echo test/extra.txt >> .git/info/exclude; echo x > test/extra.txt'),
        honest,
      ],
      config: PROTECT,
    });
    expect((await project.ralph(['run'])).code).toBe(0);
    expect(verdicts(project)[0]).toMatch(/^a rejected protected_changed/);
    expect(existsSync(join(project.dir, 'test/extra.txt'))).toBe(false);
    expect(project.read('.git/info/exclude')).not.toMatch(/extra/);
  });

  test('changed in a linked work tree is seen through the rules that all work trees share', async () => {
    project = makeProject({ files: LIST, config: PROTECT });
    const side = join(mkdtempSync(join(tmpdir(), 'ralph-side-')), 'tree');
    project.git('worktree', 'add', '-q', '-b', 'side', side);
    try {
      const shared = join(project.dir, '.git/info/attributes');
      const run = `echo a > a.txt; git config filter.calm.clean "echo right"; echo "test/golden.txt filter=calm" > ${shared}; echo wrong > test/golden.txt`;
      execFileSync('sh', ['-c', 'cat > agent.json'], {
        cwd: side,
        input: JSON.stringify({ runs: [first(run), honest] }),
      });
      project.git('-C', side, 'commit', '-qam', 'another agent');
      const ran = await project.ralph(['run', '--json'], { cwd: side });
      expect(ran.code).toBe(0);
      expect(readFileSync(join(side, 'test/golden.txt'), 'utf8')).toBe('right\n');
      expect(existsSync(shared)).toBe(false);
      expect(project.git('config', '--get-regexp', '^user')).toMatch(/Test/);
      expect(verdicts(project)[0]).toMatch(/^a rejected protected_changed/);
    } finally {
      rmSync(join(side, '..'), { recursive: true, force: true });
    }
  });

  test('changed in a sub-folder of a repository is seen', async () => {
    project = makeProject({
      files: { 'apps/web/ralph/tasks.json': LIST['ralph/tasks.json'], 'apps/web/test/golden.txt': 'right\n' },
      runs: [
        first(
          'echo a > a.txt; git config filter.calm.clean "echo right"; echo "golden.txt filter=calm" > ../../.git/info/attributes; echo wrong > test/golden.txt',
        ),
        honest,
      ],
      config: PROTECT,
    });
    project.git('mv', 'ralph.yml', 'agent.json', 'apps/web/');
    project.git('commit', '-qm', 'move');
    const cwd = join(project.dir, 'apps/web');
    expect((await project.ralph(['run'], { cwd })).code).toBe(0);
    expect(project.read('apps/web/test/golden.txt')).toBe('right\n');
    expect((await project.ralph(['why', '1'], { cwd })).out).toMatch(
      /protected_changed.*\.git\/config .*apps\/web\/test\/golden\.txt is protected/,
    );
  });

  test('changed without a repository, behind rules in the session’s own folder, is seen', async () => {
    const rule =
      'd=$(ls -d .ralph-sessions/*/ground/git); echo "test/golden.txt filter=calm" > $d/info/attributes; git config -f $d/config filter.calm.clean "echo right"';
    project = makeProject({
      files: LIST,
      runs: [first(`echo a > a.txt; ${rule}; echo wrong > test/golden.txt`), honest],
      config: PROTECT,
      git: false,
    });
    expect((await project.ralph(['run', '--no-git'])).code).toBe(0);
    expect(project.read('test/golden.txt')).toBe('right\n');
    expect(verdicts(project)[0]).toMatch(/^a rejected protected_changed/);
  });
});

test('work behind a filter is seen as what it is, and lands with the task', async () => {
  project = makeProject({
    files: { ...LIST, 'src/a.js': 'right\n' },
    runs: [
      first(
        'git config filter.calm.clean "echo right" && echo "src/a.js filter=calm" > .git/info/attributes; echo new > src/a.js; git add -A; git status > /dev/null',
      ),
      honest,
    ],
  });
  expect((await project.ralph(['run'])).code).toBe(0);
  expect(facts(project, 'attempt.ended')[0]!.changes.map(({ path }) => path)).toEqual(['src/a.js']);
  expect(project.git('show', 'HEAD:src/a.js')).toBe('new');
});

test('what an agent’s git commands write into the configuration by the way is nobody’s finding', async () => {
  const run =
    'git config user.name Agent; git branch side; git branch -q -u side; git remote add o ../o; git config alias.st status; git config core.hooksPath .husky/_; echo "# a note" >> .git/info/exclude; echo a > a.txt';
  project = makeProject({ files: LIST, runs: [{ do: [{ run }, { say: DONE }] }] });
  expect((await project.ralph(['run'])).code).toBe(0);
  expect(verdicts(project)).toEqual(['a accepted']);
  expect(project.git('config', 'branch.main.merge')).toBe('refs/heads/side');
  expect(project.git('config', 'core.hooksPath')).toBe('.husky/_');
});

test('a configuration that cannot be put back stops the run, and says what to do', async () => {
  project = makeProject({
    files: LIST,
    runs: [first(`${FILTER}; echo a > a.txt; touch .git/config.lock`), honest],
  });
  const ran = await project.ralph(['run']);
  expect(ran.code).toBe(7);
  expect(ran.out).toMatch(/\.git\/config \(filter\.calm\.clean\).*could not be put back.*ralph resume/);
  rmSync(join(project.dir, '.git/config.lock'));
  project.git('config', '--remove-section', 'filter.calm');
  expect((await project.ralph(['resume'])).code).toBe(0);
  expect(verdicts(project)[0]).toMatch(/^a rejected protected_changed/);
});

describe('after the runner was killed', () => {
  const hang = {
    when: { attempt: 1 },
    do: [{ run: `${FILTER} && echo wrong > test/golden.txt && touch made && sleep 60` }],
  };

  test('what hides a change is put back and told, and the change is seen', async () => {
    project = makeProject({ files: LIST, runs: [hang, honest] });
    await kill(project);
    const ran = await project.ralph(['resume']);
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/Iteration 1: \.git\/config .*filter\.calm\.clean.* was put back/);
    expect(project.read('.git/config')).not.toMatch(/calm/);
    expect(facts(project, 'attempt.lost')[0]!.changes.map(({ path }) => path)).toContain('test/golden.txt');
  });

  test('an attempt that had reported its result is judged for it', async () => {
    project = makeProject({
      files: LIST,
      runs: [
        {
          when: { attempt: 1 },
          do: [
            { emit: { topic: 'ralph.result', payload: { status: 'completed', mode: 'EXECUTE' } } },
            { run: `${FILTER}; echo a > a.txt; touch made; sleep 60` },
          ],
        },
        honest,
      ],
    });
    await kill(project);
    expect((await project.ralph(['resume'])).code).toBe(0);
    expect(verdicts(project)[0]).toMatch(/^a rejected protected_changed/);
  });
});

async function kill(made: Project): Promise<void> {
  const started = made.start(['run']);
  await until(() => existsSync(join(made.dir, 'made')), 'the agent is at work');
  started.child.kill('SIGKILL');
  await started.done;
}
