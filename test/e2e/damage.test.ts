/** What an attempt did to Ralph's own files: what is said of it is true, and the command that is named works. */
import { execFileSync } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import { DONE, makeProject, type Project, story, taskList } from './project.ts';

let project: Project;
afterEach(() => project?.remove());

/** Does the damage in the first run only, and the work always. */
const damaged = (line: string) =>
  makeProject({
    files: { 'ralph/tasks.json': taskList([story('a'), story('b')]), '.gitignore': '.once*\n' },
    runs: [
      {
        do: [
          { write: { path: '{{task}}.txt', content: 'made {{task}} {{iteration}}\n' } },
          { run: `if [ ! -e .once ]; then ${line}; fi` },
          { say: DONE },
        ],
      },
    ],
  });

const run = (...args: string[]) => project.ralph(['run', '--no-wait', ...args]);
const FALSE = /the journal is (whole|intact)|nothing more was written/;

/** The commands between backquotes of the sentences that say what to do. */
function commands(text: string): string[] {
  const from = text.slice(text.indexOf('What to do: '));
  return [...from.split('\n')[0]!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
}

/** Does what the sentence says, in its order; committing is one way to do what `git status` is named for. */
async function follow(text: string): Promise<void> {
  const named = commands(text);
  expect(named.at(-1)).toMatch(/^ralph run/);
  for (const line of named) {
    if (line === 'git status') execFileSync('git', ['add', '-A'], { cwd: project.dir });
    if (line === 'git status') project.git('commit', '-qm', 'mine', '--allow-empty');
    else if (line.startsWith('ralph ')) expect((await project.ralph(line.split(' ').slice(1))).code).toBe(0);
    else execFileSync('sh', ['-c', line], { cwd: project.dir });
  }
}

test('garbage behind every file of a session: a new one is named, and it does the work', async () => {
  project = damaged(
    'touch .once; for f in $(find .ralph .ralph-sessions -type f); do echo garbage >> "$f" 2>/dev/null; done',
  );
  const first = await run();
  expect(first.code).toBe(70);
  expect(first.out).not.toMatch(FALSE);
  await follow(first.out);
});

test('a journal that an attempt rewrote or emptied: the command that is printed goes on, and finishes', async () => {
  for (const line of [
    'sed -i.tmp s/implement/impiement/ $RALPH_SESSION_DIR/journal.jsonl',
    'sleep 0.5; : > $RALPH_SESSION_DIR/journal.jsonl',
  ]) {
    project = damaged(`if [ $RALPH_TASK_ID = b ]; then touch .once; ${line}; fi`);
    const first = await run();
    expect([first.code, first.out]).toEqual([70, expect.stringContaining('was changed by the attempt')]);
    expect(first.out).not.toMatch(FALSE);
    await follow(first.out);
    expect((await project.ralph(['status'])).code).toBe(0);
    expect((await project.ralph(['why'])).code).toBe(0);
    project.remove();
  }
});

test('a session folder that an attempt deleted: what is lost is said, and the run that is named begins anew', async () => {
  project = damaged('touch .once; rm -rf .ralph-sessions');
  const first = await run();
  expect([first.code, first.out]).toEqual([70, expect.stringContaining('journal of this session is lost')]);
  expect(first.out).not.toMatch(/goes on/);
  await follow(first.out);
  expect(project.read('b.txt')).toContain('made b');
});

test('bad lines of the project journal are named once, by whichever command meets them first, and kept whole', async () => {
  project = makeProject({ files: { 'ralph/tasks.json': taskList([story('a')]) } });
  expect((await run()).code).toBe(0);
  const journal = '.ralph/journal.jsonl';
  const kept = '.ralph/journal.damaged-lines';
  project.write(journal, `${project.read(journal)}{"type":"iteration.noted","at":1}\n{"at":2,"ty`);
  const before = project.read(journal);
  const first = await project.ralph(['interventions']);
  expect(first.err).toMatch(
    /journal\.jsonl:\d+, journal\.jsonl:\d+ cannot be read .* kept whole in \.ralph\/journal\.damaged-lines/,
  );
  expect(project.read(kept)).toBe('{"type":"iteration.noted","at":1}\n{"at":2,"ty\n');
  for (const command of ['interventions', 'profile']) expect((await project.ralph([command])).err).toBe('');
  expect(project.read(journal)).toBe(before);
  project.write(journal, `${before}\nmore\n`);
  project.write('ralph/tasks.json', taskList([story('b')]));
  const second = await run('--allow-dirty');
  expect(second.err).toMatch(/\.ralph\/journal\.jsonl:\d+ cannot be read and says nothing/);
  expect((await run('--allow-dirty')).err).not.toContain('cannot be read');
  expect(project.read(kept)).toContain('\nmore\n');
});
