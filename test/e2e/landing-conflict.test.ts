/** An agent that is hired for the conflict of a landing, with the real program: what lands, and what is parked. */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readLoops, tellLoop } from '../../src/store/index.ts';
import { DONE, makeProject, type Project, type ScriptedRun, story, taskList } from './project.ts';

vi.setConfig({ testTimeout: 180_000 });

let project: Project;
afterEach(() => {
  expect(project.git('fsck', '--full', '--no-dangling')).not.toMatch(/missing|corrupt|broken/);
  project.remove();
});

const SHARED = 'top\nas it was\nend\n';
const BOTH = 'top\nmine\nyours\nend\n';
const settles = (text: string): ScriptedRun['do'] => [
  { write: { path: 'shared.txt', content: text } },
  { say: DONE },
];

/** A loop whose work is done beside a main branch that changed the same line meanwhile. */
async function conflicting(hired: ScriptedRun['do'], config = ''): Promise<void> {
  project = makeProject({
    files: { 'shared.txt': SHARED, 'A.json': taskList([story('A')]) },
    config: `merge: { resolve: scripted }\n${config}`,
    runs: [
      {
        when: { task: 'A' },
        do: [{ run: 'sed -i s/as.it.was/mine/ shared.txt; echo a > a.txt' }, { say: DONE }],
      },
      { do: hired },
    ],
  });
  const worktree = ['run', '--worktree', 'one', '--tasks', 'A.json'];
  project.write('ralph.yml', `${project.read('ralph.yml')}land: branch\n`);
  project.git('commit', '-qam', 'loops wait');
  expect((await project.ralph(worktree)).code).toBe(0);
  project.write('shared.txt', SHARED.replace('as it was', 'yours'));
  project.git('commit', '-qam', 'Say yours');
}

const merge = () => project.ralph(['loops', 'merge', 'one', '--json']);
const loop = () => readLoops(project.dir).find(({ id }) => id === 'one')!;
const trees = () => project.git('worktree', 'list').split('\n').length;

/** It is parked with nothing moved, the conflict named, and the agent's work tree gone. */
async function parks(why: RegExp): Promise<{ why: string; next: string }> {
  const refs = () => project.git('for-each-ref', 'refs/heads');
  const before = refs();
  const { code, out } = await merge();
  const told = JSON.parse(out);
  expect([code, told]).toMatchObject([8, { outcome: 'parked', files: ['shared.txt'] }]);
  expect(told.why).toMatch(
    /^it and main change the same places of shared\.txt, and scripted, which was hired/,
  );
  expect(told.why).toMatch(why);
  expect([refs(), trees(), loop().standing]).toEqual([before, 2, 'needs_review']);
  return told;
}

test('what it makes of the lines in conflict lands as one merge commit that says so', async () => {
  await conflicting(settles(BOTH));
  const [main, tip] = ['main', 'ralph/one'].map((name) => project.git('rev-parse', name));
  const { code, out, err } = await merge();
  expect([code, err]).toEqual([0, expect.stringContaining('scripted is hired')]);
  expect(JSON.parse(out)).toMatchObject({ outcome: 'landed', hired: { agent: 'scripted', settled: true } });
  expect([project.read('shared.txt'), project.read('a.txt')]).toEqual([BOTH, 'a\n']);
  expect(project.git('log', '-1', '--format=%P')).toBe(`${main} ${tip}`);
  expect(project.git('log', '-1', '--format=%B')).toContain('Ralph-Conflict-Settled-By: scripted');
  expect(project.git('status', '--porcelain')).toBe('');
  expect(trees()).toBe(2);
  const { session } = loop().hired!;
  expect((await project.ralph(['why', '--session', session!])).out).toContain('accepted');
  expect((await project.ralph(['loops'])).out).toContain(
    `scripted settled the conflict of shared.txt in session ${session}`,
  );
});

test('its prompt names the files, the two commits and what each side was about, and its log is kept', async () => {
  await conflicting(settles(BOTH), 'gates: [{ name: whole, run: "test -e a.txt" }]\n');
  const [main, tip] = ['main', 'ralph/one'].map((name) => project.git('rev-parse', name));
  expect((await merge()).code).toBe(0);
  const logs = join(project.dir, '.ralph-sessions', loop().hired!.session!, 'logs');
  const prompt = readFileSync(join(logs, 'iteration-001.prompt.md'), 'utf8');
  for (const said of ['- shared.txt', main!, tip!, 'Say yours', 'Make A', 'whole: `test -e a.txt`'])
    expect(prompt).toContain(said);
  expect(existsSync(join(logs, 'iteration-001.log'))).toBe(true);
});

test.each<[string, ScriptedRun['do'], RegExp]>([
  ['leaves a mark', settles('top\nmine\n>>>>>>> theirs\nend\n'), /left marks of the conflict in shared\.txt/],
  [
    'changes a line beside the conflict',
    settles('TOP\nmine\nend\n'),
    /changed shared\.txt outside of the conflict/,
  ],
  [
    'changes another file',
    [{ write: { path: 'a.txt', content: 'better\n' } }, ...settles(BOTH)],
    /changed a\.txt, which is not in conflict/,
  ],
  [
    'commits another file itself',
    [{ run: 'echo new > new.txt; git add new.txt; git commit -qm "more"' }, ...settles(BOTH)],
    /changed new\.txt, which is not in conflict/,
  ],
  [
    'begins a merge of its own',
    [
      { run: 'git merge -q -s ours --no-commit --no-ff main; git update-ref MERGE_HEAD main; true' },
      ...settles('top\nmine\nend\n'),
    ],
    /cannot do a partial commit during a merge/,
  ],
  ['dies', [{ run: 'kill -9 $PPID' }], /did not/],
  [
    'says that a person must choose',
    [{ say: '<promise>BLOCKED: mine or yours?</promise>' }],
    /mine or yours/,
  ],
  ['brings a key in', settles(`top\n${`ghp_${'aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW1xY2'}`}\nend\n`), /GitHub/],
])('an agent that %s leaves the conflict to a person', async (_, hired, why) => {
  await conflicting(hired);
  const { next } = await parks(why);
  expect(next).toMatch(/git merge main, settle the conflict and commit. Then `ralph loops merge one`/);
  expect(next).toContain(`ralph why --session ${loop().hired!.session}`);
});

const back = (ref: string, from: string) =>
  `git update-ref refs/heads/${ref} ${from} ${project.git('rev-parse', ref)}`;
const jsonOf = async (args: string[]) => JSON.parse((await project.ralph(args)).out);

describe('an agent that moves a branch', () => {
  const resolved = `printf '${BOTH.replaceAll('\n', '\\n')}' > shared.txt`;

  /** Parked with the move in every window, and the advice that puts it back, which is all there is to do. */
  async function toldOf(branch: string, hired: ScriptedRun['do']): Promise<void> {
    await conflicting(hired);
    project.git('branch', 'release', 'main~1');
    const from = project.git('rev-parse', branch);
    const { code, out, err } = await merge();
    const undo = back(branch, from);
    expect(project.git('rev-parse', branch)).not.toBe(from);
    const told = JSON.parse(out);
    expect([code, told]).toMatchObject([8, { outcome: 'parked', hired: { settled: false } }]);
    expect(told.why).toContain(`did more than that: ${branch} was moved from ${from.slice(0, 12)} to `);
    expect(told.next).toContain(`Put ${branch} back: \`${undo}\`.`);
    expect(err).toContain(undo);
    const { session } = loop().hired!;
    const [row] = await jsonOf(['loops', '--json']);
    expect(row.moved_branches).toMatchObject([{ session_id: session, branch, made_in_it: true, back: undo }]);
    expect((await project.ralph(['loops'])).out).toContain(`of session ${session}, which was hired`);
    const why = (await project.ralph(['why', '--session', session!])).out;
    expect(why).toContain(undo);
    expect(why).not.toContain('accepted');
  }

  const DRAFT = [{ run: 'git update-ref refs/heads/main HEAD' }, ...settles(BOTH)];

  test.each<[string, ScriptedRun['do']]>([
    ['to the draft that it was given', DRAFT],
    [
      'to a commit of its own',
      [{ run: `${resolved}; git commit -qam own; git update-ref refs/heads/main HEAD` }, { say: DONE }],
    ],
    ['and fails', [{ run: 'git update-ref refs/heads/main HEAD' }, { say: 'no' }]],
  ])('main %s', async (_, hired) => {
    await toldOf('main', hired);
    const { next } = await jsonOf(['loops', 'merge', 'one', '--json']);
    expect(next).toMatch(
      /^Put main back: `git update-ref \S+ \S+ \S+`\. Until then commit nothing in \S+, where that move shows as changes\. Then `ralph loops merge one`/,
    );
    // No other loop lands on it either.
    const [worktree, base] = [join(project.home, 'two'), project.git('rev-parse', 'main@{1}')];
    project.git('worktree', 'add', '-q', '-b', 'ralph/two', worktree, base);
    project.git('-C', worktree, 'commit', '-q', '--allow-empty', '-m', 'More');
    const of = { branch: 'refs/heads/ralph/two', onto: 'refs/heads/main', base, worktree };
    await tellLoop(project.dir, Date.now(), { type: 'loop.created', loop: 'two', ...of });
    await tellLoop(project.dir, Date.now(), { type: 'loop.session', loop: 'two', session: 's0' });
    const two = await jsonOf(['loops', 'merge', 'two', '--json']);
    expect(two).toMatchObject({ outcome: 'parked', next: expect.stringContaining('Put main back') });
    // Here a start finds the same changes, and says nothing else.
    const here = await project.ralph(['run', 'Something else']);
    expect([here.code, here.err]).toEqual([5, expect.stringContaining('Put main back')]);
    expect(here.err).not.toContain('Commit them');
    project.git('update-ref', 'refs/heads/main', 'main@{1}');
    expect(project.git('status', '--porcelain', '-uno')).toBe('');
    expect(project.git('show', 'main:shared.txt')).toBe('top\nyours\nend');
    const [row] = await jsonOf(['loops', '--json']);
    expect(row).not.toHaveProperty('moved_branches');
  });

  test('of the loop that it settles, or any other', async () => {
    await toldOf('ralph/one', [{ run: 'git update-ref refs/heads/ralph/one HEAD' }, ...settles(BOTH)]);
    const from = project.git('rev-parse', 'ralph/one@{1}');
    const { next } = await jsonOf(['loops', 'merge', 'one', '--json']);
    expect(next).toContain(`Put ralph/one back: \`${back('ralph/one', from)}\`.`);
    project.remove();
    await toldOf('release', [{ run: 'git branch -f release HEAD' }, ...settles(BOTH)]);
  });
});

test('one that hangs is ended by its time', async () => {
  await conflicting(
    [{ sleep_ms: 120_000 }, { say: DONE }],
    'adaptive_timeout: { enabled: false }\nmodes: { balanced: 2 }\nlimits: { idle_timeout: 60 }\n',
  );
  await parks(/time/);
});

test('what an agent leaves in no commit is kept', async () => {
  await conflicting([
    { write: { path: 'shared.txt', content: BOTH } },
    { write: { path: 'notes.txt', content: 'thought\n' } },
    { say: '<promise>BLOCKED: mine or yours?</promise>' },
  ]);
  const { next } = await parks(/mine or yours/);
  const [, ref] = /What it made: (refs\/ralph\/hired\/\S+)\./.exec(next)!;
  expect(project.git('show', `${ref}:notes.txt`)).toBe('thought');
  expect(project.git('show', `${ref}:shared.txt`)).toBe(BOTH.trim());
});

test('gates that fail on the merged tree leave the branch as it was, and what was made is kept', async () => {
  await conflicting(settles(BOTH), 'gates: [{ name: whole, run: "! grep -q yours shared.txt" }]\n');
  const { why, next } = await parks(/gate whole does not pass/);
  expect(why).toContain('settled it so that');
  const [, ref] = /(refs\/ralph\/hired\/\S+)\./.exec(next)!;
  expect(project.git('show', `${ref}:shared.txt`)).toBe(BOTH.trim());
});

test('a conflict that is none of lines is nobody’s work but a person’s', async () => {
  await conflicting(settles(BOTH));
  project.git('rm', '-q', 'shared.txt');
  project.git('commit', '-qm', 'Take it out');
  const { out } = await merge();
  expect(JSON.parse(out).why).toContain(
    'scripted was not hired for it: that of shared.txt is no conflict of lines',
  );
  expect(loop().hired).toBeNull();
  expect(realpathSync(join(project.dir, '.ralph', 'worktrees', 'one'))).toBe(loop().worktree);
});

test.each([
  ['the configuration', 'ralph.yml', (text: string, by: string) => `${text}# ${by}\n`],
  ['the task list', 'A.json', (text: string, by: string) => text.replace(/"title": ?"/, `$&${by} `)],
  ['what is protected', 'checks/one.sh', (_: string, by: string) => `echo ${by}\n`],
])('a conflict in %s is a person’s', async (_, path, change) => {
  await conflicting(settles(BOTH), 'protect: [checks/]\n');
  const { worktree } = loop();
  for (const [dir, by] of [
    [worktree, 'mine'],
    [project.dir, 'yours'],
  ] as const) {
    const file = join(dir, path);
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, change(text, by));
    project.git('-C', dir, 'add', path);
    project.git('-C', dir, 'commit', '-qm', `${by} in ${path}`);
  }
  const { code, out } = await merge();
  expect([code, JSON.parse(out)]).toMatchObject([8, { outcome: 'parked' }]);
  expect(JSON.parse(out).why).toContain(
    `scripted was not hired for it: ${path} is a file by which agents are`,
  );
  expect(JSON.parse(out).next).toContain(`In ${worktree}: git merge main, settle the conflict and commit.`);
  expect([loop().hired, trees()]).toEqual([null, 2]);
});

test('at the end of a run it is hired before the session of the loop ends, which says so', async () => {
  const wait = 'for n in $(seq 900); do [ -e "$HOME/go" ] && break; sleep 0.1; done';
  project = makeProject({
    files: { 'shared.txt': SHARED, 'A.json': taskList([story('A')]) },
    config: 'merge: { resolve: scripted }\n',
    runs: [
      { when: { task: 'A' }, do: [{ run: `${wait}; sed -i s/as.it.was/mine/ shared.txt` }, { say: DONE }] },
      { do: settles(BOTH) },
    ],
  });
  const begun = project.ralph(['run', '--worktree', 'one', '--tasks', 'A.json', '--json']);
  await vi.waitFor(() => realpathSync(join(project.dir, '.ralph', 'worktrees', 'one')), 30_000);
  project.write('shared.txt', SHARED.replace('as it was', 'yours'));
  project.git('commit', '-qam', 'Say yours');
  writeFileSync(join(project.home, 'go'), '');
  const { code, out } = await begun;
  const told = JSON.parse(out.trim().split('\n').at(-1)!);
  expect([code, told]).toMatchObject([0, { landing: { outcome: 'landed', hired: { settled: true } } }]);
  expect(told.session_id).toBe(loop().session);
  expect(project.read('shared.txt')).toBe(BOTH);
  expect((await project.ralph(['why', '--session', '@one'])).out).toContain(
    'its conflict settled by scripted',
  );
});

test('what it cost is said with the landing, and counts for the day', async () => {
  await conflicting(settles(BOTH));
  const result = {
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: DONE,
    total_cost_usd: 0.5,
    usage: { input_tokens: 10, output_tokens: 10 },
    session_id: 's',
  };
  const config = project.read('ralph.yml');
  project.write(
    'pays.sh',
    `printf '${BOTH.replaceAll('\n', '\\n')}' > shared.txt\ncat <<'END'\n${JSON.stringify(result)}\nEND\n`,
  );
  project.write(
    'ralph.yml',
    config
      .replace('agents:\n', 'agents:\n  pays: { command: [sh, pays.sh], output: claude-json }\n')
      .replace('resolve: scripted', 'resolve: pays'),
  );
  project.git('add', '-A');
  project.git('commit', '-qm', 'Somebody else is hired');
  // The loop reads what its own work tree says.
  project.git('-C', loop().worktree, 'checkout', '-q', 'main', '--', 'ralph.yml', 'pays.sh');
  project.git('-C', loop().worktree, 'commit', '-qm', 'The same here');
  const { code, out } = await merge();
  expect([code, JSON.parse(out)]).toMatchObject([
    0,
    { hired: { agent: 'pays', settled: true, cost_usd: 0.5 } },
  ]);
  const agents = JSON.parse((await project.ralph(['agents', '--json'])).out) as Record<string, unknown>[];
  expect(JSON.stringify(agents.find(({ name }) => name === 'pays'))).toContain('0.5');
});
