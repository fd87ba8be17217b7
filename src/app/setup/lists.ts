/** What lies in a project for a loop to work on: task lists of any dialect, and what other loops left. */
import { defaultTaskFiles, readTaskList } from '../../dialects/index.ts';
import type { Folder } from './folder.ts';

/** A file that reads as a task list. */
export interface FoundList {
  /** Relative to the folder. */
  path: string;
  /** Found by `ralph run` without being named. */
  isDefault: boolean;
  open: number;
  done: number;
  /** Why it cannot be used as it is; null: it can. */
  problem: string | null;
}

/** Names under which plans lie in projects, beside the ones that are looked for by themselves. */
const OTHER_LISTS = [
  'tasks.json',
  'TODO.md',
  'TODO.txt',
  'PLAN.md',
  'plan.md',
  'TASKS.md',
  'tasks.md',
  '@fix_plan.md',
  'feature_list.json',
  'features.json',
  'docs/PRD.md',
  'docs/prd.json',
  'docs/PLAN.md',
  '.taskmaster/tasks/tasks.json',
];
/** Folders with one plan per feature below them. */
const LISTS_BELOW: [folder: string, file: string][] = [
  ['.kiro/specs', 'tasks.md'],
  ['specs', 'tasks.md'],
  ['openspec/changes', 'tasks.md'],
];
const MOST_BELOW = 20;
const LARGEST_LIST = 10 * 1024 * 1024;

/** The task lists of a folder, those that `ralph run` finds by itself first. */
export function findLists(folder: Folder): FoundList[] {
  const below = LISTS_BELOW.flatMap(([above, file]) =>
    folder
      .names(above)
      .slice(0, MOST_BELOW)
      .map((name) => `${above}/${name}/${file}`),
  );
  const found = [...defaultTaskFiles, ...OTHER_LISTS, ...below].flatMap((path) => read(folder, path) ?? []);
  // A disk that does not tell upper from lower case shows one file under both names.
  const seen = new Set<string>();
  return found.filter(({ path }) => {
    const key = path.toLowerCase();
    return !seen.has(key) && seen.add(key);
  });
}

function read(folder: Folder, path: string): FoundList | null {
  if (!folder.isFile(path)) return null;
  const isDefault = defaultTaskFiles.includes(path);
  const text = folder.read(path, LARGEST_LIST);
  const unusable = (problem: string) => (isDefault ? { path, isDefault, open: 0, done: 0, problem } : null);
  if (text === null) return unusable('it cannot be read, or is larger than 10 MB');
  const reading = readTaskList(path, text);
  if (reading.kind === 'empty') return unusable('it holds no task');
  if (reading.kind === 'unreadable') return unusable(reading.problem.what);
  const done = reading.tasks.filter((task) => task.status === 'done').length;
  return { path, isDefault, open: reading.tasks.length - done, done, problem: null };
}

/** Files by which other loops are known. They are shown, and nothing in them is used or changed. */
const LOOP_FILES = [
  '.ralphrc',
  'ralph.sh',
  'scripts/ralph/ralph.sh',
  'loop.sh',
  'PROMPT.md',
  '.ralph/PROMPT.md',
  'PROMPT_build.md',
  'PROMPT_plan.md',
  'scripts/ralph/prompt.md',
  'hats.yml',
  'progress.txt',
  '@AGENT.md',
  '.ralph/status.json',
  '.ralph/state.json',
  '.claude/ralph-loop.local.md',
  '.agent/scratchpad.md',
];

/** The files of other loops that lie in a folder. */
export function loopFiles(folder: Folder): string[] {
  return LOOP_FILES.filter((path) => folder.isFile(path));
}
