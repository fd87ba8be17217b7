/** Lands a task that is done: one commit of exactly what it left, or the note that there is nothing to do. */
import { isAbsolute } from 'node:path';
import {
  type AttemptState,
  brokenTogether,
  type Change,
  commandFor,
  type Fact,
  pathWord,
  type TaskState,
  trailersOf,
} from '../../core/index.ts';
import { ownChanges, standing } from '../changes.ts';
import { append, type House } from '../house.ts';
import { syncList } from '../list.ts';
import type { CommitResult } from '../ports.ts';
import { watch } from '../watch.ts';
import { mixedIn, mixedReason } from './beside.ts';
import { offCourse, pauseForSwitch, type Switch } from './branch.ts';
import { gateMarker } from './gate.ts';
import { compared, runGates } from './judge.ts';
import { unfit } from './unfit.ts';

export async function land(house: House, id: string): Promise<void> {
  await syncList(house);
  const task = house.state.tasks.get(id)!;
  const off = await offCourse(house);
  if (off !== null) return awayFromBranch(house, id, off);
  if (task.overtaken && !(await holdsTogether(house, task))) return;
  const fact = await whole(house, task, await landing(house, task));
  const facts: Fact[] = [fact];
  if (fact.type === 'landing.failed') {
    const text = `Task ${id} is done but could not be committed: ${fact.reason.split('\n')[0]!.replace(/[.\s]+$/, '')}. Its verdict stands; the next start tries again.`;
    facts.push({ type: 'notice.given', level: 'warning', text });
  }
  await append(house, facts);
}

/**
 * Others landed since the gates accepted this work, so they are asked about both together. False: they object, and
 * the task is open again, uncharged; or something stopped one, and the next pass asks again.
 */
async function holdsTogether(house: House, task: TaskState): Promise<boolean> {
  const attempt = house.state.attempts.get(task.attempts.at(-1) ?? 0);
  if (attempt === undefined) return true;
  const gated = await runGates(house, attempt);
  if (gated === null) return false;
  const broken = brokenTogether(compared(house, task.baseTree ?? attempt.before.tree, gated.results));
  if (broken.length === 0) return true;
  const { id } = task.def;
  const reason = `it was accepted, but together with what landed since: ${broken.map(({ detail }) => detail).join(' · ')}`;
  const text = `Task ${id} is open again, uncharged: ${reason}`;
  await append(house, [
    { type: 'task.moved', task: id, to: 'todo', reason, by: 'engine' },
    { type: 'notice.given', level: 'warning', text },
  ]);
  return false;
}

/** Between the verdict and the commit, e.g. while gates ran: nothing is committed where nobody asked for it. */
async function awayFromBranch(house: House, id: string, off: Pick<Switch, 'from' | 'to'>): Promise<void> {
  const reason = `the branch was switched from ${off.from.branch ?? 'a detached HEAD'} to ${off.to.branch ?? 'a detached HEAD'} before its commit`;
  const when = `before ${id} was committed`;
  await append(house, [
    { type: 'landing.failed', task: id, reason },
    ...pauseForSwitch(house, { ...off, when, commits: false }),
  ]);
}

/** What was accepted is not all committed while a part of it lies in files that hold a person's own edits. */
async function whole(house: House, task: TaskState, fact: Fact): Promise<Fact> {
  const policy = house.state.policy?.commit ?? 'auto';
  if (fact.type !== 'commit.landed' || policy !== 'auto' || !house.ground.hasGit) return fact;
  const mixed = await mixedIn(house, task);
  if (mixed.length === 0) return fact;
  return { type: 'landing.failed', task: task.def.id, reason: mixedReason(mixed) };
}

async function landing(house: House, task: TaskState): Promise<Fact> {
  const id = task.def.id;
  const byAgent = agentCommit(house, task);
  const landed = (commit: string, paths: string[], by: 'agent' | 'engine' | 'nobody'): Fact => ({
    type: 'commit.landed',
    task: id,
    commit,
    paths,
    by,
  });
  const policy = house.state.policy?.commit ?? 'auto';
  const untouched = async () => {
    const made = await madeBefore(house, task);
    if (made !== null) return landed(made.commit, made.paths, 'engine');
    return byAgent === null ? landed('', [], 'nobody') : landed(byAgent, [], 'agent');
  };
  if (!house.ground.hasGit || policy === 'none' || policy === 'agent') return untouched();
  const own = await ownChanges(house, task, 0);
  const stand = await standing(house, own);
  const overwritten = await changedSince(house, own, stand);
  if (overwritten.length > 0)
    return { type: 'landing.failed', task: id, reason: overwrittenReason(house, overwritten) };
  const paths = await landingPaths(house, task, stand);
  if (paths.length === 0) return untouched();
  const reason = await unfit(house, paths);
  if (reason !== null) return { type: 'landing.failed', task: id, reason };
  const result = await commit(house, task, paths);
  if (result.kind === 'failed')
    return { type: 'landing.failed', task: id, reason: house.redactor.text(result.reason) };
  const missing = await notInHead(
    house,
    result.kind === 'nothing' ? paths : paths.filter((path) => !result.paths.includes(path)),
  );
  if (missing.length > 0)
    return { type: 'landing.failed', task: id, reason: await missingReason(house, missing) };
  if (result.kind === 'nothing') return untouched();
  if (result.hooked) house.fresh = null;
  return landed(result.commit, result.paths, 'engine');
}

/** git and its hooks end when a person ends the run, however long a hook would take. */
async function commit(house: House, task: TaskState, paths: string[]): Promise<CommitResult> {
  const ending = new AbortController();
  const watcher = watch(house, { end: () => ending.abort() });
  try {
    return await house.ground.commit({
      paths,
      message: commitMessage(house, task),
      signal: ending.signal,
      marker: gateMarker(house, task.attempts.at(-1) ?? house.state.lastIteration),
    });
  } finally {
    await watcher.close();
  }
}

/** git's word that nothing was to be committed is evidence to check, like any other. */
async function notInHead(house: House, paths: string[]): Promise<string[]> {
  return paths.length === 0 ? [] : house.ground.uncommitted(paths);
}

async function missingReason(house: House, paths: string[]): Promise<string> {
  const named = paths.slice(0, 5);
  const now = await house.ground.current(named);
  const inner = named.filter((path) => now.get(path)?.endsWith(':160000'));
  if (inner.length === named.length)
    return `git left out of the commit: ${named.map(pathWord).join(', ')}, a repository of its own that is no submodule of this one. Make it one (\`git submodule add\`), or remove its .git and commit its files; then \`${commandFor(house.state, 'ralph run')}\``;
  const files = named
    .map((path) => (/^[\w./@%+:-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`))
    .join(' ');
  const undo = ['assume-unchanged', 'skip-worktree'].map((flag) => `git update-index --no-${flag} ${files}`);
  return `git left out of the commit: ${named.map(pathWord).join(', ')}. Where git was told to overlook it: \`${undo.join(' && ')}\`; else a nested repository or an ignore rule hides it`;
}

/** The last commit the agent made for this task; one of a lost attempt is known by where HEAD went. */
function agentCommit({ state }: House, task: TaskState): string | null {
  for (const iteration of [...task.attempts].reverse()) {
    const attempt = state.attempts.get(iteration);
    const commit = attempt?.commits.at(-1);
    if (commit !== undefined) return commit;
    const head = attempt?.lost ? (attempt.after?.head ?? null) : null;
    if (head !== null && head !== attempt?.before.head) return head;
  }
  return null;
}

/**
 * The commit of an earlier runner that was killed before it could write down that it had landed. Looked
 * for only where HEAD moved since the task's last attempt.
 */
async function madeBefore(
  house: House,
  task: TaskState,
): Promise<{ commit: string; paths: string[] } | null> {
  const last = house.state.attempts.get(task.attempts.at(-1) ?? 0);
  const from = (last?.after ?? last?.before)?.head ?? null;
  if (!house.ground.hasGit || (await house.ground.head()).head === from) return null;
  return house.ground.commitSaying(from, trailersOf(house.state, task));
}

/**
 * Paths of the task that hold something else than its attempts left, and that no commit has: a commit
 * without them would lack work that was accepted, and with them it would take somebody else's along.
 */
async function changedSince(house: House, own: Change[], stand: Change[]): Promise<string[]> {
  if (own.length === stand.length) return [];
  const standing = new Set(stand.map((change) => change.path));
  return house.ground.uncommitted(own.map(({ path }) => path).filter((path) => !standing.has(path)));
}

function overwrittenReason(house: House, paths: string[]): string {
  const named = paths.slice(0, 5).map(pathWord).join(', ');
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : '';
  return `${named}${more} changed after the last attempt, by a person or a gate: commit what it should be (or undo the change), then \`${commandFor(house.state, 'ralph run')}\` lands the rest`;
}

/**
 * What this task's attempts left, what was put back behind them, their notes and logs where git has them,
 * and the task file where git has it.
 */
async function landingPaths(house: House, task: TaskState, stand: Change[]): Promise<string[]> {
  const paths = new Set(stand.map((change) => change.path));
  const noted = new Map<string, Change>();
  for (const iteration of task.attempts) {
    const attempt = house.state.attempts.get(iteration);
    for (const { path } of attempt?.trespass ?? []) if (!isRule(attempt, path)) paths.add(path);
    for (const change of attempt?.noted ?? []) noted.set(change.path, change);
  }
  for (const path of await trackedNotes(house, [...noted.values()])) paths.add(path);
  // A path of a person's that holds exactly what this task left is the task's: nothing of theirs is in it.
  const own = new Set(stand.map((change) => change.path));
  for (const path of house.state.dirty) if (!own.has(path)) paths.delete(path);
  const listPath = house.list?.groundPath ?? null;
  if (listPath !== null) {
    paths.delete(listPath);
    if (house.listTracked && !house.state.dirty.has(listPath)) paths.add(listPath);
  }
  return [...paths];
}

/** One of git's own files, which no commit can hold. */
function isRule(attempt: AttemptState | undefined, path: string): boolean {
  return isAbsolute(path) || /^\.git(\/|$)/.test(path) || attempt?.rules?.[path] !== undefined;
}

async function trackedNotes(house: House, noted: Change[]): Promise<string[]> {
  const left = (await standing(house, noted)).map((change) => change.path);
  return left.length === 0 ? [] : house.ground.tracked(left);
}

/** One conventional commit; the trailers say where it comes from. */
function commitMessage(house: House, task: TaskState): string {
  const kind = /^(fix|bug|repair|correct)\b/i.test(task.def.title) ? 'fix' : 'feat';
  const title = task.def.title.replace(/\s+/g, ' ').trim().slice(0, 64) || task.def.id;
  return `${kind}: ${title}\n\n${trailersOf(house.state, task).join('\n')}\n`;
}
