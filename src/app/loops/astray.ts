/**
 * Branches that agents of loops moved, their own attempts or those that were hired for their landings, as sessions tell
 * it. Whether one is still where it was moved to is for git to say.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, type State } from '../../core/index.ts';
import { type Astray, backWords } from '../../fleet/index.ts';
import { branchTips, openIntegration, readHead } from '../../repo/index.ts';
import { type Loop, readLoops, sessionsFolder } from '../../store/index.ts';
import { type MovedJson, movedBranches } from '../../views/index.ts';
import { readState } from '../choose.ts';
import { withoutOwnSecrets } from '../environment.ts';
import type { Place } from '../place.ts';

/** `state`: of the loop's own session. Whoever was hired for any loop counts: nothing lands on what that left. */
export function movedOf({ mainDir }: Pick<Place, 'mainDir'>, state: State | null): Astray[] {
  const own = state === null ? [] : movedIn(state, false);
  const hired = readLoops(mainDir).flatMap(({ hirings }) => statesOf(mainDir, hirings));
  return [...own, ...hired.flatMap((one) => movedIn(one, true))];
}

/** By agents that were hired for the landings of a loop. */
export function movedByHired({ mainDir }: Pick<Place, 'mainDir'>, loop: Loop): MovedJson[] {
  return statesOf(mainDir, loop.hirings).flatMap((state) =>
    movedBranches(state).map((moved) => ({ ...moved, session_id: state.session!.id })),
  );
}

/**
 * What a person does first where agents moved the branch that is checked out here: git moves no files along with that, so
 * it looks as if a person had changed them. null: none did.
 */
export async function movedHere({ mainDir, project }: Place): Promise<string | null> {
  const { root, gitDir, commonDir } = project;
  if (gitDir === null || commonDir === null) return null;
  const env = withoutOwnSecrets(process.env);
  const { branch } = await readHead({ root, gitDir, commonDir }, env);
  const ref = `refs/heads/${branch}`;
  const tip = branchTips(project)?.[ref];
  for (const loop of branch === null || tip === undefined ? [] : readLoops(mainDir)) {
    const [state = null] = statesOf(mainDir, loop.session === null ? [] : [loop.session]);
    const moved = movedOf({ mainDir }, state).findLast((one) => one.ref === ref && one.to === tip);
    if (moved !== undefined)
      return backWords({ git: openIntegration({ commonDir, cwd: root, env }) }, [moved]);
  }
  return null;
}

function movedIn(state: State, hired: boolean): Astray[] {
  const session = state.session?.id ?? '';
  return [...state.attempts.values()].flatMap(({ movedRefs }) =>
    movedRefs.map((moved) => ({ ...moved, session, hired })),
  );
}

function statesOf(mainDir: string, sessions: readonly string[]): State[] {
  const dirs = sessions.map((session) => join(sessionsFolder(mainDir), session));
  return dirs.flatMap((dir) => {
    if (!existsSync(join(dir, 'journal.jsonl'))) return [];
    try {
      return [readState(dir)];
    } catch (error) {
      // What a damaged one told is lost.
      if (!(error instanceof Problem)) throw error;
      return [];
    }
  });
}
