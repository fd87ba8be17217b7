/** What V8 made of the program is kept beside it, and is never more than a help. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PROGRAM } from './project.ts';

let root: string;
let kept: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'ralph-kept-'));
  cpSync(dirname(PROGRAM), join(root, 'dist'), {
    recursive: true,
    filter: (path) => !path.includes('.code'),
  });
  kept = join(root, 'dist', '.code');
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

const help = () =>
  spawnSync(process.execPath, [join(root, 'dist', 'ralph.js'), 'help', 'run'], { encoding: 'utf8' });

it('a first start keeps what it compiled, and the next one reads it and leaves it', () => {
  const first = help();
  expect(first.status, first.stderr).toBe(0);
  expect(first.stdout).toContain('ralph run');
  const [name, ...more] = readdirSync(kept);
  expect(more).toEqual([]);
  expect(name).toMatch(/^help-v/);
  const bytes = readFileSync(join(kept, name!));
  expect(help().stdout).toBe(first.stdout);
  expect(readFileSync(join(kept, name!)).equals(bytes)).toBe(true);
});

it('what is torn, or was made for another program, is not used and is made anew', () => {
  const good = help().stdout;
  const file = join(kept, readdirSync(kept)[0]!);
  const whole = readFileSync(file);
  const flipped = Buffer.from(whole);
  flipped[whole.length >> 1]! ^= 0xff;
  for (const torn of [
    Buffer.alloc(0),
    whole.subarray(0, whole.length >> 1),
    Buffer.alloc(whole.length),
    flipped,
  ]) {
    writeFileSync(file, torn);
    const told = help();
    expect([told.status, told.stdout, told.stderr]).toEqual([0, good, '']);
    expect(readFileSync(file).length).toBeGreaterThan(whole.length / 2);
    expect(readdirSync(kept)).toHaveLength(1);
  }
  const flags = spawnSync(process.execPath, ['--no-opt', join(root, 'dist', 'ralph.js'), 'help', 'run'], {
    encoding: 'utf8',
  });
  expect([flags.status, flags.stdout, flags.stderr]).toEqual([0, good, '']);
});

it('a word that is no command keeps nothing', () => {
  const told = spawnSync(process.execPath, [join(root, 'dist', 'ralph.js'), 'nonsense'], {
    encoding: 'utf8',
  });
  expect(told.status).toBe(5);
  expect(readdirSync(kept).filter((name) => name.startsWith('nonsense'))).toEqual([]);
});

it('where nothing can be kept the program runs as ever', () => {
  const good = help().stdout;
  rmSync(kept, { recursive: true });
  writeFileSync(kept, 'a file in its place');
  const told = help();
  expect([told.status, told.stdout, told.stderr]).toEqual([0, good, '']);
  expect(readFileSync(kept, 'utf8')).toBe('a file in its place');
});
