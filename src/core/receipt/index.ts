export { type ReceiptCommand, runsCommand } from './commands.ts';
export type { CriterionEvidence, ReceiptCriterion } from './criteria.ts';
export { readEvidenceText, type TextEvidence } from './evidence-text.ts';
export {
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
