/**
 * A world small enough to hold in memory: files, commits, a mailbox, a desk, agents that do what a
 * script says. It implements the engine's ports, so that the real engine plays whole stories in
 * milliseconds and every record can be the last one before a crash.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  AgentError,
  Change,
  Exit,
  Fact,
  GateDef,
  JournalRecord,
  LandingFact,
  Message,
  Policy,
  TaskDef,
  Usage,
} from '../../src/core/index.ts';
import { redactorOf } from '../../src/core/index.ts';
import { policyOf } from '../../src/core/test-facts.ts';
import {
  type Agent,
  append,
  type DeskNews,
  fileReview,
  type Ground,
  type House,
  type Incoming,
  openHouse,
  type Ports,
  type ProgressEdit,
  turn,
} from '../../src/engine/index.ts';
import { fold } from '../../src/views/index.ts';
import { cycleFiles } from './cycle-files.ts';

export type Files = Record<string, string>;

/** What one agent run does; `then` is its end. */
export interface Doing {
  write?: Files;
  remove?: string[];
  /** Works of the session, by path below the cycle's folder. */
  session?: Files;
  /** Commits everything, as an agent would. */
  commit?: boolean;
  /** Replaces HEAD by a commit of everything, as `git commit --amend` does. */
  amend?: boolean;
  say?: string;
  emit?: { topic: string; payload: unknown }[];
  /** The agent's own edit of the task list. */
  list?: (tasks: TaskDef[]) => TaskDef[];
  die?: Partial<AgentError> | true;
  timeOut?: boolean;
  /** Works on until it is stopped. */
  waitForStop?: boolean;
  exitCode?: number;
  toolCalls?: number | null;
  costUsd?: number;
  /** Runs in the middle of the attempt, e.g. to drop a message. */
  during?: (world: World) => void | Promise<void>;
  tookMs?: number;
  denied?: string;
  leftBehind?: string[];
}

export interface Seen {
  task: string;
  mode: string;
  role: string;
  /** The name of the agent that was started. */
  agent: string;
  /** What a questioner's call is about. */
  category: string;
  attempt: number;
  iteration: number;
  prompt: string;
  files: Files;
}

export type Play = (seen: Seen, world: World) => Doing;

interface Commit {
  id: string;
  files: Files;
  parent: string | null;
  message: string;
}

/** Everything outside the journal that survives a crash. */
export interface Outside {
  files: Files;
  /** Work trees beside the user's, by name. */
  beside: Record<string, Files>;
  commits: Commit[];
  head: string | null;
  list: TaskDef[] | null;
  reviewed: boolean;
  inbox: { name: string; message: Message }[];
  processed: { name: string; action: string }[];
  rejected: { name: string; reason: string }[];
  desk: DeskNews[];
  shown: string[];
  feedback: { id: string; text: string }[];
  /** What somebody did to progress.md. */
  progress: ProgressEdit | null;
  /** What other sessions have spent, by when. */
  othersSpent: { at: number; usd: number }[];
  /** The loop's work has reached the branch it is for. */
  landed: boolean;
  /** What is left of the machine. */
  freeMb: { disk: number; memory: number };
  /** What the logs of iterations tell of their bills, to whoever reads them later. */
  printedBills: Record<number, Usage>;
  works: Record<string, string>;
  /** The session's works by path. */
  session: Files;
  outboxes: Record<number, string>;
  /** Commits kept by name because history no longer reaches them. */
  kept: string[];
  now: number;
}

export interface World {
  outside: Outside;
  records: JournalRecord[];
  /** A copy of the outside as it was when each record was written; none where the world forgets. */
  moments: Outside[];
  forgets: boolean;
  prompts: string[];
  play: Play;
  gate: (def: GateDef, files: Files) => { code: number; output: string; failures?: string[] };
  commitFails: (task: string) => string | null;
  /** What comes of a landing, where the work tree is a loop's. */
  lands: ((world: World, signal: AbortSignal) => Promise<LandingFact>) | null;
  house: House;
  /** Run tokens by iteration, so that a test can write what an agent would have written. */
  tokens: Map<number, string>;
  /** Another runner took over: every further append is refused. */
  fenced: boolean;
  scratch: string;
  watchers: Set<() => void>;
}

export interface WorldOptions {
  tasks?: (Partial<TaskDef> & { id: string })[];
  reviewed?: boolean;
  play: Play;
  gate?: World['gate'];
  commitFails?: World['commitFails'];
  lands?: World['lands'];
  files?: Files;
  /** Keeps no moments, which are a third of what a long story costs: nobody will go back to one. */
  forgets?: boolean;
}

const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** A moment of the outside. Commits and works never change once made, so only their lists are copied. */
function momentOf(outside: Outside): Outside {
  const { works, commits, ...rest } = outside;
  return { ...clone(rest), commits: [...commits], works };
}

export function task(given: Partial<TaskDef> & { id: string }, order: number, reviewed: boolean): TaskDef {
  return {
    title: `Make ${given.id}`,
    description: '',
    acceptance: [`${given.id} works`],
    priority: 0,
    order,
    dependsOn: [],
    status: 'todo',
    files: [],
    changes: 'expected',
    ...(reviewed ? { review: { status: null, count: 0, feedback: '' } } : {}),
    ...given,
  };
}

export function makeWorld(options: WorldOptions): World {
  const reviewed = options.reviewed ?? false;
  const outside: Outside = {
    files: { 'README.md': 'hello', ...options.files },
    beside: {},
    commits: [],
    head: null,
    list: options.tasks ? options.tasks.map((given, order) => task(given, order, reviewed)) : null,
    reviewed,
    inbox: [],
    processed: [],
    rejected: [],
    desk: [],
    shown: [],
    feedback: [],
    progress: null,
    othersSpent: [],
    landed: false,
    freeMb: { disk: 50_000, memory: 4_000 },
    printedBills: {},
    works: {},
    session: {},
    outboxes: {},
    kept: [],
    now: Date.UTC(2026, 0, 1, 22, 0, 0),
  };
  const first: Commit = {
    id: sha('first').slice(0, 40),
    files: { ...outside.files },
    parent: null,
    message: 'first',
  };
  outside.commits.push(first);
  outside.head = first.id;
  const world = {
    outside,
    records: [],
    moments: [],
    forgets: options.forgets ?? false,
    prompts: [],
    play: options.play,
    gate: options.gate ?? (() => ({ code: 0, output: '1 passed, 0 failed' })),
    commitFails: options.commitFails ?? (() => null),
    lands: options.lands ?? null,
    tokens: new Map(),
    fenced: false,
    watchers: new Set(),
    scratch: mkdtempSync(join(tmpdir(), 'world-')),
  } as unknown as World;
  world.house = inhabit(world);
  return world;
}

export function leave(world: World): void {
  rmSync(world.scratch, { recursive: true, force: true });
}

/** The world as it was right after record `seq` was written, with a runner that knows only that much. */
export function crashedAfter(world: World, seq: number): World {
  const copy = {
    ...world,
    outside: momentOf(world.moments[seq - 1]!),
    records: world.records.slice(0, seq),
    moments: world.moments.slice(0, seq),
    prompts: [],
    watchers: new Set(),
    scratch: mkdtempSync(join(tmpdir(), 'world-')),
  } as World;
  copy.house = inhabit(copy);
  return copy;
}

function inhabit(world: World): House {
  return openHouse({
    ...ports(world),
    sessionId: '260101-220000',
    sessionDir: world.scratch,
    env: { PATH: '/usr/bin' },
    state: fold(world.records),
  });
}

function ports(world: World): Ports {
  const { outside } = world;
  return {
    clock: {
      now: () => outside.now,
      at: (_at, _wake) => () => undefined,
    },
    journal: {
      get seq() {
        return world.records.length;
      },
      epoch: 1,
      async append(expected, at, facts) {
        if (world.fenced) return 'fenced';
        if (expected !== world.records.length)
          throw new Error(`seq ${expected} is not ${world.records.length}`);
        const record: JournalRecord = clone({ v: 1, seq: expected + 1, epoch: 1, at, facts, prev: '' });
        world.records.push(record);
        if (!world.forgets) world.moments.push(momentOf(outside));
        return record;
      },
    },
    mailbox: {
      async poll() {
        return [...outside.inbox]
          .sort((a, b) => rank(a.message) - rank(b.message))
          .slice(0, 100)
          .map((entry): Incoming => ({ ...entry, kind: 'message', arrivedAt: entry.message.createdAt }));
      },
      async settle(name, outcome, handling) {
        outside.inbox = outside.inbox.filter((entry) => entry.name !== name);
        if (outcome === 'processed') outside.processed.push({ name, action: handling.actionTaken });
        else outside.rejected.push({ name, reason: handling.reason ?? '' });
      },
      watch(changed) {
        world.watchers.add(changed);
        return () => world.watchers.delete(changed);
      },
    },
    desk: {
      async look() {
        const news = outside.desk;
        outside.desk = [];
        return news;
      },
      async show(asked) {
        const ids = asked.map((question) => question.id);
        if (JSON.stringify(ids) === JSON.stringify(outside.shown)) return [];
        outside.shown = ids;
        return [{ file: 'decide.txt', sha256: ids.length > 0 ? sha(ids.join()) : null }];
      },
      async archive() {},
    },
    works: {
      async put(path, content) {
        const text = Buffer.from(content as string).toString('utf8');
        outside.works[sha(text)] = text;
        return { path, sha256: sha(text) };
      },
      async get(hash) {
        const text = outside.works[hash];
        return text === undefined ? null : new TextEncoder().encode(text);
      },
      async attemptFile(iteration, name) {
        return `attempts/${iteration}/${name}`;
      },
      async outboxPath(iteration) {
        const path = join(world.scratch, `outbox-${iteration}.jsonl`);
        writeFileSync(path, outside.outboxes[iteration] ?? '');
        return path;
      },
      logPath: (iteration) => join(world.scratch, `iteration-${iteration}.log`),
      lastSign: async () => 0,
      async writePrompt(iteration, text) {
        world.prompts.push(text);
        outside.works[sha(text)] = text;
        return { path: `logs/iteration-${iteration}.prompt.md`, sha256: sha(text) };
      },
    },
    ground: ground(world, () => outside.files),
    pool: {
      async fill(id, mark) {
        outside.beside[id] = { ...trees.get(mark.tree)! };
        return ground(world, () => outside.beside[id]!, id);
      },
      open: async (id) =>
        outside.beside[id] === undefined ? null : ground(world, () => outside.beside[id]!, id),
      async close() {
        outside.beside = {};
      },
      left: () => [],
    },
    agent: (name) => agent(world, name),
    gates: {
      run(def) {
        let stopped = false;
        const done = (async () => {
          const { code, output, failures } = world.gate(def, outside.files);
          const empty = code === 0 && /no tests|0 passed/.test(output);
          await outlast(world, () => stopped);
          if (stopped) return null;
          return {
            gate: def.name,
            run: def.run,
            outcome: gateOutcome(code, empty),
            exitCode: code,
            durationMs: 5,
            tests: null,
            failures: code === 0 ? [] : (failures ?? [output]),
            excerpt: output,
            outputText: output,
          };
        })();
        return {
          done,
          stop: async () => {
            stopped = true;
          },
        };
      },
    },
    leftovers: { endMarked: async () => [] },
    list: outside.list === null ? null : list(world),
    mirrors: {
      redraw: async () => undefined,
      edited: async () => outside.progress,
      settle: () => {
        outside.progress = null;
      },
    },
    knowledge: { read: async () => ({}) },
    feedback: { poll: async () => outside.feedback },
    spending: {
      othersToday(now) {
        const midnight = now - (now % 86_400_000);
        const today = outside.othersSpent.filter(({ at }) => at >= midnight);
        return { usd: today.reduce((sum, { usd }) => sum + usd, 0), midnight };
      },
    },
    host: {
      free: async ([path = '']) => ({
        disks: [{ path, mb: outside.freeMb.disk }],
        memoryMb: outside.freeMb.memory,
      }),
    },
    landings: { bringIn: (_, { signal }) => world.lands!(world, signal) },
    cycles: cycleFiles({ ...outside, sha, task: (given, order) => task(given, order, false) }),
    redactor: redactorOf([]),
    secret: () => sha(`${world.records.length}-${Math.random()}`),
    sha256: sha,
    recorded: () => undefined,
    event: () => undefined,
  };
}

/** Runs on for as long as a look at the mailbox takes, as every real agent and gate does. */
async function outlast(world: World, stopped: () => boolean, forStop = false): Promise<void> {
  const { state } = world.house;
  for (let i = 0; i < 5_000 && !stopped(); i++) {
    await new Promise((resolve) => setImmediate(resolve));
    const ending = state.paused !== null || state.aborted?.done === false;
    const unread = world.outside.inbox.some((entry) => !state.seenMessages.has(entry.name));
    if (i >= 5 && !ending && !unread && !forStop) return;
  }
}

function gateOutcome(code: number, empty: boolean) {
  if (code === 127) return 'unavailable' as const;
  if (empty) return 'empty' as const;
  return code === 0 ? ('passed' as const) : ('failed' as const);
}

function rank(message: Message): number {
  if (message.type === 'ABORT') return 0;
  return message.type === 'PAUSE' ? 1 : 2;
}

const treeOf = (files: Files) =>
  sha(JSON.stringify(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))));
const trees = new Map<string, Files>();

/** `at`: the files of this work tree; `id`: its name in the pool. */
function ground(world: World, at: () => Files, id = 'tree'): Ground {
  const { outside } = world;
  const headFiles = () => outside.commits.find((commit) => commit.id === outside.head)?.files ?? {};
  const blobOf = (files: Files, path: string) => (files[path] === undefined ? null : sha(files[path]));
  const ancestors = (of: string | null): string[] => {
    const found: string[] = [];
    for (let id = of; id !== null; id = outside.commits.find((commit) => commit.id === id)?.parent ?? null)
      found.push(id);
    return found;
  };
  return {
    id,
    root: id === 'tree' ? '/repo' : `/pool/${id}`,
    cwd: id === 'tree' ? '/repo' : `/pool/${id}`,
    hasGit: true,
    head: async () => ({ head: outside.head, branch: 'main' }),
    operation: async () => null,
    rules: async () => ({}),
    restoreRules: async () => [],
    async snapshot() {
      const tree = treeOf(at());
      trees.set(tree, { ...at() });
      return { head: outside.head, branch: 'main', tree };
    },
    async changes(before, after) {
      const [a, b] = [trees.get(before) ?? {}, trees.get(after) ?? {}];
      const paths = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
      return paths
        .map((path): Change => ({ path, before: blobOf(a, path), after: blobOf(b, path) }))
        .filter((change) => change.before !== change.after);
    },
    current: async (paths) => new Map(paths.map((path) => [path, blobOf(at(), path)])),
    whereabouts: async (paths) =>
      new Map(paths.filter((path) => at()[path] !== undefined).map((path) => [path, { kind: 'file', path }])),
    inner: async () => [],
    texts: async (paths) =>
      new Map(
        paths.flatMap((path) => {
          const text = at()[path];
          return text === undefined ? [] : [[path, { bytes: text.length, text }] as const];
        }),
      ),
    uncommitted: async (paths) => paths.filter((path) => blobOf(at(), path) !== blobOf(headFiles(), path)),
    committed: async (commit, paths) => {
      const files = outside.commits.find((entry) => entry.id === commit)?.files ?? {};
      return new Map(paths.flatMap((path) => (files[path] === undefined ? [] : [[path, sha(files[path])]])));
    },
    read: async () => null,
    writtenAfter: async () => [],
    withdraw: async () => undefined,
    async apply(changes) {
      const conflicts: string[] = [];
      for (const { path, before, after } of changes) {
        if (blobOf(at(), path) === after) continue;
        if (blobOf(at(), path) !== before) conflicts.push(path);
        else if (after === null) delete at()[path];
        else at()[path] = contentOf(after);
      }
      return conflicts;
    },
    merge: async (changes) => ({ merged: [], conflicts: changes.map(({ path }) => path) }),
    async commit({ paths, message }) {
      const id = message.match(/Ralph-Task: (.*)/)?.[1] ?? '';
      const reason = world.commitFails(id);
      if (reason !== null) return { kind: 'failed', reason };
      const files = { ...headFiles() };
      const changed = paths.filter((path) => blobOf(at(), path) !== blobOf(files, path));
      if (changed.length === 0) return { kind: 'nothing' };
      for (const path of changed) {
        const text = at()[path];
        if (text === undefined) delete files[path];
        else files[path] = text;
      }
      return {
        kind: 'committed',
        commit: commitFiles(outside, files, message),
        paths: changed,
        hooked: false,
      };
    },
    async commitsBetween(from, to) {
      const old = new Set(ancestors(from));
      return ancestors(to)
        .filter((id) => !old.has(id))
        .reverse();
    },
    commitPlaces: async (ids, since) =>
      new Map(
        ids.flatMap((id) => {
          const whole = outside.commits.find((commit) => commit.id.startsWith(id))?.id;
          if (whole === undefined) return [];
          return [[id, ancestors(since).includes(whole) ? 'before' : 'aside'] as const];
        }),
      ),
    isAncestor: async (ancestor, of) => ancestor === null || ancestors(of).includes(ancestor),
    wasHeld: async () => true,
    missing: async (commits) => {
      const there = new Set(ancestors(outside.head));
      return commits.filter((commit) => !there.has(commit));
    },
    keep: async (commit) => {
      outside.kept.push(commit);
    },
    async commitSaying(from, lines) {
      const old = new Set(ancestors(from));
      for (const id of ancestors(outside.head)) {
        const { message, files, parent } = outside.commits.find((commit) => commit.id === id)!;
        if (old.has(id) || !lines.every((line) => message.split('\n').includes(line))) continue;
        const before = outside.commits.find((commit) => commit.id === parent)?.files ?? {};
        const paths = Object.keys({ ...before, ...files }).filter((path) => before[path] !== files[path]);
        return { commit: id, paths };
      }
      return null;
    },
    tracked: async () => [],
    recentCommits: async () => [],
  };
}

function contentOf(blob: string): string {
  for (const files of trees.values())
    for (const text of Object.values(files)) if (sha(text) === blob) return text;
  throw new Error(`no content for ${blob}`);
}

export function commitFiles(outside: Outside, files: Files, message: string): string {
  const id = sha(`${outside.commits.length}${JSON.stringify(files)}${message}`).slice(0, 40);
  outside.commits.push({ id, files: { ...files }, parent: outside.head, message });
  outside.head = id;
  return id;
}

function amend(outside: Outside): void {
  outside.head = outside.commits.find((commit) => commit.id === outside.head)?.parent ?? null;
  commitFiles(outside, outside.files, 'amended');
}

const CAPABLE = {
  stream: true,
  toolEvents: true,
  sessionResume: false,
  choosesSessionId: false,
  liveInput: false,
  interrupt: false,
  tokens: true,
  cost: true,
  limits: true,
  readOnly: false,
};

function agent(world: World, name: string): Agent {
  const { outside } = world;
  return {
    name,
    capabilities: CAPABLE,
    check: async () => [],
    billIn: async ({ logPath }) => outside.printedBills[Number(/(\d+)\.log$/.exec(logPath)?.[1])] ?? null,
    async start(call) {
      const beside = /^\/pool\/(.+)$/.exec(call.cwd)?.[1];
      const files = beside === undefined ? outside.files : outside.beside[beside]!;
      const seen: Seen = {
        task: call.env.RALPH_TASK_ID!,
        mode: call.env.RALPH_MODE!,
        role: call.env.RALPH_ROLE!,
        agent: name,
        category: call.env.RALPH_CATEGORY!,
        attempt: Number(call.env.RALPH_ATTEMPT),
        iteration: Number(call.env.RALPH_ITERATION),
        prompt: call.prompt,
        files,
      };
      world.tokens.set(seen.iteration, call.env.RALPH_RUN_TOKEN!);
      await call.spawned(4242, '1');
      const doing = world.play(seen, world);
      let stopped = false;
      const done = (async () => {
        outside.now += doing.tookMs ?? 60_000;
        for (const [path, text] of Object.entries(doing.write ?? {})) files[path] = text;
        for (const path of doing.remove ?? []) delete files[path];
        for (const [path, text] of Object.entries(doing.session ?? {}))
          outside.session[`iterations/${call.env.RALPH_CYCLE}/${path}`] = text;
        if (doing.commit && beside === undefined) commitFiles(outside, outside.files, 'agent');
        if (doing.amend) amend(outside);
        if (doing.list && outside.list) outside.list = doing.list(clone(outside.list));
        const lines = (doing.emit ?? []).map((line) =>
          JSON.stringify({ ...line, token: call.env.RALPH_RUN_TOKEN }),
        );
        const text = lines.map((line) => `${line}\n`).join('');
        outside.outboxes[seen.iteration] = text;
        writeFileSync(call.env.RALPH_OUTBOX!, text);
        await doing.during?.(world);
        await outlast(world, () => stopped, doing.waitForStop);
        return report(doing, stopped);
      })();
      return {
        done,
        stop: async () => {
          stopped = true;
        },
      };
    },
  };
}

function report(doing: Doing, stopped: boolean) {
  const error = doing.die === undefined ? null : doing.die === true ? crash({}) : crash(doing.die);
  const ending = stopped ? 'interrupted' : error ? 'died' : doing.timeOut ? 'timed_out' : 'ended';
  return {
    ending: ending as 'ended',
    timeout: doing.timeOut ? ('wall' as const) : null,
    exitCode: error ? 1 : (doing.exitCode ?? 0),
    signal: null,
    error,
    finalMessage: doing.say ?? '',
    toolCalls: doing.toolCalls === undefined ? 3 : doing.toolCalls,
    toolFiles: Object.keys(doing.write ?? {}),
    commands: doing.denied === undefined ? [] : [{ command: doing.denied, exitCode: null, denied: true }],
    outputBytes: 100,
    usage: { inputTokens: 10, outputTokens: 5, costUsd: doing.costUsd ?? 0.01, model: 'played' },
    sessionId: null,
    leftBehind: doing.leftBehind ?? [],
    unknownEvents: 0,
  };
}

function crash(given: Partial<AgentError>): AgentError {
  return { kind: 'crash', message: 'the agent crashed', resetsAt: null, ...given };
}

function list(world: World): NonNullable<Ports['list']> {
  const { outside } = world;
  const source = {
    kind: 'file' as const,
    path: 'ralph/tasks.json',
    dialect: 'tasks.json',
    reviewed: outside.reviewed,
  };
  const text = () => JSON.stringify(outside.list);
  return {
    source,
    groundPath: 'ralph/tasks.json',
    async read() {
      const tasks = clone(outside.list ?? []);
      if (tasks.length === 0) return { kind: 'empty', sha256: sha('') };
      const listed = text();
      return {
        kind: 'list',
        tasks,
        reviewed: outside.reviewed,
        gates: [],
        warnings: [],
        sha256: sha(listed),
        text: listed,
      };
    },
    async inspect({ before, active }) {
      const earlier = JSON.parse(before) as TaskDef[];
      const now = outside.list ?? [];
      const touched = JSON.stringify(earlier) !== JSON.stringify(now);
      const marked = now.filter(
        (def) => def.status === 'done' && earlier.find((old) => old.id === def.id)?.status !== 'done',
      );
      const added = now.filter((def) => !earlier.some((old) => old.id === def.id));
      const reviewedNow = now.find((def) => def.id === active)?.review;
      const reviewedBefore = earlier.find((def) => def.id === active)?.review;
      const judged =
        reviewedNow?.status !== reviewedBefore?.status && reviewedBefore?.status === 'needs_review';
      outside.list = [...earlier, ...added.filter((def) => def.status === 'todo')];
      const said = reviewedNow?.status === 'approved' ? ('Qualified' as const) : ('Failed' as const);
      return {
        touched,
        set: added.filter((def) => def.status === 'todo'),
        sha256: sha(text()),
        marked: marked.map((def) => def.id),
        review: judged ? { verdict: said, feedback: reviewedNow?.feedback ?? '' } : null,
        violations: added
          .filter((def) => def.status === 'done')
          .map((def) => `new story ${def.id} is already passed`),
        agentText: null,
      };
    },
    ended: () => [],
    async mark(tasks) {
      for (const state of tasks) {
        const def = outside.list?.find((entry) => entry.id === state.def.id);
        if (!def) continue;
        def.status = state.status === 'done' || state.status === 'cancelled' ? state.status : 'todo';
        if (def.review) def.review = fileReview(state);
      }
      return true;
    },
  };
}

/** The policy most stories run under; a story overrides what it is about. */
export const policy = policyOf;

export const PAIR: Partial<Policy> = { team: 'pair', modes: ['implement', 'review-fix', 'TASK_REVIEW'] };

export interface Started {
  exit: Exit;
  /** Every wait on the way, in ms; the clock was moved past each. */
  waits: number[];
}

/** Starts `ralph run` in this world and plays it to its exit; waits with a time are slept through. */
export async function run(
  world: World,
  over: Parameters<typeof policy>[0] = {},
  options: { reopened?: boolean; maxTurns?: number } = {},
): Promise<Started> {
  const { house } = world;
  const facts: Fact[] = [];
  if (!house.state.session) {
    facts.push({
      type: 'session.created',
      id: '260101-220000',
      objective: 'Build it',
      timezone: 'UTC',
      product: 'test',
      ground: '.',
    });
  }
  const runner = { pid: 1, startTime: '1', host: 'h', boot: 'b' };
  const reopened = options.reopened ?? false;
  facts.push({
    type: 'run.started',
    policy: policy(over),
    runner,
    dirty: [],
    spentTodayUsd: 0,
    reopened,
    flags: {},
  });
  await append(house, facts);
  const plans = house.state.policy!.modes.includes('TASK_BREAKDOWN');
  if (world.outside.list === null && house.state.tasks.size === 0 && !plans) await objectiveTask(house);
  return play(world, options.maxTurns);
}

async function objectiveTask(house: House): Promise<void> {
  const source = { kind: 'objective' as const, path: null, dialect: 'objective', reviewed: false };
  const set = [{ ...task({ id: 'objective' }, 0, false), acceptance: [] }];
  await append(house, [{ type: 'tasks.read', source, sha256: '', set, gone: [], by: 'engine' }]);
}

export async function play(world: World, maxTurns = 600): Promise<Started> {
  const waits: number[] = [];
  for (let turns = 0; turns < maxTurns; turns++) {
    const { wake, exit } = await turn(world.house);
    if (exit) return { exit, waits };
    if (wake === 'now') continue;
    if (wake === 'message') throw new Error('the run waits for a message that nobody will send');
    waits.push(Math.max(0, wake.at - world.outside.now));
    world.outside.now = Math.max(world.outside.now, wake.at);
  }
  throw new Error(`no exit after ${maxTurns} turns`);
}

let messages = 0;

/** Drops a message into the mailbox; it was created now unless said otherwise. */
export function send(world: World, given: Partial<Message> & { type: Message['type'] }): void {
  messages += 1;
  const id = given.id ?? `signal.${messages}.yaml`;
  const base = { target: 'ALL', text: '', from: 'anna@desk', createdAt: world.outside.now, confirmed: true };
  world.outside.inbox.push({ name: id, message: { ...base, ...given, id } });
  for (const changed of world.watchers) changed();
}

export const DONE = '<promise>COMPLETE</promise>';

/** An agent that does each task and says so. */
export const honest: Play = ({ task: id, mode }) => {
  if (mode === 'TASK_REVIEW') return { emit: [{ topic: 'ralph.result', payload: reviewed('Qualified') }] };
  return { write: { [`${id}.txt`]: `made ${id}` }, say: `Wrote ${id}.txt.\n\n${DONE}` };
};

export function reviewed(verdict: 'Qualified' | 'Failed', feedback = 'please fix') {
  const met = verdict === 'Qualified';
  return {
    status: 'completed',
    mode: 'TASK_REVIEW',
    verdict,
    feedback: met ? '' : feedback,
    criteria_results: [{ criterion: 'works', met, note: 'looked' }],
  };
}

export function statuses(world: World): Record<string, string> {
  return Object.fromEntries(
    [...world.house.state.tasks.values()].map((entry) => [entry.def.id, entry.status]),
  );
}

export function facts<T extends Fact['type']>(world: World, type: T): Extract<Fact, { type: T }>[] {
  return world.records
    .flatMap((record) => record.facts)
    .filter((fact): fact is Extract<Fact, { type: T }> => fact.type === type);
}

export function findings(world: World): string[] {
  return facts(world, 'verdict.reached').flatMap((fact) => fact.findings.map((finding) => finding.kind));
}
