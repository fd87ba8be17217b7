export { type BlockageJson, type BlockedJson, blockedJson, blockedText } from './blocked.ts';
export * from './board.ts';
export { blockedLines, type EndSummary, endSummary, rewordedLines } from './ending.ts';
export {
  explainTime,
  type ReckoningJson,
  reckoningText,
  type TimeInput,
  type TimeJson,
} from './explain-time.ts';
export { type FalseClaimJson, falseClaimLines, falseClaims } from './false-claims.ts';
export { fold } from './fold.ts';
export {
  besideLines,
  besideText,
  inboxJson,
  inboxText,
  type QuestionJson,
  questionJson,
  questionText,
} from './inbox.ts';
export * from './interventions.ts';
export {
  type DocNote,
  type Knowledge,
  knowledgeJson,
  knowledgeText,
  noteText,
  type StagedJson,
  type StagedNote,
  stagedJson,
  stagedLines,
} from './knowledge.ts';
export { describeFact } from './line.ts';
export {
  type BranchCommits,
  goneWords,
  type HalfEntered,
  halfWords,
  type LoopFacts,
  type LoopJson,
  loopJson,
  loopsLine,
  loopsText,
  strayJson,
} from './loops.ts';
export {
  type MessageJson,
  type MessageStory,
  messagesJson,
  messagesText,
  tellSenders,
  undeliveredLines,
} from './messages.ts';
export { type MovedJson, movedBranches, movedLines } from './moved.ts';
export {
  advice,
  afterDefect,
  answerHint,
  type LiveInfo,
  nextStep,
  nextWords,
  stepWords,
  taskNext,
} from './next.ts';
export { refusedLines } from './outages.ts';
export { liveCallWords, markedTasks, noTasksYet, phaseWords } from './phase-words.ts';
export {
  type IterationNote,
  iterationNote,
  type NotedEvent,
  notedEvents,
  type ProfileJson,
  profileFile,
  profilesOf,
  profilesText,
  verifiedDurations,
} from './profile.ts';
export { newSequel, type Sequel, sequelOf } from './sequel.ts';
export { type SessionJson, sessionJson, sessionsText } from './sessions.ts';
export * from './status.ts';
export * from './story.ts';
export { type TaskJson, taskJson, tasksJson, tasksText } from './tasks.ts';
export {
  type TopicJson,
  type TopicQuery,
  topicJson,
  topicsJson,
  topicsText,
} from './topics.ts';
export { type Why, whyJson, whyText } from './why.ts';
export { type IterationJson, iterationJson, iterationText, type Viewpoint } from './why-iteration.ts';
export * from './words.ts';
