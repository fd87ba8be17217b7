// Runs vitest once and counts: every suite of this project ends with the same plain line,
// `N passed, N failed`, so that people and machines read the result in one place.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs a program of node_modules; answers its exit code (1 when it was ended by a signal). */
export function runNode(args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      ...options,
    });
    child.on('error', () => resolve({ code: 1, output: '' }));
    const output = [];
    child.stdout?.on('data', (chunk) => output.push(chunk));
    child.stderr?.on('data', (chunk) => output.push(chunk));
    child.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(output).toString() }));
  });
}

/**
 * One vitest run. A file that does not load counts as one failure, and so does a run that ended badly
 * although no test failed (an unhandled error, a crash).
 */
export async function runVitest(args) {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-suite-'));
  const report = join(folder, 'report.json');
  try {
    const { code } = await runNode([
      join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...args,
    ]);
    return count(report, code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function count(report, code) {
  let told;
  try {
    told = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return { passed: 0, failed: code === 0 ? 0 : 1, skipped: 0 };
  }
  const unloaded = told.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = told.numFailedTests + unloaded;
  return {
    passed: told.numPassedTests,
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped: told.numPendingTests + told.numTodoTests,
  };
}

/** Prints the last line and ends the process with 0 or 1. */
export function finish({ passed, failed, skipped = 0 }) {
  if (skipped > 0) process.stdout.write(`(${skipped} skipped, each with its reason above or in its file)\n`);
  process.exitCode = failed === 0 ? 0 : 1;
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
}
