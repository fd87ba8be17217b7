/**
 * What may end a running loop from outside its own law: signals, a terminal that closes, a defect. In each
 * case no agent is left behind, and the journal goes on later.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { giveUp, type House } from '../engine/index.ts';
import { lastResort } from './last-resort.ts';

/** First signal: agents are ended and the run stops; second: at once. */
export function listen(house: House): void {
  let heard = 0;
  const on = (signal: NonNullable<House['interrupt']['signal']>) =>
    process.on(signal, () => {
      heard += 1;
      if (heard > 1) for (const handle of house.live.values()) void handle.stop(0);
      house.interrupt.signal ??= signal;
      house.interrupt.wake();
    });
  on('SIGINT');
  on('SIGTERM');
  if (spared()) process.on('SIGHUP', () => undefined);
  else on('SIGHUP');
  // A terminal that is gone has no more keys to give.
  if (process.stdin.isTTY) process.stdin.on('error', () => undefined);
  lastResort.end = (error) => giveUp(house, error.message);
}

/** Where there is no session that hears of signals: the first one ends what is done meanwhile, and is told. */
export async function hearing<T>(
  work: (ending: AbortSignal) => Promise<T>,
): Promise<{ value: T; heard: NodeJS.Signals | null }> {
  const ending = new AbortController();
  let heard: NodeJS.Signals | null = null;
  const hear = (signal: NodeJS.Signals) => {
    if (signal === 'SIGHUP' && spared()) return;
    heard ??= signal;
    ending.abort();
  };
  process.on('SIGINT', hear).on('SIGTERM', hear).on('SIGHUP', hear);
  try {
    return { value: await work(ending.signal), heard };
  } finally {
    process.off('SIGINT', hear).off('SIGTERM', hear).off('SIGHUP', hear);
  }
}

/** Whether we were started under `nohup`: Node takes signals up again that its parent told to ignore. */
function spared(): boolean {
  if (basename(process.env._ ?? '') === 'nohup') return true;
  try {
    const status = readFileSync(`/proc/${process.ppid}/status`, 'utf8');
    const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0';
    return (Number.parseInt(ignored.slice(-1), 16) & 1) === 1;
  } catch {
    return false; // no such table here
  }
}
