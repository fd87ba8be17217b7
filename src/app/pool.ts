/** Work trees beside the user's, for agents side by side: where they lie, and how a new one is prepared. */
import { join } from 'node:path';
import { Problem } from '../core/index.ts';
import type { GroundPool } from '../engine/index.ts';
import { type RunOptions, run } from '../process/index.ts';
import { openPool, type RepoGround } from '../repo/index.ts';
import { sha256, stateFolder } from '../store/index.ts';
import { agentEnvironment } from './environment.ts';
import type { OpenRequest } from './open.ts';

/** How long a command that prepares a new work tree may take. */
const SET_UP_MS = 30 * 60_000;

/** What a person allowed their agent in this project, which no commit has. */
const AGENTS_OWN = ['.claude/settings.local.json'];

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
    folder: join(stateFolder(env), 'worktrees', sha256(place.mainDir).slice(0, 16)),
    copy: [...AGENTS_OWN, ...(worktree?.copy ?? [])],
    made: async (cwd) => {
      const lines = worktree?.run ?? [];
      if (lines.length === 0) return;
      const marker = { name: 'RALPH_MARKER', value: `${session.id}-set-up` };
      const given = await agentEnvironment(session.dir, env);
      for (const line of lines) await setUp(line, { cwd, env: given, marker });
    },
  });
}

async function setUp(
  line: string,
  { cwd, env, marker }: Required<Pick<RunOptions, 'cwd' | 'env' | 'marker'>>,
): Promise<void> {
  const result = await run({
    command: { shell: line },
    cwd,
    env,
    marker,
    wallMs: SET_UP_MS,
    idleMs: null,
    keepBytes: 64 * 1024,
  }).done;
  if (result.ending === 'exited' && result.exitCode === 0) return;
  const said = `${result.output.text}\n${result.error ?? ''}`.trim().slice(-600);
  throw new Problem({
    code: 'pool.not_set_up',
    what: `\`${line}\` of worktree.run did not succeed in ${cwd}.`,
    why: said === '' ? `It ended with ${result.exitCode ?? result.ending}.` : said,
    fix: 'Make it succeed in a fresh clone, take it out of worktree.run, or run agents one by one: `ralph run --parallel 1`.',
  });
}
