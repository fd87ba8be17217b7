export type { CanonicalSource } from './canonical.ts';
export { canonicalTasks } from './canonical.ts';
export { linesOf } from './checklist-omitted.ts';
export type { DeskAnswer, DeskEntry } from './desk.ts';
export { readBlocked, readDecide, writeBlocked, writeDecide } from './desk.ts';
export type { ForeignState, ShellSetting, ShellSettings } from './foreign-state.ts';
export { isForeignState, readForeignState, readShellSettings } from './foreign-state.ts';
export type { InterventionEvent, TopicEvent } from './mirrors.ts';
export { writeEventsLine, writeInterventionsJson } from './mirrors.ts';
export { learningsOf, patternsOf, planNotes } from './notes.ts';
export { compareTaskFile, dialectOf, readTaskList, taskDialects, writeMarks } from './pick.ts';
export type { ListChoice } from './story-place.ts';
export type { EndFacts, SummaryRow } from './summary.ts';
export { endSummary, summaryCsvHeader, summaryCsvRow } from './summary.ts';
export type { TaskFileRepair } from './task-repair.ts';
export { repairTaskFile } from './task-repair.ts';
export type {
  TaskDialect,
  TaskFileComparison,
  TaskFileVerdict,
  TaskListReading,
  TaskMark,
} from './tasklist.ts';
export { defaultTaskFiles } from './tasklist.ts';
export { feedbackTemplate, qualifyIssues, readFeedback } from './v2-feedback.ts';
export { writeFeedback } from './v2-feedback-batch.ts';
export { splitFrontMatter } from './v2-front-matter.ts';
export { type ForeignSession, readForeignSession } from './v2-import.ts';
export {
  carryKnowledge,
  type KnowledgeNote,
  knowledgeFaults,
  readKnowledge,
  writeKnowledge,
  writeKnowledgeIndex,
} from './v2-knowledge.ts';
export type { CycleMetadata, SessionMetadata, SessionStatus } from './v2-metadata.ts';
export { writeCycleMetadata, writeSessionMetadata } from './v2-metadata.ts';
export { planFaults } from './v2-plan.ts';
export type { ProgressFacts, ProgressLine, ProgressMarker } from './v2-progress.ts';
export {
  progressLine,
  progressRow,
  progressWords,
  readProgressMarkers,
  writeProgress,
} from './v2-progress.ts';
export { promotions, type StandingDoc } from './v2-promotion.ts';
export { openQuestions, questionFaults, questionsOfLastRound, readQuestions } from './v2-questions.ts';
export { keepPartOne, latestReport, markForged, readReport, writeReport } from './v2-report.ts';
export { readReview, writeMinimalReview } from './v2-review.ts';
export { readTaskFile, writeTaskFile } from './v2-task.ts';
export { readTaskFolder } from './v2-task-folder.ts';
