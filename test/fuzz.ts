/**
 * fast-check as every test imports it (vitest.config.ts puts this file in its place): with CI=true the seed is
 * always the same, so that what CI says depends on the commit alone; everywhere else each run tries new values.
 * FUZZ_SEED names another one.
 */
import fc from '../node_modules/fast-check/lib/fast-check.js';

const seed = process.env.FUZZ_SEED ?? (process.env.CI ? '20261128' : undefined);
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });

export * from '../node_modules/fast-check/lib/fast-check.js';
export default fc;
