import { defineConfig } from 'vitest/config';

// Real agent CLIs against our scripted model. One file at a time: each program wants a core and 200 MB.
export default defineConfig({
  test: {
    include: ['test/agents/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
    pool: 'forks',
    testTimeout: 90_000,
    hookTimeout: 30_000,
    fileParallelism: false,
  },
});
