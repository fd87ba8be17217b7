/** A git repository of many small files, with one commit, as old as if it had been cloned yesterday. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FILES_PER_FOLDER = 100;
const YESTERDAY = '202401010000';

/** Makes it in a new temporary folder and answers the path. */
export function makeRepository(files: number): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-bench-')));
  for (let i = 0; i < files; i++) {
    const folder = join(
      root,
      'src',
      `d${Math.floor(i / FILES_PER_FOLDER / 50)}`,
      `m${Math.floor(i / FILES_PER_FOLDER)}`,
    );
    if (i % FILES_PER_FOLDER === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `f${i}.txt`), `file ${i}\n`);
  }
  // Files as young as the index are read again by every git; a clone of yesterday has none.
  if (process.platform !== 'win32') {
    execFileSync('sh', ['-c', `find src -type f -exec touch -t ${YESTERDAY} {} +`], { cwd: root });
  }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Bench');
  git('config', 'user.email', 'bench@example.com');
  git('config', 'gc.auto', '0');
  git('add', '-A');
  git('commit', '-q', '-m', 'files');
  return root;
}
