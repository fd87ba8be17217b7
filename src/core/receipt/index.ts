export { type ReceiptCommand, runsCommand } from './commands.ts';
export { type CommitPlace, commitsToLookFor, type ReceiptCommit } from './commits.ts';
export type { CriterionEvidence, ReceiptCriterion } from './criteria.ts';
export { readEvidenceText, type TextEvidence } from './evidence-text.ts';
export { linesInDoubt, linesToCount, withLines } from './lines.ts';
export {
  type FalseClaim,
  type FileStatus,
  type Known,
  makeReceipt,
  type Receipt,
  type ReceiptFile,
  type ReceiptSource,
  toLookFor,
  type Whereabouts,
  wrongIn,
} from './receipt.ts';
export { toldBy } from './told.ts';
