/** A journal that was cut or changed, and files beside it that somebody deleted. */
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DONE, type Project, type ScriptedRun } from '../e2e/project.ts';
import { expectFinished, factsNow, factsOf, killWhen, listProject, recorded, sessionDir } from './killing.ts';

const RUNS: ScriptedRun[] = [
  { do: [{ write: { path: '{{task}}.txt', content: '{{task}}\n' } }, { sleep_ms: 100 }, { say: DONE }] },
];

const journalOf = (project: Project) => join(sessionDir(project)!, 'journal.jsonl');

async function killedProject(): Promise<Project> {
  const project = listProject(['a'], { runs: RUNS });
  await killWhen(project, ['run'], () => recorded(project, 'verdict.reached'));
  return project;
}

describe.concurrent('a journal', () => {
  test('cut at any byte of its last line: the rest is set aside, told, and the work goes on', async ({
    onTestFinished,
  }) => {
    const project = await killedProject();
    onTestFinished(() => project.remove());
    const bytes = readFileSync(journalOf(project));
    const lastLine = bytes.lastIndexOf(10, bytes.length - 2) + 1;
    const cut = lastLine + 1 + Math.floor(Math.random() * (bytes.length - lastLine - 2));
    truncateSync(journalOf(project), cut);
    const ran = await project.ralph(['resume']);
    await expectFinished(project, ran, { tasks: ['a'], lost: null });
    const [repair] = factsOf(project, 'journal.repaired');
    expect(repair, `cut at byte ${cut}`).toMatchObject({ bytes: cut - lastLine, keptAs: 'journal.torn-1' });
    const kept = readFileSync(join(sessionDir(project)!, 'journal.torn-1'));
    expect(kept.equals(bytes.subarray(lastLine, cut))).toBe(true);
  });

  test('that lost whole records after the attempt began still leads to a finished list', async ({
    onTestFinished,
  }) => {
    const project = await killedProject();
    onTestFinished(() => project.remove());
    const bytes = readFileSync(journalOf(project));
    const begun = bytes.indexOf(10, bytes.indexOf('attempt.started')) + 1;
    const cut = begun + Math.floor(Math.random() * (bytes.length - begun));
    truncateSync(journalOf(project), cut);
    const ran = await project.ralph(['resume']);
    expect(ran.code, `cut at byte ${cut}: ${ran.err}`).toBe(0);
    expect(factsNow(project).at(-1)).toMatchObject({ type: 'run.stopped', code: 0 });
    expect(project.read('a.txt')).toBe('a\n');
  });

  test('changed in the middle is refused with its file and line, and left as it is', async ({
    onTestFinished,
  }) => {
    const project = await killedProject();
    onTestFinished(() => project.remove());
    const file = journalOf(project);
    const lines = readFileSync(file, 'utf8').split('\n');
    for (const [damage, line] of [
      [lines.with(1, lines[1]!.slice(0, -9)), 2],
      [lines.with(1, lines[1]!.replace('"at":1', '"at":2')), 3],
      [lines.toSpliced(1, 1), 2],
    ] as const) {
      writeFileSync(file, damage.join('\n'));
      for (const command of ['resume', 'run', 'status']) {
        const ran = await project.ralph([command]);
        expect(ran.code, command).toBe(5);
        expect(ran.err).toContain(`journal.jsonl:${line}`);
      }
      expect(readFileSync(file, 'utf8')).toBe(damage.join('\n'));
    }
    writeFileSync(file, lines.join('\n'));
    await expectFinished(project, await project.ralph(['resume']), { tasks: ['a'], lost: null });
  });
});

test('locks, mirrors and caches that somebody deleted come back', async ({ onTestFinished }) => {
  const project = await killedProject();
  onTestFinished(() => project.remove());
  const dir = sessionDir(project)!;
  for (const name of readdirSync(dir)) {
    if (['journal.jsonl', 'works', 'attempts', 'ground'].includes(name)) continue;
    rmSync(join(dir, name), { recursive: true });
  }
  rmSync(join(project.dir, '.ralph'), { recursive: true });
  await expectFinished(project, await project.ralph(['resume']), { tasks: ['a'], lost: [] });
  expect(existsSync(join(project.dir, '.ralph/.gitignore'))).toBe(true);
});
