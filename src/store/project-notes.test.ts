/** The project journal's notes on agents: read as they are asked for, after the last reset. */
import { appendFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
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
  const { notes, unreadable } = readNotes(root);
  return { iterations: [...notes].map(({ iteration }) => iteration), unreadable };
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
