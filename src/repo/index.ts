export { type Apart, heldApart } from './apart.ts';
export { type BlobParts, blobId, parseBlobId } from './blob-id.ts';
export { type BranchStanding, branchStandings } from './branch-standing.ts';
export { type Dirty, type GroundOptions, openGround, type RepoGround } from './ground.ts';
export { type GitFolders, type Head, readHead, unfinishedOperation } from './head.ts';
export { gitVersion, hookHealth, trySigning } from './health.ts';
export { hooksOf } from './hooks.ts';
export { missingIdentity } from './identity.ts';
export { committedText, hiddenByProject } from './ignored.ts';
export {
  type Checkout,
  checkouts,
  type Entering,
  type Integration,
  type MergedTrees,
  type Moved,
  openIntegration,
} from './integration.ts';
export type { Draft } from './merge-tree.ts';
export { onlyFolder } from './modules.ts';
export {
  branchesAt,
  commitOfWork,
  commitsBeyond,
  dropBranch,
  holds,
  ignoredIn,
  isIgnored,
  mergeBase,
  type NamedCommit,
  nameCommit,
  strandedIn,
  uncommitted,
} from './own-branch.ts';
export { openPool, type PoolOptions } from './pool.ts';
export { excludeLocally, findProject, gitDirOf, heldTree, type Project } from './project.ts';
export { branchTips } from './refs.ts';
export {
  addTree,
  type Beside,
  copyPaths,
  dropTree,
  isTreeOf,
  type LinkedTree,
  linkedTrees,
  listTrees,
  type NewTree,
  SHARED,
} from './tree.ts';
