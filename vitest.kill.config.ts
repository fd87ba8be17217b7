import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/kill/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 180_000,
    fileParallelism: false,
    // Most of a run is waiting for disks and sleeping agents; more at once would only make each slower.
    maxConcurrency: 4,
  },
});
