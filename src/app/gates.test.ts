/** What a gate prints is told without secrets, wherever it is cut. The secrets here open nothing. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { redactorOf } from '../core/index.ts';
import { processGates } from './gates.ts';

const folder = mkdtempSync(join(tmpdir(), 'gates-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const VALUE = 'q7Zr2WmX9tKc4VbN8sLd3FgH6jPy1RuT5aEo';
const KB = 1024;
const redactor = redactorOf([{ name: 'A_TOKEN', value: VALUE }]);

async function told(output: string): Promise<string> {
  writeFileSync(join(folder, 'output'), output);
  const def = {
    name: 'test',
    run: 'cat output; exit 1',
    timeoutS: 60,
    required: true,
    minTests: 0,
    baseline: 'no_regression',
  } as const;
  const env = { PATH: process.env.PATH ?? '' };
  const result = await processGates(redactor).run(def, {
    ground: { cwd: folder },
    env,
    marker: `gates-${process.pid}`,
  } as Parameters<ReturnType<typeof processGates>['run']>[1]).done;
  expect(result?.outcome).toBe('failed');
  return JSON.stringify(result);
}

/** No quarter of it. */
function leftOf(text: string): string[] {
  return [0, 9, 18, 27].map((at) => VALUE.slice(at, at + 9)).filter((part) => text.includes(part));
}

test.each([
  ['the head that is kept', 256 * KB - 18, 400 * KB],
  ['the tail that is kept', 400 * KB, 256 * KB - 18],
  ['the excerpt', 8 * KB, 4_000 - 18],
])('a secret across the edge of %s', async (_, before, behind) => {
  const line = 'all is as it was\n';
  const fill = (length: number) => line.repeat(Math.ceil(length / line.length)).slice(0, length);
  expect(leftOf(await told(`${fill(before)}${VALUE}${fill(behind)}`))).toEqual([]);
});

test('a secret across the end of a failure that is noted', async () => {
  for (const length of [270, 280, 290, 1_980])
    expect(
      leftOf(await told(`Error: ${'a word '.repeat(400).slice(0, length)}${VALUE} was refused\n`)),
    ).toEqual([]);
});
