import assert from 'node:assert/strict';
import { test } from 'node:test';
import { words } from '../src/words.mjs';

test('punctuation is no word', () => {
  assert.deepEqual(words('Hello, world!'), ['Hello', 'world']);
});
