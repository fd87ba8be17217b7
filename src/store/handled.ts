/**
 * What becomes of a signal that was dealt with: a copy in `processed/` that keeps the sender's text and
 * tells what was done, or the file itself in `rejected/` with the reason beside it. Nothing that lies
 * there is ever overwritten.
 */
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMap, parseAllDocuments, parseDocument, stringify } from 'yaml';
import type { Handling } from '../engine/index.ts';
import { sha256 } from './chain.ts';
import { atomicWrite, createWhole, errorCode, moveToFree, numbered, removeFile } from './disk.ts';

/** Reads a plain file and nothing else: no link is followed, no pipe waited for. null: gone, or not plain. */
export function readPlain(file: string): Buffer | null {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  let fd: number;
  try {
    fd = openSync(file, flags);
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENXIO'].includes(errorCode(error))) return null;
    throw error;
  }
  try {
    return fstatSync(fd).isFile() ? readFileSync(fd) : null;
  } finally {
    closeSync(fd);
  }
}

/** A free or already used place in a folder. */
export interface Slot {
  name: string;
  /** The very content lies there: it was handled before. */
  duplicate: boolean;
}

/** The name under which content goes into `folder`: its own, or with `-2`, `-3` … where others have it. */
export async function slotFor(folder: string, name: string, content: Buffer): Promise<Slot> {
  for (let n = 1; ; n++) {
    const candidate = numbered(name, n);
    const there = readPlain(join(folder, candidate));
    if (there === null) return { name: candidate, duplicate: false };
    if (there.equals(content) || hashWithin(there) === sha256(content))
      return { name: candidate, duplicate: true };
  }
}

function hashWithin(copy: Buffer): string | null {
  const from = copy.lastIndexOf('handling_metadata:');
  if (from === -1) return null;
  return /^ {2}sha256: ([0-9a-f]{64})$/m.exec(copy.toString('utf8', from))?.[1] ?? null;
}

/**
 * Puts the sender's text and what was done into `processed/`, then removes the source. Not synced: the
 * message itself stands in the journal, and a flood of thousands must not wait for the disk each time.
 */
export async function fileProcessed(source: string, folder: string, done: FiledAs): Promise<Slot | null> {
  const content = readPlain(source);
  if (content === null) return null;
  if (!existsSync(folder)) await mkdir(folder, { recursive: true });
  const copy = withHandling(content, done.handling);
  for (;;) {
    const slot = await slotFor(folder, done.name, content);
    if (slot.duplicate || (await createWhole(join(folder, slot.name), copy, { durable: false }))) {
      await removeFile(source);
      return slot;
    }
  }
}

export interface FiledAs {
  name: string;
  handling: Handling;
}

const TRY_AGAIN = 'To try again, correct the file and put it into signals/inputs/ once more.';

/** Moves a file into `rejected/`, with `<name>.reason.txt` there first: a rejected file is never without it. */
export async function fileRejected(source: string, folder: string, done: FiledAs): Promise<Slot | null> {
  const content = readPlain(source);
  if (content === null) return null;
  await mkdir(folder, { recursive: true });
  for (;;) {
    const slot = await slotFor(folder, done.name, content);
    const why = done.handling.reason ?? done.handling.actionTaken;
    await writeFile(join(folder, `${slot.name}.reason.txt`), `${why}\n${TRY_AGAIN}\n`);
    if (slot.duplicate) {
      await removeFile(source);
      return slot;
    }
    if (await moveToFree(source, join(folder, slot.name))) return slot;
  }
}

function metadataOf(handling: Handling, content: Buffer): Record<string, unknown> {
  return {
    handled_by: handling.handledBy,
    handled_at: new Date(handling.handledAt).toISOString(),
    action_taken: handling.actionTaken,
    deliveries: [],
    sha256: sha256(content),
  };
}

/** The sender's text with handling_metadata after it; redrawn only where a text cannot simply go on. */
function withHandling(content: Buffer, handling: Handling): string {
  const text = content.toString('utf8');
  const handling_metadata = metadataOf(handling, content);
  const block = stringify({ handling_metadata }, { lineWidth: 0 });
  const appended = `${text}${text.endsWith('\n') ? '' : '\n'}${block}`;
  return isPlainMapping(text) || isOneMapping(appended) ? appended : redrawn(text, block);
}

/**
 * Plain lines of keys at the margin: what was read as a message goes on with one more key. Nothing that begins or
 * ends a document, no flow, no key of ours.
 */
function isPlainMapping(text: string): boolean {
  return text.split('\n').every((line) => PLAIN_LINE.test(line));
}

const PLAIN_LINE = /^(?!handling_metadata)[A-Za-z_]+: (?:[\w./:@+-]|(?<=\w) (?=\w))*\r?$|^$/;

function isOneMapping(text: string): boolean {
  try {
    const documents = parseAllDocuments(text, { schema: 'failsafe', logLevel: 'silent' });
    const [first] = documents;
    if (documents.length !== 1 || first === undefined || first.errors.length > 0) return false;
    return isMap(first.contents) && first.has('type') && first.has('handling_metadata');
  } catch {
    return false;
  }
}

// A flow mapping, several documents, a copy taken back out of processed/: only the first document was
// the message, and only it is kept.
function redrawn(text: string, block: string): string {
  try {
    const [document] = parseAllDocuments(text, { schema: 'failsafe', logLevel: 'silent' });
    if (document !== undefined && document.errors.length === 0 && isMap(document.contents)) {
      document.contents.flow = false;
      document.delete('handling_metadata');
      return `${document.toString({ lineWidth: 0, directives: false }).replace(/\n?$/, '\n')}${block}`;
    }
  } catch {
    // Not readable as YAML at all: kept as it is, in comments.
  }
  return `${text.replace(/^/gm, '# ')}\n${block}`;
}

/** One hand-over of a message, as its processed copy lists it. */
export interface Delivery {
  /** A role, or a person's channel. */
  to: string;
  iteration: number | null;
  /** Epoch ms. */
  at: number;
}

/** The text with one more row where we wrote the list ourselves, so that the sender's lines stay as they are. */
function withDelivery(text: string, { to, iteration, at }: Delivery): string | null {
  const from = text.lastIndexOf('\nhandling_metadata:');
  const block = /^ {2}deliveries:(?: \[\]\n|\n(?: {4}.*\n)*)/m.exec(text.slice(from + 1));
  if (from === -1 || block === null || !/^[\w-]+$/.test(to)) return null;
  const start = from + 1 + block.index;
  const rows = block[0].replace(' []', '');
  const row = `    - to: ${to}\n      iteration: ${iteration ?? 'null'}\n      at: ${new Date(at).toISOString()}\n`;
  return text.slice(0, start) + rows + row + text.slice(start + block[0].length);
}

/** Adds a delivery to a processed copy's handling_metadata. False: there is no such copy. */
export async function addDelivery(folder: string, name: string, delivery: Delivery): Promise<boolean> {
  const file = join(folder, name);
  try {
    const text = await readFile(file, 'utf8');
    const added = withDelivery(text, delivery);
    if (added !== null) {
      await atomicWrite(file, added);
      return true;
    }
    const document = parseDocument(text, { schema: 'failsafe', logLevel: 'silent' });
    if (document.errors.length > 0 || !document.hasIn(['handling_metadata', 'deliveries'])) return false;
    const row = {
      to: delivery.to,
      iteration: String(delivery.iteration ?? ''),
      at: new Date(delivery.at).toISOString(),
    };
    document.addIn(['handling_metadata', 'deliveries'], document.createNode(row));
    await atomicWrite(file, document.toString({ lineWidth: 0 }));
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
