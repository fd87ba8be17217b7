import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spoken } from '../src/name.mjs';

test('a name is trimmed', () => assert.equal(spoken(' Ada '), 'Ada'));
