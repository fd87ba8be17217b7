// `npm test [-- vitest arguments]`: type check, biome and knip as three tests of their own, then every
// unit test, story and tidiness rule. The last line is `N passed, N failed`.
import { join } from 'node:path';
import { finish, root, runNode, runVitest } from './suite.mjs';

const program = (...path) => join(root, 'node_modules', ...path);
const CHECKS = [
  {
    name: 'types (tsc --noEmit)',
    args: [program('typescript', 'bin', 'tsc'), '--noEmit', '--pretty', 'false'],
  },
  {
    name: 'style (biome check)',
    args: [program('@biomejs', 'biome', 'bin', 'biome'), 'check', '--error-on-warnings', '.'],
  },
  { name: 'unused code (knip)', args: [program('knip', 'bin', 'knip.js'), '--no-progress'] },
];

/** A check that passes is one line; one that fails shows what it said. */
async function check({ name, args }) {
  const { code, output } = await runNode(args, { stdio: ['ignore', 'pipe', 'pipe'] });
  process.stdout.write(code === 0 ? `✓ ${name}\n` : `✗ ${name}\n${output}\n`);
  return code === 0;
}

const results = await Promise.all(CHECKS.map(check));
const tests = await runVitest(process.argv.slice(2));
const good = results.filter(Boolean).length;
finish({
  passed: tests.passed + good,
  failed: tests.failed + results.length - good,
  skipped: tests.skipped,
});
