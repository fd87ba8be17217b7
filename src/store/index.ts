export { sha256 } from './chain.ts';
export { atomicWrite, StoreFull } from './disk.ts';
export type { FollowOptions, JournalReading } from './follow.ts';
export { followJournal, readJournal, scanJournal } from './follow.ts';
export type { JournalOptions, OpenedJournal, Repair } from './journal.ts';
export { openJournal } from './journal.ts';
export type { HeldLock, LockAnswer, LockHolder, LockReading } from './lock.ts';
export { readLock, takeLock } from './lock.ts';
export { attemptFolder, logName, openWorks, promptName } from './works.ts';
