export { sha256 } from './chain.ts';
export { atomicWrite, StoreFull } from './disk.ts';
export type { JournalReading, OpenedJournal, Repair } from './journal.ts';
export { openJournal, readJournal } from './journal.ts';
export type { HeldLock, LockAnswer, LockHolder, LockReading } from './lock.ts';
export { readLock, takeLock } from './lock.ts';
export { attemptFolder, logName, openWorks, promptName } from './works.ts';
