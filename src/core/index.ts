export { type AskedQuestion, readQuestionText } from './ask-text.ts';
export { type BlockedTask, blockage, blockedTask, type WaitingTask } from './blocked.ts';
export { isBookName } from './bookkeeping.ts';
export { wasBusy, wasBusySince } from './busy.ts';
export type * from './claim.ts';
export { NO_CLAIM } from './claim.ts';
export { commandFor, loopCommand } from './command.ts';
export {
  type Classified,
  COMPLEXITIES,
  type Complexity,
  type ComplexityClass,
  type ComplexityClasses,
  classify,
  DEFAULT_CLASSES,
} from './complexity.ts';
export { correctionName, openCorrection } from './correct.ts';
export { beginningOf, endOf } from './cut.ts';
export {
  CATEGORIES,
  definitionFacts,
  isPlanned,
  keepsWorks,
  mayWriteWork,
  missingWorks,
  questionsOf,
  reportOf,
  reportPath,
} from './cycle.ts';
export { decide, isDue, type Moment } from './decide.ts';
export type * from './event.ts';
export type * from './evidence.ts';
export { ABORTED_REASON, evolve } from './evolve.ts';
export { isFree } from './evolve-task.ts';
export { agentFor, choiceFor, modelFor } from './fallback.ts';
export { type FeedbackLine, feedbackFor, standingFeedback } from './feedback.ts';
export { holdsCompletion } from './final-message.ts';
export * from './finding.ts';
export { compareFailures, mayRewrite, readGate } from './gate.ts';
export * from './gone.ts';
export { openQuestions } from './guard.ts';
export { type HatFault, hatFaults } from './hat-faults.ts';
export { type HatGraph, hatGraph, mermaid } from './hat-graph.ts';
export { boundsOf, hatEvidence, hatOf, hiredRoles, listenersFor, wakingTopic } from './hat-work.ts';
export { aliasesOf, BUILT_IN_ROLES, findHat, type Hat, type Hats, isBuiltIn, isOwn } from './hats.ts';
export { hear, MAX_TOPICS, mayPublish, topicMatches } from './hear.ts';
export { fitting, narrowWords, roomIn, roomNotice, shortageWords, shortNotice } from './host.ts';
export type { JournalRecord } from './journal.ts';
export { JOURNAL_VERSION } from './journal.ts';
export { brokenTogether, judge, redAsBefore } from './judge.ts';
export type { EarlierWork, Evidence, Judgement } from './judgement.ts';
export { isSecretValue, secretsOfEnv } from './known-secrets.ts';
export {
  type HowFar,
  isAwaited,
  isLandingFact,
  type LandingFact,
  type LandingHire,
  type LoopWork,
  landingText,
  newSpend,
  unfinishedOf,
} from './landing.ts';
export { layerNumbers, layers } from './layers.ts';
export * from './limits.ts';
export { type MarkedFile, type MarkerEdit, markerFacts } from './markers.ts';
export {
  MAX_MEMORY_CHARS,
  type Memory,
  memoriesFor,
  memoryBlock,
  readMemories,
  searchMemories,
  tagOf,
} from './memories.ts';
export * from './message.ts';
export * from './nearest.ts';
export { backNotice, timeWords } from './outage.ts';
export { type OutboxLine, readOutboxLine } from './outbox-line.ts';
export * from './ownership.ts';
export { pathWord, pathWords } from './path-word.ts';
export * from './permission.ts';
export * from './permission-ask.ts';
export * from './phase.ts';
export { inScope, isWanted } from './pick.ts';
export type * from './policy.ts';
export { printable } from './printable.ts';
export * from './problem.ts';
export { closeWave } from './progress.ts';
export * from './prompt/index.ts';
export * from './question.ts';
export * from './receipt/index.ts';
export { type RedactingStream, type Redactor, redactorOf } from './redact.ts';
export * from './role.ts';
export { idleUnblock, receive } from './route.ts';
export { secretsIn } from './secrets.ts';
export { interaction, questionId, settle } from './settle.ts';
export * from './shell-word.ts';
export * from './spend.ts';
export { isDaySpent } from './spend.ts';
export { cutsAnew, graphAround, needsOf, partFaults, splitDue } from './split.ts';
export { ownStaleReports, staleFacts } from './stale.ts';
export * from './state.ts';
export { EXITS, type Exit, exitOf, type Step, TO_DO } from './step.ts';
export {
  STRATEGIES,
  type Strategy,
  type Suggestion,
  suggest,
  type Try,
  triesOf,
  tryWords,
} from './suggest.ts';
export { refusalIn, refusalOf, systemProblem } from './system-refusal.ts';
export * from './task.ts';
export { holdReason } from './work.ts';
