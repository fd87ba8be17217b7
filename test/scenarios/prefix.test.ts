import { describe, test } from 'vitest';
import { everyPrefix, half } from './prefix.ts';

describe('a crash after any record ends as the uninterrupted run would', () => {
  for (const story of half(0)) {
    test(`${story.number}: ${story.says}`, () => everyPrefix(story), 60_000);
  }
});
