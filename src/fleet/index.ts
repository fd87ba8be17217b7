export { type Landing, type LandRequest, shortName } from './landing.ts';
export { landLoop } from './queue.ts';
