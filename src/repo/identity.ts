/** Whether git knows whom to name as author; without that no commit can be made. */
import { execFile } from 'node:child_process';

/** null when commits can be made here; otherwise git's own words. */
export function missingIdentity(cwd: string, env: Record<string, string>): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { cwd, env, maxBuffer: 65_536 };
    execFile('git', ['var', 'GIT_COMMITTER_IDENT'], options, (error, _out, stderr) => {
      const complaint =
        stderr
          .trim()
          .split('\n')
          .find((line) => line.startsWith('fatal:')) ?? stderr.trim().split('\n')[0];
      resolve(error === null ? null : (complaint ?? 'git does not know who you are'));
    });
  });
}
