export { type Astray, backWords } from './astray.ts';
export { type BrokenOff, brokenOff } from './broken-off.ts';
export { handOver } from './hand-over.ts';
export type { Landing, LandRequest, Settler, Settling, SettlingJob } from './landing.ts';
export { landLoop } from './queue.ts';
export { type Unlanded, unlanded } from './unlanded.ts';
