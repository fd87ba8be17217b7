import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openShell } from './shell.ts';

const ENV = { PATH: process.env.PATH ?? '' };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ralph shell ü '));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(process.platform === 'win32')('the shell that stays', () => {
  it('answers with what was printed, to the byte, and with the exit code', async () => {
    const shell = openShell({ cwd: folder, env: ENV });
    const first = await shell.run(["printf 'a\\0b\\n'; echo wrong >&2; exit 3"]);
    expect(first).toEqual({ code: 3, stdout: Buffer.from('a\0b\n'), stderr: 'wrong\n' });
    expect(await shell.run(['true'])).toEqual({ code: 0, stdout: Buffer.alloc(0), stderr: '' });
    const much = await shell.run(['head -c 3000000 /dev/zero; head -c 200000 /dev/zero >&2']);
    expect(much?.stdout.length).toBe(3_000_000);
  });

  it('is one process for all calls, each in its folder, none of which can read its input', async () => {
    const shell = openShell({ cwd: folder, env: ENV });
    const [a, b] = await Promise.all([shell.run(['cat; cd /; echo $$']), shell.run(['pwd; echo $$'])]);
    expect(String(b?.stdout)).toBe(`${folder}\n${a?.stdout}`);
  });

  it('that somebody ended, or whose folder is gone, gives no answer', async () => {
    const ended = openShell({ cwd: folder, env: ENV });
    const pid = Number(String((await ended.run(['echo $$']))?.stdout));
    process.kill(pid, 'SIGKILL');
    expect(await ended.run(['true'])).toBeNull();
    expect(await openShell({ cwd: folder, env: ENV }).run(['kill -9 $$; sleep 9'])).toBeNull();

    const moved = openShell({ cwd: folder, env: ENV });
    await moved.run(['true']);
    rmSync(folder, { recursive: true });
    expect((await moved.run(['echo here']))?.code).toBe(2);
  });

  it('keeps nobody from ending, and ends with its owner, however that ends', async () => {
    const shell = new URL('./shell.ts', import.meta.url).href;
    const code = `import { openShell } from ${JSON.stringify(shell)};
      const shell = openShell({ cwd: '/', env: process.env });
      console.log(String((await shell.run(['echo $$']))?.stdout).trim());`;
    for (const rest of ['', 'setInterval(() => {}, 1000);']) {
      const owner = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code + rest]);
      const pid = await new Promise<number>((resolve) =>
        owner.stdout.once('data', (text) => resolve(Number(text))),
      );
      if (rest !== '') owner.kill('SIGKILL');
      await new Promise((resolve) => owner.once('close', resolve));
      expect(pid).toBeGreaterThan(1);
      for (let waited = 0; isAlive(pid) && waited < 5_000; waited += 20) await sleep(20);
      expect(isAlive(pid)).toBe(false);
    }
  });
});

function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
