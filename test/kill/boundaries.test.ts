/**
 * kill -9 of the runner at each kind of boundary, then `ralph resume`: nothing lost, nothing doubled,
 * nothing left running.
 */
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { DONE, type ScriptedRun } from '../e2e/project.ts';
import {
  ATTEND,
  expectFinished,
  factsOf,
  hanging,
  kill,
  killWhen,
  listProject,
  marked,
  recorded,
  sessionDir,
  told,
  until,
} from './killing.ts';

const SLOW: ScriptedRun[] = [
  {
    do: [
      { write: { path: '{{task}}.txt', content: '{{task}}\n' } },
      { run: 'touch "$HOME/working-{{task}}-{{iteration}}"' },
      { sleep_ms: 400 },
      { say: DONE },
    ],
  },
];

/** The agent hangs in the first iteration only. */
const HANGS_ONCE: ScriptedRun[] = [
  {
    when: { iteration: 1 },
    do: [{ write: { path: 'half.txt', content: 'half\n' } }, ATTEND, { hang: true }],
  },
  ...SLOW,
];

const says = (iteration: number) => new RegExp(`teration ${iteration}\\b.*(interrupted|lost)`, 'i');

describe.concurrent('the runner is killed', () => {
  test('before the first record', async ({ onTestFinished }) => {
    const project = listProject(['a'], { runs: SLOW });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => until('session folder', () => sessionDir(project) !== null));
    await expectFinished(project, await project.ralph(['run']), { tasks: ['a'], lost: [] });
  });

  test('with an empty journal, while the objective stands nowhere yet', async ({ onTestFinished }) => {
    const project = listProject(['a'], { runs: SLOW });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run', 'make it so'], () =>
      until('session', () => sessionDir(project) !== null),
    );
    writeFileSync(join(sessionDir(project)!, 'journal.jsonl'), '');
    await expectFinished(project, await project.ralph(['run', 'make it so']), { tasks: ['a'], lost: [] });
    expect(factsOf(project, 'session.created')[0]?.objective).toBe('make it so');
  });

  test.each([
    ['wave.started', 0],
    ['attempt.started', 0],
    ['attempt.spawned', 20],
  ] as const)('at %s', async (type, delay) => {
    const project = listProject(['a', 'b'], { runs: SLOW });
    try {
      expect(await killWhen(project, ['run'], () => recorded(project, type), delay)).toBe(true);
      // On a busy machine the agent may have ended before the kill came.
      const ended = factsOf(project, 'attempt.ended').map(({ iteration }) => iteration);
      const open = factsOf(project, 'attempt.started')
        .map(({ iteration }) => iteration)
        .filter((iteration) => !ended.includes(iteration));
      const ran = await project.ralph(['resume']);
      await expectFinished(project, ran, { tasks: ['a', 'b'], lost: open });
      for (const iteration of open) expect(ran.out).toMatch(says(iteration));
    } finally {
      project.remove();
    }
  });

  test('while the agent works; its work is kept and named to the next one', async ({ onTestFinished }) => {
    const project = listProject(['a', 'b'], { runs: HANGS_ONCE });
    onTestFinished(() => project.remove());
    expect(await killWhen(project, ['run'], () => hanging(project))).toBe(true);
    expect(marked(project).length).toBeGreaterThan(0);
    const ran = await project.ralph(['resume']);
    expect(ran.out).toMatch(says(1));
    await expectFinished(project, ran, { tasks: ['a', 'b'], lost: [1] });
    expect(project.read('half.txt')).toBe('half\n');
    expect(project.git('log', '--format=%(trailers:key=Ralph-Task,valueonly)', '--', 'half.txt')).toBe('a');
    const prompt = project.read(join('ralph/logs', 'iteration-002.prompt.md'));
    expect(prompt).toContain('half.txt');
  });

  test('when the agent has ended and nothing says so yet', async ({ onTestFinished }) => {
    const ends = [...SLOW[0]!.do, { run: 'touch "$HOME/ended"' }];
    const project = listProject(['a'], { runs: [{ when: { iteration: 1 }, do: ends }, ...SLOW] });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => told(project, 'ended'), 30);
    await expectFinished(project, await project.ralph(['resume']), { tasks: ['a'], lost: null });
  });

  test('between the end and the verdict', async ({ onTestFinished }) => {
    const project = listProject(['a'], { runs: SLOW });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => recorded(project, 'attempt.ended'));
    await expectFinished(project, await project.ralph(['resume']), { tasks: ['a'], lost: [] });
  });

  test('during a gate; the gate is ended and run again', async ({ onTestFinished }) => {
    const gate =
      'echo x >> "$HOME/gates"; test -f "$HOME/gate" || { touch "$HOME/gate"; sleep 300; }; test -f a.txt';
    const config = `gates:\n  - { name: slow, run: '${gate}', baseline: must_pass }\n`;
    const project = listProject(['a'], { runs: SLOW, config });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => told(project, 'gate'), 50);
    expect(marked(project).length).toBeGreaterThan(0);
    const resumed = project.start(['resume']);
    await recorded(project, 'gate.ran');
    expect(marked(project)).toEqual([]);
    await expectFinished(project, await resumed.done, { tasks: ['a'], lost: [] });
    expect(factsOf(project, 'gate.ran').length).toBe(1);
  });

  test('between verdict and landing', async ({ onTestFinished }) => {
    const project = listProject(['a'], { runs: SLOW });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => recorded(project, 'verdict.reached'));
    await expectFinished(project, await project.ralph(['resume']), { tasks: ['a'], lost: [] });
  });

  test('at the stop record', async ({ onTestFinished }) => {
    const project = listProject(['a'], { runs: SLOW });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => recorded(project, 'run.stopped'));
    const attempts = factsOf(project, 'attempt.started').length;
    const ran = await project.ralph(['resume']);
    expect(factsOf(project, 'attempt.started').length).toBe(attempts);
    await expectFinished(project, ran, { tasks: ['a'], lost: [] });
  });

  test('while mirrors are drawn, which are deleted too', async ({ onTestFinished }) => {
    const project = listProject(['a'], { runs: SLOW });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => recorded(project, 'wave.ended'), 5);
    const dir = sessionDir(project)!;
    rmSync(join(dir, 'metadata.yaml'), { force: true });
    rmSync(join(dir, 'logs/summary.csv'), { force: true });
    rmSync(join(dir, 'iterations'), { recursive: true, force: true });
    rmSync(join(project.dir, '.ralph/interventions'), { recursive: true, force: true });
    await expectFinished(project, await project.ralph(['resume']), { tasks: ['a'], lost: null });
    expect(existsSync(join(dir, 'iterations/1/metadata.yaml'))).toBe(true);
  });

  test('after the agent committed by itself: its commit is what landed', async ({ onTestFinished }) => {
    const commits = 'git add -A && git commit -qm "feat: by the agent" && touch "$HOME/committed"';
    const runs: ScriptedRun[] = [
      {
        when: { iteration: 1 },
        do: [{ write: { path: 'a.txt', content: 'a\n' } }, { run: commits }, { hang: true }],
      },
      { do: [{ say: DONE }] },
    ];
    const project = listProject(['a'], { runs, config: 'commit: agent\n' });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => told(project, 'committed'));
    const made = project.git('rev-parse', 'HEAD');
    const ran = await project.ralph(['resume']);
    expect(ran.out).toMatch(says(1));
    expect(factsOf(project, 'commit.landed')).toMatchObject([{ commit: made, by: 'agent' }]);
    expect(ran.code).toBe(0);
    expect(marked(project)).toEqual([]);
  });

  test('with topics and a question in the outbox: each is said once', async ({ onTestFinished }) => {
    const runs: ScriptedRun[] = [
      {
        when: { iteration: 1 },
        do: [
          { emit: { topic: 'build.note', payload: 'half way' } },
          { emit: { topic: 'human.interact', payload: 'Blue or green?' } },
          { hang: true },
        ],
      },
      ...SLOW,
    ];
    const project = listProject(['a'], { runs });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => recorded(project, 'question.asked'));
    expect((await project.ralph(['resume'])).code).toBe(3);
    expect((await project.ralph(['answer', 'blue'])).code).toBe(0);
    await expectFinished(project, await project.ralph(['run']), { tasks: ['a'], lost: [1] });
    expect(factsOf(project, 'topic.published').length).toBe(1);
    expect(factsOf(project, 'question.asked').length).toBe(1);
  });

  test('twice in a row in the same attempt', async ({ onTestFinished }) => {
    const project = listProject(['a', 'b'], { runs: SLOW });
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => told(project, 'working-a-1'));
    // The second runner is killed before or after it noted the first loss, as chance will have it.
    await killWhen(project, ['resume'], () => recorded(project, 'run.started', 2), 60);
    await killWhen(project, ['resume'], () => recorded(project, 'run.started', 3));
    const ran = await project.ralph(['resume']);
    await expectFinished(project, ran, { tasks: ['a', 'b'], lost: null });
    expect(factsOf(project, 'lock.taken_over').length).toBe(3);
    expect(factsOf(project, 'attempt.lost')[0]?.iteration).toBe(1);
  });
});

describe.concurrent('the runner is killed while it commits', () => {
  const withHook = (name: string, script: string) => {
    const project = listProject(['a'], { runs: SLOW });
    project.git('config', 'core.hooksPath', '.git/hooks');
    project.write(`.git/hooks/${name}`, `#!/bin/sh\n${script}\n`);
    chmodSync(join(project.dir, '.git/hooks', name), 0o755);
    return project;
  };

  test('before the commit is made: git ends it alone, and it is only recorded', async ({
    onTestFinished,
  }) => {
    const project = withHook('pre-commit', 'touch "$HOME/hook"; sleep 2');
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => told(project, 'hook'));
    await expectFinished(project, await project.ralph(['resume']), { tasks: ['a'], lost: [] });
  });

  test('after the commit is made: it is recorded, not made twice', async ({ onTestFinished }) => {
    const project = withHook('post-commit', 'touch "$HOME/hook"; sleep 5');
    onTestFinished(() => project.remove());
    await killWhen(project, ['run'], () => told(project, 'hook'));
    expect(factsOf(project, 'commit.landed')).toEqual([]);
    await expectFinished(project, await project.ralph(['resume']), { tasks: ['a'], lost: [] });
    expect(factsOf(project, 'commit.landed')[0]?.paths).toEqual(['a.txt', 'ralph/tasks.json']);
  });

  test('and git too, which leaves index.lock: waited for, then landed', async ({ onTestFinished }) => {
    const hook = 'echo $PPID > "$HOME/pid"; mv "$HOME/pid" "$HOME/git.pid"; sleep 5';
    const project = withHook('pre-commit', hook);
    onTestFinished(() => project.remove());
    const lock = join(project.dir, '.git/index.lock');
    const started = project.start(['run']);
    await told(project, 'git.pid');
    process.kill(Number(readFileSync(join(project.home, 'git.pid'), 'utf8')), 'SIGKILL');
    await kill(started);
    expect(existsSync(lock)).toBe(true);
    rmSync(join(project.dir, '.git/hooks/pre-commit'));
    const resumed = project.start(['resume']);
    await recorded(project, 'run.started', 2);
    await sleep(1_500);
    expect(factsOf(project, 'commit.landed')).toEqual([]);
    rmSync(lock);
    await expectFinished(project, await resumed.done, { tasks: ['a'], lost: [] });
  });
});

describe.concurrent('the runner is killed over a question', () => {
  const ASKS: ScriptedRun[] = [
    {
      when: { task: 'a', attempt: 1 },
      do: [
        { write: { path: 'half.txt', content: 'half\n' } },
        { say: '<promise>DECIDE:sockets or polling?</promise>' },
      ],
    },
    ...SLOW,
  ];

  test('while it waits for the answer', async ({ onTestFinished }) => {
    const project = listProject(['a', 'b'], { runs: ASKS });
    onTestFinished(() => project.remove());
    const desk = join(project.dir, 'ralph/decide.txt');
    await killWhen(project, ['run', '--wait'], () => until('desk', () => existsSync(desk)), 300);
    const resumed = project.start(['resume', '--wait']);
    await recorded(project, 'run.started', 2);
    const sent = await project.ralph(['answer', 'polling']);
    expect(sent.code).toBe(0);
    await expectFinished(project, await resumed.done, { tasks: ['a', 'b'], lost: [] });
    expect(factsOf(project, 'question.asked').length).toBe(1);
    expect(factsOf(project, 'question.answered').length).toBe(1);
    expect(existsSync(desk)).toBe(false);
  });

  test.each([
    ['leftovers.set_aside', 0],
    ['leftovers.set_aside', 15],
  ] as const)('at %s + %d ms, then at taking up', async (type, delay) => {
    const project = listProject(['a', 'b'], { runs: ASKS, config: 'questions: { hold: task }\n' });
    try {
      await killWhen(project, ['run'], () => recorded(project, type), delay);
      expect((await project.ralph(['resume'])).code).toBe(3);
      expect(existsSync(join(project.dir, 'half.txt'))).toBe(false);
      expect(project.git('log', '--format=%s', '--', 'half.txt')).toBe('');
      expect((await project.ralph(['answer', 'polling'])).code).toBe(0);
      await killWhen(project, ['run'], () => recorded(project, 'leftovers.taken_up'));
      const ran = await project.ralph(['resume']);
      await expectFinished(project, ran, { tasks: ['a', 'b'], lost: null });
      expect(project.read('half.txt')).toBe('half\n');
    } finally {
      project.remove();
    }
  });

  test('`ralph answer` is killed without a runner: answered once, by whoever is next', async ({
    onTestFinished,
  }) => {
    const project = listProject(['a', 'b'], { runs: ASKS });
    onTestFinished(() => project.remove());
    expect((await project.ralph(['run'])).code).toBe(3);
    const inputs = join(sessionDir(project)!, 'signals/inputs');
    const written = () => existsSync(inputs) && readdirSync(inputs).some((name) => name.endsWith('.yaml'));
    await killWhen(project, ['answer', 'polling'], () =>
      until('signal', () => written() || factsOf(project, 'question.answered').length > 0),
    );
    await expectFinished(project, await project.ralph(['run']), { tasks: ['a', 'b'], lost: [] });
    expect(factsOf(project, 'question.answered').length).toBe(1);
  });
});

describe.concurrent('the runner is killed over the mailbox', () => {
  test('with a message appended and its file not moved: it is taken in once', async ({ onTestFinished }) => {
    const project = listProject(['a', 'b'], { runs: SLOW });
    onTestFinished(() => project.remove());
    const started = project.start(['run']);
    await recorded(project, 'attempt.spawned');
    const signals = join(sessionDir(project)!, 'signals');
    const name = 'signal.261128-000000-7f3a.yaml';
    writeFileSync(join(signals, `.${name}.tmp`), 'type: STEER\nmessage: use short names\n');
    renameSync(join(signals, `.${name}.tmp`), join(signals, 'inputs', name));
    await recorded(project, 'message.received');
    await kill(started);
    const moved = join(signals, 'processed', name);
    if (existsSync(moved)) renameSync(moved, join(signals, 'inputs', name));
    await expectFinished(project, await project.ralph(['resume']), { tasks: ['a', 'b'], lost: null });
    expect(factsOf(project, 'message.received').length).toBe(1);
    expect(existsSync(moved)).toBe(true);
    // What was said to an attempt that was lost is said again; nothing else is.
    const lost = factsOf(project, 'attempt.lost').map((fact) => fact.iteration);
    const heard = factsOf(project, 'attempt.started').filter(
      ({ delivered, iteration }) => delivered.includes(name) && !lost.includes(iteration),
    );
    expect(heard.length).toBe(1);
  });
});
