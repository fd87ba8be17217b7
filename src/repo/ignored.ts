/** What git itself says of single paths: which ignore file hides them, and what was committed of them. */
import { basename, isAbsolute } from 'node:path';
import { git, gitEnvironment } from './git.ts';

/**
 * Of these paths (relative to `cwd`, there or not), those that a .gitignore of the work tree hides from
 * git. What only the local exclude file or the user's own settings hide does not count: others lack it.
 */
export async function hiddenByProject(
  cwd: string,
  paths: readonly string[],
  env: Record<string, string>,
): Promise<Set<string>> {
  const args = ['check-ignore', '--no-index', '--verbose', '-z', '--stdin'];
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(''));
  const { code, stdout } = await git({ args, cwd, env: gitEnvironment(env), input });
  const hidden = new Set<string>();
  if (code !== 0) return hidden;
  const fields = stdout.toString('utf8').split('\0');
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [source, , pattern, path] = fields.slice(at, at + 4) as [string, string, string, string];
    const inTree = !isAbsolute(source) && basename(source) === '.gitignore';
    if (inTree && !pattern.startsWith('!')) hidden.add(path);
  }
  return hidden;
}

/** A file's text in HEAD; null where HEAD lacks it. `path` is relative to the top of the work tree. */
export async function committedText(
  root: string,
  path: string,
  env: Record<string, string>,
): Promise<string | null> {
  const call = { args: ['cat-file', 'blob', `HEAD:${path}`], cwd: root, env: gitEnvironment(env) };
  const { code, stdout } = await git({ ...call, maxBytes: 16 * 1024 * 1024 });
  return code === 0 ? stdout.toString('utf8') : null;
}
