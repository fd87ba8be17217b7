/** A command line that cannot be read: what is wrong, why, and what to write instead, for people and programs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeProject, type Project, result } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
beforeEach(() => {
  project = makeProject({ git: false });
});
afterEach(() => project.remove());

interface Told {
  what: string;
  why: string;
  fix: string;
}

/** Refuses, in three lines, and with `--json` the same as one value. */
async function refused(args: string[]): Promise<Told> {
  const ran = await project.ralph([...args, '--json']);
  expect(ran.code, ran.err).toBe(5);
  const { exit, problems } = result(ran) as ReturnType<typeof result> & { problems: Told[] };
  expect(exit).toMatchObject({ code: 5, word: 'PROBLEM' });
  expect(problems).toHaveLength(1);
  const { what, why, fix } = problems[0]!;
  expect(ran.err.trimEnd().split('\n')).toEqual([what, `  why: ${why}`, `  fix: ${fix}`]);
  for (const line of [what, why, fix]) expect(line).toMatch(/\S/);
  expect(existsSync(join(project.dir, '.ralph'))).toBe(false);
  return problems[0]!;
}

test.each([
  [['config', 'nosuch'], /ralph config takes no words.*"nosuch"/, /--origin/],
  [['config', 'origin'], /Did you mean --origin\?/, /--origin/],
  [['why', 'a', 'b', 'c'], /only <subject>.*"b" "c"/, /ralph why/],
  [['import'], /not told its <file>/, /ralph import prd\.json/],
  [['help', 'nosuch'], /no command "nosuch"/, /ralph --help/],
  [['help', 'confg'], /Did you mean config\?/, /ralph config --help/],
  [['nosuch'], /no command "nosuch"/, /ralph --help/],
  [['statsu'], /Did you mean status\?/, /ralph status/],
  [['run', '--max-iteration', '3'], /Did you mean --max-iterations\?/, /ralph run/],
  [['run', '--max-iteration=3'], /no option --max-iteration\. Did you mean --max-iterations\?/, /ralph run/],
  [['status', '--tsks'], /ralph status has no option --tsks/, /ralph status/],
  [['archive', '--label', '--json', '-n'], /no option -n/, /ralph archive/],
  [['run', '--gate', ' '], /--gate was given an empty command/, /npm test/],
  [['--tasks', 'x', 'config'], /ralph has no option --tasks/, /ralph config --tasks <file>/],
  [['--jsn', 'status'], /Did you mean --json\?/, /ralph --help/],
] as [string[], RegExp, RegExp][])('ralph %j', async (args, what, fix) => {
  const told = await refused(args);
  expect(told.what).toMatch(what);
  expect(told.fix).toMatch(fix);
});

test('an option that stands alone says what it takes', async () => {
  const ran = await project.ralph(['run', '-n']);
  expect([ran.code, ran.out]).toEqual([5, '']);
  expect(ran.err).toMatch(
    /^--max-iterations was given without a value\.\n {2}why: .*agent runs.*\n {2}fix: /,
  );
});

test('every command refuses an option that it does not have, and says which ones it has', async () => {
  const { out } = await project.ralph(['__complete', 'bash', '--', '']);
  const names = out.split('\n').flatMap((line) => /^([a-z][a-z-]+)\t/.exec(line)?.[1] ?? []);
  expect(names.length).toBeGreaterThan(20);
  for (const name of names.filter((each) => !['help', 'emit', 'tools'].includes(each))) {
    const told = await refused([name, '--no-such-thing']);
    expect(told.what).toMatch(new RegExp(`^ralph ${name} has no option --no-such-thing\\.`));
    expect(told.why).toContain('--json');
  }
});
