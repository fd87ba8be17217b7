/** A first evening: set up, examine, run, in projects that Ralph has never seen. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { makeNewcomer, type Newcomer, type NewcomerOptions } from './newcomer.ts';
import { PROGRAM } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let newcomer: Newcomer;
afterEach(() => newcomer?.remove());

const LIST = '# Tasks\n- [ ] Add a greet function\n- [ ] Add a farewell function\n';
/** Writes one file for each task. */
const WORK = 'echo "$RALPH_TASK_ID" > "made-$RALPH_TASK_ID.txt"\n';

const NODE: NewcomerOptions = {
  work: WORK,
  files: {
    'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }\n',
    'a.test.mjs': "import { test } from 'node:test';\ntest('it runs', () => {});\n",
    'PRD.md': LIST,
  },
};

/** `ralph init --yes && ralph doctor && ralph run`, each with exit code 0. */
function firstEvening(cwd = newcomer.dir): void {
  for (const args of [['init', '--yes'], ['doctor'], ['run', '--no-wait']]) {
    const { code, out, err } = newcomer.ralph(args, { cwd });
    expect(code, `ralph ${args.join(' ')}\n${out}\n${err}`).toBe(0);
  }
}

test('a fresh Node project', () => {
  newcomer = makeNewcomer(NODE);
  firstEvening();
  expect(newcomer.read('PRD.md')).not.toContain('[ ]');
  expect(newcomer.git('log', '--format=%s').split('\n').length).toBeGreaterThan(2);
  // What init wrote is left to the person: the agent's commits do not hold it.
  expect(newcomer.git('status', '--porcelain', 'ralph.yml', '.gitignore')).toBe(
    '?? .gitignore\n?? ralph.yml',
  );
});

test('a Python project with unittest', () => {
  newcomer = makeNewcomer({
    work: WORK,
    files: {
      'setup.py': '',
      '.gitignore': '__pycache__/\n',
      'tests/test_it.py':
        'import unittest\n\n\nclass It(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(True)\n',
      'fix_plan.md': LIST,
    },
  });
  firstEvening();
  expect(newcomer.read('ralph.yml')).toContain('python3 -m unittest discover -s tests');
  expect(newcomer.read('fix_plan.md')).not.toContain('[ ]');
});

test('a repository without commits: the run makes the first one', () => {
  newcomer = makeNewcomer({ work: WORK, files: { 'PRD.md': LIST }, commit: false });
  firstEvening();
  expect(newcomer.read('PRD.md')).not.toContain('[ ]');
  expect(newcomer.git('log', '--format=%s').split('\n')).toHaveLength(2);
});

test('a package of a monorepo, called from its sources', () => {
  newcomer = makeNewcomer({
    work: WORK,
    files: {
      'package.json': '{ "workspaces": ["packages/*"] }\n',
      'packages/api/package.json': '{ "name": "api", "scripts": { "test": "node --test" } }\n',
      'packages/api/src/index.js': '',
      'packages/api/a.test.mjs': "import { test } from 'node:test';\ntest('it runs', () => {});\n",
      'packages/api/PRD.md': LIST,
    },
  });
  firstEvening(join(newcomer.dir, 'packages/api/src'));
  expect(newcomer.read('packages/api/PRD.md')).not.toContain('[ ]');
  expect(existsSync(join(newcomer.dir, 'ralph.yml'))).toBe(false);
  expect(newcomer.git('ls-files')).toContain('packages/api/made-');
});

test('a project of shell scripts', () => {
  newcomer = makeNewcomer({
    work: WORK,
    files: { 'bin/x.sh': '#!/bin/sh\n', 'test/run.sh': '#!/bin/sh\necho "1 passed"\n', 'PRD.md': LIST },
  });
  firstEvening();
  expect(newcomer.read('ralph.yml')).toContain('run: "sh test/run.sh"');
});

test('without --yes and without a terminal it shows what it would write, writes nothing and says how', () => {
  newcomer = makeNewcomer(NODE);
  const { code, out, err } = newcomer.ralph(['init']);
  expect(code).toBe(5);
  expect(out).toMatch(
    /^Nothing was written, because nobody can be asked here\. Run `ralph init --yes` to write this:\n/,
  );
  expect(out).toContain('run: "npm test"');
  expect(err).toContain('fix: Run `ralph init --yes`');
  const dry = newcomer.ralph(['init', '--dry-run']);
  expect([dry.code, dry.err]).toEqual([0, '']);
  expect(newcomer.git('status', '--porcelain')).toBe('');
});

/** util-linux's `script` gives a program a terminal; elsewhere it is missing or takes other flags. */
const hasTerminal = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

test.skipIf(!hasTerminal)(
  'on a terminal it asks first (needs `script`): yes writes, no writes nothing',
  async () => {
    newcomer = makeNewcomer(NODE);
    const answer = (key: string) =>
      new Promise<{ code: number | null; out: string }>((done) => {
        const line = `stty cols 80 rows 24; '${process.execPath}' '${PROGRAM}' init`;
        const child = spawn('script', ['-qec', line, '/dev/null'], {
          cwd: newcomer.dir,
          env: { PATH: process.env.PATH, HOME: newcomer.home, TERM: 'xterm' },
          stdio: ['pipe', 'pipe', 'ignore'],
        });
        let out = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          out += text;
        });
        // A key that comes before the question listens is lost, so it is pressed until it is heard.
        const press = setInterval(() => {
          if (out.includes('Write this?')) child.stdin.write(key);
        }, 300);
        const giveUp = setTimeout(() => child.kill('SIGKILL'), 30_000);
        child.stdin.on('error', () => undefined);
        child.on('close', () => {
          clearInterval(press);
          clearTimeout(giveUp);
        });
        child.on('close', (code) => done({ code, out }));
      });
    const no = await answer('n');
    expect([no.code, existsSync(join(newcomer.dir, 'ralph.yml'))]).toEqual([7, false]);
    expect(no.out).toContain('Nothing was written.');
    const yes = await answer('y');
    expect([yes.code, existsSync(join(newcomer.dir, 'ralph.yml'))]).toEqual([0, true]);
  },
);

test('as data: one value, whether something is written or not', () => {
  newcomer = makeNewcomer(NODE);
  const json = (...args: string[]) => JSON.parse(newcomer.ralph(['init', '--json', ...args]).out);
  expect(json('--dry-run')).toMatchObject({
    changes: true,
    written: false,
    kinds: ['Node project (npm)'],
    gates: [{ name: 'test', run: 'npm test', min_tests: 1 }],
    task_lists: [{ path: 'PRD.md', open: 2, done: 0 }],
    config: { path: 'ralph.yml', state: 'new' },
    gitignore: { added: ['ralph/blocked.txt', 'ralph/decide.txt', 'ralph/logs'] },
  });
  expect(json()).toMatchObject({ written: false });
  expect(existsSync(join(newcomer.dir, 'ralph.yml'))).toBe(false);
  expect(json('--yes')).toMatchObject({ written: true });
  expect(json('--yes')).toMatchObject({ changes: false, written: false, config: { state: 'same' } });
  expect(newcomer.ralph(['init']).code).toBe(0);
});

test('somebody else’s change of .gitignore still keeps a first run from starting', () => {
  newcomer = makeNewcomer(NODE);
  newcomer.ralph(['init', '--yes']);
  newcomer.write({ '.gitignore': `build/\n${newcomer.read('.gitignore')}` });
  const { code, err } = newcomer.ralph(['run', '--no-wait']);
  expect(code).toBe(5);
  expect(err).toContain('.gitignore');
});
