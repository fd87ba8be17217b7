import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ProcessRow } from './index.ts';
import { endAll, findByMarker, findProgram, isAlive, ownIdentity, processTable } from './index.ts';
import { spawnCommand } from './program.ts';
import { parsePs } from './ps.ts';
import { membersOf } from './tree.ts';
import { parseWindows } from './windows.ts';

const NAME = 'TABLE_TEST';

async function sleeper(value: string) {
  const child = spawn('sleep', ['300'], { env: { [NAME]: value }, stdio: 'ignore' });
  await once(child, 'spawn');
  return child;
}

test('this process is in the table and alive', () => {
  const own = ownIdentity();
  expect(processTable().find((row) => row.pid === own.pid)).toMatchObject({
    startTime: own.startTime,
    ppid: process.ppid,
  });
  expect(isAlive(own.pid, own.startTime)).toBe(true);
  expect(own.boot).not.toBe('');
});

test('a pid with another start time is another process', () => {
  expect(isAlive(process.pid, `${ownIdentity().startTime}1`)).toBe(false);
});

test('processes are found by marker and ended, each by pid and start time', async () => {
  const value = `v-${process.pid}-${Math.random()}`;
  const [one, other] = await Promise.all([sleeper(value), sleeper(`${value}-more`)]);
  const found = findByMarker({ name: NAME, value });
  expect(found.map((row) => row.pid)).toEqual([one.pid]);
  const any = findByMarker({ name: NAME, value: '' }).map((row) => row.pid);
  expect(any).toEqual(expect.arrayContaining([one.pid, other.pid]));
  const impostor: ProcessRow = { ...found[0]!, pid: other.pid!, startTime: '1' };
  expect(await endAll([...found, impostor], 2000)).toEqual([]);
  expect(isAlive(one.pid!, found[0]!.startTime)).toBe(false);
  expect(findByMarker({ name: NAME, value: `${value}-more` })).toHaveLength(1);
  expect(await endAll(findByMarker({ name: NAME, value: `${value}-more` }), 0)).toEqual([]);
});

test('an environment of 200 KB is searched to its end', async () => {
  const value = `v-${process.pid}-${Math.random()}`;
  const [one, other] = ['a', 'b'].map((letter) => letter.repeat(100_000));
  const child = spawn('sleep', ['300'], { env: { ONE: one, OTHER: other, [NAME]: value }, stdio: 'ignore' });
  await once(child, 'spawn');
  expect(findByMarker({ name: NAME, value }).map((row) => row.pid)).toEqual([child.pid]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(findByMarker({ name: NAME, value })).toEqual([]);
});

test('a zombie is not alive', async () => {
  // The shell replaces itself with a program that never collects its child.
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 300'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [bytes] = (await once(parent.stdout!, 'data')) as [Buffer];
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(processTable().some((row) => row.pid === Number(bytes.toString()))).toBe(false);
  parent.kill('SIGKILL');
  await once(parent, 'exit');
});

test('the ancestors of this process are never found by marker', () => {
  expect(
    findByMarker({ name: 'PATH', value: '' }).some((row) => [process.pid, process.ppid].includes(row.pid)),
  ).toBe(false);
});

function row(pid: number, ppid: number, more: Partial<ProcessRow> = {}): ProcessRow {
  return { pid, ppid, pgid: pid, startTime: `t${pid}`, command: '', ...more };
}

test('a tree is its descendants, those known from before, and the rest of its group', () => {
  const rows = [
    row(10, 1),
    row(11, 10),
    row(12, 11),
    row(20, 1),
    row(21, 20),
    row(30, 1, { pgid: 10 }),
    row(40, 1),
  ];
  const members = membersOf(rows, { pid: 10, startTime: 't10' }, new Map([[20, 't20']]));
  expect(members.map((each) => each.pid).sort()).toEqual([11, 12, 20, 21, 30]);
});

test('pids that were used again are not in the tree', () => {
  const rows = [row(10, 1, { startTime: 'later' }), row(11, 10), row(12, 1, { pgid: 10 }), row(20, 1)];
  expect(membersOf(rows, { pid: 10, startTime: 't10' }, new Map([[20, 'earlier']]))).toEqual([]);
});

test('the tables of ps and of Windows are read, other lines are left out', () => {
  const ps =
    '  501     1   501 Ss   Mon Jan  5 10:00:00 2026 /bin/zsh -l\n  7 1 7 Z Mon Jan  5 10:00:00 2026 (x)\nnoise\n';
  expect(parsePs(ps)).toEqual([
    { pid: 501, ppid: 1, pgid: 501, startTime: 'Mon Jan 5 10:00:00 2026', command: '/bin/zsh -l' },
  ]);
  expect(parseWindows('4\t0\t\tSystem\t\r\n50\t4\t638\tnode.exe\tnode a b\r\n')).toEqual([
    { pid: 50, ppid: 4, pgid: 50, startTime: '638', command: 'node a b' },
  ]);
});

test('a program is found on the PATH, without folders and files that may not run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'program-'));
  for (const name of ['a', 'b', 'c']) mkdirSync(join(folder, name));
  mkdirSync(join(folder, 'a', 'tool'));
  writeFileSync(join(folder, 'b', 'tool'), '', { mode: 0o644 });
  writeFileSync(join(folder, 'c', 'real'), '', { mode: 0o755 });
  symlinkSync(join(folder, 'c', 'real'), join(folder, 'c', 'tool'));
  const env = { PATH: ['a', 'b', 'c'].map((name) => join(folder, name)).join(':') };
  expect(findProgram('tool', env)).toBe(join(folder, 'c', 'tool'));
  expect(findProgram(join(folder, 'c', 'real'), {})).toBe(join(folder, 'c', 'real'));
  expect(findProgram('nothing', env)).toBeNull();
  expect(findProgram('', env)).toBeNull();
  expect(findProgram('tool', {})).toBeNull();
  rmSync(folder, { recursive: true });
});

test('a batch file is started through cmd with its arguments hidden from it', () => {
  const command = spawnCommand(['C:\\bin\\tool.cmd', 'a b', '%PATH%', 'say "hi"'], {}, true);
  expect(command).toMatchObject({ file: 'cmd.exe', verbatim: true });
  expect(command.args.at(-1)).not.toMatch(/[^^]%/);
  expect(spawnCommand(['git', 'x'], {}, false)).toEqual({
    file: 'git',
    args: ['x'],
    shell: false,
    verbatim: false,
  });
});
