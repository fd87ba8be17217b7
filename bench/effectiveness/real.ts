/**
 * One simulated evening on real parts: a real repository, journal, mailbox, task file and gate processes. Only the
 * agent is simulated, and with it the time it takes: an attempt that would outlast its allowance ends as timed out
 * without anybody waiting for it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPlaceGround, openSession } from '../../src/app/open.ts';
import { findPlace } from '../../src/app/place.ts';
import type { AgentReport } from '../../src/core/index.ts';
import { type Agent, append, loop } from '../../src/engine/index.ts';
import { createSession, openTaskList } from '../../src/store/index.ts';
import { beginning, goodReport, NO_CAPABILITIES } from '../journal.ts';
import { type Arm, policyFor } from './arms.ts';
import { act, FINISHED, isWarned, type Mix, saidDone, TASKS, UNFINISHED } from './mix.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

const LIST = 'ralph/tasks.json';

export interface RealRun {
  arm: Arm;
  seed: number;
  mix: Mix;
  iterations?: number;
}

export async function playReal({ arm, seed, mix, ...options }: RealRun): Promise<Outcome> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-effect-')));
  try {
    makeProject(root);
    const place = await findPlace(root);
    const session = await createSession({ mainRoot: root, now: Date.now(), timezone: 'UTC' });
    const list = await openTaskList({ projectDir: root, groundRoot: root, path: LIST });
    const ground = await openPlaceGround(place, session, { excluded: [LIST], useGit: true });
    const opened = await openSession({
      place,
      session,
      timezone: 'UTC',
      list,
      ground: () => Promise.resolve(ground),
      agent: () => simulated(root, { seed, mix }),
      audience: { record: () => undefined, event: () => undefined, say: () => undefined },
      env: process.env,
      force: false,
    });
    try {
      await append(opened.house, beginning([], await policyFor(arm, options)).slice(0, 2));
      await loop(opened.house);
      return outcomeOf(opened.house.state, (path) => existsSync(join(root, path)));
    } finally {
      await opened.close();
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function makeProject(root: string): void {
  mkdirSync(join(root, 'ralph'));
  mkdirSync(join(root, 'work'));
  writeFileSync(join(root, 'README.md'), 'A product that is being built.\n');
  const userStories = TASKS.map(({ id, title }) => ({
    id,
    title,
    acceptanceCriteria: ['It works'],
    passes: false,
  }));
  writeFileSync(join(root, LIST), `${JSON.stringify({ project: 'Simulated', userStories }, null, 2)}\n`);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Bench');
  git('config', 'user.email', 'bench@example.com');
  git('add', '-A');
  git('commit', '-q', '-m', 'start');
}

function simulated(root: string, { seed, mix }: { seed: number; mix: Mix }): Agent {
  return {
    name: 'simulated',
    capabilities: NO_CAPABILITIES,
    billIn: async () => null,
    check: async () => [],
    async start(call) {
      await call.spawned(0, '');
      const task = call.env.RALPH_TASK_ID ?? '';
      const attempt = Number(call.env.RALPH_ATTEMPT);
      const allowanceS = call.allowance.wallMs / 1000;
      const { kind } = act({ seed, mix, task, attempt, allowanceS, warned: isWarned(call.prompt) });
      return { done: Promise.resolve(carryOut(root, { kind, task, attempt })), stop: async () => undefined };
    },
  };
}

function carryOut(
  root: string,
  { kind, task, attempt }: { kind: ReturnType<typeof act>['kind']; task: string; attempt: number },
): AgentReport {
  if (kind === 'times out') {
    writeFileSync(join(root, UNFINISHED(task)), `attempt ${attempt}\n`);
    const report = { ...goodReport('Still at it.'), toolFiles: [UNFINISHED(task)] };
    return { ...report, ending: 'timed_out', timeout: 'wall', exitCode: null };
  }
  if (kind === 'works') {
    rmSync(join(root, UNFINISHED(task)), { force: true });
    writeFileSync(join(root, FINISHED(task)), `done in attempt ${attempt}\n`);
    return { ...goodReport(saidDone(task)), toolFiles: [FINISHED(task)] };
  }
  return goodReport(saidDone(task));
}
