/** Which task list is meant, and the list where nothing is left to do: what is said, and what is done. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { makeNewcomer, type Newcomer } from './newcomer.ts';
import { makeProject, type Project, result } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let newcomer: Newcomer | null = null;
let project: Project | null = null;
afterEach(() => {
  newcomer?.remove();
  project?.remove();
  newcomer = project = null;
});

const untouched = (dir: string) => {
  for (const folder of ['.ralph', '.ralph-sessions', 'ralph'])
    expect(existsSync(join(dir, folder))).toBe(false);
};

test.each([
  ['- [x] Add a\n', 'the only task of PRD.md is done'],
  ['- [x] Add a\n- [x] Add b\n', 'all 2 tasks of PRD.md are done'],
  ['- [C] Add a\n', 'the only task of PRD.md is cancelled'],
  ['- [x] Add a\n- [C] Add b\n', 'all 2 tasks of PRD.md are done or cancelled'],
])('%j: nothing to do, exit 0, with no agent on the machine and a dirty tree', (list, words) => {
  newcomer = makeNewcomer({ files: { 'PRD.md': list }, agent: false });
  newcomer.write({ 'notes.txt': 'not committed\n' });
  const ran = newcomer.ralph(['run']);
  expect([ran.code, ran.out, ran.err]).toEqual([0, expect.stringContaining(`Nothing to do: ${words}.`), '']);
  const json = newcomer.ralph(['run', '--json']);
  const last = JSON.parse(json.out.trimEnd().split('\n').at(-1)!);
  expect(last).toMatchObject({
    type: 'result',
    exit: { code: 0, word: 'COMPLETE', reason: `nothing to do: ${words}` },
    session_id: null,
  });
  const dry = newcomer.ralph(['run', '--dry-run']);
  expect([dry.code, dry.out]).toEqual([0, expect.stringContaining(`nothing to do: ${words}`)]);
  untouched(newcomer.dir);
});

test('an open task beside done ones still needs an agent, and an empty list is no finished one', () => {
  newcomer = makeNewcomer({ files: { 'PRD.md': '- [x] Add a\n- [ ] Add b\n' }, agent: false });
  expect(newcomer.ralph(['run'])).toMatchObject({ code: 5, err: expect.stringContaining('No coding agent') });
  newcomer.write({ 'PRD.md': '# Nothing yet\n' });
  expect(newcomer.ralph(['run'])).toMatchObject({ code: 5, err: expect.stringContaining('holds no task') });
});

test.each(['PLAN.md', 'TODO.md', 'tasks.json', 'docs/PLAN.md', 'specs/login/tasks.md'])(
  'a plan called %s is named with the command that takes it, and the command works',
  (path) => {
    const text = path.endsWith('json')
      ? '{ "tasks": [{ "id": "a", "title": "Add a" }] }\n'
      : '# Plan\n\n- [ ] Add a\n- [x] Add b\n';
    newcomer = makeNewcomer({ files: { [path]: text, 'README.md': 'x\n' } });
    for (const command of ['run', 'tasks']) {
      const { code, err } = newcomer.ralph([command]);
      expect([code, err]).toEqual([5, expect.stringContaining(`${path} (1 open, `)]);
      expect(err).toMatch(new RegExp(`fix: ralph ${command} --tasks ${path}\\n`));
    }
    const { out } = newcomer.ralph(['doctor', '--no-agent']);
    expect(out).toContain(`fix: ralph run --tasks ${path}\n`);
    expect(newcomer.ralph(['tasks', '--tasks', path]).out).toMatch(/Add a/);
    expect(newcomer.ralph(['run', '--dry-run', '--tasks', path])).toMatchObject({ code: 0 });
  },
);

test('several plans: all are named, one with open tasks first, and a name with blanks is quoted', () => {
  newcomer = makeNewcomer({
    files: { 'PLAN.md': '- [x] a\n', 'TODO.md': '- [ ] b\n', 'specs/the login/tasks.md': '- [x] c\n' },
  });
  const { err } = newcomer.ralph(['run']);
  expect(err).toMatch(/PLAN\.md \(0 open, 1 done\)/);
  expect(err).toMatch(/fix: ralph run --tasks TODO\.md\n/);
  rmSync(join(newcomer.dir, 'TODO.md'));
  rmSync(join(newcomer.dir, 'PLAN.md'));
  expect(newcomer.ralph(['tasks']).err).toContain("--tasks 'specs/the login/tasks.md'\n");
});

test('a list that is typed in a folder is looked for there, also when the run goes on from the top', async () => {
  project = makeProject({ files: { 'apps/shop/work.md': '- [ ] one: The first\n- [ ] two: The second\n' } });
  const cwd = join(project.dir, 'apps/shop');
  const listed = await project.ralph(['tasks', '--tasks', 'work.md'], { cwd });
  expect([listed.code, listed.out]).toEqual([0, expect.stringContaining('The first')]);
  const first = await project.ralph(['run', '--tasks', 'work.md', '-n', '1'], { cwd });
  expect([first.code, first.err]).toEqual([1, expect.any(String)]);
  const second = await project.ralph(['resume']);
  expect([second.code, second.err]).toEqual([0, expect.any(String)]);
  expect(project.read('apps/shop/work.md').match(/\[x\]/g)).toHaveLength(2);
});

test('a folder, an empty name, a link: each says what to name instead', async () => {
  project = makeProject({ files: { 'plans/TODO.md': '- [ ] a\n', 'real.md': '- [ ] a\n', 'src/x.txt': '' } });
  const refused = async (args: string[], ...words: (RegExp | string)[]) => {
    const ran = await project!.ralph(args);
    expect(ran.code, ran.err).toBe(5);
    for (const word of words) expect(ran.err).toMatch(word);
    untouched(project!.dir);
  };
  for (const command of ['run', 'tasks']) {
    await refused([command, '--tasks', 'plans'], /plans is a folder/, /fix: --tasks plans\/TODO\.md/);
    await refused([command, '--tasks', 'src'], /src is a folder/, /No task list was found in this folder/);
    await refused([command, '--tasks', ''], /why: /, /fix: /);
    symlinkSync('real.md', join(project.dir, 'PRD.md'));
    await refused([command], /PRD\.md is a symbolic link to real\.md/, /fix: .*--tasks real\.md/);
    await refused([command, '--tasks', 'PRD.md'], /symbolic link/);
    rmSync(join(project.dir, 'PRD.md'));
    symlinkSync('gone.md', join(project.dir, 'PRD.md'));
    await refused([command], /PRD\.md is a symbolic link to gone\.md, which is not there/);
    rmSync(join(project.dir, 'PRD.md'));
    symlinkSync('plans', join(project.dir, 'linked'));
    await refused([command, '--tasks', 'linked'], /linked is a folder/, /--tasks linked\/TODO\.md/);
    rmSync(join(project.dir, 'linked'));
  }
});

test('a list outside the repository: worked on and marked, in no commit, and that is told', async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'ralph-elsewhere-'));
  try {
    const list = join(elsewhere, 'plan.md');
    writeFileSync(list, '- [ ] one: The first\n- [ ] two: The second\n');
    project = makeProject();
    const ran = await project.ralph(['run', '--tasks', list, '--json']);
    expect(result(ran).exit).toMatchObject({ code: 0 });
    expect(ran.err).toContain(`${list} lies outside the repository`);
    expect(ran.err).toContain('no commit holds the marks');
    expect(readFileSync(list, 'utf8')).toBe('- [x] one: The first\n- [x] two: The second\n');
    expect(project.git('log', '--format=%s').split('\n')).toHaveLength(3);
    expect(project.git('show', '--format=', '--name-only', 'HEAD')).toMatch(/^two[^\n]*\.txt$/);
    expect(project.git('status', '--porcelain')).toBe('');
    const again = await project.ralph(['run', '--tasks', list]);
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('Nothing to do')]);
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
});

test.each(['ralph.yml:4', 'RALPH_CONFIG_TASKS'])(
  'a name that came from %s is blamed on that',
  async (from) => {
    project = makeProject({ config: from.startsWith('ralph.yml') ? 'tasks: nosuch.md\n' : '' });
    const env: Record<string, string> = from.startsWith('ralph.yml') ? {} : { [from]: 'nosuch.md' };
    for (const command of ['run', 'tasks']) {
      const ran = await project.ralph([command], { env });
      expect([ran.code, ran.err]).toEqual([5, expect.stringContaining(`${from}: nosuch.md is not there.`)]);
      expect(ran.err).toContain(`why: ${from} names it`);
      expect(ran.err).not.toContain('--tasks names');
      mkdirSync(join(project.dir, 'nosuch.md'));
      writeFileSync(join(project.dir, 'nosuch.md/TODO.md'), '- [ ] a\n');
      const folder = await project.ralph([command], { env });
      expect(folder.err).toContain(`${from}: nosuch.md is a folder.`);
      expect(folder.err).toContain('fix: tasks: nosuch.md/TODO.md');
      rmSync(join(project.dir, 'nosuch.md'), { recursive: true });
    }
    expect((await project.ralph(['doctor', '--no-agent'], { env })).out).toContain(`why: ${from} names it`);
    const typed = await project.ralph(['run', '--tasks', 'other.md'], { env });
    expect(typed.err).toContain('why: --tasks names it');
  },
);

test.each([true, false])('a list that is in no commit (%s: there is one): it is told', async (born) => {
  project = makeProject({ files: { 'PRD.md': '- [ ] one: The first\n' }, git: born });
  const { git } = project;
  if (born) {
    git('rm', '-q', '--cached', 'PRD.md');
    git('commit', '-qm', 'without the list');
  } else {
    git('init', '-q', '-b', 'main');
    git('config', 'user.name', 'Test');
    git('config', 'user.email', 'test@example.invalid');
  }
  const ran = await project.ralph(['run', '--json', ...(born ? [] : ['--allow-dirty'])]);
  expect([result(ran).exit.word, ran.err]).toEqual([
    'COMPLETE',
    expect.stringContaining('PRD.md is in no commit: finished tasks are marked in it'),
  ]);
  expect(ran.err).toContain('git add PRD.md && git commit');
  expect(project.read('PRD.md')).toBe('- [x] one: The first\n');
  expect(git('ls-files')).not.toContain('PRD.md');
});

test('another list than that of the open session is refused with both ways on; the same one goes on', async () => {
  project = makeProject({
    files: { 'a.md': '- [ ] one: One\n- [ ] two: Two\n', 'b.md': '- [ ] three: Three\n' },
  });
  expect((await project.ralph(['run', '--tasks', 'a.md', '-n', '1'])).code).toBe(1);
  const other = await project.ralph(['run', '--tasks', 'b.md']);
  expect([other.code, other.err]).toEqual([
    5,
    expect.stringMatching(/works on a\.md; now b\.md is asked for/),
  ]);
  expect(other.err).toMatch(/ralph run --session \S+, .*ralph run --new --tasks b\.md/);
  mkdirSync(join(project.dir, 'below'));
  const same = await project.ralph(['run', '--tasks', '../a.md'], { cwd: join(project.dir, 'below') });
  expect([same.code, same.err]).toEqual([0, expect.any(String)]);
});

test('a merge is finished before anything is committed: it is told first, and the dirt of it not at all', async () => {
  project = makeProject({ files: { 'PRD.md': '- [ ] one: The first\n', 'x.txt': 'a\n' } });
  project.git('switch', '-q', '-c', 'side');
  project.write('x.txt', 'side\n');
  project.git('commit', '-qam', 'side');
  project.git('switch', '-q', 'main');
  project.write('x.txt', 'main\n');
  project.git('commit', '-qam', 'main');
  for (const [operation, begin] of [
    ['merge', ['merge', 'side']],
    ['rebase', ['rebase', 'side']],
    ['cherry-pick', ['cherry-pick', 'side']],
  ] as const) {
    expect(() => project!.git(...begin)).toThrow();
    const ran = await project.ralph(['run']);
    expect([ran.code, ran.err.split('\n')[0]]).toEqual([5, `A ${operation} is in progress.`]);
    expect(ran.err).toContain(`git ${operation} --abort`);
    expect(ran.err).not.toMatch(/Commit them|detached/);
    project.git(operation, '--abort');
  }
  project.write('x.txt', 'mine\n');
  expect((await project.ralph(['run'])).err).toMatch(/Commit them/);
});

test('patterns of protect that hold nothing: refused where they never could, told where they do not now', async () => {
  project = makeProject({ files: { 'PRD.md': '- [x] one: The first\n', 'test/golden/a.txt': 'a\n' } });
  const agent = project.read('ralph.yml');
  const said = async (patterns: string[]) => {
    project!.write('ralph.yml', `${agent}protect: ${JSON.stringify(patterns)}\n`);
    return project!.ralph(['run', '--dry-run']);
  };
  for (const never of ['../x', 'a/../../x', '~/x', 'C:/x', '!keep', ' x', '.', '/', '']) {
    const { code, err } = await said([never]);
    expect([never, code, err]).toEqual([
      never,
      5,
      expect.stringMatching(/ralph\.yml:\d+: protect\[0\][\s\S]*fix: /),
    ]);
  }
  const fine = ['test/golden/**', '/test', './test/golden/a.txt', '**/*.txt', 'test/', 'test/*/a.txt'];
  expect(await said(fine)).toMatchObject({ code: 0, err: '' });
  const odd = await said(['tests/golden/**', `${project.dir}/test`, '**/*.snap', 'test/golden/*.json']);
  expect(odd.code).toBe(0);
  expect(odd.err.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^protect "tests\/golden\/\*\*" matches nothing now: .*Did you mean test\?$/),
    expect.stringMatching(/matches nothing now: there is no tmp in /),
    'protect "**/*.snap" matches nothing now: no file there fits.',
    'protect "test/golden/*.json" matches nothing now: no file there fits.',
  ]);
  project.write('ralph.yml', `${agent}agents2: {}\n`);
  project.write('ralph.yml', 'agents: { auto: { command: [x] } }\n');
  expect((await project.ralph(['run'])).err).toMatch(/agents\.auto redefines a reserved name/);
});
