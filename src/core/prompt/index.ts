export { buildPrompt } from './build.ts';
export { type ConflictWork, conflictPrompt } from './conflict.ts';
export { liveGuidance, stopRequest, withRoom } from './guidance.ts';
export type * from './input.ts';
export { type Occasion, sentenceFor } from './sentence.ts';
export { firstOf, replyText, type SignalReply, signalsText } from './signals.ts';
export { readTrial, type TrialGate, type TrialWord, trialPrompt } from './trial.ts';
