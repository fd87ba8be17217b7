/**
 * What attempts that are at work have spent so far, for the other loops of the project: one small file for each
 * session, written anew now and then, and gone when the bills stand in the project journal. A runner that is killed
 * leaves it: what it had spent by then counts for its day all the same.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAmount } from '../core/index.ts';
import { temporaryName } from './disk.ts';
import { isTime } from './project.ts';

/** The file is written at most so often. */
const EVERY_MS = 2_000;
const DAY_MS = 86_400_000;

export interface LiveSpending {
  /** This attempt has spent so much by now. USD. */
  tell(iteration: number, usd: number): void;
  /** Its bill stands elsewhere by now, or nobody knows of one. */
  over(iteration: number): void;
}

const folderOf = (mainDir: string) => join(mainDir, '.ralph', 'spending');

/** Never throws: a disk that takes no more ends a run elsewhere, and the bill at the end of the attempt counts. */
export function liveSpending(mainDir: string, session: string): LiveSpending {
  const file = join(folderOf(mainDir), `${session}.json`);
  const bills = new Map<number, number>();
  let writtenAt = 0;
  let timer: NodeJS.Timeout | undefined;

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    writtenAt = Date.now();
    try {
      if (bills.size === 0) return rmSync(file, { force: true });
      mkdirSync(folderOf(mainDir), { recursive: true });
      const temporary = temporaryName(file);
      writeFileSync(temporary, JSON.stringify({ v: 1, at: writtenAt, bills: Object.fromEntries(bills) }));
      renameSync(temporary, file);
    } catch {
      // See above.
    }
  }

  return {
    tell(iteration, usd) {
      if (usd <= (bills.get(iteration) ?? 0)) return;
      bills.set(iteration, usd);
      if (timer !== undefined) return;
      const waitMs = writtenAt + EVERY_MS - Date.now();
      if (waitMs <= 0) return write();
      timer = setTimeout(write, waitMs);
      timer.unref();
    },
    over(iteration) {
      bills.delete(iteration);
      write();
    },
  };
}

/** One live bill of another session. */
export interface LiveBill {
  at: number;
  usd: number;
}

/** Reads what other sessions have at work, by session and iteration; each file again only where it is another one. */
export function liveBills(mainDir: string): (now: number, own: string) => Map<string, LiveBill> {
  const known = new Map<string, { mark: string; bills: [string, LiveBill][] }>();
  return (now, own) => {
    const found = new Map<string, LiveBill>();
    const names = listed(folderOf(mainDir));
    for (const name of known.keys()) if (!names.includes(name)) known.delete(name);
    for (const name of names) {
      const session = name.slice(0, -'.json'.length);
      if (session === own) continue;
      const file = join(folderOf(mainDir), name);
      const stat = statSync(file, { throwIfNoEntry: false });
      if (stat === undefined) continue;
      const mark = `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
      const before = known.get(name);
      const bills = before?.mark === mark ? before.bills : readBills(file, session);
      known.set(name, { mark, bills });
      for (const [key, bill] of bills) found.set(key, bill);
      // Nobody resumed it, and its day is long over.
      if (now - stat.mtimeMs > 2 * DAY_MS) rmSync(file, { force: true });
    }
    return found;
  };
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}

function readBills(file: string, session: string): [string, LiveBill][] {
  try {
    const { at, bills } = JSON.parse(readFileSync(file, 'utf8')) as { at: unknown; bills: unknown };
    if (!isTime(at) || typeof bills !== 'object' || bills === null) return [];
    return Object.entries(bills).flatMap(([iteration, usd]) =>
      isAmount(usd) ? [[`${session} ${iteration}`, { at, usd }] as [string, LiveBill]] : [],
    );
  } catch {
    // Gone meanwhile, or somebody's own file.
    return [];
  }
}
