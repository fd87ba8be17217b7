/**
 * The five-role session as a whole: a planner that cuts an objective into hundreds of tasks in many layers, an
 * executor and a reviewer for each of them, all done the moment they start. What a call costs beside its agent is
 * held against the bare git commands of one snapshot, in a session whose agents run one by one; landings are
 * counted apart. Beside it, what calls cost whose agents run side by side, each in a work tree of its own.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { type Opened, openPlaceGround, openSession } from '../src/app/open.ts';
import { findPlace } from '../src/app/place.ts';
import { decide, TEAMS } from '../src/core/index.ts';
import { type Agent, type AgentCall, append, turn } from '../src/engine/index.ts';
import { createSession } from '../src/store/index.ts';
import { PLAN, taskFile } from '../test/e2e/five-roles.ts';
import { beginning, benchPolicy, goodReport, NO_CAPABILITIES } from './journal.ts';
import { resumed } from './law.ts';
import { bareGit, commandOf, countingGit } from './loop.ts';
import { cpuMs, type Missing, medianCostMs, type Row, type Scale } from './measure.ts';
import { makeRepository } from './repository.ts';
import { node, PROGRAM } from './start.ts';

interface Size {
  files: number;
  tasks: number;
  layers: number;
  /** How many agents run at a time; absent: one. */
  wide?: number;
}

const WIDE = 3;

/** A call is some turns; many more mean that it never ends. */
const TURNS_MOST = 100;
/** Bare git runs beside every so many calls. */
const BARE_EVERY = 4;

export async function fullRows({ quick }: Scale): Promise<(Row | Missing)[]> {
  const size = quick ? { files: 300, tasks: 6, layers: 3 } : { files: 10_000, tasks: 300, layers: 40 };
  const root = makeRepository(size.files);
  try {
    const session = await openFull(root, size);
    const rows = await callRows(root, session, size);
    await session.opened.close();
    return [
      ...rows,
      ...(await resumeRows(root, session.dir, size)),
      ...(await processRows()),
      ...(await besideRows(quick)),
    ];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Plays the session to its end, and bare git beside it. */
async function callRows(root: string, session: FullSession, size: Size): Promise<Row[]> {
  const bare = await bareGit(root);
  const { house } = session.opened;
  const bareOnce = async () => {
    const before = cpuMs();
    await bare();
    return cpuMs() - before;
  };
  await bareOnce();
  let [ours, landing, theirs, rounds] = [0, 0, 0, 0];
  for (;;) {
    const { over, callMs, landMs } = await session.call();
    ours += callMs;
    landing += landMs;
    if (over) break;
    if (house.state.lastIteration % BARE_EVERY !== 0) continue;
    theirs += await bareOnce();
    rounds += 1;
  }
  const calls = house.state.lastIteration;
  const landed = [...house.state.tasks.values()].filter((task) => task.commit !== null).length;
  const many = `${size.tasks} tasks in ${size.layers} layers, ${size.files.toLocaleString('en-US')} files`;
  return [
    {
      name: `a call one by one against bare git, ${size.files.toLocaleString('en-US')} files`,
      value: ours / calls / (theirs / rounds),
      unit: 'x',
      most: 1.3,
      note: `${many}: ${calls} calls, ${(ours / calls).toFixed(1)} ms each against ${(theirs / rounds).toFixed(1)} ms`,
    },
    {
      name: 'the landing of a task, apart',
      value: landing / landed,
      unit: 'ms',
      note: `${landed} landings`,
    },
  ];
}

/** What starting again on that session costs. */
async function resumeRows(root: string, dir: string, { tasks }: Size): Promise<(Row | Missing)[]> {
  const file = join(dir, 'journal.jsonl');
  const scratch = mkdtempSync(join(tmpdir(), 'ralph-bench-resume-'));
  const resume: Row = {
    name: `resume of a session of ${tasks} tasks`,
    value: await medianCostMs(3, () => resumed(scratch, file)),
    unit: 'ms',
    most: 1_000,
    note: 'lock, read and check the chain, fold, decide',
  };
  rmSync(scratch, { recursive: true, force: true });
  const name = `cold ralph status of it`;
  if (!existsSync(PROGRAM)) return [resume, { name, missing: 'dist/ralph.js is not built' }];
  const cold = () => {
    rmSync(join(dir, 'fold.cache'), { force: true });
    node({ args: [PROGRAM, 'status'], cwd: root });
  };
  return [
    resume,
    { name, value: await medianCostMs(3, cold), unit: 'ms', most: 1_000, note: 'its kept fold removed' },
  ];
}

/** How many git processes a call and a landing start, on a session of its own. */
async function processRows(): Promise<Row[]> {
  const size = { files: 300, tasks: 6, layers: 3 };
  const root = makeRepository(size.files);
  const shim = mkdtempSync(join(tmpdir(), 'ralph-bench-shim-'));
  const path = process.env.PATH ?? '';
  try {
    const read = countingGit(shim);
    process.env.PATH = `${shim}${delimiter}${path}`;
    const session = await openFull(root, size, read);
    for (let over = false; !over; ) ({ over } = await session.call());
    await session.opened.close();
    const { calls, landings } = session.counted;
    const words = (all: string[][]) => (all.at(-1) ?? []).map(commandOf).join(', ');
    return [
      {
        name: 'git processes a call',
        value: each(calls),
        unit: '',
        most: 3,
        note: words(calls.slice(0, -2)),
      },
      { name: 'git processes a landing', value: each(landings), unit: '', most: 6, note: words(landings) },
    ];
  } finally {
    process.env.PATH = path;
    rmSync(root, { recursive: true, force: true });
    rmSync(shim, { recursive: true, force: true });
  }
}

const each = (all: string[][]) => all.reduce((sum, one) => sum + one.length, 0) / all.length;

/** The same with agents side by side, in a session of its own, its git processes counted. */
async function besideRows(quick: boolean): Promise<Row[]> {
  const size: Size = quick
    ? { files: 300, tasks: 6, layers: 2, wide: WIDE }
    : { files: 10_000, tasks: 60, layers: 8, wide: WIDE };
  const root = makeRepository(size.files);
  const shim = mkdtempSync(join(tmpdir(), 'ralph-bench-shim-'));
  const path = process.env.PATH ?? '';
  try {
    const read = countingGit(shim);
    process.env.PATH = `${shim}${delimiter}${path}`;
    const session = await openFull(root, size, read);
    let [ours, landing] = [0, 0];
    for (let over = false; !over; ) {
      const one = await session.call();
      over = one.over;
      ours += one.callMs;
      landing += one.landMs;
    }
    const calls = session.opened.house.state.lastIteration;
    await session.opened.close();
    const { landings } = session.counted;
    const processes = session.counted.calls.flat();
    const most = [...new Set(processes.map(commandOf))]
      .map((word) => ({ word, each: processes.filter((one) => commandOf(one) === word).length / calls }))
      .sort((a, b) => b.each - a.each)
      .slice(0, 6)
      .map((one) => `${one.word} ${one.each.toFixed(1)}`);
    return [
      {
        name: `a call ${WIDE} side by side, ${size.files.toLocaleString('en-US')} files`,
        value: ours / calls,
        unit: 'ms',
        note: `${size.tasks} tasks, ${calls} calls; their landings ${(landing / landings.length).toFixed(1)} ms each; the counting of git included`,
      },
      {
        name: `git processes a call ${WIDE} side by side`,
        value: processes.length / calls,
        unit: '',
        note: most.join(', '),
      },
      {
        name: `git processes a landing ${WIDE} side by side`,
        value: each(landings),
        unit: '',
        most: 6,
        note: (landings.at(-1) ?? []).map(commandOf).join(', '),
      },
    ];
  } finally {
    process.env.PATH = path;
    rmSync(root, { recursive: true, force: true });
    rmSync(shim, { recursive: true, force: true });
  }
}

interface FullSession {
  opened: Opened;
  dir: string;
  /** One whole call: from the opening of its wave to the close. */
  call(): Promise<{ over: boolean; callMs: number; landMs: number }>;
  /** Git's calls, by call and by landing; empty where nobody counts. */
  counted: { calls: string[][]; landings: string[][] };
}

async function openFull(root: string, size: Size, gitCalls = (): string[] => []): Promise<FullSession> {
  let agentMs = 0;
  const wide = size.wide ?? 1;
  const place = await findPlace(root);
  const session = await createSession({ mainRoot: place.mainDir, now: Date.now(), timezone: 'UTC' });
  const ground = await openPlaceGround(place, session, { excluded: [], useGit: true });
  const opened = await openSession({
    place,
    session,
    timezone: 'UTC',
    list: null,
    ground: () => Promise.resolve(ground),
    agent: () => crew({ dir: session.dir, size, spent: (ms) => (agentMs += ms) }),
    audience: { record: () => undefined, event: () => undefined, say: () => undefined },
    env: process.env,
    force: false,
  });
  const { house } = opened;
  const base = benchPolicy();
  const policy = benchPolicy({
    team: 'full',
    modes: [...TEAMS.full!],
    commit: 'auto',
    parallel: { executors: wide, reviewers: wide, questioners: wide },
    limits: { ...base.limits, maxCycles: 0 },
  });
  await append(house, beginning([], policy).slice(0, 2));
  const counted: FullSession['counted'] = { calls: [], landings: [] };
  const call = async () => {
    const before = house.state.lastIteration;
    let [callMs, landMs] = [0, 0];
    const calls: string[] = [];
    for (let turns = 0; turns < TURNS_MOST; turns++) {
      const next = decide(house.state, { now: Date.now(), live: new Set() });
      const [from, heard] = [cpuMs(), gitCalls().length];
      agentMs = 0;
      const { exit } = await turn(house);
      // What the scripted agents do themselves is not ours.
      const spent = cpuMs() - from - agentMs;
      const git = gitCalls().slice(heard);
      if (next.do === 'land') {
        landMs += spent;
        counted.landings.push(git);
      } else {
        callMs += spent;
        calls.push(...git);
      }
      if (exit && exit.code !== 0) throw new Error(`the bench's session stopped: ${exit.reason}`);
      if (exit) return { over: true, callMs, landMs };
      if (house.state.lastIteration > before && house.state.wave === null) break;
    }
    counted.calls.push(calls);
    return { over: false, callMs, landMs };
  };
  return { opened, dir: session.dir, call, counted };
}

interface Crew {
  dir: string;
  size: Size;
  /** CPU ms of what an agent did itself. */
  spent(ms: number): void;
}

/** Everybody has done the job the moment they start. */
function crew(at: Crew): Agent {
  return {
    name: 'instant',
    capabilities: NO_CAPABILITIES,
    billIn: async () => null,
    check: async () => [],
    async start(call) {
      await call.spawned(0, '');
      const from = process.cpuUsage();
      const result = played(call, at);
      const { user, system } = process.cpuUsage(from);
      at.spent((user + system) / 1000);
      const report = goodReport(
        `Done.\n\n\`\`\`json\n${JSON.stringify({ status: 'completed', mode: call.env.RALPH_MODE, ...result })}\n\`\`\`\n`,
      );
      return { done: Promise.resolve(report), stop: async () => undefined };
    },
  };
}

function played({ env, marker, cwd }: AgentCall, { dir, size }: Crew): Record<string, unknown> {
  const write = (path: string, text: string) => {
    const file = join(dir, 'iterations/1', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  switch (env.RALPH_MODE) {
    case 'INITIALIZE':
      write('plan.md', PLAN);
      return {};
    case 'TASK_BREAKDOWN':
      for (const { id, dependsOn } of graph(size))
        write(`tasks/${id}.md`, taskFile(id, `${id}.txt`, dependsOn));
      return { tasks_defined: size.tasks };
    case 'implement':
      writeFileSync(join(cwd, 'src', `${env.RALPH_TASK_ID}.txt`), `${marker}\n`);
      return { files_modified: [`src/${env.RALPH_TASK_ID}.txt`] };
    case 'TASK_REVIEW':
      return {
        verdict: 'Qualified',
        criteria_results: [{ criterion: `${env.RALPH_TASK_ID}.txt exists`, met: true, note: 'ls shows it' }],
      };
    case 'SESSION_REVIEW':
      write('review.md', '# Session Review\n\n## Assessment\nComplete\n\n## Gaps\n- None\n');
      return { assessment: 'Complete' };
    default:
      return {};
  }
}

/** Each task waits for two of the layer before. */
function graph({ tasks, layers }: Size): { id: string; dependsOn: string[] }[] {
  const layerOf = (at: number) => Math.floor((at * layers) / tasks);
  const ids = Array.from({ length: tasks }, (_, at) => `task-${at + 1}`);
  return ids.map((id, at) => {
    const before = ids.filter((_, other) => layerOf(other) === layerOf(at) - 1);
    return {
      id,
      dependsOn: [...new Set([before[at % (before.length || 1)], before[0]])].filter(
        (one) => one !== undefined,
      ),
    };
  });
}
