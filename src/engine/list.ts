/**
 * Keeps the user's task file and the state in step: what a person changed becomes facts, what
 * verdicts decided becomes marks. The journal says what we last wrote, so neither undoes the other.
 */
import { type Fact, isTerminal, Problem, type State, type TaskDef, type TaskState } from '../core/index.ts';
import { append, type House } from './house.ts';
import type { ListReading } from './ports.ts';

/** Reads the list at a boundary; a file that cannot be read keeps the last good tasks. */
export async function readList(house: House): Promise<void> {
  if (!house.list) return;
  const reading = await house.list.read();
  if (reading.kind === 'list') {
    if (reading.sha256 === house.state.sourceSha) return;
    await append(house, (state) => listFacts(state, house, reading));
    // A mark that was not taken is taken back in the file: it must not look as if it counted.
    const notTaken = ({ def, status }: TaskState) => isTerminal(def.status) && !isTerminal(status);
    if ([...house.state.tasks.values()].some(notTaken)) await syncList(house);
    return;
  }
  if (house.state.tasks.size === 0) throw new Problem(listProblem(house, reading));
  const path = house.list.source.path ?? 'the task list';
  const { size } = house.state.tasks;
  const text = `${path} is ${reading.kind}; the ${size === 1 ? 'task read before is' : `${size} tasks read before are`} kept.`;
  if (!house.state.notices.some((notice) => notice.text === text)) {
    await append(house, [{ type: 'notice.given', level: 'warning', text }]);
  }
}

/** What is wrong with a list that has no last good copy. */
function listProblem(house: House, reading: Exclude<ListReading, { kind: 'list' }>) {
  if (reading.kind === 'unreadable') return reading.problem;
  const path = house.list?.source.path ?? 'the task list';
  const empty = reading.kind === 'empty';
  return {
    code: empty ? 'tasks.empty' : 'tasks.missing',
    what: empty ? `${path} holds no task` : `${path} is not there`,
    why: `${empty && reading.why !== undefined ? `${reading.why} ` : ''}Ralph stops only when every task is done, and no task is not the same as done.`,
    fix: empty
      ? `${reading.fix ?? 'Add at least one task'}, or give an objective: ralph run "what you want".`
      : 'Name another file with --tasks.',
    at: path,
  };
}

type ListText = Extract<ListReading, { kind: 'list' }>;

function listFacts(state: State, house: House, reading: Extract<ListReading, { kind: 'list' }>): Fact[] {
  const set = reading.tasks.filter((def) => !sameDef(state.tasks.get(def.id)?.def, def));
  const present = new Set(reading.tasks.map((def) => def.id));
  const gone = [...state.tasks.keys()].filter((id) => !present.has(id) && !isOurs(id));
  const source = { ...house.list!.source, reviewed: reading.reviewed };
  const read: Fact = { type: 'tasks.read', source, sha256: reading.sha256, set, gone, by: 'person' };
  return [
    { ...read, ...unreadIn(reading) },
    ...unreadNotices(state, source.path, reading),
    ...set.flatMap((def) => vouchedNotice(state, house, def)),
  ];
}

function unreadIn({ unread = [] }: ListText): { unread?: string[] } {
  return unread.length === 0 ? {} : { unread };
}

/** What may be meant as tasks and is none stays in sight, also where nobody saw the start of the run. */
function unreadNotices(state: State, path: string | null, { unread = [] }: ListText): Fact[] {
  const texts = unread.map((text) => `${path ?? 'the task list'}: ${text}`);
  const news = texts.filter((text) => !state.notices.some((given) => given.text === text));
  return news.map((text) => ({ type: 'notice.given', level: 'warning', text }));
}

/** The mark is an agent's own, committed by it and brought back since: a person has to say that they mean it. */
function vouchedNotice(state: State, house: House, { id, status }: TaskDef): Fact[] {
  const known = state.tasks.get(id);
  if (!isTerminal(status) || !known || known.vouched === null || known.def.status === status) return [];
  const path = house.list?.source.path ?? 'the task list';
  const text = `${path} says that ${id} is ${status}, as a commit of iteration ${known.vouched} does: that is the agent's own word and was not verified, so ${id} stays open and its mark is taken back. If you have checked it yourself, mark it again; then it counts.`;
  return [{ type: 'notice.given', level: 'warning', text }];
}

/** Tasks the engine itself made stand in no file. */
function isOurs(id: string): boolean {
  return id === 'objective' || /^feedback(-\d+)?$/.test(id);
}

function sameDef(known: TaskDef | undefined, read: TaskDef): boolean {
  return known !== undefined && JSON.stringify(known) === JSON.stringify(read);
}

/** Writes the marks that verdicts earned since the file was last written. */
export async function syncList(house: House): Promise<void> {
  const { list } = house;
  if (!list) return;
  const due = [...house.state.tasks.values()].filter((task) => !isOurs(task.def.id) && isDue(task));
  if (due.length === 0) return;
  await list.mark(due);
  const reading = await list.read();
  if (reading.kind !== 'list') return;
  const unsaid = due.filter(({ status, def }) => {
    const said = reading.tasks.find(({ id }) => id === def.id)?.status;
    return status === 'cancelled' && said !== undefined && said !== 'cancelled';
  });
  await append(house, (state) => {
    const set = reading.tasks.filter((def) => !sameDef(state.tasks.get(def.id)?.def, def));
    const news = set.length > 0 || reading.sha256 !== state.sourceSha;
    const source = { ...list.source, reviewed: reading.reviewed };
    const read: Fact = {
      type: 'tasks.read',
      source,
      sha256: reading.sha256,
      set,
      gone: [],
      by: 'engine',
      ...unreadIn(reading),
    };
    return [...(news ? [read] : []), ...unsaid.flatMap((task) => unsaidNotice(state, house, task))];
  });
}

/** Said once: the file has no sign for it, so only our own records keep the task from being taken up again. */
function unsaidNotice(state: State, house: House, { def }: TaskState): Fact[] {
  const path = house.list?.source.path ?? 'the task list';
  const text = `${def.id} is cancelled, and ${path} has no sign for that where it stands: Ralph remembers it in its sessions (\`ralph tasks\` shows it). Take the task out of the list, or mark it there yourself.`;
  if (state.notices.some((given) => given.text === text)) return [];
  return [{ type: 'notice.given', level: 'warning', text }];
}

/** Writes at once that a person cancelled a task, called it done, or opened it again: no verdict would come to do it. */
export async function syncSaid(house: House): Promise<void> {
  const isNews = ({ status, def, landed }: TaskState) =>
    (status === 'cancelled') !== (def.status === 'cancelled') ||
    (status === 'done' && landed === 'landed' && def.status !== 'done');
  if ([...house.state.tasks.values()].some((task) => isDue(task) && isNews(task))) await syncList(house);
}

/** True when the file does not say yet what the state holds. */
function isDue(task: TaskState): boolean {
  const { status, def } = task;
  if ((status === 'done') !== (def.status === 'done')) return true;
  if (status === 'cancelled' && def.status !== 'cancelled') return true;
  if (def.status === 'cancelled' && !isTerminal(status)) return true;
  const { review } = task.def;
  if (!review) return false;
  const wanted = fileReview(task);
  return (
    review.status !== wanted.status || review.count !== wanted.count || review.feedback !== wanted.feedback
  );
}

/** The review fields the file should carry for this task. */
export function fileReview(task: TaskState): NonNullable<TaskDef['review']> {
  const { count, feedback } = task.review;
  if (task.status === 'done')
    return { status: task.review.status === null ? null : 'approved', count, feedback };
  if (task.status === 'review') return { status: 'needs_review', count, feedback };
  return {
    status: task.rework
      ? 'changes_requested'
      : task.def.review!.status === 'needs_review'
        ? null
        : task.def.review!.status,
    count,
    feedback,
  };
}
