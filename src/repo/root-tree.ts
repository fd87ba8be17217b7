/**
 * The tree of the work tree's root without some of its entries, made here. Git would make it as well, and write
 * a large index anew to remember it.
 */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';

/** A tree object that the index may stand for, and the folder of objects where ours is written. */
export interface RootTree {
  content: Buffer;
  objects: string;
}

/**
 * Writes the tree without these names and answers its id, in bytes. Null where it is not the tree of that id,
 * where a name lies deeper or is not in it, where nothing is left, or where nothing can be written.
 */
export function rootWithout(
  { content, objects }: RootTree,
  { root, names }: { root: string; names: readonly Buffer[] },
): Buffer | null {
  const oidBytes = root.length / 2;
  if (names.length === 0 || idOf(content, oidBytes).toString('hex') !== root) return null;
  const left = new Set(names.map((name) => name.toString('latin1')));
  const kept: Buffer[] = [];
  for (let at = 0; at < content.length; ) {
    // `mode SP name NUL id`
    const nul = content.indexOf(0, at);
    const next = nul + 1 + oidBytes;
    if (!left.delete(content.toString('latin1', content.indexOf(0x20, at) + 1, nul)))
      kept.push(content.subarray(at, next));
    at = next;
  }
  if (left.size > 0 || kept.length === 0) return null;
  const made = Buffer.concat(kept);
  const id = idOf(made, oidBytes);
  try {
    writeObject(objects, id.toString('hex'), made);
    return id;
  } catch {
    return null; // git tries, and tells what is in its way
  }
}

function headOf(content: Buffer): Buffer {
  return Buffer.from(`tree ${content.length}\0`);
}

function idOf(content: Buffer, oidBytes: number): Buffer {
  return createHash(oidBytes === 32 ? 'sha256' : 'sha1')
    .update(headOf(content))
    .update(content)
    .digest();
}

function writeObject(objects: string, id: string, content: Buffer): void {
  const folder = join(objects, id.slice(0, 2));
  const file = join(folder, id.slice(2));
  mkdirSync(folder, { recursive: true });
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, deflateSync(Buffer.concat([headOf(content), content])), { mode: 0o444 });
  renameSync(beside, file);
}
