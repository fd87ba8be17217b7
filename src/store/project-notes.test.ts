/** The project journal's notes on agents: read as they are asked for, after the last reset. */
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { setLinesAside } from './bad-lines.ts';
import { INTERVENTIONS_RESET, readNotes } from './notes.ts';
import { appendProject, projectJournal } from './project.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ralph-project-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const note = (iteration: number, detail = '') => ({
  at: iteration,
  type: 'iteration.noted',
  session: 's',
  n: iteration,
  iteration,
  agent: 'a',
  task: null,
  class: null,
  mode: 'implement',
  outcome: 'rejected',
  files: 0,
  evidence: 0,
  durationMs: 1,
  events: [{ event_type: 'no_files_detected', severity: 'critical', details: { detail } }],
  thresholds: { noFiles: 3, falseCompletion: 2 },
});
const reset = { at: 0, type: INTERVENTIONS_RESET };
const read = () => {
  const { notes, bad } = readNotes(root);
  const iterations = [...notes].map(({ iteration }) => iteration);
  return { iterations, unreadable: bad.map(({ place }) => place) };
};

test('none are there before any run', () => {
  expect(read()).toEqual({ iterations: [], unreadable: [] });
});

test('only what came after the last reset, in whichever file that stands', async () => {
  await appendProject(root, note(1), reset, note(2), note(3));
  expect(read().iterations).toEqual([2, 3]);
  renameSync(projectJournal(root), join(root, '.ralph', 'journal-20260101T000000Z.jsonl'));
  await appendProject(root, note(4));
  expect(read().iterations).toEqual([2, 3, 4]);
  await appendProject(root, reset);
  expect(read().iterations).toEqual([]);
  await appendProject(root, note(5));
  expect(read().iterations).toEqual([5]);
});

test('a reset that an agent only wrote about is none; lines that cannot be read are named', async () => {
  await appendProject(root, note(1, `{"type":"${INTERVENTIONS_RESET}"}`), {
    at: 1,
    type: 'cost.spent',
    usd: 1,
  });
  appendFileSync(projectJournal(root), '{"at":1,"type":"iteration.no\n\n');
  await appendProject(root, note(2, 'né 日本語'));
  appendFileSync(projectJournal(root), `{"type":"${INTERVENTIONS_RESET}`);
  expect(read()).toEqual({ iterations: [1, 2], unreadable: ['journal.jsonl:3', 'journal.jsonl:6'] });
});

test('what age compressed is still known, and a compressed file that is damaged is named', async () => {
  await appendProject(root, note(1), reset, note(2));
  const closed = join(root, '.ralph', 'journal-20260101T000000Z.jsonl.gz');
  writeFileSync(closed, gzipSync(readFileSync(projectJournal(root))));
  rmSync(projectJournal(root));
  await appendProject(root, note(3));
  expect(read()).toEqual({ iterations: [2, 3], unreadable: [] });
  writeFileSync(closed, 'no such thing');
  expect(read()).toEqual({ iterations: [3], unreadable: ['journal-20260101T000000Z.jsonl.gz'] });
});

test('a note that was edited into something else is named, too', async () => {
  await appendProject(root, note(1), { ...note(2), iteration: 'two' });
  expect(read()).toEqual({ iterations: [1], unreadable: ['journal.jsonl:2'] });
});

test('bad lines are set aside whole and named once; nothing is taken out of the journal', async () => {
  const file = join(root, '.ralph', 'journal.damaged-lines');
  const setAside = () => {
    const { notes, bad } = readNotes(root);
    expect([...notes].length).toBeGreaterThan(0);
    return setLinesAside(root, bad);
  };
  await appendProject(root, note(1));
  expect(setAside()).toBeNull();
  expect(existsSync(file)).toBe(false);
  appendFileSync(
    projectJournal(root),
    Buffer.concat([Buffer.from('{"at":1,"né\xff'), Buffer.from([0xff, 0x0a])]),
  );
  appendFileSync(projectJournal(root), 'no JSON\n');
  await appendProject(root, note(2));
  const before = readFileSync(projectJournal(root));
  expect(setAside()).toBe(
    '.ralph/journal.jsonl:2, journal.jsonl:3 cannot be read and say nothing. What stands there is kept whole in .ralph/journal.damaged-lines, and passed over from now on.',
  );
  expect(setAside()).toBeNull();
  expect(readFileSync(projectJournal(root))).toEqual(before);
  const kept = readFileSync(file);
  expect(before.includes(kept)).toBe(true);
  // What is known stays known where the journal is closed, and only what is new is named.
  renameSync(projectJournal(root), join(root, '.ralph', 'journal-20260101T000000Z.jsonl'));
  await appendProject(root, note(3));
  appendFileSync(projectJournal(root), 'torn');
  expect(setAside()).toContain('.ralph/journal.jsonl:2 cannot be read and says nothing.');
  expect(readFileSync(file)).toEqual(Buffer.concat([kept, Buffer.from('torn\n')]));
  // A copy that a crash cut is made again, and glued to nothing.
  writeFileSync(file, kept.subarray(0, kept.length - 4));
  setAside();
  expect(readFileSync(file, 'utf8')).toMatch(/\nno J\nno JSON\ntorn\n$/);
  expect(setAside()).toBeNull();
});

test('a note whose events tell what cannot be is damage; what they do not tell is nothing', async () => {
  const event = note(1).events[0]!;
  const spoilt = [null, 7, [], {}].flatMap((value) => [
    { ...event, details: { detail: value } },
    { ...event, details: { task_id: value ?? 7 } },
    { ...event, details: { finding: value ?? 7 } },
    { ...event, event_type: value },
  ]);
  await appendProject(root, ...spoilt.map((each) => ({ ...note(1), events: [each] })));
  await appendProject(root, {
    ...note(2),
    events: [{ event_type: 'no_files_detected', severity: 'critical' }],
  });
  const { notes, bad } = readNotes(root);
  expect([...notes].map(({ events }) => events[0]!.details)).toEqual([
    { task_id: null, finding: null, detail: '' },
  ]);
  expect(bad).toHaveLength(spoilt.length);
});
