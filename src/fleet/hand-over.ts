/** `land: { command }`: the user's own way to land a branch, in the loop's work tree, with the loop in its variables. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sieveOf } from '../agents/index.ts';
import type { Redactor } from '../core/index.ts';
import { run } from '../process/index.ts';
import { openIntegration } from '../repo/index.ts';
import { readLoops, tellLoop } from '../store/index.ts';
import { type Landing, parked, shortName } from './landing.ts';
import { interrupted } from './merge.ts';

/** A pull request with its checks may be waited for. */
const WALL_MS = 60 * 60_000;
const GRACE_MS = 5_000;

export interface HandOver {
  mainDir: string;
  below: string;
  commonDir: string;
  loop: string;
  command: string;
  /** Stands in the environment of whatever it starts: it may outlive a run that was killed. */
  marker: string;
  env: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** What the command says is told without secrets. */
  redactor: Redactor;
}

/** Exit 0 means that it was handed over; whether it has landed is then for that command to see to. */
export async function handOver(request: HandOver): Promise<Landing> {
  const { mainDir, below, commonDir, command, env, signal } = request;
  const loop = readLoops(mainDir).find(({ id }) => id === request.loop);
  if (loop === undefined) throw new Error(`there is no loop ${request.loop} in ${mainDir}`);
  const git = openIntegration({ commonDir, cwd: loop.worktree, env });
  const [branch, onto] = [shortName(loop.branch), shortName(loop.onto)];
  const head = (await git.tip(loop.branch)) ?? loop.head ?? loop.base;
  const folder = join(loop.worktree, below);
  const again = `\`ralph run\` in ${loop.worktree}`;
  // An aborted signal tells nobody any more.
  if (signal?.aborted) return interrupted(again);
  const child = run({
    command: { shell: command },
    cwd: existsSync(folder) ? folder : loop.worktree,
    env: { ...env, RALPH_BRANCH: branch, RALPH_ONTO: onto, RALPH_LOOP: loop.id, RALPH_HEAD: head },
    wallMs: WALL_MS,
    idleMs: null,
    marker: { name: 'RALPH_MARKER', value: request.marker },
    keptThrough: sieveOf(request.redactor),
  });
  const stop = () => void child.stop(GRACE_MS);
  signal?.addEventListener('abort', stop, { once: true });
  const result = await child.done;
  signal?.removeEventListener('abort', stop);
  const told = { loop: loop.id };
  if (result.ending === 'exited' && result.exitCode === 0) {
    await tellLoop(mainDir, Date.now(), { type: 'loop.handed_over', ...told, head });
    return { kind: 'handed_over' };
  }
  // Ended by us: what it says of that is no refusal.
  if (signal?.aborted) return interrupted(again);
  const said = `${result.output.text}\n${request.redactor.text(result.error ?? '')}`
    .trim()
    .split('\n')
    .slice(-5)
    .join('\n');
  const how = result.ending === 'exited' ? `ended with ${result.exitCode}` : 'did not end by itself';
  const landing = parked(
    `\`${command}\` of land.command ${how}${said === '' ? '' : `: ${said}`}`,
    `Repair what it says; ${again} calls it again, and \`ralph loops merge ${loop.id}\` lands the branch here.`,
  );
  const { why, files, next } = landing as Extract<Landing, { kind: 'parked' }>;
  await tellLoop(mainDir, Date.now(), { type: 'loop.parked', ...told, why, files, next });
  return landing;
}
