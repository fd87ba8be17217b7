/**
 * How one path's content is named: git's object id, with the kind of entry behind a colon unless it is
 * a plain file. `3b18…` plain file · `3b18…:100755` executable · `3b18…:120000` symbolic link (the
 * content is its target) · `9f2c…:160000` nested repository at that commit. So a change of mode alone
 * makes `before` and `after` differ, and restoring knows what to make.
 */

export interface BlobParts {
  oid: string;
  mode: string;
}

/** The id for a mode as git writes it (`100644`) and an object id. */
export function blobId(mode: string, oid: string): string {
  return mode === '100644' ? oid : `${oid}:${mode}`;
}

/** Mode and object id of a blob id; null when the text is none. */
export function parseBlobId(id: string): BlobParts | null {
  const match = /^([0-9a-f]{40}|[0-9a-f]{64})(?::(100755|120000|160000))?$/.exec(id);
  return match === null ? null : { oid: match[1]!, mode: match[2] ?? '100644' };
}

/** True for a nested repository, whose files are not ours to read or restore. */
export function isNestedRepository(id: string | null): boolean {
  return id?.endsWith(':160000') === true;
}
