import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../config/index.ts';
import { Problem } from '../../core/index.ts';
import { isOnlyOurs } from './ignore-lines.ts';
import { openSetup } from './init.ts';
import { lineDiff } from './line-diff.ts';

let dir = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-init-')));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
const write = (files: Record<string, string>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
};
const read = (path: string) => readFileSync(join(dir, path), 'utf8');
const git = (...args: string[]) => execFileSync('git', args, { cwd: dir, env, encoding: 'utf8' });
const list = '# Tasks\n- [ ] Add a greet function\n- [x] Start\n';
const scripts = (all: Record<string, string>, more = {}) => `${JSON.stringify({ scripts: all, ...more })}\n`;

/** Writes the set-up and answers the gates that the written file really gives. */
async function gatesOf(at = dir): Promise<Record<string, string>> {
  const setup = await openSetup(at, env);
  await setup.carryOut();
  const { project } = setup.json(true) as { project: string };
  const { settings, warnings } = await loadConfig({ projectDir: project, env: {}, flags: {} });
  expect(warnings).toEqual([]);
  return Object.fromEntries(
    settings.gates.map(({ name, run, minTests }) => [name, minTests > 0 ? `${run} (min ${minTests})` : run]),
  );
}

test.each<[string, Record<string, string>, Record<string, string>]>([
  ['an empty folder', {}, {}],
  ['npm', { 'package.json': scripts({ test: 'vitest run' }) }, { test: 'npm test (min 1)' }],
  [
    'npm, with a byte order mark',
    { 'package.json': `\ufeff${scripts({ test: 'jest' })}` },
    { test: 'npm test (min 1)' },
  ],
  [
    'pnpm by its lock file, a runner that is not known',
    { 'package.json': scripts({ test: 'node test.js', lint: 'biome check .' }), 'pnpm-lock.yaml': '' },
    { lint: 'pnpm run lint', test: 'pnpm test' },
  ],
  [
    'yarn by packageManager, whatever lies beside',
    {
      'package.json': scripts({ typecheck: 'tsc --noEmit', build: 'tsc' }, { packageManager: 'yarn@4.1.0' }),
      'package-lock.json': '{}',
    },
    { typecheck: 'yarn run typecheck', build: 'yarn run build' },
  ],
  [
    'bun',
    { 'package.json': scripts({ test: 'bun test' }), 'bun.lock': '' },
    { test: 'bun run test (min 1)' },
  ],
  [
    'scripts that prove nothing: a placeholder, a repair, a watcher',
    {
      'package.json': scripts({
        test: 'echo "Error: no test specified" && exit 1',
        lint: 'eslint . --fix',
        build: 'tsc --watch',
      }),
    },
    {},
  ],
  [
    'an npm workspace whose top has no scripts',
    {
      'package.json': scripts({}, { workspaces: ['packages/*'] }),
      'packages/a/package.json': scripts({ test: 'vitest run' }),
      'packages/b/package.json': scripts({ test: 'node --test', lint: 'eslint .' }),
    },
    {
      lint: 'npm run lint --workspaces --if-present',
      test: 'npm run test --workspaces --if-present (min 1)',
    },
  ],
  [
    'a pnpm workspace',
    {
      'package.json': scripts({}),
      'pnpm-workspace.yaml': 'packages:\n  - "apps/*"\n',
      'pnpm-lock.yaml': '',
      'apps/a/package.json': scripts({ test: 'sh test.sh' }),
    },
    { test: 'pnpm -r --if-present run test' },
  ],
  ['package.json that is no JSON', { 'package.json': '{"scripts": ' }, {}],
  ['package.json that is no object', { 'package.json': 'null' }, {}],
  [
    'Python with uv, pytest, ruff and mypy',
    {
      'pyproject.toml': '[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\nfiles = ["a"]\n',
      'uv.lock': '',
    },
    { typecheck: 'uv run mypy', lint: 'uv run ruff check .', test: 'uv run pytest -q (min 1)' },
  ],
  [
    'Python with poetry and pytest among the dependencies',
    { 'pyproject.toml': '[tool.poetry.group.dev.dependencies]\npytest = "*"\n' },
    { test: 'poetry run pytest -q (min 1)' },
  ],
  [
    'Python without a tool, with unittest files',
    { 'setup.py': '', 'tests/test_a.py': '' },
    { test: 'python3 -m unittest discover -s tests (min 1)' },
  ],
  ['Python with tox alone', { 'tox.ini': '[tox]\n', 'setup.py': '' }, { test: 'tox' }],
  ['pyproject.toml that is no TOML', { 'pyproject.toml': '[tool' }, {}],
  [
    'Go',
    { 'go.mod': 'module x\n' },
    { lint: 'go vet ./...', test: 'go test ./... (min 1)', build: 'go build ./...' },
  ],
  ['Rust', { 'Cargo.toml': '[package]\n' }, { test: 'cargo test (min 1)' }],
  [
    'a Makefile',
    { Makefile: 'CC := gcc\n.PHONY: test lint\ntest lint: build\n\techo\nbuild:\n\techo\n' },
    { lint: 'make lint', test: 'make test', build: 'make build' },
  ],
  [
    'a justfile',
    { justfile: 'x := "1"\n@test arg="a": build\n  echo\nbuild:\n  echo\n' },
    { test: 'just test', build: 'just build' },
  ],
  ['shell with bats', { 'bin/x.sh': '', 'test/x.bats': '' }, { test: 'bats test (min 1)' }],
  [
    'shell with a script of its own and ShellCheck',
    { 'x.sh': '', 'tests/run.sh': '#!/usr/bin/env bash\n', '.shellcheckrc': '' },
    { lint: 'shellcheck *.sh', test: 'bash tests/run.sh' },
  ],
  [
    'recipes fill what the language does not say',
    { 'package.json': scripts({ test: 'mocha' }), Makefile: 'test:\nlint:\n' },
    { lint: 'make lint', test: 'npm test (min 1)' },
  ],
  [
    'words that could break out of a comment or a string',
    { 'package.json': scripts({ test: 'vitest\n# }: "x\u2028: [\u0007' }), 'PRD.md': list },
    { test: 'npm test (min 1)' },
  ],
])('%s: what is declared is proposed, and the file loads', async (_, files, gates) => {
  write(files);
  git('init', '-q');
  expect(await gatesOf()).toEqual(gates);
});

test('only two files are written, and the second time nothing is left to do', async () => {
  write({ 'PRD.md': list, 'package.json': scripts({ test: 'jest' }) });
  git('init', '-q');
  const before = readdirSync(dir);
  const first = await openSetup(dir, env);
  expect(first.changes).toBe(true);
  expect(readdirSync(dir)).toEqual(before);
  await first.carryOut();
  expect(readdirSync(dir).sort()).toEqual([...before, '.gitignore', 'ralph.yml'].sort());
  const files = [read('ralph.yml'), read('.gitignore')];
  const second = await openSetup(dir, env);
  expect(second.changes).toBe(false);
  await second.carryOut();
  expect([read('ralph.yml'), read('.gitignore')]).toEqual(files);
  expect(second.told(false)).toContain('Nothing to do');
});

test('a ralph.yml that is there is kept, and what would be proposed is shown as a difference', async () => {
  write({ 'ralph.yml': 'agent: claude\n', 'package.json': scripts({ test: 'jest' }) });
  git('init', '-q');
  const setup = await openSetup(dir, env);
  await setup.carryOut();
  expect(read('ralph.yml')).toBe('agent: claude\n');
  expect(setup.shown).toMatch(/stays as it is/);
  expect(setup.shown).toContain('-agent: claude');
  expect(setup.shown).toContain('+  - { name: test, run: "npm test"');
});

test('a configuration in .ralph/ralph.toml is kept alone: two files would be one too many', async () => {
  write({ '.ralph/ralph.toml': 'mode = "speed"\n' });
  git('init', '-q');
  const setup = await openSetup(dir, env);
  await setup.carryOut();
  expect(existsSync(join(dir, 'ralph.yml'))).toBe(false);
});

test('a ralph.yml that is a link: one that leads somewhere is kept, one that leads nowhere is told', async () => {
  write({ 'shared/base.yml': 'agent: claude\n' });
  symlinkSync('shared/base.yml', join(dir, 'ralph.yml'));
  await (await openSetup(dir, env)).carryOut();
  expect(read('shared/base.yml')).toBe('agent: claude\n');
  rmSync(join(dir, 'shared'), { recursive: true });
  await expect(openSetup(dir, env)).rejects.toThrow(/cannot be read/);
  expect(existsSync(join(dir, 'shared'))).toBe(false);
});

test.each([
  ['no file', null, /^# Ralph.*\nralph\/blocked\.txt\nralph\/decide\.txt\nralph\/logs\n$/],
  ['an empty file', '', /^# Ralph/],
  ['no final newline', 'dist', /^dist\n\n# Ralph.*\nralph\/blocked/],
  [
    'CRLF',
    'dist\r\nout\r\n',
    /^dist\r\nout\r\n\r\n# Ralph.*\r\nralph\/blocked\.txt\r\nralph\/decide\.txt\r\nralph\/logs\r\n$/,
  ],
  ['one entry in another form', 'ralph/*.txt\n', /^ralph\/\*\.txt\n\n# Ralph.*\nralph\/logs\n$/],
  ['all of it hidden already', '/ralph/\n', /^\/ralph\/\n$/],
])('.gitignore with %s gets what is missing and keeps every byte', async (_, text, wanted) => {
  if (text !== null) write({ '.gitignore': text });
  git('init', '-q');
  await (await openSetup(dir, env)).carryOut();
  expect(read('.gitignore')).toMatch(wanted);
  mkdirSync(join(dir, 'ralph'));
  symlinkSync('nowhere', join(dir, 'ralph/logs'));
  write({ 'ralph/blocked.txt': '', 'ralph/decide.txt': '' });
  expect(git('status', '--porcelain', '--untracked-files=all', 'ralph')).toBe('');
  expect((await openSetup(dir, env)).changes).toBe(false);
});

test('what only the local exclude file hides is added all the same: others do not have that file', async () => {
  git('init', '-q');
  write({ '.git/info/exclude': 'ralph/\n' });
  await (await openSetup(dir, env)).carryOut();
  expect(read('.gitignore')).toContain('ralph/logs');
});

test('a .gitignore that is a link is left alone, and the lines are told', async () => {
  write({ shared: 'dist\n' });
  symlinkSync('shared', join(dir, '.gitignore'));
  git('init', '-q');
  const setup = await openSetup(dir, env);
  await setup.carryOut();
  expect(read('shared')).toBe('dist\n');
  expect(setup.shown).toMatch(/is a link.*Add these lines to it yourself/s);
  expect((await openSetup(dir, env)).changes).toBe(false);
});

test.skipIf(process.getuid?.() === 0)(
  'a folder that cannot be written is told, and nothing is half done',
  async () => {
    git('init', '-q');
    chmodSync(dir, 0o555);
    await expect((await openSetup(dir, env)).carryOut()).rejects.toThrow(Problem);
    chmodSync(dir, 0o755);
    expect(readdirSync(dir)).toEqual(['.git']);
  },
);

test('without git only ralph.yml is written', async () => {
  const setup = await openSetup(dir, env);
  await setup.carryOut();
  expect(readdirSync(dir)).toEqual(['ralph.yml']);
  expect(setup.told(true)).toMatch(/git init/);
});

test('a call inside a package of a monorepo is about that package, with the lock file above', async () => {
  write({
    'package.json': scripts({}),
    'pnpm-lock.yaml': '',
    'packages/api/package.json': scripts({ test: 'vitest run' }),
    'packages/api/src/a.ts': '',
  });
  git('init', '-q');
  expect(await gatesOf(join(dir, 'packages/api/src'))).toEqual({ test: 'pnpm test (min 1)' });
  expect(existsSync(join(dir, 'packages/api/ralph.yml'))).toBe(true);
  expect(existsSync(join(dir, 'ralph.yml'))).toBe(false);
  expect(read('packages/api/.gitignore')).toContain('ralph/logs');
});

test('at the top of a monorepo without scripts the projects below are named', async () => {
  write({ 'api/package.json': '{}', 'services/web/go.mod': '' });
  git('init', '-q');
  const { shown } = await openSetup(dir, env);
  expect(shown).toMatch(/projects lie below: api, services\/web/);
  expect(shown).toContain('ralph init -C api');
});

test('task lists of every kind are shown with their counts, and one that is not looked for is named', async () => {
  write({ 'docs/PLAN.md': list, 'PROMPT.md': 'x' });
  const setup = await openSetup(dir, env);
  expect(setup.shown).toContain('docs/PLAN.md: 1 open, 1 done');
  expect(setup.shown).toContain('PROMPT.md: left as they are');
  await setup.carryOut();
  expect(read('ralph.yml')).toMatch(/^tasks: docs\/PLAN\.md$/m);
});

test('only what init adds counts as its own change of .gitignore', () => {
  const added = '# Ralph: what a run asks and logs here is not part of the work\nralph/logs\n';
  expect(isOnlyOurs(null, added)).toBe(true);
  expect(isOnlyOurs('dist', `dist\n\n${added}`)).toBe(true);
  expect(isOnlyOurs('dist\r\n', `dist\r\n\r\n${added.replaceAll('\n', '\r\n')}`)).toBe(true);
  expect(isOnlyOurs('dist\n', `dist\nout\n${added}`)).toBe(false);
  expect(isOnlyOurs('dist\n', added)).toBe(false);
});

test('a difference names the lines that go and come, and nothing for equal texts', () => {
  expect(lineDiff('a\nb\nc\n', 'a\nb\nc\n')).toEqual([]);
  expect(lineDiff('a\nb\nc\nd\ne\n', 'a\nx\nc\nd\ne\nf\n')).toEqual([
    ' a',
    '-b',
    '+x',
    ' c',
    ' …',
    ' e',
    '+f',
  ]);
});
