/**
 * A disk that is really full: a small file system of its own under the session folder. Most stories have the guard of
 * the machine's disk off, because they are about a disk that fills up under its feet.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readJournal } from '../../src/store/index.ts';
import { DONE, type Project, type ScriptedRun } from '../e2e/project.ts';
import { expectFinished, factsOf, listProject, recorded, sessionDir } from './killing.ts';

/** Why no file system can be mounted here; null where it can. */
const refusal = ((): string | null => {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-mount-'));
  try {
    mount(folder, '64k');
    unmount(folder);
    return null;
  } catch (error) {
    return `mounting a tmpfs is not permitted here: ${(error as Error).message.split('\n').at(-2)}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
})();
if (refusal !== null) console.log(`skipped: ${refusal}`);

function mount(folder: string, size: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'pipe' });
}

function unmount(folder: string): void {
  execFileSync('umount', ['-l', folder], { stdio: 'pipe' });
}

const WORKS: ScriptedRun = {
  do: [{ write: { path: '{{task}}.txt', content: '{{task}}\n' } }, { say: DONE }],
};

function smallDiskProject(runs: ScriptedRun[], leastMb = 0): Project {
  const project = listProject(['a', 'b'], { runs, config: `host: { min_free_disk_mb: ${leastMb} }\n` });
  const folder = join(project.dir, '.ralph-sessions');
  mkdirSync(folder);
  mount(folder, '4m');
  return {
    ...project,
    remove() {
      unmount(folder);
      project.remove();
    },
  };
}

/** Takes every byte that is left. */
function fill(project: Project): string {
  const ballast = join(project.dir, '.ralph-sessions/ballast');
  for (const size of [1 << 20, 1 << 12, 1]) {
    try {
      for (;;) writeFileSync(ballast, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // No room for a piece of this size.
    }
  }
  return ballast;
}

test.skipIf(refusal !== null)(
  'a full disk at the start: 70, nothing damaged, and it goes on once there is room',
  async ({ onTestFinished }) => {
    const project = smallDiskProject([WORKS]);
    onTestFinished(() => project.remove());
    expect((await project.ralph(['run', '--max-iterations', '1'])).code).toBe(1);
    const journal = join(sessionDir(project)!, 'journal.jsonl');
    const before = readFileSync(journal);
    const ballast = fill(project);
    const full = await project.ralph(['run']);
    expect(full.code, full.err).toBe(70);
    expect(full.err).toMatch(/ENOSPC|[Nn]o space/);
    expect(full.err).not.toContain('defect');
    expect(readFileSync(journal).subarray(0, before.length).equals(before)).toBe(true);
    expect((await readJournal(journal)).tornBytes).toBe(0);
    rmSync(ballast);
    await expectFinished(project, await project.ralph(['run']), { tasks: ['a', 'b'], lost: null });
  },
);

test.skipIf(refusal !== null)(
  'a disk that fills up while the agent works: 70, and its work is not lost',
  async ({ onTestFinished }) => {
    const fills = 'cat /dev/zero > "$RALPH_SESSION_DIR/../ballast"; true';
    const project = smallDiskProject([{ when: { iteration: 1 }, do: [{ run: fills }, ...WORKS.do] }, WORKS]);
    onTestFinished(() => project.remove());
    const full = await project.ralph(['run']);
    expect(full.code, full.err).toBe(70);
    expect(full.err).not.toContain('defect');
    expect(project.read('a.txt')).toBe('a\n');
    rmSync(join(project.dir, '.ralph-sessions/ballast'));
    await expectFinished(project, await project.ralph(['run']), { tasks: ['a', 'b'], lost: null });
  },
);

test.skipIf(refusal !== null)(
  'work too large for the disk of its snapshots: 70, kept, judged once there is room',
  async ({ onTestFinished }) => {
    const large = 'head -c 6000000 /dev/urandom > large.bin';
    const project = smallDiskProject([{ when: { iteration: 1 }, do: [{ run: large }, ...WORKS.do] }, WORKS]);
    onTestFinished(() => project.remove());
    const full = await project.ralph(['run']);
    expect(full.code, full.err).toBe(70);
    expect(full.err).not.toContain('defect');
    execFileSync('mount', ['-o', 'remount,size=40m', join(project.dir, '.ralph-sessions')]);
    await expectFinished(project, await project.ralph(['run']), { tasks: ['a', 'b'], lost: [1] });
    expect(project.git('log', '--format=%(trailers:key=Ralph-Task,valueonly)', '--', 'large.bin')).toBe('a');
  },
);

test.skipIf(refusal !== null)(
  'a disk with less room than the guard asks for: the run waits, says why and what to do, and goes on once there is room',
  async ({ onTestFinished }) => {
    const project = smallDiskProject([WORKS], 2);
    onTestFinished(() => project.remove());
    const ballast = fill(project);
    truncateSync(ballast, statSync(ballast).size - (1 << 20));
    const started = project.start(['run']);
    await recorded(project, 'host.seen');
    const folder = sessionDir(project)!;
    const why = `only 0 MB are free on the disk of ${folder}, and 2 have to be (host.min_free_disk_mb)`;
    const status = await project.ralph(['status']);
    expect(status.out).toContain(`waits for room on the machine: ${why}; free some or lower that key`);
    expect(factsOf(project, 'host.seen')).toEqual([
      { type: 'host.seen', short: [{ of: 'disk', path: folder, freeMb: 0, leastMb: 2 }] },
    ]);
    expect(factsOf(project, 'attempt.started')).toEqual([]);
    rmSync(ballast);
    const ran = await started.done;
    expect(ran.out).toContain(`no agent is started for now: ${why}; free some or lower that key`);
    expect(ran.out).toContain('the machine has enough disk and memory again; the work goes on');
    await expectFinished(project, ran, { tasks: ['a', 'b'], lost: [] });
  },
);

test.skipIf(refusal !== null)(
  'a disk that is full where the work tree of a loop lies: what is done stays, and the loop lands once there is room',
  async ({ onTestFinished }) => {
    const fills = 'cat /dev/zero > "$HOME/.local/state/ralph/worktrees/ballast" 2>/dev/null; true';
    const runs = [{ when: { iteration: 2 }, do: [{ run: fills }, ...WORKS.do] }, WORKS];
    const config = 'host: { min_free_disk_mb: 0 }\nlimits: { max_subagent_retries: 0 }\n';
    const project = listProject(['a', 'b'], { runs, config });
    const folder = join(project.home, '.local/state/ralph/worktrees');
    mkdirSync(folder, { recursive: true });
    mount(folder, '2m');
    onTestFinished(() => {
      unmount(folder);
      project.remove();
    });
    const full = await project.ralph(['run', '--worktree', 'one']);
    expect([full.code, full.out]).toEqual([6, expect.stringContaining('ENOSPC')]);
    expect(full.err).not.toContain('defect');
    expect(project.git('show', 'ralph/one:a.txt')).toBe('a');
    rmSync(join(folder, 'ballast'));
    const landed = await project.ralph(['run', '--worktree', 'one']);
    expect(landed.code, landed.err).toBe(0);
    expect([project.read('a.txt'), project.read('b.txt')]).toEqual(['a\n', 'b\n']);
    expect(project.git('fsck', '--full', '--no-dangling')).not.toMatch(/missing|corrupt|broken/);
    expect(project.git('status', '--porcelain')).toBe('');
  },
);
