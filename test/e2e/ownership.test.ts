/** Whose work is it? What a person wrote is never lost nor committed as an agent's, and the other way round. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { facts, until, verdicts } from './journal.ts';
import { DONE, makeProject, type Project, result, type Started, story, taskList } from './project.ts';

let project: Project | null = null;
afterEach(() => project?.remove());

const one = { 'ralph/tasks.json': taskList([story('a')]) };
const two = { 'ralph/tasks.json': taskList([story('a'), story('b')]) };
const done = (run: string) => ({ do: [{ run }, { say: DONE }] });
const landed = (made: Project, path: string) => made.git('show', `HEAD:${path}`);

/** Kills the runner, and nothing else, once the condition holds. */
async function killWhen(started: Started, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 1_500 && !holds(); i++) await sleep(20);
  expect(holds()).toBe(true);
  started.child.kill('SIGKILL');
  await started.done;
}

function journal(made: Project): string {
  const folder = join(made.dir, '.ralph-sessions');
  const sessions = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d{6}-/.test(name)) : [];
  const files = sessions.map((name) => join(folder, name, 'journal.jsonl')).filter(existsSync);
  return files.map((file) => readFileSync(file, 'utf8')).join('');
}

describe('between two runs', () => {
  test('what a person adds to a landed file is theirs, and an agent that overwrites it is undone', async () => {
    project = makeProject({
      files: { ...two, 'src/a.js': '1\n' },
      runs: [done('git checkout -q -- src/a.js; echo agent {{task}} >> src/a.js')],
    });
    expect((await project.ralph(['run', '-n', '1'])).code).toBe(1);
    project.write('src/a.js', `${project.read('src/a.js')}// an hour of work\n`);
    const ran = await project.ralph(['run', '-n', '1']);
    expect(ran.out + ran.err).toMatch(/left to you: src\/a\.js/);
    expect(project.read('src/a.js')).toMatch(/an hour of work/);
    expect(landed(project, 'src/a.js')).not.toMatch(/an hour/);
    expect(ran.out).toMatch(/protected_changed/);
  });

  test('an agent that goes on in a file with a person’s lines commits none of them', async () => {
    project = makeProject({
      files: { ...two, 'src/a.js': '1\n' },
      runs: [done('echo agent {{task}} >> src/a.js; echo {{task}} > {{task}}.txt')],
    });
    expect((await project.ralph(['run', '-n', '1'])).code).toBe(1);
    project.write('src/a.js', `${project.read('src/a.js')}// an hour of work\n`);
    const ran = await project.ralph(['run']);
    // HEAD lacks what the agent added to that file, so this is not done yet.
    expect([ran.code, ran.out]).toEqual([
      8,
      expect.stringMatching(/src\/a\.js holds your uncommitted edits/),
    ]);
    expect(project.read('src/a.js')).toMatch(/an hour of work/);
    expect(landed(project, 'src/a.js')).not.toMatch(/an hour/);
    expect(landed(project, 'b.txt')).toBe('b');
  });

  test('unfinished work of an attempt goes on and lands when nobody touched it', async () => {
    project = makeProject({
      files: one,
      runs: [
        { when: { attempt: 1 }, do: [{ run: 'echo lib > lib.js' }, { say: 'not yet' }] },
        done('echo z > z.js'),
      ],
    });
    expect((await project.ralph(['run', '-n', '1'])).code).toBe(1);
    expect((await project.ralph(['run'])).code).toBe(0);
    expect(landed(project, 'lib.js')).toBe('lib');
  });
});

test('every dirty path is protected, however many there are', async () => {
  project = makeProject({ files: one, runs: [done('rm -rf mine; echo a > a.txt')] });
  for (let n = 0; n < 300; n++) project.write(`mine/${String(n).padStart(3, '0')}.txt`, `${n}\n`);
  const ran = await project.ralph(['run', '--allow-dirty', '-n', '1']);
  expect(readdirSync(join(project.dir, 'mine'))).toHaveLength(300);
  expect(ran.out).toMatch(/protected_changed/);
});

describe('an agent’s file that holds something else when its task lands', () => {
  const unlanded = /not landed: a .*src\/a\.js changed after the last attempt/;

  test('because somebody wrote to it while tests ran: the task is not called landed', async () => {
    const script =
      'test ! -f b.txt || test -f .git/seen || { touch .git/running; sleep 2; touch .git/seen; }';
    project = makeProject({
      files: { ...one, 'src/a.js': '1\n', 'package.json': JSON.stringify({ scripts: { test: script } }) },
      runs: [done('echo agent >> src/a.js; echo b > b.txt')],
    });
    const started = project.start(['run', '--gate', 'npm test']);
    await until(() => existsSync(join(project!.dir, '.git/running')), 'the gate runs');
    project.write('src/a.js', `${project.read('src/a.js')}person\n`);
    const ran = await started.done;
    expect(ran.code).toBe(8);
    expect(ran.out).toMatch(unlanded);
    project.git('commit', '-q', '-m', 'by hand', 'src/a.js');
    expect((await project.ralph(['run', '--gate', 'npm test'])).code).toBe(0);
    expect(landed(project, 'b.txt')).toBe('b');
  });

  test('because a gate never stops changing it: the task is not called landed', async () => {
    project = makeProject({
      files: { ...one, 'src/a.js': '1\n' },
      runs: [done('echo agent >> src/a.js; echo b > b.txt')],
    });
    const ran = await project.ralph(['run', '--gate', 'test ! -f b.txt || echo more >> src/a.js']);
    expect(ran.code).toBe(8);
    expect(ran.out).toMatch(unlanded);
  });

  test('because a person wrote to it between two attempts: the task is not called landed', async () => {
    project = makeProject({
      files: { ...one, 'src/a.js': '1\n' },
      runs: [
        { when: { attempt: 1 }, do: [{ run: 'echo agent >> src/a.js' }, { say: 'not yet' }] },
        done('echo z > z.js'),
      ],
    });
    expect((await project.ralph(['run', '-n', '1'])).code).toBe(1);
    project.write('src/a.js', `${project.read('src/a.js')}person\n`);
    const ran = await project.ralph(['run']);
    expect(ran.code).toBe(8);
    expect(ran.out).toMatch(unlanded);
    project.git('commit', '-q', '-m', 'by hand', 'src/a.js');
    expect((await project.ralph(['run'])).code).toBe(0);
    expect(landed(project, 'z.js')).toBe('z');
  });
});

describe('a gate that rewrites files, as a formatter does', () => {
  /** Writes every source file in capitals. */
  const FORMAT =
    'for f in src/*.js; do tr a-z A-Z < $f > .git/f && { cmp -s .git/f $f || cp .git/f $f; }; done\n';

  test('leaves the task’s own files to its commit, as they are then, and the gates have seen that', async () => {
    project = makeProject({
      files: {
        ...one,
        'src/a.js': '1\n',
        'src/other.js': 'other\n',
        'format.sh': `test -f a.txt || exit 0\n${FORMAT}`,
      },
      runs: [done('echo agent >> src/a.js; echo new > src/b.js; echo a > a.txt')],
      config:
        'gates:\n  - { name: check, run: "cat src/a.js > .git/checked" }\n  - { name: format, run: "sh format.sh" }\n',
    });
    const ran = await project.ralph(['run']);
    expect(ran.code).toBe(0);
    expect(landed(project, 'src/a.js')).toBe('1\nAGENT');
    expect(landed(project, 'src/b.js')).toBe('NEW');
    expect(project.read('.git/checked')).toBe('1\nAGENT\n');
    expect(project.git('status', '--porcelain')).toBe('M src/other.js');
    expect(ran.out).toMatch(/the gates rewrote 2 files of the task: src\/a\.js, src\/b\.js/);
    expect(ran.out).toMatch(/not the task's changed: src\/other\.js/);
    const why = (await project.ralph(['why', 'a'])).out;
    expect(why).toMatch(
      /the gates rewrote 2 files of the task, and ran again on that: src\/a\.js, src\/b\.js/,
    );
    expect(why).toMatch(/1 other file changed while they ran, left uncommitted: src\/other\.js/);
  });

  test('is judged on what it made of them: another gate that fails then rejects the attempt', async () => {
    project = makeProject({
      files: { ...one, 'src/a.js': '1\n', 'format.sh': FORMAT },
      runs: [
        { when: { attempt: 1 }, do: [{ run: 'echo agent >> src/a.js' }, { say: DONE }] },
        done('echo z > z.txt; echo 2 > src/a.js'),
      ],
      config:
        'gates:\n  - { name: small, run: "! grep -q AGENT src/a.js" }\n  - { name: format, run: "sh format.sh" }\n',
    });
    const ran = await project.ralph(['run']);
    expect(ran.code).toBe(0);
    expect(verdicts(project)[0]).toMatch(/^a rejected .*gate_/);
    expect(landed(project, 'src/a.js')).toBe('2');
  });

  test('over two attempts: what it made of the first one’s file lands with the second', async () => {
    project = makeProject({
      files: { ...one, 'src/a.js': '1\n', 'format.sh': FORMAT },
      runs: [
        { when: { attempt: 1 }, do: [{ run: 'echo agent >> src/a.js' }, { say: 'not yet' }] },
        done('echo z > z.txt'),
      ],
    });
    expect((await project.ralph(['run', '--gate', 'sh format.sh', '-n', '1'])).code).toBe(1);
    expect(project.read('src/a.js')).toBe('1\nAGENT\n');
    expect((await project.ralph(['run', '--gate', 'sh format.sh'])).code).toBe(0);
    expect(landed(project, 'src/a.js')).toBe('1\nAGENT');
    expect(project.git('status', '--porcelain')).toBe('');
  });
});

describe('between two attempts of one run', () => {
  const config = 'limits: { cooldown_delay_seconds: 3 }\n';
  const first = (run: string) => ({ when: { attempt: 1 }, do: [{ run }, { say: 'not yet' }] });
  const pause = async (made: Project) => {
    await until(() => facts(made, 'wave.ended').length === 1, 'the first attempt is judged');
  };

  test('what a person writes into a file that the next attempt goes on in is not committed as its work', async () => {
    project = makeProject({
      files: { ...one, 'src/a.js': '1\n', 'src/p.js': '1\n' },
      runs: [first('echo half > half.txt'), done('echo agent >> src/p.js; echo agent >> src/a.js')],
      config,
    });
    const started = project.start(['run']);
    await pause(project);
    project.write('src/p.js', '1\n// an hour of work\n');
    const ran = await started.done;
    expect(ran.code).toBe(8);
    expect(ran.out).toMatch(/left to you: src\/p\.js — changed between two attempts/);
    expect(landed(project, 'src/p.js')).toBe('1');
    expect(landed(project, 'src/a.js')).toBe('1\nagent');
    expect(landed(project, 'half.txt')).toBe('half');
    expect(project.read('src/p.js')).toBe('1\n// an hour of work\nagent\n');
  });

  test('what a person writes is not lost to an attempt that sets the file back', async () => {
    project = makeProject({
      files: { ...one, 'src/p.js': '1\n' },
      runs: [first('echo half > half.txt'), done('git checkout -q -- src/p.js; echo a > a.txt')],
      config,
    });
    const started = project.start(['run', '-n', '2']);
    await pause(project);
    project.write('src/p.js', '1\n// an hour of work\n');
    await started.done;
    expect(project.read('src/p.js')).toMatch(/an hour of work/);
    expect(verdicts(project)[1]).toMatch(/^a rejected protected_changed/);
  });

  test('what a person commits, and what the attempts left, is nobody’s dirt', async () => {
    project = makeProject({
      files: { ...one, 'src/p.js': '1\n' },
      runs: [first('echo half > half.txt'), done('echo agent >> src/p.js; echo more >> half.txt')],
      config,
    });
    const started = project.start(['run']);
    await pause(project);
    project.write('src/p.js', '2\n');
    project.git('commit', '-q', '-m', 'by hand', 'src/p.js');
    const ran = await started.done;
    expect(ran.code).toBe(0);
    expect(facts(project, 'dirt.found')).toEqual([]);
    expect(landed(project, 'src/p.js')).toBe('2\nagent');
    expect(landed(project, 'half.txt')).toBe('half\nmore');
    expect(project.git('status', '--porcelain')).toBe('');
  });

  test('work that is set aside and taken up again, and what a hook did, is nobody’s dirt', async () => {
    const half = 'echo half > half.txt; echo a >> src/a.js';
    project = makeProject({
      files: { ...two, 'src/a.js': '1\n', 'src/b.js': '1\n', version: '0\n' },
      runs: [
        { when: { task: 'a', attempt: 1 }, do: [{ run: half }, { say: DONE }] },
        { when: { task: 'b' }, do: [{ run: 'echo b >> src/b.js' }, { say: DONE }] },
        done('echo more >> half.txt; touch fine'),
      ],
      config: 'gates:\n  - { name: fine, run: "test ! -f half.txt || test -f fine" }\n',
    });
    project.write('.git/hooks/pre-commit', '#!/bin/sh\ndate > version\ngit add version\n');
    chmodSync(join(project.dir, '.git/hooks/pre-commit'), 0o755);
    const ran = await project.ralph(['run']);
    expect(ran.code).toBe(0);
    expect(verdicts(project).map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'a rejected',
      'b accepted',
      'a accepted',
    ]);
    expect(facts(project, 'leftovers.taken_up')[0]).toMatchObject({ task: 'a', conflicts: [] });
    expect(facts(project, 'dirt.found')).toEqual([]);
    expect(landed(project, 'half.txt')).toBe('half\nmore');
    expect(landed(project, 'src/a.js')).toBe('1\na');
  });
});

describe('after the runner was killed', () => {
  test('more than a thousand files of the interrupted attempt land with its task', async () => {
    project = makeProject({
      files: one,
      runs: [
        {
          when: { attempt: 1 },
          do: [{ run: 'mkdir big && seq 1400 | split -l 1 -a 4 - big/f && touch made && sleep 60' }],
        },
        done('echo a > a.txt'),
      ],
    });
    await killWhen(project.start(['run']), () => existsSync(join(project!.dir, 'made')));
    const ran = await project.ralph(['resume']);
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/its 1401 changed paths are kept: big\/faaaa/);
    expect(project.git('ls-files', 'big').split('\n')).toHaveLength(1400);
    expect(project.git('status', '--porcelain')).toBe('');
    expect((await project.ralph(['run', 'more'])).code).not.toBe(2);
  });

  test('what was written long after its last sign of life is a person’s', async () => {
    project = makeProject({
      files: { ...one, 'a.md': '1\n' },
      runs: [
        { when: { attempt: 1 }, do: [{ run: 'echo half > half.txt; exec sleep 300' }] },
        done('echo a > a.txt'),
      ],
    });
    await killWhen(project.start(['run']), () => existsSync(join(project!.dir, 'half.txt')));
    endOrphans(project);
    const later = new Date(Date.now() + 5 * 60_000);
    for (const path of ['mine.env', 'a.md']) {
      project.write(path, 'secret\n');
      utimesSync(join(project.dir, path), later, later);
    }
    const ran = await project.ralph(['resume']);
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/left to you: a\.md, mine\.env/);
    expect(project.git('status', '--porcelain')).toBe('M a.md\n?? mine.env');
    expect(landed(project, 'half.txt')).toBe('half');
  });

  test('an abort takes back what a landing had only announced to git', async () => {
    project = makeProject({ files: one });
    mkdirSync(join(project.dir, '.git/hooks'), { recursive: true });
    project.write('.git/hooks/pre-commit', '#!/bin/sh\nexec sleep 300\n');
    chmodSync(join(project.dir, '.git/hooks/pre-commit'), 0o755);
    await killWhen(project.start(['run']), () => existsSync(join(project!.dir, '.git/index.lock')));
    expect((await project.ralph(['abort'])).code).toBe(0);
    expect(project.git('status', '--porcelain')).toBe('M ralph/tasks.json\n?? a.txt');
  });

  test('work that was written down as set aside, and not yet cleared away, keeps no new session out', async () => {
    project = makeProject({
      runs: [
        {
          do: [
            {
              run: 'test -f .git/once && echo 2 > other.txt || { touch .git/once; echo half > half.txt; echo half >> README.md; }',
            },
            { say: 'not yet' },
          ],
        },
      ],
    });
    expect((await project.ralph(['run', 'first work', '-n', '1'])).code).toBe(1);
    // A git that is slow leaves time between the record and the clearing, which asks it what README.md was.
    const bin = join(project.home, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'git'), `#!/bin/sh\nPATH=${process.env.PATH}\nsleep 0.5\nexec git "$@"\n`);
    chmodSync(join(bin, 'git'), 0o755);
    const slow = { env: { PATH: `${bin}:${process.env.PATH}` } };
    await killWhen(project.start(['run', '--new', 'other work'], slow), () =>
      journal(project!).includes('leftovers.set_aside'),
    );
    expect(journal(project)).not.toMatch(/leftovers\.cleared/);
    expect(existsSync(join(project.dir, 'half.txt'))).toBe(true);
    const ran = await project.ralph(['run', '--new', 'other work', '-n', '1']);
    expect(ran.err + ran.out).not.toMatch(/no attempt made/);
    expect(existsSync(join(project.dir, 'half.txt'))).toBe(false);
  });
});

/** Ends what the killed runner left: only processes that this project's program started. */
function endOrphans(made: Project): void {
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      if (readFileSync(`/proc/${name}/environ`, 'utf8').includes(`HOME=${made.home}`))
        process.kill(Number(name), 'SIGKILL');
    } catch {
      // gone meanwhile, or not ours
    }
  }
}

describe('notes and logs of the loop', () => {
  test('prove nothing in a project below the repository’s top either', async () => {
    project = makeProject({
      files: { 'apps/web/ralph/tasks.json': taskList([story('a')]), 'apps/web/ralph.yml': webConfig() },
      runs: [done('mkdir -p logs; echo note > notes.md; echo ran > logs/run.txt')],
    });
    const ran = await project.ralph(['run', '-n', '1'], { cwd: join(project.dir, 'apps/web') });
    expect(ran.code).toBe(1);
    expect(ran.out).toMatch(/verdict: (?!accepted)/);
  });

  test('land where git tracks them, and those it does not keep no later run out', async () => {
    project = makeProject({
      files: { 'notes.md': 'n\n', 'logs/format.js': '1\n', 'logs/run.txt': '1\n' },
      runs: [
        done(
          'echo a > a.txt; echo note >> notes.md; echo 2 >> logs/format.js; echo 2 >> logs/run.txt; echo d > debug.log',
        ),
      ],
    });
    expect((await project.ralph(['run', 'first work'])).code).toBe(0);
    expect(project.git('status', '--porcelain')).toBe('?? debug.log');
    expect(landed(project, 'logs/format.js')).toBe('1\n2');
    expect((await project.ralph(['run', 'second work'])).code).toBe(0);
    project.write('debug.log', 'a person’s\n');
    const refused = await project.ralph(['run', 'third work']);
    expect(refused.err + refused.out).toMatch(/no attempt made: debug\.log/);
  });
});

function webConfig(): string {
  const agent = '{ command: ["ralph", "__script-agent", "../../agent.json"] }';
  return `agent: scripted\nagents:\n  scripted: ${agent}\n`;
}

test('a task accepted by criteria that its own agent changed says so: in the summary and in why', async () => {
  const list = taskList([story('a')]).replace('a.txt exists', 'a.txt holds a poem');
  project = makeProject({
    files: { 'ralph/tasks.json': list },
    runs: [
      {
        do: [
          { run: "sed -i 's/a.txt holds a poem/anything/' ralph/tasks.json" },
          { write: { path: 'a.txt', content: 'x\n' } },
          { say: DONE },
        ],
      },
    ],
  });
  const ran = await project.ralph(['run', '--json']);
  const reworded = { iteration: 1, before: ['a.txt holds a poem'], after: ['anything'] };
  expect(result(ran)).toMatchObject({ exit: { code: 0 }, reworded: [{ task_id: 'a', ...reworded }] });
  expect(JSON.parse((await project.ralph(['why', 'a', '--json'])).out)).toMatchObject({ reworded });
  expect((await project.ralph(['why', 'a'])).out).toMatch(
    /changed by the agent: iteration 1 made “a.txt holds a poem” into “anything”/,
  );
});
