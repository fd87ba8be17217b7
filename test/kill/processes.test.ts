/** What runs beside the runner: agents, what agents leave behind, and processes that are nobody's business. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAlive, processTable } from '../../src/process/index.ts';
import { DONE, type Project, type ScriptedRun } from '../e2e/project.ts';
import {
  ATTEND,
  expectFinished,
  factsOf,
  hanging,
  kill,
  killWhen,
  listProject,
  marked,
  sessionDir,
} from './killing.ts';

const WORKS: ScriptedRun = {
  do: [{ write: { path: '{{task}}.txt', content: '{{task}}\n' } }, { say: DONE }],
};
/** The first attempt does this and hangs; later ones do their work. */
const first = (...actions: Record<string, unknown>[]): ScriptedRun[] => [
  { when: { iteration: 1 }, do: [...actions, ATTEND, { hang: true }] },
  WORKS,
];

describe.concurrent('an agent', () => {
  test('that is killed is replaced at once, uncharged', async ({ onTestFinished }) => {
    const project = listProject(['a'], { runs: first() });
    onTestFinished(() => project.remove());
    const started = project.start(['run']);
    await hanging(project);
    process.kill(agentOf(project).pid, 'SIGKILL');
    await expectFinished(project, await started.done, { tasks: ['a'], lost: [] });
    expect(factsOf(project, 'verdict.reached').map((fact) => fact.value)).toEqual(['died', 'accepted']);
    expect(factsOf(project, 'task.charged')).toEqual([]);
  });

  test('that is killed together with the runner is lost, uncharged', async ({ onTestFinished }) => {
    const project = listProject(['a'], { runs: first() });
    onTestFinished(() => project.remove());
    const started = project.start(['run']);
    await hanging(project);
    process.kill(agentOf(project).pid, 'SIGKILL');
    await kill(started);
    await expectFinished(project, await project.ralph(['resume']), { tasks: ['a'], lost: null });
    expect(factsOf(project, 'task.charged')).toEqual([]);
  });

  test('that does not hear SIGTERM is ended all the same on resume', async ({ onTestFinished }) => {
    const project = listProject(['a'], { runs: first({ ignore_sigterm: true }) });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => hanging(project));
    const { pid, startTime } = agentOf(project);
    expect(isAlive(pid, startTime)).toBe(true);
    await expectFinished(project, await project.ralph(['resume']), { tasks: ['a'], lost: [1] });
    expect(isAlive(pid, startTime)).toBe(false);
  });

  test('that left a daemon in a session of its own: it is ended on resume, and named', async ({
    onTestFinished,
  }) => {
    const project = listProject(['a'], { runs: first({ run: 'setsid sleep 4711 >/dev/null 2>&1 &' }) });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => hanging(project));
    process.kill(agentOf(project).pid, 'SIGKILL');
    expect(marked(project).map(({ command }) => command)).toContain('sleep 4711');
    const ran = await project.ralph(['resume']);
    expect(ran.out).toContain('sleep 4711');
    await expectFinished(project, ran, { tasks: ['a'], lost: [1] });
  });
});

describe.concurrent('what is not ours', () => {
  test('is never ended, however much its marker looks like one of ours', async ({ onTestFinished }) => {
    const project = listProject(['a'], { runs: first() });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => hanging(project));
    const { marker } = factsOf(project, 'attempt.started')[0]!;
    const id = basename(sessionDir(project)!);
    const strangers = [
      '',
      id,
      `${id}-1`,
      `${marker}0`,
      marker.slice(0, -1),
      `${id}-gate-1-0000000000000000`,
    ].map(bystander);
    onTestFinished(() => {
      for (const stranger of strangers) stranger.kill('SIGKILL');
    });
    await expectFinished(project, await project.ralph(['resume']), { tasks: ['a'], lost: [1] });
    expect(strangers.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual(
      strangers.map(() => null),
    );
  });

  test('a lock whose pid lives but began at another time is stale', async ({ onTestFinished }) => {
    const project = listProject(['a'], { runs: first() });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => hanging(project));
    relock(project, { pid: process.pid, start_time: '1' });
    await expectFinished(project, await project.ralph(['resume']), { tasks: ['a'], lost: [1] });
  });

  test('a lock whose owner lives is respected, and nothing of it is ended', async ({ onTestFinished }) => {
    const project = listProject(['a'], { runs: first() });
    onTestFinished(() => project.remove());
    const started = project.start(['run']);
    await hanging(project);
    const second = await project.ralph(['run']);
    expect(second.code).toBe(5);
    expect(second.err).toContain(`pid ${started.child.pid}`);
    expect(marked(project).length).toBeGreaterThan(0);
    await kill(started);
    await expectFinished(project, await project.ralph(['run']), { tasks: ['a'], lost: [1] });
  });

  test('a lock of another boot is stale; one of another host needs a word', async ({ onTestFinished }) => {
    const project = listProject(['a'], { runs: first() });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => hanging(project));
    relock(project, { host: 'elsewhere' });
    const refused = await project.ralph(['run']);
    expect(refused.code).toBe(5);
    expect(refused.err).toContain('elsewhere');
    relock(project, { host: undefined, boot: 'another', pid: process.pid, start_time: ownStart() });
    await expectFinished(project, await project.ralph(['run']), { tasks: ['a'], lost: [1] });
  });
});

function agentOf(project: Project): { pid: number; startTime: string } {
  return factsOf(project, 'attempt.spawned')[0]!;
}

function bystander(marker: string): ChildProcess {
  const env = { PATH: process.env.PATH, RALPH_MARKER: marker };
  return spawn('sleep', ['300'], { env, stdio: 'ignore' });
}

function ownStart(): string {
  return processTable().find(({ pid }) => pid === process.pid)!.startTime;
}

/** Changes what the locks of the loop and of its session say about their owner. */
function relock(project: Project, owner: Record<string, unknown>): void {
  for (const [folder, name] of [
    [join(project.dir, '.ralph'), 'tree.lock'],
    [join(project.dir, '.ralph'), 'loop.lock'],
    [sessionDir(project)!, 'lock'],
  ] as const) {
    for (const file of [name, ...readdirSync(folder).filter((entry) => entry.startsWith(`.${name}-`))]) {
      const path = join(folder, file);
      if (!existsSync(path)) continue;
      const claim = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
      writeFileSync(path, JSON.stringify({ ...claim, ...owner }));
    }
  }
}
