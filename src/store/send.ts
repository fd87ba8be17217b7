/**
 * Sending: how everybody outside says something to a session. A signal is written under a hidden name
 * and renamed into the mailbox, so that its reader never meets half of it.
 */
import { createHash, randomInt } from 'node:crypto';
import { mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { type MessageType, Problem } from '../core/index.ts';
import { diskError, syncFolder, temporaryName } from './disk.ts';
import { localZone } from './local-zone.ts';
import { listSessions } from './sessions.ts';
import { parseFields, type SignalFields } from './signal.ts';
import { signMessage } from './signing.ts';
import { stampOf, wallTime } from './zone.ts';

/** A signal by the keys of its file. Absent keys are left out; unknown ones are carried along. */
export interface SignalDraft {
  type: MessageType;
  message?: string;
  target?: string;
  /** Who says it; `senderName()` for the command line. */
  from?: string;
  /** ISO 8601; default: now, in UTC. */
  created_at?: string;
  iteration?: number;
  urgent?: boolean;
  files?: string[];
  question?: string;
  option?: string;
  op?: string;
  task?: string;
  timeout_s?: number;
  timeout_multiplier?: number;
  max_attempts?: number;
  reason?: string;
}

export interface SendOptions {
  /** From `signingKey`; with it the message counts as said by the person named in `from`. */
  key?: string | null;
  /** Epoch ms; default: the clock. */
  now?: number;
  /** Of the session, for the time in the name; default: the one its journal records, else the machine's. */
  timezone?: string;
  /**
   * Names the message for good: sent again under the same name, also by another process, it is the one that
   * lies there, and nothing is written.
   */
  once?: string;
}

/**
 * Drops a signal into a session's mailbox; answers its file name, which is the message's id. Throws a
 * Problem when there is no such session, `StoreFull` when the disk takes no more.
 */
export async function writeSignal(
  sessionDir: string,
  draft: SignalDraft,
  options: SendOptions = {},
): Promise<string> {
  await requireSession(sessionDir);
  const now = options.now ?? Date.now();
  const name =
    options.once === undefined
      ? signalName(now, options.timezone ?? (await timezoneOf(sessionDir)))
      : fixedName(options.once);
  if (options.once !== undefined && (await lies(sessionDir, name))) return name;
  const text = signalText(
    sessionDir,
    name,
    { created_at: new Date(now).toISOString(), ...draft },
    options.key,
  );
  const inputs = join(sessionDir, 'signals', 'inputs');
  await mkdir(inputs, { recursive: true });
  await placeWhole(join(inputs, name), text);
  return name;
}

async function requireSession(sessionDir: string): Promise<void> {
  const found = await stat(sessionDir).catch(() => null);
  if (found?.isDirectory()) return;
  throw new Problem({
    code: 'session.missing',
    what: `There is no session ${basename(sessionDir)}.`,
    why: `${sessionDir} is not a folder.`,
    fix: 'See `ralph sessions` for the ones there are.',
  });
}

/** `signal.<yyMMdd-HHmmss-mmm>-<rand4>.yaml`. The suffix begins with a letter: no reader takes it for an offset. */
function signalName(now: number, timezone: string): string {
  const wall = wallTime(now, timezone);
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const pick = (from: string) => from[randomInt(from.length)]!;
  const mixed = `${letters}0123456789`;
  const suffix = pick(letters) + pick(mixed) + pick(mixed) + pick(mixed);
  return `signal.${stampOf(wall)}-${String(wall.ms).padStart(3, '0')}-${suffix}.yaml`;
}

/** Letters only: no reader takes it for a time. */
function fixedName(once: string): string {
  const hex = createHash('sha256').update(once).digest('hex').slice(0, 20);
  return `signal.${[...hex].map((digit) => 'abcdefghijklmnop'[Number.parseInt(digit, 16)]).join('')}.yaml`;
}

/** So many sessions are looked through, the newest first. */
const MOST_SESSIONS = 100;

/** The message of this name in the mailbox of whatever session of the project; null: it was not sent yet. */
export async function sentBefore(mainRoot: string, once: string): Promise<string | null> {
  const name = fixedName(once);
  const sessions = (await listSessions(mainRoot)).slice(-MOST_SESSIONS).reverse();
  for (const { dir } of sessions) if (await lies(dir, name)) return name;
  return null;
}

/** Looked for in the order in which it moves, so that it is not missed on its way. */
async function lies(sessionDir: string, name: string): Promise<boolean> {
  for (const folder of ['inputs', 'processed', 'rejected'])
    if ((await stat(join(sessionDir, 'signals', folder, name)).catch(() => null)) !== null) return true;
  return false;
}

/** The time zone a session recorded; the machine's where it has none yet. */
async function timezoneOf(sessionDir: string): Promise<string> {
  const local = localZone();
  try {
    const handle = await open(join(sessionDir, 'journal.jsonl'), 'r');
    const head = await handle.read(Buffer.alloc(65_536), 0, 65_536, 0).finally(() => handle.close());
    const text = head.buffer.toString('utf8', 0, head.bytesRead);
    const zone = /"type":"session\.created"[^}]*"timezone":"([\w+/-]+)"/.exec(text)?.[1];
    if (zone !== undefined) wallTime(0, zone);
    return zone ?? local;
  } catch {
    return local;
  }
}

function signalText(
  sessionDir: string,
  name: string,
  draft: SignalDraft,
  key: string | null | undefined,
): string {
  const present = Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined));
  const text = stringify(present, { lineWidth: 0, aliasDuplicateObjects: false });
  if (typeof key !== 'string') return text;
  // Signed is what the reader will read, so the text is read back first.
  const parsed = parseFields(text);
  const fields: SignalFields = 'fields' in parsed ? parsed.fields : new Map();
  return `${text}signature: ${signMessage(key, { session: basename(sessionDir), name, fields })}\n`;
}

async function placeWhole(file: string, text: string): Promise<void> {
  const temporary = temporaryName(file);
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      // The reader tells a renamed file by a change time after the write time. File systems count in
      // ticks of up to 10 ms, so the write time is put back by more than one.
      const written = Date.now() / 1000 - 0.05;
      await handle.utimes(written, written);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
    // Whoever said it is not asked again once it lies here.
    await syncFolder(dirname(file));
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw diskError(error, file);
  }
}
