/**
 * What one iteration costs beside the agent: the real session with its real repository, journal,
 * mailbox, task file and mirrors, and an agent that has done its work the moment it starts. Beside it,
 * in turns, the bare git commands of one snapshot and one diff of the same tree.
 */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Opened, openPlaceGround, openSession } from '../src/app/open.ts';
import { findPlace } from '../src/app/place.ts';
import type { Policy } from '../src/core/index.ts';
import { type Agent, append, turn } from '../src/engine/index.ts';
import { findProgram } from '../src/process/index.ts';
import { createSession, openTaskList } from '../src/store/index.ts';
import { beginning, benchPolicy, goodReport, manyTasks, NO_CAPABILITIES } from './journal.ts';
import { inTurns, type Row, type Scale } from './measure.ts';
import { makeRepository } from './repository.ts';

const LIST = 'ralph/tasks.json';
const WARM_UP = 3;
/** An iteration is a dozen turns; many more mean that it never ends. */
const TURNS_MOST = 100;

export async function loopRows({ quick }: Scale): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [files, iterations] of quick
    ? [[300, 2]]
    : [
        [10_000, 40],
        [100_000, 15],
      ]) {
    const root = makeRepository(files!);
    try {
      rows.push(...(await overheadRows(root, files!, iterations!)));
      if (files! <= 10_000) rows.push(...(await processRows(root)));
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }
  return rows;
}

async function overheadRows(root: string, files: number, iterations: number): Promise<Row[]> {
  const bare = await bareGit(root);
  const run = await openRun(root, { commit: 'none', iterations: iterations + WARM_UP });
  try {
    for (let i = 0; i < WARM_UP; i++) {
      await run.iterate();
      await bare();
    }
    const [ours, theirs] = await inTurns(iterations, run.iterate, bare);
    const many = files.toLocaleString('en-US');
    const each = ours / iterations;
    return [
      {
        name: `loop overhead per iteration, ${many} files`,
        value: each,
        unit: 'ms',
        // The promise in milliseconds is made for 10,000 files; above that the ratio holds.
        ...(files <= 10_000 ? { most: 120 } : {}),
      },
      {
        name: `the same against bare git, ${many} files`,
        value: ours / theirs,
        unit: 'x',
        most: 1.3,
        note: `bare snapshot and diff: ${(theirs / iterations).toFixed(1)} ms`,
      },
    ];
  } finally {
    await run.opened.close();
  }
}

/** `git add -A`, `write-tree` and `diff-tree`, on an index of its own that stays warm. */
export async function bareGit(root: string): Promise<() => Promise<void>> {
  const index = join(root, '.git', 'bench-index');
  copyFileSync(join(root, '.git', 'index'), index);
  const env = { ...process.env, GIT_INDEX_FILE: index } as Record<string, string>;
  const git = (...args: string[]) => output({ args, cwd: root, env });
  let last = (await git('write-tree')).trim();
  return async () => {
    await git('add', '-A');
    const tree = (await git('write-tree')).trim();
    await git('diff-tree', '-r', '-z', '--raw', last, tree);
    last = tree;
  };
}

function output(call: { args: string[]; cwd: string; env: Record<string, string> }): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', call.args, {
      cwd: call.cwd,
      env: call.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.resume();
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString('latin1'));
      else reject(new Error(`git ${call.args[0]} ended with ${code}`));
    });
  });
}

/** How many git processes an iteration starts, counted by a program named git in front of git. */
async function processRows(root: string): Promise<Row[]> {
  const shim = mkdtempSync(join(tmpdir(), 'ralph-bench-shim-'));
  const path = process.env.PATH ?? '';
  try {
    const calls = countingGit(shim);
    process.env.PATH = `${shim}${delimiter}${path}`;
    return [
      { name: 'git processes an iteration', ...(await counted(root, 'none', calls)), unit: '', most: 3 },
      {
        name: 'git processes an iteration with a commit of ours',
        ...(await counted(root, 'engine', calls)),
        unit: '',
        most: 6,
      },
    ];
  } finally {
    process.env.PATH = path;
    rmSync(shim, { recursive: true, force: true });
  }
}

/** Puts the shim there; answers a reader of the calls so far. */
export function countingGit(folder: string): () => string[] {
  const real = findProgram('git', process.env);
  if (real === null) throw new Error('git is not in PATH');
  const log = join(folder, 'calls');
  writeFileSync(log, '');
  const file = join(folder, 'git');
  writeFileSync(file, `#!/bin/sh\necho "$*" >>"${log}"\nexec "${real}" "$@"\n`);
  chmodSync(file, 0o755);
  return () => readFileSync(log, 'utf8').split('\n').filter(Boolean);
}

const COUNTED = 4;

async function counted(
  root: string,
  commit: Policy['commit'],
  calls: () => string[],
): Promise<{ value: number; note: string }> {
  const run = await openRun(root, { commit, iterations: COUNTED + WARM_UP });
  try {
    for (let i = 0; i < WARM_UP; i++) await run.iterate();
    const before = calls().length;
    for (let i = 0; i < COUNTED; i++) await run.iterate();
    const all = calls().slice(before);
    const words = all.slice(-Math.round(all.length / COUNTED)).map(commandOf);
    return { value: all.length / COUNTED, note: words.join(', ') };
  } finally {
    await run.opened.close();
  }
}

/** The subcommand of a git call, past its options. */
export function commandOf(line: string): string {
  return line.replace(/^(-c \S+ |--?[\w-]+(=\S*)? )*/, '').split(' ')[0]!;
}

interface BenchRun {
  opened: Opened;
  /** One whole iteration: from the opening of its wave to the close. */
  iterate(): Promise<void>;
}

export async function openRun(
  root: string,
  { commit, iterations }: { commit: Policy['commit']; iterations: number },
): Promise<BenchRun> {
  mkdirSync(join(root, 'ralph'), { recursive: true });
  writeFileSync(join(root, LIST), listText(iterations));
  const place = await findPlace(root);
  const session = await createSession({ mainRoot: place.mainDir, now: Date.now(), timezone: 'UTC' });
  const list = await openTaskList({ projectDir: place.dir, groundRoot: root, path: LIST });
  const ground = await openPlaceGround(place, session, { excluded: [LIST], useGit: true });
  const opened = await openSession({
    place,
    session,
    timezone: 'UTC',
    list,
    ground: () => Promise.resolve(ground),
    agent: () => instantAgent(root),
    audience: { record: () => undefined, event: () => undefined, say: () => undefined },
    env: process.env,
    force: false,
  });
  const { house } = opened;
  await append(house, beginning([], benchPolicy({ commit })).slice(0, 2));
  const iterate = async () => {
    const before = house.state.lastIteration;
    for (let turns = 0; turns < TURNS_MOST; turns++) {
      const { exit } = await turn(house);
      if (exit) throw new Error(`the bench's session stopped: ${exit.reason}`);
      if (house.state.lastIteration > before && house.state.wave === null) return;
    }
    throw new Error(`no iteration in ${TURNS_MOST} turns`);
  };
  return { opened, iterate };
}

/** One task more than iterations, so that the session never ends. */
function listText(iterations: number): string {
  const userStories = manyTasks(iterations + 1).map(({ id, title, acceptance }) => {
    return { id, title, acceptanceCriteria: acceptance, passes: false };
  });
  return `${JSON.stringify({ project: 'Bench', userStories }, null, 2)}\n`;
}

/** Writes one file and says that it is done. */
function instantAgent(root: string): Agent {
  return {
    name: 'instant',
    capabilities: NO_CAPABILITIES,
    billIn: async () => null,
    check: async () => [],
    async start(call) {
      await call.spawned(0, '');
      writeFileSync(join(root, 'src', `${call.env.RALPH_TASK_ID}.txt`), `${call.marker}\n`);
      const report = goodReport('Wrote the file.\n\n<promise>COMPLETE</promise>');
      return { done: Promise.resolve(report), stop: async () => undefined };
    },
  };
}
