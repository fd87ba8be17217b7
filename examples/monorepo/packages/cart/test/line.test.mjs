import assert from 'node:assert/strict';
import { test } from 'node:test';
import { line } from '../src/line.mjs';

test('a line has pieces and a price', () => assert.deepEqual(line(2, 150), { pieces: 2, price: 150 }));
