/**
 * Branches that an attempt, or somebody beside it, moved while it worked: the run says so when it happens, and whoever
 * looks later still has to know of it. Nothing is moved back by itself.
 */
import { type MovedRef, type State, shellWord } from '../core/index.ts';
import { oneLine } from './words.ts';

export interface MovedJson {
  iteration: number;
  /** Of an agent that was hired for the landing of the loop; absent: the loop's own. */
  session_id?: string;
  branch: string;
  from: string;
  to: string;
  /** To a commit that was made in that iteration; false: to one that does not hold what the branch held. */
  made_in_it: boolean;
  /** The command that puts it back, as long as nobody moved it on. */
  back: string;
}

/** Of attempts that ended at `since` (epoch ms) or later, each move once. */
export function movedBranches(state: State, since = 0): MovedJson[] {
  const told = new Map<string, MovedJson>();
  for (const [iteration, { movedRefs, endedAt }] of state.attempts) {
    if (endedAt === null || endedAt < since) continue;
    for (const moved of movedRefs) {
      const key = `${moved.ref} ${moved.from} ${moved.to}`;
      if (!told.has(key)) told.set(key, movedJson(iteration, moved));
    }
  }
  return [...told.values()];
}

export function movedJson(iteration: number, { ref, from, to, its }: MovedRef): MovedJson {
  const branch = ref.replace(/^refs\/heads\//, '');
  const back = `git update-ref ${shellWord(ref)} ${from} ${to}`;
  return { iteration, branch, from, to, made_in_it: its, back };
}

const MOST_SHOWN = 3;

/** `ralph`: a command as it means the session. One line each without its stop, the first few in full. */
export function movedLines(moved: readonly MovedJson[], ralph: (command: string) => string): string[] {
  const shown = moved.slice(0, MOST_SHOWN).map((one) => {
    const what = one.made_in_it ? 'a commit made in it' : 'which does not hold what it held';
    return `branch ${oneLine(one.branch, 60)} was moved in iteration ${one.iteration}${hiredIn(one)} from ${one.from.slice(0, 12)} to ${one.to.slice(0, 12)}, ${what}; \`${one.back}\` puts it back`;
  });
  const more = moved.length - shown.length;
  return more > 0
    ? [...shown, `and ${more} more; \`${whyCommand(moved.at(-1)!, ralph)}\` names them`]
    : shown;
}

/** Of an agent that was hired, its own session is meant. */
function whyCommand({ iteration, session_id: id }: MovedJson, ralph: (command: string) => string): string {
  const why = `ralph why ${iteration}`;
  return id === undefined ? ralph(why) : `${why} --session ${id}`;
}

const hiredIn = ({ session_id: id }: MovedJson): string =>
  id === undefined ? '' : ` of session ${id}, which was hired for its landing,`;
