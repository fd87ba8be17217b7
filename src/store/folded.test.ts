import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeJournal } from '../../bench/journal.ts';
import { fold, readStory } from '../views/index.ts';
import { type Folded, foldSession } from './folded.ts';
import { readJournal } from './follow.ts';
import { openJournal } from './journal.ts';

let dir: string;
const at = (name: string) => join(dir, name);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ralph-folded-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A journal long enough that its fold is kept, 5,251 records. */
async function longJournal(): Promise<void> {
  await writeJournal({ iterations: 750, tasks: 75, file: at('journal.jsonl') });
}

async function plainly() {
  const { records } = await readJournal(at('journal.jsonl'));
  return { state: fold(records), messages: readStory(records).messages };
}

/** Old attempts are read on demand; to compare, all of them are wanted. */
const plain = ({ state, messages }: Folded) => ({
  state: { ...state, attempts: new Map(state.attempts) },
  messages,
});

async function addRecord(text: string): Promise<void> {
  const { journal } = await openJournal({ file: at('journal.jsonl'), epoch: 2 });
  const told = { type: 'notice.given' as const, level: 'info' as const, text };
  const message = { type: 'message.rejected' as const, id: 'm1.md', reason: 'not understood' };
  await journal.append(journal.seq, 1, [told, message]);
  await journal.close();
}

describe('the fold of a long session', () => {
  it('is the same with and without a kept one, and after more was written', async () => {
    await longJournal();
    expect(plain(foldSession(dir, 'a'))).toEqual(await plainly());
    expect(statSync(at('fold.cache')).mode & 0o777).toBe(0o600);
    expect(plain(foldSession(dir, 'a'))).toEqual(await plainly());
    await addRecord('once more');
    const again = foldSession(dir, 'a');
    expect(plain(again)).toEqual(await plainly());
    expect(again.messages.at(-1)).toMatchObject({ id: 'm1.md', action: 'rejected: not understood' });
    expect(again.state.notices.at(-1)?.text).toBe('once more');
  });

  it('reads old attempts when asked, from the journal where the kept ones are gone', async () => {
    await longJournal();
    const whole = (await plainly()).state.attempts;
    foldSession(dir, 'a');
    const { attempts } = foldSession(dir, 'a').state;
    expect(attempts.size).toBe(750);
    expect(attempts.get(745)).toEqual(whole.get(745));
    expect(attempts.has(751)).toBe(false);
    expect(attempts.get(3)).toEqual(whole.get(3));
    const late = foldSession(dir, 'a').state.attempts;
    rmSync(at('fold.cache'));
    expect([...late]).toEqual([...whole]);
  });

  it('is made again where only its old attempts are cut, also while a window reads them', async () => {
    await longJournal();
    const whole = (await plainly()).state.attempts;
    foldSession(dir, 'a');
    const read = foldSession(dir, 'a').state.attempts;
    truncateSync(at('fold.cache'), statSync(at('fold.cache')).size - 10);
    expect(read.get(3)).toEqual(whole.get(3));
    expect(foldSession(dir, 'a').state.attempts.get(3)).toEqual(whole.get(3));
    const kept = readFileSync(at('fold.cache'), 'utf8');
    writeFileSync(at('fold.cache'), kept.replace(/,(?=[^,]{1,40}\n$)/, ';'));
    expect(foldSession(dir, 'a').state.attempts.get(3)).toEqual(whole.get(3));
    expect(() => statSync(at('fold.cache'))).toThrow('ENOENT');
  });

  it('is not taken from another build, and none is kept where the program has no name', async () => {
    await longJournal();
    foldSession(dir, null);
    expect(() => statSync(at('fold.cache'))).toThrow('ENOENT');
    foldSession(dir, 'a');
    const kept = readFileSync(at('fold.cache'), 'utf8');
    writeFileSync(at('fold.cache'), kept.replace(/"stuckTotal":\d/, '"stuckTotal":9'));
    expect(foldSession(dir, 'a').state.stuckTotal).toBe(9);
    expect(plain(foldSession(dir, 'b'))).toEqual(await plainly());
  });

  it('is made again where the kept one is damaged, or its journal was cut or replaced', async () => {
    await longJournal();
    foldSession(dir, 'a');
    truncateSync(at('fold.cache'), 1_000);
    expect(plain(foldSession(dir, 'a'))).toEqual(await plainly());
    const lines = readFileSync(at('journal.jsonl'), 'utf8').split('\n');
    writeFileSync(at('journal.jsonl'), `${lines.slice(0, 4_000).join('\n')}\n`);
    expect(plain(foldSession(dir, 'a'))).toEqual(await plainly());
    rmSync(at('journal.jsonl'));
    await writeJournal({ iterations: 20, tasks: 2, file: at('journal.jsonl') });
    expect(plain(foldSession(dir, 'a'))).toEqual(await plainly());
  });

  it('passes a torn tail by, and is empty without a journal', async () => {
    expect(foldSession(dir, 'a').state.seq).toBe(0);
    await longJournal();
    const whole = await plainly();
    appendFileSync(at('journal.jsonl'), '{"v":1,"seq":');
    expect(plain(foldSession(dir, 'a'))).toEqual(whole);
    expect(plain(foldSession(dir, 'a'))).toEqual(whole);
  });
});
