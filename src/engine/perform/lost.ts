/**
 * Commits that the branch held and holds no more. Where no attempt took them off, somebody reset or rewrote it, or
 * checked another one out: the session pauses and says which tasks that undoes and what brings them back. Going
 * on without them opens those tasks again. Looked at when a run starts or goes on, and before it says that all is done.
 */
import { closeWave, commandFor, goneFacts, shellWord, type TaskState, unheardOf } from '../../core/index.ts';
import { append, type House } from '../house.ts';
import { syncList } from '../list.ts';
import { goneTasks, isStanding } from './gone.ts';

interface Loss {
  /** The commit that the session stood on, where that is lost; null: it is there. */
  head: string | null;
  /** Tasks whose work is gone with it. */
  tasks: readonly TaskState[];
}

/**
 * True when there is something else to do now: tasks are open again, or a person has to look. While the session is
 * paused, a person may be about to bring the work back.
 */
export async function reopenGone(house: House): Promise<boolean> {
  await broughtBack(house);
  if (house.state.paused) return false;
  const gone = await goneTasks(house);
  if (unheardOf(house.state, gone).length > 0) {
    await pauseForLoss(house, { head: await leftBehind(house), tasks: gone });
    return true;
  }
  const stands = new Set<TaskState>();
  for (const task of gone) if (await isStanding(house, task)) stands.add(task);
  const facts = goneFacts(house.state, gone, stands);
  await append(house, facts);
  if (!facts.some((fact) => fact.type === 'task.moved')) return false;
  await giveBack(house);
  await syncList(house);
  await standHere(house);
  return true;
}

/** What waits to be begun may need what is open again: it is picked anew. */
async function giveBack(house: House): Promise<void> {
  const { wave, open } = house.state;
  if (wave && !wave.started.some((iteration) => open.has(iteration))) await append(house, closeWave);
}

/** A pause over commits that were lost is over once the branch has them again. */
async function broughtBack(house: House): Promise<void> {
  const { paused } = house.state;
  if (paused?.lost === undefined) return;
  const { head, branch } = await house.ground.head();
  if (branch === null) return;
  for (const commit of paused.lost) if (!(await house.ground.isAncestor(commit, head))) return;
  const text = 'the branch has the commits again that were taken off';
  await append(house, [{ type: 'session.resumed', at: house.clock.now(), text, by: 'engine' }]);
}

/** To go on without what an attempt took off was a person's word: the session stands on what is left. */
async function standHere(house: House): Promise<void> {
  const { attempts, lastIteration, lastMark } = house.state;
  if (!attempts.get(lastIteration)?.rewrote || lastMark === null) return;
  const mark = { ...(await house.ground.head()), tree: lastMark.tree };
  await append(house, [{ type: 'ground.changed', mark, by: 'person' }]);
}

/** Before more is put on top: true where the branch moved away from what the session stands on. */
export async function leftHistory(house: House): Promise<boolean> {
  const head = await leftBehind(house);
  if (head === null) return false;
  await pauseForLoss(house, { head, tasks: await goneTasks(house) });
  return true;
}

/** The commit that the session stands on, where the branch does not hold it. */
async function leftBehind({ state, ground }: House): Promise<string | null> {
  const last = state.lastMark?.head ?? null;
  if (last === null) return null;
  const { head } = await ground.head();
  return last === head || (await ground.isAncestor(last, head)) ? null : last;
}

async function pauseForLoss(house: House, { head, tasks }: Loss): Promise<void> {
  const { sessionId, state, clock, ground } = house;
  const tips = await tipsOf(house, { head, tasks });
  for (const { commit, iteration } of tips) await ground.keep(commit, sessionId, iteration);
  const lost = [...(head === null ? [] : [head]), ...tasks.map(({ commit }) => commit!)];
  const again = commandFor(state, 'ralph resume');
  const names = tasks.map((task) => nameOf(house, task));
  const most = `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
  const ids = tips.map(({ commit }) => commit.slice(0, 12)).join(', ');
  const stands = head === null ? '' : ', which this session stands on';
  const what = names.length === 0 ? '' : `; with it went the work of ${most}`;
  const { branch, cause, back } = await wayBack(
    house,
    tips.map(({ commit }) => commit),
  );
  const without =
    names.length === 0
      ? `What still counts as done is in it all the same: if you meant that, \`${again}\` goes on from here. Else ${back}, then \`${again}\`.`
      : `To have it back, ${back}, then \`${again}\`. Without that, \`${again}\` goes on from here and opens again what is not in the branch.`;
  const text = `${branch} no longer contains ${ids}${stands}${what}: ${cause}. ${without}`;
  await append(house, [
    { type: 'session.paused', at: clock.now(), text, by: 'engine', lost },
    { type: 'notice.given', level: 'critical', text },
  ]);
  if (head === null) return;
  const { tree } = house.fresh ?? (await ground.snapshot());
  await append(house, [{ type: 'ground.changed', mark: { ...(await ground.head()), tree }, by: 'person' }]);
}

function nameOf({ state }: House, task: TaskState): string {
  const { id } = task.def;
  return state.tasks.get(id) === task ? id : `${id} of cycle ${task.cycle}`;
}

/** The fewest commits that hold all that is lost, and the iteration whose name each is kept under. */
async function tipsOf({ state, ground }: House, { head, tasks }: Loss) {
  const newest = [...tasks].sort((a, b) => (b.attempts.at(-1) ?? 0) - (a.attempts.at(-1) ?? 0));
  const all = newest.map(({ commit, attempts }) => ({ commit: commit!, iteration: attempts.at(-1) ?? 0 }));
  if (head !== null) all.unshift({ commit: head, iteration: state.lastIteration });
  const tips: typeof all = [];
  for (const one of all) {
    let isHeld = false;
    for (const tip of tips) isHeld ||= await ground.isAncestor(one.commit, tip.commit);
    if (!isHeld) tips.push(one);
  }
  return tips;
}

/** What happened, as far as it can be told, and what undoes it: a command. */
async function wayBack({ state, ground }: House, commits: readonly string[]) {
  const { branch } = await ground.head();
  const before = state.lastMark?.branch ?? null;
  const git = state.policy?.loop === undefined ? 'git' : `git -C ${shellWord(ground.root)}`;
  const named = branch === null ? 'HEAD' : `The branch ${branch}`;
  if (before !== null && before !== branch)
    return {
      branch: named,
      cause: `${before} was checked out before, or the branch was renamed`,
      back: `go back with \`${git} switch ${shellWord(before)}\``,
    };
  const merges = commits.map((commit) => `${git} merge --autostash ${commit.slice(0, 12)}`);
  return {
    branch: named,
    cause: 'it was reset or rewritten',
    back: `run \`${merges.join(' && ')}\``,
  };
}
