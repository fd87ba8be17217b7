/**
 * The work tree holds one task's unfinished work at a time. Turning to another task sets it aside;
 * turning back takes it up, except where somebody changed the same path meanwhile.
 */
import { type Change, commandFor, type Fact, pathWord, type State } from '../../core/index.ts';
import { ownChanges, standing } from '../changes.ts';
import { append, type House } from '../house.ts';

/**
 * Written down before a file is touched: a crash between the two leaves the work both in the tree and in
 * the journal, never in neither.
 */
export async function setAside(house: House, id: string): Promise<void> {
  const task = house.state.tasks.get(id)!;
  const changes = await uncommitted(house, await ownChanges(house, task, 0));
  const tree = house.state.attempts.get(task.attempts.at(-1) ?? 0)?.after?.tree ?? '';
  await append(house, [{ type: 'leftovers.set_aside', task: id, tree, changes }]);
  await clear(house, changes);
  await append(house, [{ type: 'leftovers.cleared', task: id }]);
}

/**
 * Once per runner, before anything is taken up and before its first agent: what an earlier runner wrote down as
 * set aside and did not come to take out of the tree, or had begun to put back, is taken out now.
 */
export async function finishSettingAside(house: House): Promise<void> {
  if (house.asideCleared) return;
  house.asideCleared = true;
  const { tasks, groundOwner } = house.state;
  const owner = tasks.get(groundOwner ?? '');
  // Two tasks may have made the same file; the one whose work lies in the tree keeps it.
  const held = new Set((owner ? await ownChanges(house, owner, 0) : []).map(({ path }) => path));
  for (const { def, aside } of [...tasks.values()]) {
    if (!aside) continue;
    const lying = await uncommitted(house, aside.changes);
    await clear(
      house,
      lying.filter(({ path }) => !held.has(path)),
    );
    if (!aside.cleared) await append(house, [{ type: 'leftovers.cleared', task: def.id }]);
  }
}

/** Those of the changes that stand in the tree and that no commit holds. */
async function uncommitted(house: House, changes: Change[]): Promise<Change[]> {
  const stand = await standing(house, changes);
  const open = new Set(await house.ground.uncommitted(stand.map(({ path }) => path)));
  return stand.filter(({ path }) => open.has(path));
}

async function clear(house: House, changes: Change[]): Promise<void> {
  if (changes.length === 0) return;
  await house.ground.apply(changes.map(reversed));
  house.fresh = null;
}

export async function takeUp(house: House, id: string): Promise<void> {
  await finishSettingAside(house);
  const changes = house.state.tasks.get(id)!.aside?.changes ?? [];
  const unfit = new Set(await house.ground.apply(changes));
  const { merged, conflicts } = await merge(
    house,
    id,
    changes.filter(({ path }) => unfit.has(path)),
  );
  house.fresh = null;
  if (house.side !== null && merged.length + conflicts.length === 0) return;
  const left = new Set(conflicts);
  const kept = await keepTexts(
    house,
    id,
    changes.filter(({ path }) => left.has(path)),
  );
  const facts: Fact[] = [
    {
      type: 'leftovers.taken_up',
      task: id,
      conflicts,
      count: changes.length,
      ...(conflicts.length === 0 ? {} : { kept }),
      ...(merged.length === 0 ? {} : { merged }),
      ...(house.side === null ? {} : { beside: true }),
    },
  ];
  if (conflicts.length > 0)
    facts.push({ type: 'notice.given', level: 'warning', text: notBack(house, id, { conflicts, kept }) });
  await append(house, facts);
}

/** Work that was made beside others is put together with what they landed; other work only fits or does not. */
async function merge(
  house: House,
  id: string,
  unfit: Change[],
): Promise<{ merged: Change[]; conflicts: string[] }> {
  const { state, ground } = house;
  // What a person has changed and not committed is never mixed into what a commit will hold.
  const ours = ranBeside(state, id) ? unfit.filter(({ path }) => !state.dirty.has(path)) : [];
  if (ours.length === 0) return { merged: [], conflicts: unfit.map(({ path }) => path) };
  const made = await ground.merge(ours);
  const { head } = await ground.head();
  const committed = await ground.committed(
    head,
    made.merged.map(({ path }) => path),
  );
  // After a crash in the middle the path holds both already, and only the commit knows what was there before.
  const merged = made.merged.map((change) => ({ ...change, before: committed.get(change.path) ?? null }));
  const fits = new Set(merged.map(({ path }) => path));
  return { merged, conflicts: unfit.map(({ path }) => path).filter((path) => !fits.has(path)) };
}

/** Whether any attempt of the task ran in a work tree of its own. */
export function ranBeside({ tasks, attempts }: State, id: string): boolean {
  return (tasks.get(id)?.attempts ?? []).some((iteration) => attempts.get(iteration)?.ground);
}

/** A copy of what could not be put back, in the folder of the task's last attempt, for agents and people. */
export async function keepTexts(house: House, id: string, left: Change[]): Promise<Record<string, string>> {
  const iteration = house.state.tasks.get(id)!.attempts.at(-1) ?? house.state.lastIteration;
  const kept: Record<string, string> = {};
  const names = new Set<string>();
  for (const { path, after } of left) {
    const bytes = after === null ? null : await house.ground.read(after);
    if (bytes === null) continue;
    const plain = `not-put-back.${path.replace(/[^\w.-]+/g, '_').slice(-120)}`;
    let name = plain;
    for (let n = 2; names.has(name); n++) name = `${plain}.${n}`;
    names.add(name);
    kept[path] = await house.works.attemptFile(iteration, name, bytes);
  }
  return kept;
}

/** How many paths a notice names. */
const NAMED = 5;

function notBack(
  house: House,
  id: string,
  { conflicts, kept }: { conflicts: string[]; kept: Record<string, string> },
): string {
  const more = conflicts.length > NAMED ? ` and ${conflicts.length - NAMED} more` : '';
  const named = conflicts.slice(0, NAMED).map((path) => {
    const file = kept[path];
    return `${pathWord(path)} (${file === undefined ? 'it had been deleted' : `its earlier text: ${house.sessionDir}/${file}`})`;
  });
  const { status } = house.state.tasks.get(id)!;
  const open = status === 'done' || status === 'review' ? ' So the task is open again, uncharged.' : '';
  return `The earlier work of ${id} could not be put back whole, because files have changed since: ${named.join(', ')}${more}.${open} Its next prompt says so; \`${commandFor(house.state, `ralph why ${id}`)}\` shows it.`;
}

function reversed({ path, before, after }: Change): Change {
  return { path, before: after, after: before };
}
