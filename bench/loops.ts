/**
 * Four loops side by side against one: finished and landed tasks a minute, with agents that only take their time.
 * Both are started as a person would, from a shell, in repositories of the same size, one after the other; the
 * figure is the ratio of the two, landing included.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Missing, Row, Scale } from './measure.ts';
import { makeRepository } from './repository.ts';
import { PROGRAM } from './start.ts';

interface Size {
  files: number;
  /** Of each loop. */
  tasks: number;
  /** How long each agent takes. */
  sleepMs: number;
}

const LOOPS = 4;

export async function loopsRows({ quick }: Scale): Promise<(Row | Missing)[]> {
  const name = `${LOOPS} loops against one, their work landed`;
  if (!existsSync(PROGRAM)) return [{ name, missing: 'dist/ralph.js is not built' }];
  const size = quick ? { files: 300, tasks: 1, sleepMs: 500 } : { files: 10_000, tasks: 4, sleepMs: 5_000 };
  const one = await secondsOf(1, size);
  const all = await secondsOf(LOOPS, size);
  return [
    {
      name,
      value: (LOOPS * one) / all,
      unit: 'x',
      least: 3.2,
      note: `${size.tasks} tasks a loop, agents of ${size.sleepMs / 1000} s, ${size.files.toLocaleString('en-US')} files: ${one.toFixed(1)} s alone, ${all.toFixed(1)} s for ${LOOPS}`,
    },
  ];
}

/** How long it takes until so many loops, begun at the same moment, have landed their work. */
async function secondsOf(loops: number, size: Size): Promise<number> {
  const root = makeRepository(size.files);
  const home = mkdtempSync(join(tmpdir(), 'ralph-bench-home-'));
  const names = Array.from({ length: loops }, (_, n) => `loop-${n + 1}`);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  try {
    prepare(root, names, size);
    git('add', '-A');
    git('commit', '-q', '-m', 'the work');
    const from = performance.now();
    await Promise.all(names.map((name) => run(root, home, name)));
    const seconds = (performance.now() - from) / 1000;
    const landed = git('ls-files', 'done').split('\n').filter(Boolean).length;
    if (landed !== loops * size.tasks) throw new Error(`${landed} of ${loops * size.tasks} tasks landed`);
    return seconds;
  } finally {
    rmSync(root, { recursive: true, force: true });
    rmSync(home, { recursive: true, force: true });
  }
}

/** A list for each loop, and an agent that sleeps, writes its file and says that it is done. */
function prepare(root: string, names: string[], { tasks, sleepMs }: Size): void {
  const scripted = 'scripted: { command: ["ralph", "__script-agent", "agent.json"] }';
  writeFileSync(join(root, 'ralph.yml'), `agent: scripted\nagents:\n  ${scripted}\n`);
  const steps = [
    { sleep_ms: sleepMs },
    { write: { path: 'done/{{task}}.txt', content: '{{task}}\n' } },
    { say: '<promise>COMPLETE</promise>' },
  ];
  writeFileSync(join(root, 'agent.json'), JSON.stringify({ runs: [{ do: steps }] }));
  for (const name of names) {
    const userStories = Array.from({ length: tasks }, (_, n) => ({
      id: `${name}-${n + 1}`,
      title: `Make ${name}-${n + 1}`,
      description: 'Write its file.',
      acceptanceCriteria: ['The file exists'],
      priority: 1,
      passes: false,
    }));
    writeFileSync(
      join(root, `${name}.json`),
      `${JSON.stringify({ project: 'p', description: 'd', userStories }, null, 2)}\n`,
    );
  }
}

/** One loop from its start to its landing. */
function run(root: string, home: string, name: string): Promise<void> {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const args = [PROGRAM, 'run', '--worktree', name, '--tasks', `${name}.json`, '--quiet'];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...env, HOME: home, GIT_CONFIG_GLOBAL: '/dev/null' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', (text) => (said += text));
  child.stderr.on('data', (text) => (said += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${name} ended with ${code}: ${said.slice(-1_000)}`)),
    );
  });
}
