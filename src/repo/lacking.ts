/** Whether commits are in a history, under their own id or as another commit of the same patch: a rebase keeps that. */
import type { GitResult } from './git.ts';

type Ask = (args: string[], input?: Uint8Array) => Promise<Pick<GitResult, 'code' | 'stdout'>>;

/** Those of the commits that none of the tips has; in the usual case, where one has each, git is asked once. */
export async function lackingIn(
  ask: Ask,
  commits: readonly string[],
  tips: readonly string[],
): Promise<string[]> {
  if (commits.length === 0) return [];
  const input = Buffer.from(`${[...commits, ...tips.map((tip) => `^${tip}`)].join('\n')}\n`);
  const { code, stdout } = await ask(['rev-list', '--max-count=1', '--stdin'], input);
  if (code === 0 && stdout.length === 0) return [];
  const lacking: string[] = [];
  for (const commit of commits) {
    let isThere = false;
    for (const tip of tips) isThere ||= await isIn(ask, commit, tip);
    if (!isThere) lacking.push(commit);
  }
  return lacking;
}

async function isIn(ask: Ask, commit: string, tip: string): Promise<boolean> {
  // 1: it is not. 128: it is gone, so no history leads there.
  const { code } = await ask(['merge-base', '--is-ancestor', commit, tip]);
  if (code !== 1) return code === 0;
  // `-` before a commit whose patch the other side has. A commit without a parent has no patch here.
  const cherry = await ask(['cherry', tip, commit, `${commit}^`]);
  return cherry.code === 0 && cherry.stdout.toString('latin1').startsWith('- ');
}
