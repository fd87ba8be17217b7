export { buildPrompt } from './build.ts';
export type * from './input.ts';
export { sentenceFor } from './sentence.ts';
