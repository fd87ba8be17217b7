/** The examples, each run from a copy as its README says, with the rehearsal agent that lies in it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { removeFolder } from '../remove-folder.ts';
import { PROGRAM } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

const EXAMPLES = resolve(import.meta.dirname, '../../examples');
const room = mkdtempSync(join(tmpdir(), 'ralph-examples-'));
afterAll(() => removeFolder(room));

const env = {
  PATH: process.env.PATH ?? '',
  HOME: room,
  LANG: 'C.UTF-8',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

function copyOf(name: string) {
  const dir = join(room, name);
  cpSync(join(EXAMPLES, name), dir, { recursive: true });
  const git = (...args: string[]) => execFileSync('git', args, { cwd: dir, env, encoding: 'utf8' }).trim();
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.invalid');
  git('add', '-A');
  git('commit', '-q', '-m', 'The example');
  const ralph = (...args: string[]) =>
    spawnSync(process.execPath, [PROGRAM, ...args], { cwd: dir, env, encoding: 'utf8', timeout: 100_000 });
  return { dir, git, ralph, read: (path: string) => readFileSync(join(dir, path), 'utf8') };
}

/** Runs an example to its end; answers it with the findings of its attempts and what changed in its list. */
function play(name: string, { list, at = '.' }: { list: string; at?: string }) {
  const example = copyOf(name);
  const ran = example.ralph('run', '-C', at, '--agent', 'rehearsal', '--quiet');
  expect(`${ran.stdout}${ran.stderr}`).toMatch(/COMPLETE/);
  expect(ran.status).toBe(0);
  expect(example.git('status', '--porcelain')).toBe('');
  const events = JSON.parse(example.ralph('interventions', '-C', at, '--json').stdout) as {
    event_type: string;
  }[];
  const first = example.git('rev-list', '--max-parents=0', 'HEAD');
  const diff = example.git('diff', '-U0', first, '--', join(at, list)).split('\n');
  return {
    ...example,
    caught: events.map(({ event_type }) => event_type),
    landed: example.git('log', '--format=%s', '--reverse').split('\n').slice(1),
    marks: diff.filter((line) => /^(?!---|\+\+\+)[-+]/.test(line)).map((line) => line.trim()),
  };
}

test('every example is run here, and says how to run it', () => {
  const names = readdirSync(EXAMPLES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const played = ['demo', 'monorepo', 'node-library', 'python-tool', 'shell-scripts'];
  expect(names.map(({ name }) => name).toSorted()).toEqual(played);
  const index = readFileSync(join(EXAMPLES, 'README.md'), 'utf8');
  for (const name of played) expect(index).toContain(`](${name}`);
  for (const name of played.filter((name) => name !== 'demo')) {
    const readme = readFileSync(join(EXAMPLES, name, 'README.md'), 'utf8');
    expect(readme).toContain('--agent rehearsal');
    expect(readme).toContain('Claude Code');
  }
});

test('node-library: the stories of a prd.json, npm test as the gate', () => {
  const { caught, landed, marks, read } = play('node-library', { list: 'prd.json' });
  expect(caught).toContain('no_files_detected');
  expect(landed).toHaveLength(2);
  expect(landed[0]).toContain('slug(text)');
  expect(marks).toEqual([
    '-      "passes": false,',
    '+      "passes": true,',
    '-      "passes": false,',
    '+      "passes": true,',
  ]);
  expect(read('src/unique.mjs')).toContain('number = 2');
});

// Python is part of most machines and of none by right.
test.skipIf(spawnSync('python3', ['--version']).status !== 0)(
  'python-tool: the checkboxes of a fix_plan.md, unittest as the gate',
  () => {
    const { caught, landed, marks } = play('python-tool', { list: 'fix_plan.md' });
    expect(caught).toContain('no_files_detected');
    expect(landed).toHaveLength(2);
    expect(marks.filter((line) => line.startsWith('-')).map((line) => line.slice(0, 7))).toEqual([
      '-- [ ] ',
      '-- [ ] ',
    ]);
    expect(marks.filter((line) => line.startsWith('+')).map((line) => line.slice(0, 7))).toEqual([
      '+- [x] ',
      '+- [x] ',
    ]);
  },
);

test('shell-scripts: a tasks.yaml with comments, a runner of its own as the gate', () => {
  const { caught, landed, marks, read } = play('shell-scripts', { list: 'tasks.yaml' });
  expect(caught).toContain('no_files_detected');
  expect(landed).toHaveLength(2);
  expect(marks).toEqual([
    '-    passes: false',
    '+    passes: true',
    '-    passes: false',
    '+    passes: true',
  ]);
  expect(read('tasks.yaml')).toContain('# one after the other');
});

test('monorepo: a package with a reviewed tasks.json, run from its folder', () => {
  const { caught, landed, read, git } = play('monorepo', { list: 'ralph/tasks.json', at: 'packages/cart' });
  expect(caught).toContain('no_files_detected');
  expect(landed.length).toBeGreaterThan(0);
  const [story] = JSON.parse(read('packages/cart/ralph/tasks.json')).userStories;
  expect(story).toMatchObject({ passes: true, reviewStatus: 'approved', reviewCount: 2 });
  expect(read('packages/cart/test/total.test.mjs')).toContain('total([])');
  expect(git('log', '--format=%H', '--', 'packages/money').split('\n')).toHaveLength(1);
});
