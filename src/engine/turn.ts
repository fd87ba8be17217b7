/**
 * One pass of the loop: read what came in, let the law name the next step, carry it out. Waiting is
 * never done inside a step; a pass answers when it wants to be called again.
 *
 *   mailbox ─intake→ State ─decide→ Step ─perform→ facts ─append→ journal ─evolve→ State
 */
import { decide, type Exit, exitOf, type Step } from '../core/index.ts';
import { asksForRoom, lookAtHost, lookAtRoom, tellShort } from './host.ts';
import { append, type House, redraw, type Turned, type Wake } from './house.ts';
import { intake } from './intake.ts';
import { abort } from './perform/abort.ts';
import { bringIn } from './perform/bring-in.ts';
import { expire } from './perform/expire.ts';
import { judgeAttempt } from './perform/judge.ts';
import { land } from './perform/land.ts';
import { ranBeside, setAside, takeUp } from './perform/leftovers.ts';
import { reopenGone } from './perform/lost.ts';
import { endOrphanedGates, recover } from './perform/recover.ts';
import { runWave } from './perform/run.ts';
import { homeIsWhole } from './perform/side.ts';
import { close, open } from './perform/wave.ts';
import { reportStale, reviewAnyway } from './perform/works.ts';
import { lookAtSpending } from './spending.ts';

/** Carries out one step of the law and says when the next is due. */
export async function turn(house: House): Promise<Turned> {
  const waited = house.state.paused !== null;
  await intake(house);
  if (waited && house.state.paused === null) await reopenGone(house);
  await lookAtSpending(house);
  await lookAtHost(house);
  let step = next(house);
  if (asksForRoom(house.state, step)) {
    await lookAtRoom(house);
    step = next(house);
  }
  const turned = await perform(house, step);
  if (RESTS.has(step.do)) await redraw(house);
  return turned;
}

function next({ state, clock, live }: House): Step {
  return decide(state, { now: clock.now(), live: new Set(live.keys()) });
}

/** Steps after which people look: mirrors are drawn then, and when an agent starts, not in between. */
const RESTS: ReadonlySet<Step['do']> = new Set([
  'wait',
  'stop',
  'close',
  'recover',
  'abort',
  'record',
  'expire',
]);

async function perform(house: House, step: Step): Promise<Turned> {
  switch (step.do) {
    case 'wait':
      house.fresh = null;
      if (step.for === 'host') await tellShort(house);
      return { wake: step.until === null ? 'message' : { at: step.until } };
    case 'stop': {
      const { code, word, reason } = step;
      house.fresh = null;
      if (code === 0 && (await reopenGone(house))) break;
      await append(house, [{ type: 'run.stopped', code, word, reason }]);
      return { wake: 'now', exit: { code, word, reason } };
    }
    case 'record':
      await append(house, step.facts);
      await reviewAnyway(house, step.facts);
      await reportStale(house, step.facts);
      break;
    case 'recover':
      await recover(house, step.iterations);
      await reopenGone(house);
      break;
    case 'abort':
      await abort(house);
      break;
    case 'judge':
      await judgeAttempt(house, step.iteration);
      break;
    case 'land':
      if (!ranBeside(house.state, step.task) || (await homeIsWhole(house))) await land(house, step.task);
      break;
    case 'bring_in':
      if (!(await reopenGone(house))) await bringIn(house);
      break;
    case 'set_aside':
      await setAside(house, step.task);
      break;
    case 'take_up':
      if (!ranBeside(house.state, step.task) || (await homeIsWhole(house))) await takeUp(house, step.task);
      break;
    case 'open':
      await open(house, step);
      break;
    case 'run':
      await runWave(house, step.iterations);
      break;
    case 'close':
      await close(house);
      break;
    case 'expire':
      await expire(house, step.question);
      break;
    default:
      return unknownStep(step);
  }
  return { wake: 'now' };
}

function unknownStep(step: never): never {
  throw new Error(`unknown step ${JSON.stringify(step)}`);
}

const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143, SIGHUP: 143 } as const;

/** Turns until the law says stop or a signal asks for it. */
export async function loop(house: House): Promise<Exit> {
  await endOrphanedGates(house);
  await reopenGone(house);
  house.branch = (await house.ground.head()).branch;
  for (;;) {
    const { signal } = house.interrupt;
    if (signal) return interrupted(house, signal);
    const { wake, exit } = await turn(house);
    if (exit) return exit;
    if (wake !== 'now' && !house.interrupt.signal) await until(house, wake);
  }
}

async function interrupted(house: House, signal: keyof typeof SIGNAL_EXIT): Promise<Exit> {
  const step = next(house);
  // All is done and where it belongs: there was nothing left to interrupt.
  const over = step.do === 'stop' && step.code === 0 ? (await perform(house, step)).exit : undefined;
  if (over) {
    await redraw(house);
    return over;
  }
  const what =
    step.do === 'bring_in'
      ? `everything is done, and loop ${house.state.policy?.loop?.loop} has not landed; run again to land it`
      : 'running agents were ended and not judged; run again to go on';
  const exit = exitOf(SIGNAL_EXIT[signal], `${signal}: ${what}`);
  await append(house, [{ type: 'run.stopped', ...exit }]);
  await redraw(house);
  return exit;
}

/** After a defect that the loop itself cannot hear of: what it started is ended, and the journal says so. */
export async function giveUp(house: House, why: string): Promise<void> {
  await Promise.all([...house.live.values()].map((handle) => handle.stop(0)));
  await endOrphanedGates(house).catch(() => undefined);
  await append(house, [{ type: 'run.stopped', ...exitOf(70, `a defect of ralph: ${why}`) }]);
  await redraw(house);
}

/** Waits for the time, a message, or a signal, whichever comes first. */
function until(house: House, wake: Exclude<Wake, 'now'>): Promise<void> {
  return new Promise((resolve) => {
    const cancels: (() => void)[] = [];
    const done = () => {
      for (const cancel of cancels) cancel();
      house.interrupt.wakes.delete(done);
      resolve();
    };
    house.interrupt.wakes.add(done);
    cancels.push(house.mailbox.watch(done));
    // Desk files and task lists are looked at now and then even where nothing announces a change.
    const now = house.clock.now();
    const next = wake === 'message' ? now + LOOK_AGAIN_MS : Math.min(wake.at, now + LOOK_AGAIN_MS);
    cancels.push(house.clock.at(next, done));
  });
}

const LOOK_AGAIN_MS = 2_000;
