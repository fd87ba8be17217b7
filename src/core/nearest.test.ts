import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

const keys = ['max_stuck', 'max_cycles', 'agent', 'agents', 'mode', 'modes', 'balanced'];

test('a slip of the fingers finds the word that was meant', () => {
  expect(nearest('max_stcuk', keys)).toBe('max_stuck');
  expect(nearest('max-stuck', keys)).toBe('max_stuck');
  expect(nearest('agnet', keys)).toBe('agent');
  expect(nearest('AGENTS', keys)).toBe('agents');
});

test('a word that is close to nothing gets no suggestion', () => {
  expect(nearest('telemetry', keys)).toBeNull();
  expect(nearest('', keys)).toBeNull();
  expect(nearest('x'.repeat(5000), keys)).toBeNull();
  expect(nearest('agent', [])).toBeNull();
});

test('among equals the first candidate wins', () => {
  expect(nearest('cat', ['bat', 'hat'])).toBe('bat');
});

test('the beginning of one candidate is enough, of several is not', () => {
  expect(nearest('bal', keys)).toBe('balanced');
  expect(nearest('max', keys)).toBeNull();
});

test('the word itself is always its own nearest', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, maxLength: 20 })),
      fc.string({ maxLength: 20 }),
      (words, extra) => {
        const word = `w${extra.trim()}`;
        expect(nearest(word, [...words, word])?.toLowerCase()).toBe(word.toLowerCase());
      },
    ),
  );
});
