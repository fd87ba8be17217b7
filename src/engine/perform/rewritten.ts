/**
 * What gates did to the files. A formatter rewrites what the attempt wrote: those paths belong to the task as
 * they are now. What changed elsewhere while gates ran is nobody's work: it is told, and no commit takes it.
 */
import {
  type AttemptState,
  type Change,
  type Fact,
  type GateDef,
  type Mark,
  mayRewrite,
  pathWord,
} from '../../core/index.ts';
import { isBookkeeping, ownChanges, told } from '../changes.ts';
import { append, type House } from '../house.ts';

export interface Gated {
  attempt: AttemptState;
  /** The tree that the gates were started on. */
  tree: string;
  /** The gates that ran, one that was ended included. */
  ran: GateDef[];
  /** They were asked about their own rewriting already: what changes then has no end. */
  again: boolean;
}

/** How many of the other paths are named. */
const NAMED = 10;

/** Looks at the ground after gates ran; true when they rewrote the task's own paths, and have to see that. */
export async function lookAfterGates(house: House, { attempt, tree, ran, again }: Gated): Promise<boolean> {
  if (ran.length === 0) return false;
  const mark = await house.ground.snapshot();
  house.fresh = mark;
  if (mark.tree === tree) return false;
  const left = await leftByTask(house, attempt);
  const changed = (await house.ground.changes(tree, mark.tree)).filter(
    ({ path, before }) => !house.state.dirty.has(path) || (left.has(path) && left.get(path) === before),
  );
  const own = changed.filter(({ path }) => left.has(path));
  const writes = !again && ran.some((def) => mayRewrite(def.run));
  // Where somebody had changed a path before the gates, it is not only the gates' doing.
  const rewritten = writes ? own.filter(({ path, before }) => left.get(path) === before) : [];
  const others = changed.filter(({ path }) => !left.has(path) && !isBookkeeping(house, path));
  await append(house, [await fact(house, { mark, attempt, rewritten, others }), ...notices(others)]);
  return rewritten.length > 0;
}

/** What the task's attempts left at each path they changed. */
async function leftByTask(house: House, attempt: AttemptState): Promise<Map<string, string | null>> {
  const task = house.state.tasks.get(attempt.item.task ?? '');
  const own = task ? await ownChanges(house, task, 0) : attempt.changes;
  return new Map(own.map(({ path, after }) => [path, after]));
}

interface Looked {
  mark: Mark;
  attempt: AttemptState;
  rewritten: Change[];
  others: Change[];
}

async function fact(house: House, { mark, attempt, rewritten, others }: Looked): Promise<Fact> {
  return {
    type: 'ground.changed',
    mark,
    by: 'gates',
    iteration: attempt.iteration,
    ...(rewritten.length === 0 ? {} : { rewritten: await told(house, rewritten) }),
    ...(others.length === 0
      ? {}
      : { others: { count: others.length, paths: others.slice(0, NAMED).map(({ path }) => path) } }),
  };
}

/** New files are what gates usually leave, reports and caches; a file that was there is somebody's. */
function notices(others: Change[]): Fact[] {
  const known = others.filter(({ before }) => before !== null).map(({ path }) => path);
  if (known.length === 0) return [];
  const more = known.length > NAMED ? ` and ${known.length - NAMED} more` : '';
  const text = `While the gates ran, by them or by somebody else, files that are not the task's changed: ${known.slice(0, NAMED).map(pathWord).join(', ')}${more}. They stay uncommitted, for you to commit or to undo.`;
  return [{ type: 'notice.given', level: 'warning', text }];
}
