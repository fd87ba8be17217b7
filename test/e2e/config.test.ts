/** `ralph config` and what a run makes of a configuration, as a user meets them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { makeProject, type Project, type ProjectOptions, story, taskList } from './project.ts';

const projects: Project[] = [];
afterEach(() => {
  for (const project of projects.splice(0)) project.remove();
});

function make(options: ProjectOptions = {}): Project {
  const project = makeProject(options);
  projects.push(project);
  return project;
}

/** A file that holds for every project of this user. */
function own(project: Project, name: string, text: string): void {
  const dir = join(project.home, '.config', 'ralph');
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, name), text);
}

const TASKS = { 'ralph/tasks.json': taskList([story('US-1')]) };
const HUSH = 'hush-hush-123';

test('ralph config prints what is in force, --origin where it came from, and never a secret', async () => {
  const project = make({
    config: `limits: { max_stuck: 2, max_cycles: 5 }\nRObot: { telegram: { bot_token: ${HUSH} } }\n`,
  });
  own(project, 'ralph.toml', '[limits]\nmax_time = "1h"\nmax_stuck = 9\n');
  const env = { RALPH_CONFIG_MODEL: 'small', RALPH_TELEGRAM_BOT_TOKEN: `${HUSH}-2`, XDG_CONFIG_HOME: '' };

  const shown = await project.ralph(['config', '--json'], { env });
  expect(shown.code, shown.err).toBe(0);
  expect(JSON.parse(shown.out)).toMatchObject({ model: 'small', limits: { max_stuck: 2, max_time: '1h' } });

  const origins = await project.ralph(
    ['config', '--origin', '--json', '--review-cap', '7', '--gate', 'true'],
    { env },
  );
  const lines = JSON.parse(origins.out) as { key: string; value: unknown; origin: string }[];
  const from = (key: string) => lines.find((line) => line.key === key)?.origin;
  expect(from('model')).toBe('RALPH_CONFIG_MODEL');
  expect(from('mode')).toBe('default');
  expect(from('limits.max_stuck')).toMatch(/^ralph\.yml:\d+$/);
  expect(from('limits.max_time')).toBe(`${join(project.home, '.config', 'ralph', 'ralph.toml')}:2`);
  expect(from('limits.review_cap')).toBe('--review-cap');
  expect(from('gates')).toBe('--gate');
  expect(lines).toContainEqual({
    key: 'RObot.telegram.bot_token',
    value: 'set (hidden)',
    origin: 'RALPH_TELEGRAM_BOT_TOKEN',
  });

  const text = await project.ralph(['config', '--origin'], { env });
  for (const { out, err } of [shown, origins, text]) expect(out + err).not.toContain(HUSH);
});

test('the schema that is printed is the published one', async () => {
  const project = make();
  const { code, out } = await project.ralph(['config', '--schema']);
  expect(code).toBe(0);
  const { readFileSync } = await import('node:fs');
  expect(out).toBe(readFileSync(new URL('../../docs/reference/ralph.schema.json', import.meta.url), 'utf8'));
});

test('a project in TOML runs, and its mistakes are told with their line and exit code 5', async () => {
  const project = make({ files: TASKS });
  const yml = project.read('ralph.yml');
  project.write('.ralph/ralph.toml', 'mode = "speed"\n');
  const both = await project.ralph(['config']);
  expect([both.code, both.err]).toEqual([
    5,
    expect.stringContaining('Both ralph.yml and .ralph/ralph.toml are there'),
  ]);

  const command = /command: (\[.*?\])/.exec(yml)?.[1] ?? '[]';
  project.git('rm', '-q', '--cached', 'ralph.yml');
  const { rmSync } = await import('node:fs');
  rmSync(join(project.dir, 'ralph.yml'));
  project.write(
    '.ralph/ralph.toml',
    `agent = "it"\n[agents.it]\ncommand = ${command}\n\n[limits]\nmax_stuk = 1\n`,
  );
  const wrong = await project.ralph(['run', '--dry-run', '--allow-dirty']);
  expect(wrong.code).toBe(5);
  expect(wrong.err).toContain('.ralph/ralph.toml:6: max_stuk is no key in limits');
  expect(wrong.err).toContain('Did you mean max_stuck?');

  project.write('.ralph/ralph.toml', `agent = "it"\n[agents.it]\ncommand = ${command}\n`);
  const right = await project.ralph(['run', '--dry-run', '--allow-dirty']);
  expect(right.err + right.out).toContain('agent it');
  expect(right.code).toBe(0);
});

test('a key that nothing carries out yet is refused by a run with its line, and only told by config', async () => {
  const project = make({
    files: TASKS,
    config: 'interventions:\n  live: true\nunblock: { auto: false }\n',
  });
  const ran = await project.ralph(['run', '--dry-run']);
  expect(ran.code).toBe(5);
  expect(ran.err).toMatch(
    /ralph\.yml:\d+: interventions\.live is set, and this version does not carry it out/,
  );
  expect(ran.err).not.toContain('unblock');
  const shown = await project.ralph(['config', '--json']);
  expect(shown.code).toBe(0);
  expect(shown.err).toContain('interventions.live');
  expect(JSON.parse(shown.out)).toMatchObject({ interventions: { live: true } });
});

test('the instructions of a session are a layer of that session', async () => {
  const project = make({ files: TASKS });
  mkdirSync(join(project.dir, '.ralph-sessions', '260208-143000'), { recursive: true });
  writeFileSync(join(project.dir, '.ralph-sessions', '260208-143000', 'journal.jsonl'), '');
  writeFileSync(
    join(project.dir, '.ralph-sessions', '260208-143000.instructions.md'),
    '---\nmax_subagent_retries: 1\nmax_cycles: many\n---\nBe careful.\n',
  );
  const { code, out, err } = await project.ralph(['config', '--origin', '--session', '260208-143000']);
  expect(code, err).toBe(0);
  expect(out).toMatch(/limits\.max_subagent_retries +1 +\.ralph-sessions\/260208-143000\.instructions\.md:2/);
  expect(err).toContain('260208-143000.instructions.md:3: max_cycles is "many"');
});
