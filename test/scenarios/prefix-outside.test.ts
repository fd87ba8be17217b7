import { describe, test } from 'vitest';
import { everyPrefix } from './prefix.ts';
import { STORIES } from './stories.ts';

describe('a crash after any record of a story with people in it ends lawfully', () => {
  for (const story of STORIES.filter((entry) => entry.outside)) {
    test(`${story.number}: ${story.says}`, () => everyPrefix(story), 60_000);
  }
});
