/** Checks of the place: the folders, the repository and what earlier runs left in it. */
import { existsSync } from 'node:fs';
import { access, constants, mkdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProblemFacts } from '../../core/index.ts';
import { findByMarker } from '../../process/index.ts';
import { hookHealth, missingIdentity, readHead, trySigning, unfinishedOperation } from '../../repo/index.ts';
import { readLock, treeLock } from '../../store/index.ts';
import { knownSessions, readState } from '../choose.ts';
import { knownLoops } from '../known-loops.ts';
import type { Place } from '../place.ts';
import { primaryLock } from '../primary.ts';
import type { Check } from './check.ts';
import type { MachineSubject } from './machine.ts';
import * as problem from './place-problems.ts';

export interface PlaceSubject extends MachineSubject {
  place: Place;
  /** False after `--no-git`. */
  git: boolean;
  /** The engine is to commit. */
  commits: boolean;
  allowDetached: boolean;
  /** A folder that is thrown away. */
  scratch: string;
}

export const PLACE_CHECKS: Check<PlaceSubject>[] = [
  {
    name: 'folders',
    inRun: true,
    async look({ place: { dir, mainDir } }) {
      const failures: ProblemFacts[] = [];
      for (const folder of new Set([dir, mainDir])) {
        try {
          await mkdir(folder, { recursive: true });
          await access(folder, constants.W_OK);
        } catch (error) {
          failures.push(problem.readOnly(folder, error));
        }
      }
      return { what: `${dir} can be written`, failures };
    },
  },
  { name: 'disk', inRun: false, look: lookAtDisk },
  {
    name: 'repository',
    inRun: true,
    async look({ place, git }) {
      if (!git) return null;
      const { gitDir } = place.project;
      if (gitDir === null) return { what: '', failures: [problem.noRepository(place)] };
      const operation = unfinishedOperation(gitDir);
      const failures = operation === null ? [] : [problem.unfinished(operation, place)];
      const lock = join(gitDir, 'index.lock');
      const warnings = existsSync(lock) ? [problem.indexLock(lock)] : [];
      return { what: `a git repository, ${place.project.root}`, failures, warnings };
    },
  },
  {
    name: 'branch',
    inRun: true,
    async look({ place, git, allowDetached, env }) {
      const { root, gitDir, commonDir } = place.project;
      if (!git || gitDir === null || commonDir === null) return null;
      // A rebase detaches HEAD until it is finished, which `repository` tells.
      if (unfinishedOperation(gitDir) !== null) return null;
      const { head, branch } = await readHead({ root, gitDir, commonDir }, env);
      if (branch === null && head !== null && !allowDetached)
        return { what: '', failures: [problem.detached(head)] };
      const state = head === null ? ', no commit yet: the first one will be made by the run' : '';
      return { what: `on ${branch ?? 'a detached HEAD'}${state}` };
    },
  },
  {
    name: 'identity',
    inRun: true,
    async look({ place, git, commits, env }) {
      const { root, commonDir } = place.project;
      if (!git || !commits || commonDir === null) return null;
      const complaint = await missingIdentity({ root, commonDir }, env);
      const failures = complaint === null ? [] : [problem.noIdentity(complaint)];
      return { what: 'git knows who commits', failures };
    },
  },
  { name: 'hooks', inRun: false, look: lookAtHooks },
  {
    name: 'signing',
    inRun: false,
    async look({ place, git, scratch, env }) {
      if (!git || place.project.gitDir === null) return null;
      const signing = await trySigning(place.project.root, scratch, env);
      if (!signing.wanted) return { what: 'commits are not signed here' };
      if (signing.complaint === null) return { what: `a signed commit can be made (${signing.program})` };
      return { what: '', failures: [problem.unsigned(signing.complaint)] };
    },
  },
  { name: 'lock', inRun: false, look: lookAtLock },
  { name: 'loops', inRun: false, look: lookAtLoops },
  { name: 'leftovers', inRun: false, look: lookAtLeftovers },
];

const LOW_BYTES = 1024 ** 3;
const LEAST_BYTES = 64 * 1024 ** 2;

/** Not in a run: one that meets a full disk stops with exit 70 and nothing lost. */
async function lookAtDisk({ place }: PlaceSubject) {
  const { bavail, bsize } = await statfs(place.dir);
  const free = bavail * bsize;
  const what = `${free >= LOW_BYTES ? `${Math.floor(free / LOW_BYTES)} GB` : `${Math.floor(free / 1024 ** 2)} MB`} free`;
  if (free < LEAST_BYTES) return { what, failures: [problem.littleRoom(what)] };
  return { what, warnings: free < LOW_BYTES ? [problem.littleRoom(what)] : [] };
}

async function lookAtHooks({ place, git, env }: PlaceSubject) {
  if (!git || place.project.gitDir === null) return null;
  const { folder, folderMissing, runnable, notExecutable } = await hookHealth(place.project.root, env);
  const warnings = [
    ...(folderMissing ? [problem.noHooksFolder(folder)] : []),
    ...notExecutable.map((name) => problem.deadHook(join(folder, name))),
  ];
  const what =
    runnable.length === 0 ? 'no hook runs at a commit' : `at each commit run ${runnable.join(', ')}`;
  return { what, warnings };
}

/** Whether a run is working in this work tree now; null: none, or one that is gone. */
export async function liveRun({ dir }: Place) {
  const holder = await runnerOf(dir);
  return holder !== null && holder.alive !== false ? holder : null;
}

async function runnerOf(dir: string) {
  return existsSync(join(dir, '.ralph')) ? readLock(treeLock(dir)) : null;
}

async function lookAtLock({ place }: PlaceSubject) {
  const holder = await runnerOf(place.dir);
  if (holder === null) return { what: 'no run is working here' };
  if (holder.alive === true) return { what: '', warnings: [problem.working(holder.pid)] };
  if (holder.alive === null) return { what: '', warnings: [problem.foreignLock(holder)] };
  return { what: '', warnings: [problem.staleLock(holder.pid)] };
}

/** Which loop hears people for all of them; null where none runs. */
async function lookAtLoops({ place: { mainDir } }: PlaceSubject) {
  const running = (await knownLoops(mainDir)).filter(({ live }) => live);
  if (running.length === 0) return null;
  const holder = await readLock(primaryLock(mainDir)).catch(() => null);
  const primary = running.find(({ sessionId }) => sessionId === holder?.sessionId);
  const who = running.map(({ name }) => `@${name}`).join(', ');
  const hears =
    primary === undefined
      ? 'none of them hears people for all at this moment'
      : `@${primary.name} is the primary: it hears people for all of them`;
  return { what: `${who} ${running.length === 1 ? 'runs' : 'run'} now; ${hears}` };
}

/** Sessions that are looked through for what they left, the newest ones. */
const MOST_SESSIONS = 20;

async function lookAtLeftovers({ place }: PlaceSubject) {
  if ((await liveRun(place)) !== null) return null;
  const unfinished = (await knownSessions(place)).filter(
    ({ ending }) => ending.code !== 0 && ending.code !== 9,
  );
  const warnings: ProblemFacts[] = [];
  for (const { id, dir } of unfinished.slice(-MOST_SESSIONS)) {
    const { open, attempts } = readState(dir);
    for (const iteration of open) {
      const marker = attempts.get(iteration)?.marker;
      const rows = marker === undefined ? [] : findByMarker({ name: 'RALPH_MARKER', value: marker });
      if (rows.length > 0)
        warnings.push(
          problem.orphans(
            id,
            rows.map(({ pid }) => pid),
          ),
        );
    }
  }
  for (const name of ['blocked.txt', 'decide.txt'])
    if (existsSync(join(place.dir, 'ralph', name))) warnings.push(problem.openDesk(`ralph/${name}`));
  const what =
    unfinished.length === 0
      ? 'nothing of an earlier run lies here'
      : `session ${unfinished.at(-1)!.id} is unfinished; \`ralph run\` goes on with it`;
  return { what, warnings };
}
