/** `ralph loops`: every loop of the project, the main checkout's own first. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { branchesAt, isTreeOf, readHead } from '../../repo/index.ts';
import { type Loop, readLock, readLoops, sessionsFolder } from '../../store/index.ts';
import { type LiveInfo, type LoopJson, loopJson, loopsText } from '../../views/index.ts';
import { sessionsHere } from '../choose.ts';
import { withoutOwnSecrets } from '../environment.ts';
import { MAIN_LOOP } from '../loop-name.ts';
import { findPlace, type Place } from '../place.ts';
import { primaryLock } from '../primary.ts';
import { foldOf, liveOf } from '../windows.ts';
import { besideOf, loopBranch, mainPlace, shortRef } from './beside.ts';

export async function listLoops(cwd: string): Promise<{ data: LoopJson[]; text: string }> {
  const data = await loopRows(await mainPlace(await findPlace(cwd)));
  return { data, text: loopsText(data, Date.now()) };
}

/** Those whose work tree is there, or ought to be. */
export async function loopRows(main: Place): Promise<LoopJson[]> {
  const holder = await readLock(primaryLock(main.mainDir)).catch(() => null);
  const primary = holder === null || holder.alive === false ? null : holder.sessionId;
  const loops = readLoops(main.mainDir).filter(({ standing }) => standing !== 'removed');
  const refs = loops.length === 0 ? new Map() : await branchesAt(besideOf(main), loopBranch('').slice(0, -1));
  const rows = await Promise.all(
    loops.map(async (loop) => {
      const { state, live } = await sessionOf(main, loop.session);
      const damage = damageOf(main, loop, refs.has(loop.branch));
      const facts = { ...loop, branch: shortRef(loop.branch), damage };
      return loopJson({ loop: facts, state, live, primary: primary !== null && primary === loop.session });
    }),
  );
  const own = await mainRow(main, primary);
  return own === null ? rows : [own, ...rows];
}

/** null: nothing was ever run in the main checkout itself. */
async function mainRow(main: Place, primary: string | null): Promise<LoopJson | null> {
  const session = (await sessionsHere(main)).at(-1)?.id ?? null;
  if (session === null) return null;
  const { root, gitDir, commonDir } = main.project;
  const folders = gitDir === null || commonDir === null ? null : { root, gitDir, commonDir };
  const branch = folders === null ? null : (await readHead(folders, withoutOwnSecrets(process.env))).branch;
  const where = { id: MAIN_LOOP, session, branch, worktree: root, parked: null, damage: null };
  const loop = { ...where, standing: 'open' as const };
  return loopJson({ loop, ...(await sessionOf(main, session)), primary: primary === session });
}

async function sessionOf(main: Place, id: string | null) {
  const dir = id === null ? null : join(sessionsFolder(main.mainDir), id);
  const none: LiveInfo = { runner: null };
  if (dir === null || !existsSync(join(dir, 'journal.jsonl'))) return { state: null, live: none };
  return { state: foldOf(dir), live: await liveOf(dir) };
}

function damageOf(main: Place, loop: Loop, hasBranch: boolean): string | null {
  if (!hasBranch) return 'its branch is gone';
  return isTreeOf(main.project, loop.worktree) ? null : 'its work tree is gone';
}
