import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/kill/**/*.test.ts'], pool: 'forks', testTimeout: 120_000, fileParallelism: false },
});
