export { buildPrompt } from './build.ts';
export { liveGuidance, stopRequest } from './guidance.ts';
export type * from './input.ts';
export { type Occasion, sentenceFor } from './sentence.ts';
export { readTrial, type TrialGate, type TrialWord, trialPrompt } from './trial.ts';
