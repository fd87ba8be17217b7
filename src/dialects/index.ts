export { compareTaskFile, dialectOf, readTaskList, taskDialects, writeMarks } from './pick.ts';
export type {
  TaskDialect,
  TaskFileComparison,
  TaskFileVerdict,
  TaskListReading,
  TaskMark,
} from './tasklist.ts';
export { defaultTaskFiles } from './tasklist.ts';
