/** What became of a loop's work is said as it is, also where a person had it land before it was done. */
import { expect, test } from 'vitest';
import { type LandingFact, landingText } from './landing.ts';

const LOOP = { loop: 'fix', branch: 'ralph/fix', onto: 'main' };
const HALF = { unfinished: { done: 1, total: 2 } };
const OUTCOMES: LandingFact[] = [
  { type: 'loop.landed', ...LOOP, commit: 'c0ffee', merged: false },
  { type: 'loop.parked', ...LOOP, why: 'a.txt differs', files: ['a.txt'], next: 'Settle it.' },
  { type: 'loop.queued', ...LOOP, why: 'a run works there', next: 'Wait.' },
  { type: 'loop.stayed', ...LOOP },
  { type: 'loop.handed_over', ...LOOP },
];

test('given all of its tasks are done, when its landing is told, then it is said to be done or to have landed', () => {
  expect(OUTCOMES.map((fact) => landingText(fact).split(/ on |, /)[0])).toEqual([
    'Loop fix landed',
    'Loop fix is done and did not land',
    'Loop fix is done and waits to land',
    'Loop fix is done and stays',
    'Loop fix is done',
  ]);
});

test('given a task is open, when its landing is told, then no outcome says that it is done, and one that landed says how it goes on', () => {
  const texts = OUTCOMES.map((fact) => landingText({ ...fact, ...HALF }));
  for (const text of texts) {
    expect(text).not.toContain('is done');
    expect(text).toContain('1 of 2 tasks done');
  }
  expect(texts[0]).toBe(
    'Loop fix landed on main: c0ffee, with 1 of 2 tasks done; `ralph run --worktree fix` goes on with the rest',
  );
});
