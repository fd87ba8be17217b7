/**
 * Signatures: how the mailbox knows that a file came from a person's own command line and not from an
 * agent with a text editor. The key lies in the user's state folder, outside every project. It stops
 * honest mistakes and prompt-injected agents that keep to their folder; against a hostile process of the
 * same user only a sandbox helps.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { homedir, hostname, userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { createWhole, errorCode } from './disk.ts';
import type { SignalFields } from './signal.ts';

type Environment = Record<string, string | undefined>;

/** The user's state folder: `$XDG_STATE_HOME/ralph`, else `~/.local/state/ralph`. */
export function stateFolder(env: Environment = process.env): string {
  const base = env.XDG_STATE_HOME;
  if (base !== undefined && isAbsolute(base)) return join(base, 'ralph');
  return join(env.HOME || homedir(), '.local', 'state', 'ralph');
}

/**
 * The user's signing key (64 hex digits, mode 0600), made when `create` is set; null when there is none.
 */
export async function signingKey(
  options: { create?: boolean; env?: Environment } = {},
): Promise<string | null> {
  const file = join(stateFolder(options.env), 'key');
  const existing = await readKey(file);
  if (existing !== null || options.create !== true) return existing;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await createWhole(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  return readKey(file); // another command may have made it first; then theirs counts
}

async function readKey(file: string): Promise<string | null> {
  try {
    const key = (await readFile(file, 'utf8')).trim();
    return /^[0-9a-f]{64}$/.test(key) ? key : null;
  } catch (error) {
    if (['ENOENT', 'EACCES', 'ENOTDIR'].includes(errorCode(error))) return null;
    throw error;
  }
}

/** The person at this machine, `user@host`: the sender of everything the command line sends. */
export function senderName(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'user'); // a user id without an entry in the password file
  }
}

/** What a signature covers: the words, and the one place and name under which they may arrive. */
export interface Signable {
  /** The session's id. */
  session: string;
  /** The file's name; copying a signed file under another name breaks the signature. */
  name: string;
  fields: SignalFields;
}

/** HMAC-SHA256 in hex of a message's fields (all but `signature`), session and name. */
export function signMessage(key: string, { session, name, fields }: Signable): string {
  const covered = [...fields].filter(([field]) => field !== 'signature').sort(([a], [b]) => (a < b ? -1 : 1));
  const words = JSON.stringify(['ralph signal 1', session, name, covered]);
  return createHmac('sha256', key).update(words).digest('hex');
}

/** The file beside a batch of feedback that says whose words they are. */
export const SIGNATURE = '.signed';

/** The signature of a batch's words, for the cycle it was given for. `folder`: any of that cycle's. */
export function feedbackSignature(key: string, folder: string, text: string): string {
  const cycle = /iterations\/(\d+)/.exec(folder)?.[1] ?? '';
  return createHmac('sha256', key)
    .update(JSON.stringify(['ralph feedback 1', cycle, text]))
    .digest('hex');
}

/** True when the fields carry a `signature` that this key made for this session and name. */
export function isSigned(key: string, signable: Signable): boolean {
  const signature = signable.fields.get('signature');
  if (typeof signature !== 'string' || !/^[0-9a-f]{64}$/.test(signature)) return false;
  return timingSafeEqual(Buffer.from(signature), Buffer.from(signMessage(key, signable)));
}
