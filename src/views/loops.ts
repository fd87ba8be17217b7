/** Loops: the work trees of a project, who works in each, and what is to be done next about it. */
import { isDaySpent, loopCommand, pathWord, type State } from '../core/index.ts';
import { type MovedJson, movedBranches, movedLines } from './moved.ts';
import { afterDay, type LiveInfo } from './next.ts';
import { statusDetail, tasksSummary } from './status.ts';
import { count, duration, iso, oneLine } from './words.ts';

/** Commits of its branch that are not where they belong; null: there is no such place, or nobody knows. */
export interface BranchCommits {
  /** Those that the branch it lands on has not. */
  unmerged: number | null;
  /** Those that its upstream has not. */
  unpushed: number | null;
}

/** A landing was killed while its files were entered here; `files`: those that lie there, none for a lock of git's. */
export interface HalfEntered {
  checkout: string;
  files: readonly string[];
}

/** What the registry knows of a loop. */
export interface LoopFacts extends BranchCommits {
  id: string;
  session: string | null;
  /** Short, as the branch that its work is to land on; null: none. */
  branch: string | null;
  onto: string | null;
  worktree: string;
  standing: 'open' | 'queued' | 'landed' | 'handed_over' | 'needs_review' | 'discarded' | 'removed';
  parked: { why: string; files: readonly string[]; next: string | null } | null;
  /** The agent that was hired for the conflict of its landing; `settled`: what came of it landed, or is to. */
  hired: { agent: string; session: string | null; files: readonly string[]; settled: string | null } | null;
  /** Why it cannot go on as it lies: its work tree or its branch is gone. */
  damage: string | null;
  /** What a landing of it that was killed left in checkouts; absent: nobody looked. */
  halfEntered?: readonly HalfEntered[];
  /** Branches that agents moved which were hired for its landings; absent: nobody looked. */
  movedByHired?: readonly MovedJson[];
  /** Whether a branch (by its full name) still names this commit; absent: nobody looked. */
  stillAt?(ref: string, commit: string): boolean;
  /** Commits on its branch that came after its landing, and are nowhere else. */
  later: number;
}

/** A loop as `ralph loops --json` shows it, and with fewer names `.ralph/loops.json`. */
export interface LoopJson extends BranchCommits {
  loop_id: string;
  session_id: string | null;
  /** It hears people for all loops. */
  primary: boolean;
  branch: string | null;
  /** The branch that its work lands on; null: it works on that itself, or nobody knows. */
  onto: string | null;
  /** null: a branch that is checked out nowhere, and no loop that is known. */
  worktree: string | null;
  /**
   * How its session stands; `begun` before it has one, and once it is over what became of its work. `unknown`: a branch
   * of a loop's name that nothing shows to be ours.
   */
  state: string;
  landed: boolean;
  /** The process that works in it. */
  runner: number | null;
  tasks: { done: number; total: number };
  open_questions: number;
  /** The agent that was hired for the conflict of its landing. */
  hired?: { agent: string; session_id: string | null; files: string[]; settled: boolean };
  last_at: string | null;
  /** Where files of its landing lie half entered, as that was killed; `next` completes it. */
  half_entered?: HalfEntered[];
  /** Branches that attempts of its session moved, or agents that were hired for its landing, and that are still where they were moved to. */
  moved_branches?: MovedJson[];
  /** The project journal had lost it, and by this evidence it was taken back just now. */
  taken_back?: string;
  /** What a person can do about it next. */
  next: string;
}

export interface LoopLook {
  loop: LoopFacts;
  /** null: no session has begun in it. */
  state: State | null;
  live: LiveInfo;
  primary: boolean;
}

/** The main checkout's own loop. */
const MAIN = 'main';

export function loopJson({ loop, state, live, primary }: LoopLook): LoopJson {
  const { completed, total } = state === null ? { completed: 0, total: 0 } : tasksSummary(state);
  const detail = state === null ? 'begun' : statusDetail(state);
  const row = {
    loop_id: loop.id,
    session_id: loop.session,
    primary,
    branch: loop.branch,
    onto: loop.onto,
    worktree: loop.worktree,
    state: loop.standing === 'open' ? detail : loop.standing,
    landed: loop.id === MAIN ? state?.run?.stopped?.code === 0 : loop.standing === 'landed',
    unmerged: loop.unmerged,
    unpushed: loop.unpushed,
    runner: live.runner?.pid ?? null,
    tasks: { done: completed, total },
    open_questions: state?.openQuestions.size ?? 0,
    last_at: state === null || state.seq === 0 ? null : iso(state.lastAt),
    ...hiredJson(loop),
    ...movedIn(loop, state),
    ...halfJson(loop),
  };
  const isHeld = row.runner === null && state?.run?.stopped?.code === 1 && isDaySpent(state);
  return {
    ...row,
    next:
      lostWords(loop, state, row.runner) ??
      nextOf(loop, row, isHeld ? (goOn) => afterDay(state, `\`${goOn}\``) : (goOn) => goOn),
  };
}

/** Its branch lost commits: the pause says what brings them back, and how it goes on. */
function lostWords(
  { standing, damage }: LoopFacts,
  state: State | null,
  runner: number | null,
): string | null {
  const paused = state?.paused ?? null;
  const isOther = runner !== null || standing !== 'open' || damage !== null;
  return isOther || !paused?.lost ? null : oneLine(paused.text, 900);
}

function movedIn(
  { stillAt, movedByHired = [] }: LoopFacts,
  state: State | null,
): Pick<LoopJson, 'moved_branches'> {
  if (stillAt === undefined) return {};
  const all = [...(state === null ? [] : movedBranches(state)), ...movedByHired];
  const moved = all.filter(({ branch, to }) => stillAt(`refs/heads/${branch}`, to));
  return moved.length === 0 ? {} : { moved_branches: moved };
}

function halfJson({ halfEntered = [] }: LoopFacts): Pick<LoopJson, 'half_entered'> {
  return halfEntered.length === 0 ? {} : { half_entered: [...halfEntered] };
}

/** One sentence for each, without its stop; what to do stands behind it. */
export function halfWords(loop: string, { checkout, files }: HalfEntered): string {
  const more = files.length > 3 ? ` and ${files.length - 3} more` : '';
  const named = files.slice(0, 3).map((path) => oneLine(pathWord(path), 100));
  const what =
    files.length === 0
      ? 'a lock of git lies there'
      : `${count(files.length, 'file')} of it ${files.length === 1 ? 'lies' : 'lie'} there without its commit: ${named.join(', ')}${more}`;
  return `a landing of loop ${loop} was broken off in ${checkout}, and ${what}`;
}

/** What has the name of a loop's branch and cannot be told to be ours. */
export function strayJson(stray: {
  id: string;
  branch: string;
  worktree: string | null;
  why: string;
  next: string;
}): LoopJson {
  const { id, branch, worktree, why, next } = stray;
  const nobody = { session_id: null, primary: false, runner: null, last_at: null };
  const nothing = { landed: false, unmerged: null, unpushed: null, open_questions: 0 };
  const tasks = { done: 0, total: 0 };
  return {
    loop_id: id,
    ...nobody,
    branch,
    onto: null,
    worktree,
    state: 'unknown',
    ...nothing,
    tasks,
    next: `${why}; ${next}`,
  };
}

function hiredJson({ hired }: LoopFacts): Pick<LoopJson, 'hired'> {
  if (hired === null) return {};
  const { agent, session, files, settled } = hired;
  return { hired: { agent, session_id: session, files: [...files], settled: settled !== null } };
}

function hiredWords({ hired }: LoopJson): string {
  if (hired === undefined) return '';
  const { agent, session_id, files, settled } = hired;
  const session = session_id === null ? '' : ` in session ${session_id}`;
  const more = files.length > 3 ? ` and ${files.length - 3} more` : '';
  const what = settled ? 'settled the conflict of' : 'was hired for the conflict of';
  return `\n  ${oneLine(agent, 60)} ${what} ${files.slice(0, 3).map(pathWord).join(', ')}${more}${session}`;
}

function nextOf(
  { id, standing, damage, parked, later }: LoopFacts,
  row: Omit<LoopJson, 'next'>,
  whenFree: (goOn: string) => string,
): string {
  const ralph = (command: string) => loopCommand(id === MAIN ? null : id, command);
  const goOn = ralph(row.state === 'paused' ? 'ralph resume' : 'ralph run');
  const asked = row.open_questions > 0 ? `ralph inbox --session ${row.session_id}` : null;
  if (row.runner !== null) return asked ?? (id === MAIN ? 'ralph status' : `ralph status @${id}`);
  if (damage !== null)
    return `${damage}; ${standing === 'landed' ? afterLanding(id, later, row.unmerged) : goOn}`;
  if (row.half_entered !== undefined) return `ralph loops merge ${id}`;
  if (standing === 'needs_review') {
    const unnamed = (parked?.files ?? []).filter((path) => parked?.why.includes(pathWord(path)) !== true);
    const files = unnamed.length === 0 ? '' : ` (${unnamed.slice(0, 5).map(pathWord).join(', ')})`;
    const how = parked?.next ?? `mend it on its branch, then ralph loops merge ${id}`;
    return `${oneLine(parked?.why ?? 'it could not land', 200)}${files}. ${oneLine(how, 300)}`;
  }
  if (standing === 'landed') return afterLanding(id, later, row.unmerged);
  if (standing === 'queued') return `ralph loops merge ${id}`;
  if (id === MAIN && row.state === 'completed') return 'nothing is left to do';
  if (row.state === 'completed') return `ralph loops merge ${id}`;
  if (row.state === 'aborted') return id === MAIN ? 'ralph run --reopen' : `ralph loops discard ${id} --yes`;
  return asked ?? whenFree(goOn);
}

/** Its work tree is needed no more, unless its branch holds what the one that it landed on does not. */
function afterLanding(id: string, later: number, unmerged: number | null): string {
  if (later > 0)
    return `${count(later, 'commit')} on its branch came after its landing; ralph loops merge ${id}`;
  if (unmerged)
    return `what it landed was taken out again; ralph loops merge ${id} brings it back, ralph loops discard ${id} puts it aside`;
  return 'ralph loops prune';
}

/** Files that nothing of git keeps, for a sentence. */
export function goneWords(ignored: readonly string[]): string {
  const named = ignored.slice(0, 5).map((path) => oneLine(pathWord(path), 100));
  const more = ignored.length > named.length ? ` and ${ignored.length - named.length} more` : '';
  return `what git ignores in its work tree: ${named.join(', ')}${more}`;
}

export function loopsText(rows: readonly LoopJson[], now: number): string {
  if (rows.length === 0)
    return 'There is no loop here; `ralph run "what you want" --worktree NAME` starts one beside your checkout.';
  return rows
    .map((row) => {
      const word = row.runner === null ? row.state.replace('_', ' ') : `running (pid ${row.runner})`;
      const asks = row.open_questions > 0 ? ` · ${count(row.open_questions, 'open question')}` : '';
      const sign = row.last_at === null ? '' : ` · last sign ${duration(now - Date.parse(row.last_at))} ago`;
      const hears = row.primary ? ' · hears people' : '';
      const branch = row.branch === null ? '' : ` · ${row.branch}`;
      const back = row.taken_back === undefined ? '' : `\n  taken back by ${row.taken_back}`;
      const moved = movedLines(row.moved_branches ?? [], (command) =>
        loopCommand(row.loop_id === MAIN ? null : row.loop_id, command),
      )
        .map((line) => `\n  ${line}`)
        .join('');
      const half = (row.half_entered ?? []).map((one) => `\n  ${halfWords(row.loop_id, one)}`).join('');
      const tasks = `${row.tasks.done} of ${count(row.tasks.total, 'task')}`;
      return `${row.loop_id} · ${word} · ${tasks}${asks}${sign}${hears}${branch}${commitWords(row)} · ${row.worktree ?? 'in no work tree'}${hiredWords(row)}${back}${moved}${half}\n  next: ${row.next}`;
    })
    .join('\n');
}

function commitWords({ unmerged, unpushed }: BranchCommits): string {
  const words = [
    ...(unmerged ? [`${count(unmerged, 'commit')} not merged`] : []),
    ...(unpushed ? [`${count(unpushed, 'commit')} not pushed`] : []),
  ];
  return words.length === 0 ? '' : ` · ${words.join(', ')}`;
}

/** The loops beside the main checkout in one line; null where there are none. */
export function loopsLine(rows: readonly LoopJson[]): string | null {
  const beside = rows.filter(({ loop_id }) => loop_id !== MAIN);
  if (beside.length === 0) return null;
  const named = beside.slice(0, 8).map(({ loop_id, runner, state }) => {
    return `${loop_id} (${runner === null ? state.replace('_', ' ') : 'running'})`;
  });
  const more = beside.length > named.length ? ` and ${beside.length - named.length} more` : '';
  return `Loops:     ${named.join(', ')}${more}; ralph loops`;
}
