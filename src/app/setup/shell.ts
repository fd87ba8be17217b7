/** A project of shell scripts: bats files or a test script of its own, and ShellCheck where it is configured. */
import type { Folder } from './folder.ts';
import { type Finding, gate, NOTHING, type ProposedGate } from './proposal.ts';

const TEST_FOLDERS = ['test', 'tests', 'spec'];
const TEST_SCRIPTS = [
  'test.sh',
  'tests.sh',
  'run-tests.sh',
  'run_tests.sh',
  'test/run.sh',
  'test/test.sh',
  'test/run-tests.sh',
  'tests/run.sh',
  'tests/test.sh',
  'tests/run-tests.sh',
];

/** Looks for scripts in the folder itself and one below it. */
export function lookAtShell(folder: Folder): Finding {
  const scripts = ['', 'bin', 'scripts', 'src', ...TEST_FOLDERS].some((below) =>
    folder.names(below).some((name) => /\.(?:sh|bash|bats)$/.test(name)),
  );
  if (!scripts) return NOTHING;
  const gates = [testGate(folder), lintGate(folder)].filter((each): each is ProposedGate => each !== null);
  return { kind: 'shell scripts', gates, notes: [] };
}

function testGate(folder: Folder): ProposedGate | null {
  const bats = (below: string) => folder.names(below).some((name) => name.endsWith('.bats'));
  const where = TEST_FOLDERS.find(bats) ?? (bats('') ? '.' : undefined);
  if (where !== undefined)
    return gate('test', `bats ${where}`, `bats tests are in ${where === '.' ? 'this folder' : where}`, 1);
  const script = TEST_SCRIPTS.find((path) => folder.isFile(path));
  if (script === undefined) return null;
  const shell = /^#!.*\bbash\b/.test(folder.read(script) ?? '') ? 'bash' : 'sh';
  return gate('test', `${shell} ${script}`, `${script} is there`);
}

function lintGate(folder: Folder): ProposedGate | null {
  if (!folder.has('.shellcheckrc')) return null;
  const where = ['', 'bin', 'scripts', 'src'].filter((below) =>
    folder.names(below).some((name) => name.endsWith('.sh')),
  );
  if (where.length === 0) return null;
  const files = where.map((below) => (below === '' ? '*.sh' : `${below}/*.sh`)).join(' ');
  return gate('lint', `shellcheck ${files}`, '.shellcheckrc is there');
}
