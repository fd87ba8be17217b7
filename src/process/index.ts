export type { KeptOutput } from './kept.ts';
export { lineSplitter } from './lines.ts';
export { ancestorCarries, findByMarker } from './marker.ts';
export type { LogSieve, RunningChild, RunOptions, RunResult } from './options.ts';
export { findProgram } from './program.ts';
export { run } from './run.ts';
export { endAll } from './signals.ts';
export type { ProcessRow } from './table.ts';
export { isAlive, ownIdentity, processTable, workingFolder } from './table.ts';
