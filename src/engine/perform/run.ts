/**
 * Runs the waiting items of the open wave: each gets its mark, its baseline and its prompt, then its
 * agent is seen through to the end, whatever ends it.
 */
import {
  type AgentReport,
  agentFor,
  backNotice,
  boundsOf,
  buildPrompt,
  carriesOut,
  cutsAnew,
  type Fact,
  fitting,
  type Item,
  isWanted,
  itemKey,
  type Mark,
  MODES,
  modelFor,
  Problem,
  questionsOf,
  reckonTime,
  type SideGround,
  type State,
  type StopCause,
  secretsOfEnv,
  type TaskState,
  wakingTopic,
} from '../../core/index.ts';
import { isShort, lookAtHost, lookAtRoom } from '../host.ts';
import { append, type House, redraw } from '../house.ts';
import { innerBefore } from '../inner.ts';
import { intake, readMailbox } from '../intake.ts';
import { followOutbox } from '../outbox.ts';
import { followPermissions } from '../permission.ts';
import type { AgentHandle } from '../ports.ts';
import { gatherPrompt } from '../prompt-input.ts';
import { lookAtSpending } from '../spending.ts';
import { causeOf, limitNow, watch } from '../watch.ts';
import { baseline } from './baseline.ts';
import { offCourse, pauseForSwitch } from './branch.ts';
import { type Finished, finishAttempt } from './finish.ts';
import { finishSettingAside } from './leftovers.ts';
import { leftHistory } from './lost.ts';
import { beside, diedWithout } from './side.ts';
import { sparePersonsBetween } from './spare.ts';
import { KILL_GRACE_MS, steer } from './steer.ts';
import { worksBefore } from './works.ts';

export async function runWave(house: House, iterations: number[]): Promise<void> {
  const waiting = house.state.wave?.waiting.filter((entry) => iterations.includes(entry.iteration)) ?? [];
  await finishSettingAside(house);
  const before = await startingPoint(house);
  const first = waiting[0];
  if (before === null || first === undefined) return;
  // Where there can be no other work tree, the items of a wave run one after another in this one.
  const aside = house.state.wave!.beside && house.pool !== null && before.head !== null;
  await (aside ? runBeside(house, waiting, before) : runHere(house, first, before));
}

/** What stands in the user's work tree; null where a person has to look first. */
async function startingPoint(house: House): Promise<Mark | null> {
  const known = house.fresh;
  const before = { ...(known ?? (await house.ground.snapshot())), ...(await house.ground.head()) };
  house.fresh = before;
  if (await leftHistory(house)) return null;
  if (await leftBranch(house)) return null;
  if (known === null) await sparePersonsBetween(house, before);
  return before;
}

interface Waiting {
  iteration: number;
  item: Item;
}

async function runHere(house: House, { iteration, item }: Waiting, before: Mark): Promise<void> {
  const based = await baseline(house, { iteration, item, before });
  if (based === 'ended') return;
  await start(house, { iteration, item }, based);
}

/** Work trees are filled one after another, from what the gates left; then all of them work at once. */
async function runBeside(house: House, waiting: readonly Waiting[], before: Mark): Promise<void> {
  let base = before;
  for (const { iteration, item } of waiting) {
    const based = await baseline(house, { iteration, item, before: base });
    if (based === 'ended') return;
    base = based;
  }
  await intake(house);
  // The gates may have taken their time. What there is no memory for begins once these are through.
  await lookAtRoom(house);
  const now = fitting(house.state, waiting);
  const begun = await beside(house, now, base);
  await Promise.all(begun.map((one, index) => start(one.house, now[index]!, one.before)));
  // Long enough for a person to have worked in the user's own.
  house.fresh = null;
}

async function start(house: House, { iteration, item }: Waiting, before: Mark): Promise<void> {
  const prepared = await prepare(house, { iteration, item });
  // The mailbox is read last before a prompt is sealed.
  await (house.side === null ? intake(house) : readMailbox(house));
  await lookAtSpending(house);
  await lookAtHost(house);
  if (
    causeOf(house) !== null ||
    limitNow(house) !== null ||
    isShort(house) ||
    house.state.stopAsked ||
    !isWanted(house.state, item)
  )
    return;
  await attempt(house, { iteration, item, before, ...prepared });
}

/** Between two attempts; during one, its end tells. */
async function leftBranch(house: House): Promise<boolean> {
  const off = await offCourse(house);
  if (off === null) return false;
  await append(house, pauseForSwitch(house, { ...off, when: 'while no agent was at work', commits: false }));
  return true;
}

interface Prepared {
  token: string;
  marker: string;
  outbox: string;
}

async function prepare(house: House, { iteration }: { iteration: number; item: Item }): Promise<Prepared> {
  const outbox = await house.works.outboxPath(iteration);
  return {
    token: house.secret(),
    marker: `${house.sessionId}-${iteration}-${house.secret().slice(0, 16)}`,
    outbox,
  };
}

interface AttemptCall extends Prepared {
  iteration: number;
  item: Item;
  before: Mark;
}

async function attempt(house: House, call: AttemptCall): Promise<void> {
  const { iteration, item, before, token, marker, outbox } = call;
  const { state } = house;
  const policy = state.policy!;
  const agent = agentFor(state, item, house.clock.now());
  const task = item.task === undefined ? null : (state.tasks.get(item.task) ?? null);
  const ordinal = ordinalOf(state, item, task);
  const time = reckonTime(policy, cutsAnew(item) ? null : task, state.durations);
  const allowed = { wallMs: time.timeoutS * 1000, idleMs: policy.limits.idleTimeoutS * 1000 };
  const works = await worksBefore(house);
  const about = { iteration, item, agent, task, ordinal, allowance: allowed, outbox };
  const gathered = await gatherPrompt(house, { ...about, works: works?.paths ?? null });
  const text = buildPrompt(gathered.input);
  const prompt = await house.works.writePrompt(iteration, text);
  const taskFile = await taskFileNow(house);
  const tokenHash = house.sha256(token);
  const interrupted = interruptedBy(state, item, agent);
  const started: Fact = {
    type: 'attempt.started',
    iteration,
    item,
    attempt: ordinal,
    agent,
    model: modelFor(policy, item.role, agent),
    allowance: allowed,
    time,
    before,
    ...groundOf(house),
    marker,
    tokenHash,
    prompt,
    taskFile,
    delivered: gathered.delivered,
    reminded: gathered.reminded,
    rules: await house.ground.rules(),
    ...(works === null ? {} : { session: works.ref }),
    ...(interrupted === null ? {} : { resumes: interrupted.iteration }),
    ...(await innerBefore(house)),
  };
  house.fresh = null;
  await append(house, [started, ...backNotice(state, agent)]);
  const box = await followOutbox(house, outbox, {
    iteration,
    role: item.role,
    agent,
    about: item.task ?? 'session',
    tokenHash,
  });
  try {
    const { report, cause, heeded, refused } = await seeThrough(house, {
      call,
      agent,
      env: attemptEnv(house, { ...call, ordinal }),
      text,
      promptPath: prompt.path,
      allowed,
      resume: interrupted?.sessionId ?? null,
      poll: box.poll,
    });
    await box.poll();
    if (cause === 'signal' && house.interrupt.signal === null)
      throw new Error('the run was given up while an agent worked');
    await end(house, { iteration, report, lines: box.lines(), stoppedFor: cause, heeded, refused });
  } finally {
    house.live.delete(iteration);
    house.usage.delete(iteration);
    box.close();
  }
}

async function end(house: House, finished: Finished): Promise<void> {
  const { side, pool } = house;
  const isGone = side !== null && (await pool?.open(side.id)) == null;
  await (isGone ? diedWithout(house, finished) : finishAttempt(house, finished));
}

/** Where it runs, as its fact carries it. */
function groundOf({ side }: House): { ground?: SideGround } {
  return side === null ? {} : { ground: { id: side.id, base: side.base } };
}

async function taskFileNow({ list, works }: House) {
  const reading = list ? await list.read() : null;
  return reading?.kind === 'list' ? works.put('task-file', reading.text) : null;
}

/** Runs of the executor on a task count together; other items by themselves. */
function ordinalOf(state: State, item: Item, task: TaskState | null): number {
  if (task && carriesOut(item)) return 1 + task.runs;
  return 1 + (state.items.get(itemKey(item))?.attempts ?? 0);
}

/** The last run of this item, where an urgent word ended it and its agent can go on in that session. */
function interruptedBy(
  state: State,
  item: Item,
  agent: string,
): { iteration: number; sessionId: string } | null {
  const key = itemKey(item);
  if ((state.items.get(key)?.attempts ?? 0) === 0) return null;
  for (let iteration = state.lastIteration; iteration > 0; iteration -= 1) {
    const attempt = state.attempts.get(iteration);
    if (attempt === undefined || itemKey(attempt.item) !== key) continue;
    const sessionId = attempt.report?.sessionId ?? null;
    if (attempt.stoppedFor !== 'steer' || attempt.agent !== agent || sessionId === null) return null;
    return { iteration, sessionId };
  }
  return null;
}

interface Seen {
  call: AttemptCall;
  agent: string;
  env: Record<string, string>;
  text: string;
  promptPath: string;
  allowed: { wallMs: number; idleMs: number };
  /** The agent's own session to go on in. */
  resume: string | null;
  poll(): Promise<void>;
}

async function seeThrough(
  house: House,
  { call, agent, env, text, promptPath, allowed, resume, poll }: Seen,
): Promise<Pick<Required<Finished>, 'report' | 'heeded' | 'refused'> & { cause: StopCause | null }> {
  const { iteration, item, marker } = call;
  const policy = house.state.policy!;
  let lastTree = call.before.tree;
  let handle: AgentHandle;
  const redactor = house.redactor.and(secretsOfEnv(env));
  const permissions = followPermissions(house, { iteration, agent, about: item.task ?? 'session', redactor });
  try {
    handle = await house.agent(agent).start({
      prompt: text,
      ...(resume === null ? {} : { resume }),
      promptPath: `${house.sessionDir}/${promptPath}`,
      cwd: house.ground.cwd,
      env,
      marker,
      allowance: allowed,
      logPath: house.works.logPath(iteration),
      redactor,
      model: modelFor(policy, item.role, agent),
      readOnly: MODES[item.mode].mayWrite === 'nothing',
      spawned: (pid, startTime) => append(house, [{ type: 'attempt.spawned', iteration, pid, startTime }]),
      event: (event) => {
        if (event.kind === 'usage') house.usage.set(iteration, event);
        house.event(iteration, redactor.value(event));
      },
      ...(policy.permissions === undefined ? {} : { permission: permissions.decide }),
      groundMoved: async () => {
        const now = await house.ground.snapshot();
        const moved = now.tree !== lastTree;
        lastTree = now.tree;
        return moved;
      },
    });
  } catch (error) {
    if (error instanceof Problem)
      return { report: neverStarted(error.facts.what), cause: null, heeded: false, refused: [] };
    throw error;
  }
  house.live.set(iteration, handle);
  // The agent is on its way: nobody waits for what people look at.
  await redraw(house);
  let cause: StopCause | null = null;
  const interrupt = () => {
    cause ??= 'steer';
    void handle.stop(KILL_GRACE_MS);
  };
  const resumable = house.agent(agent).capabilities.sessionResume && handle.send === undefined;
  const steering = steer(house, { iteration, item, handle, interrupt: resumable ? interrupt : null });
  const watcher = watch(house, {
    end: (why) => {
      cause = why;
      steering.end(why);
    },
    tick: async () => {
      await poll();
      await permissions.look();
      await steering.look();
    },
  });
  const report = redactor.value(await handle.done);
  house.live.delete(iteration);
  await watcher.close();
  await permissions.close();
  await steering.close();
  const heeded = steering.heeded();
  // It had ended by itself before it was told to: it is judged like any other.
  const ended = heeded || report.ending === 'interrupted' ? cause : null;
  return { report, cause: ended, heeded, refused: permissions.refused() };
}

function neverStarted(message: string): AgentReport {
  return {
    ending: 'died',
    timeout: null,
    exitCode: null,
    signal: null,
    error: { kind: 'crash', message, resetsAt: null },
    finalMessage: '',
    toolCalls: null,
    toolFiles: [],
    commands: [],
    outputBytes: 0,
    usage: { inputTokens: 0, outputTokens: 0, costUsd: null, model: null },
    sessionId: null,
    leftBehind: [],
    unknownEvents: 0,
  };
}

function attemptEnv(
  house: House,
  { iteration, item, token, marker, outbox, ordinal }: AttemptCall & { ordinal: number },
) {
  const bounds = boundsOf(house.state.policy, item);
  return {
    ...house.env,
    RALPH_SESSION_DIR: house.sessionDir,
    RALPH_SESSION_ID: house.sessionId,
    RALPH_ITERATION: String(iteration),
    RALPH_CYCLE: String(house.state.cycle),
    RALPH_ROLE: item.role,
    RALPH_MODE: item.mode,
    RALPH_CATEGORY: item.role === 'questioner' ? questionsOf(item).category : '',
    RALPH_TASK_ID: item.task ?? '',
    RALPH_ATTEMPT: String(ordinal),
    RALPH_OUTBOX: outbox,
    RALPH_RUN_TOKEN: token,
    RALPH_MARKER: marker,
    RALPH_TOPIC: wakingTopic(house.state, item)?.topic ?? '',
    ...(bounds === null ? {} : { RALPH_PUBLISHES: bounds.join(',') }),
  };
}
