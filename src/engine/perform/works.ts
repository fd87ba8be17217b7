/**
 * The session's works around one attempt: how they lie before it, what it left in its cycle's folder, and
 * what of that was not its to write, which is put back. Teams without such works pay nothing for it.
 */
import { join, relative } from 'node:path';
import {
  type AttemptState,
  type CycleWorks,
  cutsAnew,
  type Fact,
  graphAround,
  isFree,
  isTerminal,
  itemKey,
  keepsWorks,
  MODES,
  mayWriteWork,
  missingWorks,
  ownStaleReports,
  partFaults,
  pathWord,
  reportOf,
  reportPath,
  type Trespass,
  type WorkRef,
} from '../../core/index.ts';
import { append, type House } from '../house.ts';
import type { CycleCall } from '../ports-cycle.ts';

type Marks = Record<string, string>;

/** How the works lay when the last attempt of each house began: after a crash they are read from the store. */
const lately = new WeakMap<House, { sha256: string; marks: Marks }>();

/** How the works lie when an attempt begins, and their paths; null where the team writes none. */
export async function worksBefore(house: House): Promise<{ ref: WorkRef; paths: string[] } | null> {
  const { state } = house;
  if (!keepsWorks(state)) return null;
  let marks = await house.cycles.marks();
  // The plan is carried last: without it the folder of the new cycle is not whole yet.
  if (state.phase === 'REPLANNING' && marks[`iterations/${state.cycle}/plan.md`] === undefined) {
    await beginCycle(house);
    marks = await house.cycles.marks();
  }
  const ref = await house.works.put('session-works.json', JSON.stringify(marks));
  lately.set(house, { sha256: ref.sha256, marks });
  return { ref, paths: Object.keys(marks) };
}

async function beginCycle({ state, cycles }: House): Promise<void> {
  const open = [...state.tasks.values()].filter(({ status }) => !isTerminal(status));
  await cycles.begin(state.cycle, {
    tasks: open.map(({ def }) => def),
    notes: state.cycleWork.carried,
    most: state.policy?.limits.maxCarryIterations ?? 2,
  });
}

export interface LeftWorks {
  works: CycleWorks | null;
  trespass: Trespass[];
}

/** What an attempt did to the works; what its mode may not write is as it was. */
export async function worksAfter(house: House, attempt: AttemptState): Promise<LeftWorks> {
  const before = await marksOf(house, attempt.session);
  if (before === null) return { works: null, trespass: [] };
  const found = await house.cycles.marks();
  const changed = changedIn(before, found);
  const trespass = await putBack(house, attempt, { before, found, changed });
  const after = trespass.length === 0 ? found : await house.cycles.marks();
  const { item } = attempt;
  const { cycle, tasks } = house.state;
  const cut = cutOf(house, attempt, { before, after });
  const done = [...tasks.values()].filter(({ status }) => status === 'done');
  const read = await house.cycles.read({
    item,
    cycle,
    before,
    taken: new Set(done.filter((task) => !isFree(house.state, task)).map(({ def }) => def.id)),
    finished: new Set(done.map(({ def }) => def.id)),
    ...(cut === null ? {} : { cut }),
  });
  const folder = `iterations/${cycle}/`;
  const owes = MODES[item.mode].mustWrite.length > 0;
  const present = (owes ? Object.keys(after) : []).flatMap((path) =>
    path.startsWith(folder) ? [path.slice(folder.length)] : [],
  );
  const written = (after === found ? changed : changedIn(before, after)).flatMap((path) => {
    const sha256 = after[path];
    const theirs = isOfAnother(house, attempt, path.slice(folder.length));
    return sha256 === undefined || theirs ? [] : [{ path, sha256 }];
  });
  const task = cut === null ? undefined : tasks.get(item.task!);
  const odd = task === undefined ? [] : partFaults(house.state, task, read.tasks ?? []);
  const faults = [...missingWorks(item, present), ...odd, ...read.faults];
  return { works: { ...read, written, faults }, trespass };
}

async function marksOf(house: House, sha256: string | null): Promise<Marks | null> {
  const last = lately.get(house);
  if (last !== undefined && last.sha256 === sha256) return last.marks;
  const kept = sha256 === null ? null : await house.works.get(sha256);
  return kept === null ? null : (JSON.parse(Buffer.from(kept).toString('utf8')) as Marks);
}

/** What is to take the place of a task: new files of this call or an earlier one, or named after the task. */
function cutOf(
  { state }: House,
  { item }: AttemptState,
  { before, after }: { before: Marks; after: Marks },
): NonNullable<CycleCall['cut']> | null {
  if (!cutsAnew(item)) return null;
  const folder = `iterations/${state.cycle}/tasks/`;
  const key = itemKey(item);
  const wrote = new Set(Object.keys(after).filter((path) => before[path] !== after[path]));
  for (const attempt of state.attempts.values())
    if (itemKey(attempt.item) === key) for (const { path } of attempt.works?.written ?? []) wrote.add(path);
  const paths = Object.keys(after).filter((path) => {
    const id =
      path.startsWith(folder) && path.endsWith('.md') ? path.slice(folder.length, -'.md'.length) : '';
    return id !== '' && !state.tasks.has(id) && (wrote.has(path) || id.startsWith(item.subject));
  });
  const ids = paths.map((path) => path.slice(folder.length, -'.md'.length));
  return { paths, around: graphAround(state, item.subject, ids) };
}

/** What is there and was not, or not like this, and then what is gone. */
function changedIn(before: Marks, after: Marks): string[] {
  const changed: string[] = [];
  // Hundreds of works lie there, and a call changes one or two.
  for (const path in after) if (before[path] !== after[path]) changed.push(path);
  for (const path in before) if (after[path] === undefined) changed.push(path);
  return changed;
}

async function putBack(
  house: House,
  attempt: AttemptState,
  { before, found, changed }: { before: Marks; found: Marks; changed: readonly string[] },
): Promise<Trespass[]> {
  const { state } = house;
  const { item, iteration } = attempt;
  const folder = `iterations/${state.cycle}/`;
  const trespass: Trespass[] = [];
  for (const path of changed) {
    const own = path.startsWith(folder) ? path.slice(folder.length) : null;
    if (own !== null && isOfAnother(house, attempt, own)) continue;
    // A new file with the id of a finished task is said to be one, not taken away in silence.
    const open = before[path] === undefined || isOpen(house, item.mode, own ?? '');
    if (own !== null && mayWriteWork(state, item, own) && open) {
      if (await partOneKept(house, attempt, { path, before: before[path] })) {
        trespass.push(violation(path, `A reviewer changed part 1 of ${path}; it was put back.`, null));
      }
      continue;
    }
    const text = found[path] === undefined ? null : await house.works.get(found[path]);
    const name = `works.${trespass.length + 1}.rejected`;
    const keptAs = text === null ? null : await house.works.attemptFile(iteration, name, text);
    await house.cycles.put(path, before[path] ?? null);
    const what = before[path] === undefined ? 'removed' : 'put back';
    trespass.push(
      violation(path, `${pathWord(path)} is not for ${item.mode} to write; it was ${what}.`, keptAs),
    );
  }
  return trespass;
}

/** What an attempt that ran at the same time may write is that one's. */
function isOfAnother({ state }: House, { iteration, wave, ground }: AttemptState, path: string): boolean {
  if (ground === null) return false;
  for (const other of state.attempts.values()) {
    if (other.wave !== wave || other.iteration === iteration || other.ground === null) continue;
    if (mayWriteWork(state, other.item, path)) return true;
  }
  return false;
}

/** What is agreed on stays: the file of a task that is over, and in a breakdown or a cut that of any task. */
function isOpen(house: House, mode: AttemptState['item']['mode'], path: string): boolean {
  if (!path.startsWith('tasks/')) return true;
  const task = house.state.tasks.get(path.slice('tasks/'.length, -'.md'.length));
  if (task === undefined) return true;
  if (isFree(house.state, task)) return mode !== 'SPLIT_TASK';
  return mode !== 'TASK_BREAKDOWN' && mode !== 'SPLIT_TASK' && task.status !== 'done';
}

/** Part 1 is the executor's, whatever a reviewer adds below it. */
async function partOneKept(
  house: House,
  { item }: AttemptState,
  { path, before }: { path: string; before: string | undefined },
): Promise<boolean> {
  if (MODES[item.mode].role !== 'reviewer' || before === undefined) return false;
  return house.cycles.keepPartOne(path, before);
}

function violation(path: string, detail: string, keptAs: string | null): Trespass {
  return { path, what: 'role_violation', detail, keptAs };
}

/**
 * Approved notes go to where people read them, whatever the librarian made of that: what is missing is
 * copied, what lay there before is never overwritten, and where the engine commits they are one commit. Done
 * before the verdict is written, and again after a crash, when it finds everything there.
 */
export async function promote(house: House, { item, changes }: AttemptState): Promise<void> {
  if (item.mode !== 'PROMOTE') return;
  const { ground, state } = house;
  const dir = join(ground.cwd, '.docs');
  const made = changes.filter((change) => change.before === null).map(({ path }) => join(ground.root, path));
  const { staged, approved } = state.cycleWork;
  const { written, conflicts, refused } = await house.cycles.promote(state.cycle, approved ?? staged, {
    dir,
    made: new Set(made),
  });
  house.fresh = null;
  const paths = [...made, ...[...written, ...conflicts].map((path) => join(dir, path))];
  const failed = await commitNotes(house, [...new Set(paths.map((path) => relative(ground.root, path)))]);
  const beside = `Something else lay in .docs/ already, so these notes lie beside it as .incoming.md: ${some(conflicts)}. Merge them by hand.`;
  const kept = `Notes that cannot be promoted stay in the session: ${some(refused)}.`;
  const told = [conflicts.length > 0 ? beside : '', refused.length > 0 ? kept : '', failed];
  const fresh = told.filter((text) => text !== '' && !state.notices.some((given) => given.text === text));
  await append(
    house,
    fresh.map((text) => ({ type: 'notice.given', level: 'warning', text })),
  );
}

function some(names: readonly string[]): string {
  return `${names.slice(0, 5).map(pathWord).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
}

/** Why the notes are in no commit, in words; empty where they are, or where the engine does not commit. */
async function commitNotes(house: House, paths: string[]): Promise<string> {
  const commit = house.state.policy?.commit;
  if (paths.length === 0 || (commit !== 'auto' && commit !== 'engine')) return '';
  const message = `docs: notes from session ${house.sessionId}\n\nRalph-Session: ${house.sessionId}\n`;
  const done = await house.ground.commit({ paths, message });
  return done.kind === 'failed'
    ? `The promoted notes lie in .docs/ and could not be committed: ${done.reason.split('\n')[0]}`
    : '';
}

/** A session that nobody could review still has a review, which says so. */
export async function reviewAnyway(house: House, facts: readonly Fact[]): Promise<void> {
  const passed = facts.some(
    (fact) => fact.type === 'call.passed_over' && fact.item.mode === 'SESSION_REVIEW',
  );
  if (passed) await house.cycles.review(house.state.cycle, [...house.state.tasks.values()]);
}

/** What is known of a task that nobody worked on any more, where no reviewer writes it down. */
export async function reportStale(house: House, facts: readonly Fact[]): Promise<void> {
  const { state, cycles } = house;
  for (const task of ownStaleReports(state, facts)) {
    const attempt = Math.max(1, task.runs);
    await cycles.report(`iterations/${state.cycle}/${reportPath(task.def.id, attempt)}`, {
      task: task.def,
      cycle: state.cycle,
      attempt,
      at: task.movedAt,
      files: [],
      summary: `Nobody reported on this task: it was marked as ${task.reason}.`,
      gates: [],
      review: {
        verdict: 'Failed',
        feedback: 'See what stands in the work tree for it, and begin there; where it was too big, cut it.',
      },
    });
  }
}

/** After the verdict: the report of a task says what was found, whoever left it out. */
export async function completeReport(house: House, iteration: number): Promise<void> {
  const attempt = house.state.attempts.get(iteration);
  if (attempt?.works == null || attempt.verdict === null || attempt.verdict.value === 'died') return;
  const path = reportOf(house.state, attempt.item);
  const task = house.state.tasks.get(attempt.item.task ?? '');
  if (path === null || task === undefined) return;
  const reviewed = MODES[attempt.item.mode].role === 'reviewer';
  if (reviewed && attempt.verdict.value !== 'accepted') return;
  const late = attempt.item.mode === 'TIMEOUT_FAIL';
  const feedback = late ? (attempt.claim?.result?.feedback ?? '') : task.review.feedback;
  await house.cycles.report(`iterations/${house.state.cycle}/${path}`, {
    task: task.def,
    cycle: house.state.cycle,
    attempt: Math.max(1, task.runs),
    at: attempt.endedAt ?? house.clock.now(),
    files: attempt.changes.map((change) => change.path),
    summary: attempt.claim?.result?.summary || attempt.verdict.reason,
    gates: attempt.gates.map(({ gate, outcome }) => ({ name: gate, outcome })),
    ...(reviewed ? { review: { verdict: late || task.rework ? 'Failed' : 'Qualified', feedback } } : {}),
  });
}
