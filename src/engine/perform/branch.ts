/**
 * The branch a run works on. Nobody asked for commits on another one, so a switch pauses the run with the way
 * back. Who switched, the agent or a person in the same work tree, cannot be told, and nobody is accused.
 */
import { commandFor, type Fact, shellWord } from '../../core/index.ts';
import type { House } from '../house.ts';

export interface Switch {
  from: { branch: string | null; head: string | null };
  to: { branch: string | null };
  /** Continues "the branch was switched from main to feature". */
  when: string;
  /** Commits were made since. */
  commits: boolean;
}

/** The pause after a switch of branches, with the way back; a `resume` then goes on where HEAD is. */
export function pauseForSwitch(house: House, { from, to, when, commits }: Switch): Fact[] {
  // A person's word to go on is a word for the branch they go on from.
  house.branch = undefined;
  const named = from.branch === null ? `--detach ${(from.head ?? '').slice(0, 10)}` : shellWord(from.branch);
  const isLoop = house.state.policy?.loop !== undefined;
  const back = `git ${isLoop ? `-C ${shellWord(house.ground.root)} ` : ''}switch ${named}`;
  const merged = commits
    ? ` and bring what was committed meanwhile with \`git merge ${shellWord(to.branch ?? '')}\``
    : '';
  const again = commandFor(house.state, 'ralph resume');
  // A loop works on its own branch only.
  const stay = isLoop ? '' : `; or stay: \`${again}\` goes on on ${to.branch}`;
  const text =
    to.branch === null
      ? `HEAD was left on no branch ${when}, where commits are easily lost. Go back with \`${back}\` (and \`git merge\` what was made), then \`${again}\`.`
      : `${sentence(from.branch, to.branch)} ${when}. Go back with \`${back}\`${merged}, then \`${again}\`${stay}.`;
  return [
    { type: 'session.paused', at: house.clock.now(), text, by: 'engine' },
    { type: 'notice.given', level: 'critical', text },
  ];
}

function sentence(from: string | null, to: string): string {
  return `The branch was switched from ${from ?? 'a detached HEAD'} to ${to}`;
}

/** Where HEAD is on another branch than the run works on: both; null otherwise. The first look is believed. */
export async function offCourse(house: House): Promise<Pick<Switch, 'from' | 'to'> | null> {
  const now = await house.ground.head();
  if (house.branch === undefined) house.branch = now.branch;
  if (now.branch === house.branch) return null;
  return { from: { branch: house.branch, head: now.head }, to: { branch: now.branch } };
}
