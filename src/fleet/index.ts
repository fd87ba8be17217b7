export { type HandOver, handOver } from './hand-over.ts';
export { type Landing, type LandRequest, shortName } from './landing.ts';
export { landLoop } from './queue.ts';
export { type Unlanded, unlanded } from './unlanded.ts';
