import { describe, test } from 'vitest';
import { STORIES } from './stories.ts';
import { leave } from './world.ts';

describe('whole-loop stories', () => {
  for (const story of STORIES) {
    test(`${story.number}: ${story.says}`, async () => {
      leave(await story.play());
    });
  }
});
