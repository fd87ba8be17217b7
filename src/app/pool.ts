/** Work trees beside the user's, for agents side by side: where they lie, and how a new one is prepared. */
import { join } from 'node:path';
import { sieveOf } from '../agents/index.ts';
import { Problem } from '../core/index.ts';
import type { GroundPool } from '../engine/index.ts';
import { type RunOptions, run } from '../process/index.ts';
import { openPool, type RepoGround } from '../repo/index.ts';
import { sha256, stateFolder } from '../store/index.ts';
import { agentEnvironment } from './environment.ts';
import type { OpenRequest } from './open.ts';
import { redactorHere } from './secrets.ts';

/** How long a command that prepares a new work tree may take. */
const SET_UP_MS = 30 * 60_000;

/** What a person allowed their agent in this project, which no commit has. */
export const AGENTS_OWN = ['.claude/settings.local.json'];

/**
 * Work trees for agents side by side lie outside the project: a gate that looks for tests or texts below the
 * project's folder finds none of theirs.
 */
export function poolOf(
  { place, session, worktree, env }: Pick<OpenRequest, 'place' | 'session' | 'worktree' | 'env'>,
  ground: RepoGround,
): GroundPool | null {
  return openPool({
    ground,
    folder: treesFolder(place.mainDir, env),
    copy: [...AGENTS_OWN, ...(worktree?.copy ?? [])],
    made: (cwd) =>
      setUp(worktree?.run ?? [], {
        cwd,
        env,
        id: session.id,
        dir: session.dir,
        without: 'run agents one by one: `ralph run --parallel 1`',
      }),
  });
}

/** Where our work trees of this project lie. */
export function treesFolder(mainDir: string, env: NodeJS.ProcessEnv): string {
  return join(stateFolder(env), 'worktrees', sha256(mainDir).slice(0, 16));
}

export interface SetUp {
  /** The project's folder in the new work tree. */
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Names what it is for; its processes carry it. */
  id: string;
  /** A folder of ours for the launcher of this program. */
  dir: string;
  /** How a person works without a work tree beside theirs. */
  without: string;
}

/** Runs `worktree.run` in a new work tree; a line that does not succeed is a Problem. */
export async function setUp(lines: readonly string[], { cwd, env, id, dir, without }: SetUp): Promise<void> {
  if (lines.length === 0) return;
  const marker = { name: 'RALPH_MARKER', value: `${id}-set-up` };
  const given = await agentEnvironment(dir, env);
  for (const line of lines) await runLine(line, { cwd, env: given, marker, without });
}

async function runLine(
  line: string,
  {
    cwd,
    env,
    marker,
    without,
  }: Required<Pick<RunOptions, 'cwd' | 'env' | 'marker'>> & Pick<SetUp, 'without'>,
): Promise<void> {
  const result = await run({
    command: { shell: line },
    cwd,
    env,
    marker,
    wallMs: SET_UP_MS,
    idleMs: null,
    keepBytes: 64 * 1024,
    keptThrough: sieveOf(redactorHere()),
  }).done;
  if (result.ending === 'exited' && result.exitCode === 0) return;
  const said = `${result.output.text}\n${redactorHere().text(result.error ?? '')}`.trim().slice(-600);
  throw new Problem({
    code: 'pool.not_set_up',
    what: `\`${line}\` of worktree.run did not succeed in ${cwd}.`,
    why: said === '' ? `It ended with ${result.exitCode ?? result.ending}.` : said,
    fix: `Make it succeed in a fresh clone, take it out of worktree.run, or ${without}.`,
  });
}
