/** The benchmarks still run; their budgets are held by `npm run bench`, not by a busy test machine. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT } from './tidy/sources.ts';

it('every benchmark has a number or a reason in a quick run', async () => {
  const args = [
    join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs'),
    join(ROOT, 'bench', 'run.ts'),
    '--quick',
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, timeout: 230_000 });
  for (const part of ['start', 'law', 'home', 'behaviour', 'evidence', 'output', 'loop', 'full'])
    expect(stdout).toContain(`\n${part}\n`);
  expect(stdout).not.toContain('not measured');
}, 240_000);
