import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTrial, trialPrompt } from './trial.ts';

const gates = [
  { name: 'test', run: 'npm test' },
  { name: 'lint', run: 'npm run lint' },
];

test('each gate stands in the prompt as it is to be typed', () => {
  const prompt = trialPrompt(gates);
  expect(prompt).toContain('1. test:\n\n    npm test');
  expect(prompt).toContain('2. lint:\n\n    npm run lint');
  expect(trialPrompt([])).toMatch(/RALPH-READY/);
});

test('what ran and what was denied is read, whatever marks surround the line', () => {
  const said = readTrial(
    'Done.\n\n- RALPH-GATE test ran exit=1\n`RALPH-GATE lint denied by a rule`\n',
    gates,
  );
  expect(said.get('test')).toEqual({ kind: 'ran', exitCode: 1 });
  expect(said.get('lint')).toEqual({ kind: 'denied', reason: 'by a rule' });
});

test('an echo of the prompt, an unknown gate and a line in a sentence say nothing', () => {
  expect(readTrial(trialPrompt(gates), gates).size).toBe(0);
  expect(readTrial('RALPH-GATE deploy ran exit=0\nI print RALPH-GATE test ran exit=0 now', gates).size).toBe(
    0,
  );
});

test('the last line about a gate counts', () => {
  const said = readTrial('RALPH-GATE test denied\nRALPH-GATE test ran exit=0\n', gates);
  expect(said.get('test')).toEqual({ kind: 'ran', exitCode: 0 });
});

test('any text is read without a failure', () => {
  fc.assert(fc.property(fc.string(), (text) => readTrial(`RALPH-GATE test ${text}`, gates).size <= 2));
});
