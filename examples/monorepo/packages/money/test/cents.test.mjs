import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cents } from '../src/cents.mjs';

test('a price in cents', () => assert.equal(cents('12.5'), 1250));
