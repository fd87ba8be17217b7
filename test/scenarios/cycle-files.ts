/**
 * The works of a session in memory, in the plainest form that means the same: a task is its definition as
 * JSON, a question is a line that ends with `?`, an answer one that begins with `!`, and a line `fault: …`
 * makes whatever holds it invalid.
 */
import type { CycleWorks, TaskDef } from '../../src/core/index.ts';
import type { CycleCall, CycleFiles } from '../../src/engine/index.ts';

type Files = Record<string, string>;

export interface CycleStore {
  session: Files;
  works: Record<string, string>;
  sha(text: string): string;
  task(given: Partial<TaskDef> & { id: string }, order: number): TaskDef;
}

export function cycleFiles(store: CycleStore): CycleFiles {
  const { session, works, sha } = store;
  return {
    guardrails: async () => '',
    async marks() {
      for (const text of Object.values(session)) works[sha(text)] = text;
      return Object.fromEntries(Object.entries(session).map(([path, text]) => [path, sha(text)]));
    },
    async put(path, hash) {
      if (hash === null) delete session[path];
      else session[path] = works[hash]!;
    },
    read: async (call) => readWorks(store, call),
    async defined(cycle) {
      const folder = `iterations/${cycle}/tasks/`;
      const paths = Object.keys(session).filter((path) => path.startsWith(folder));
      return new Set(paths.map((path) => path.slice(folder.length, -'.md'.length)));
    },
    async keepPartOne(path, before) {
      const first = (text: string) => text.split('PART 2')[0]!;
      const [was, now] = [works[before]!, session[path] ?? ''];
      if (first(was) === first(now)) return false;
      session[path] = first(was) + now.slice(first(now).length);
      return true;
    },
    async report(path, { summary, review }) {
      session[path] ??= `PART 1 ${summary}\n`;
      if (review && !session[path].includes('PART 2'))
        session[path] += `PART 2 ${review.verdict} ${review.feedback}\n`;
    },
    async begin(cycle, { tasks, notes }) {
      for (const path of notes)
        session[`iterations/${cycle}/${path}`] ??= session[`iterations/${cycle - 1}/${path}`]!;
      for (const def of tasks) session[`iterations/${cycle}/tasks/${def.id}.md`] ??= JSON.stringify(def);
      session[`iterations/${cycle}/plan.md`] ??= session[`iterations/${cycle - 1}/plan.md`] ?? '';
    },
    async promote(_cycle, staged) {
      return { written: staged.map((path) => path.replace('knowledge/', '')), conflicts: [], refused: [] };
    },
    async review(cycle) {
      session[`iterations/${cycle}/review.md`] ??= 'Gaps Identified: nobody reviewed';
    },
  };
}

function readWorks({ session, works, task }: CycleStore, call: CycleCall): CycleWorks {
  const { item, cycle, before, cut } = call;
  const folder = `iterations/${cycle}/`;
  const own = Object.entries(session).filter(([path]) => path.startsWith(folder));
  const below = (name: string) => own.filter(([path]) => path.startsWith(folder + name));
  const faults = own.flatMap(([, text]) => text.match(/(?<=^fault: ).*$/gm) ?? []);
  const read: CycleWorks = { written: [], faults };
  const { mode } = item;
  if (mode === 'TASK_BREAKDOWN' || mode === 'REBREAKDOWN')
    read.tasks = below('tasks/').flatMap(([, text], order) =>
      text.startsWith('{') ? [task(JSON.parse(text), order)] : [],
    );
  if (cut) read.tasks = cut.paths.map((path, order) => task(JSON.parse(session[path]!), order));
  if (item.role === 'questioner') {
    const open = (text: string) => (text.match(/\?$/gm) ?? []).length - (text.match(/^!/gm) ?? []).length;
    const now = below('questions/').reduce((sum, [, text]) => sum + open(text), 0);
    const asked = (text: string) => (text.match(/\?$/gm) ?? []).length;
    const was = Object.entries(before).filter(([path]) => path.startsWith(`${folder}questions/`));
    const earlier = was.reduce((sum, [, hash]) => sum + asked(works[hash]!), 0);
    const all = below('questions/').reduce((sum, [, text]) => sum + asked(text), 0);
    read.questions = { open: now, fresh: Math.max(0, all - earlier) };
  }
  if (mode === 'SESSION_REVIEW') {
    const text = session[`${folder}review.md`] ?? '';
    if (text.startsWith('Complete')) read.review = { value: 'Complete', gaps: [] };
    if (text.startsWith('Gaps Identified'))
      read.review = { value: 'Gaps Identified', gaps: [text.split(': ')[1] ?? ''] };
  }
  if (mode === 'STAGE') read.staged = below('knowledge/').map(([path]) => path.slice(folder.length));
  return read;
}
