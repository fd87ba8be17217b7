/** A machine that has less left than the configuration asks for: no agent is started, and nothing dies of it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { facts, json } from './journal.ts';
import { makeProject, type Project, result, story, taskList } from './project.ts';

let project: Project;
afterEach(() => project.remove());

const fullMachine = (key: string) => {
  project = makeProject({
    files: { 'prd.json': taskList([story('t1')]), 'agent.sh': 'echo made > t1.txt\n' },
  });
  project.write(
    'ralph.yml',
    `agent: maker\nagents:\n  maker: { command: [sh, agent.sh] }\nhost: { ${key}: 999999999 }\n`,
  );
  project.git('commit', '-qam', 'agent');
};

test.each([
  [
    'min_free_disk_mb',
    /^no agent was started: only \d+ MB are free on the disk of \/.*, and 999999999 have to be/,
  ],
  [
    'min_free_memory_mb',
    /^no agent was started: only \d+ MB of memory are available, and 999999999 have to be/,
  ],
])('with %s above what there is, --no-wait ends with 5 before any agent was started', async (key, reason) => {
  fullMachine(key);
  const ran = await project.ralph(['run', '--no-wait', '--json'], { timeoutMs: 120_000 });
  expect(ran.code).toBe(5);
  expect(result(ran).exit).toMatchObject({ code: 5, word: 'PROBLEM', reason: expect.stringMatching(reason) });
  expect(facts(project, 'attempt.started')).toEqual([]);
  const status = await project.ralph(['status']);
  expect(status.out).toContain('mend what the reason names, then `ralph run`');
});

/** A project with `host.keep_awake`, and a folder for PATH that holds what stands in for the system's own program. */
const wakeful = (standIn: string | null, agent: string) => {
  project = makeProject({
    files: {
      'prd.json': taskList([story('t1')]),
      'agent.sh': agent,
    },
  });
  project.write(
    'ralph.yml',
    'agent: maker\nagents:\n  maker: { command: [sh, agent.sh], output: text }\nhost: { keep_awake: true }\n',
  );
  project.git('commit', '-qam', 'agent');
  const bin = join(project.home, 'bin');
  mkdirSync(bin);
  for (const name of ['sh', 'git', 'cat', 'env', 'node', 'sleep', 'touch', 'echo', 'true'])
    symlinkSync(
      execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
      join(bin, name),
    );
  if (standIn !== null) writeFileSync(join(bin, 'systemd-inhibit'), `#!/bin/sh\n${standIn}`, { mode: 0o755 });
  return { PATH: bin };
};

/** Notes its pid and how it was called, then becomes the command it was given. */
const INHIBIT =
  'echo $$ > "$HOME/inhibit.pid"\nfor word; do echo "$word"; done > "$HOME/inhibit.args"\nwhile case "$1" in --*) true ;; *) false ;; esac; do shift; done\nexec "$@"\n';

const inhibitor = () => Number(readFileSync(join(project.home, 'inhibit.pid'), 'utf8'));
const lives = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const notices = () => facts(project, 'notice.given').map(({ text }) => text);

describe.runIf(process.platform === 'linux')('host.keep_awake', () => {
  const DONE_LATER =
    'until [ -e "$HOME/go" ]; do sleep 0.1; done\necho made > t1.txt\necho "<promise>COMPLETE</promise>"\n';
  const begun = () =>
    vi.waitFor(() => expect(existsSync(join(project.home, 'inhibit.args'))).toBe(true), 20_000);

  test('asks the system as long as the run is at work, and lets go at its end', async () => {
    const env = wakeful(INHIBIT, DONE_LATER);
    const { done } = project.start(['run', '--no-wait'], { env });
    await begun();
    const pid = inhibitor();
    expect(lives(pid)).toBe(true);
    expect(readFileSync(join(project.home, 'inhibit.args'), 'utf8').split('\n')).toEqual([
      '--what=idle:sleep',
      '--who=ralph',
      '--why=a run is at work',
      '--mode=block',
      'cat',
      '',
    ]);
    writeFileSync(join(project.home, 'go'), '');
    expect((await done).code).toBe(0);
    expect(lives(pid)).toBe(false);
    expect(notices()).toEqual([]);
  });

  test('a killed runner leaves nobody behind who keeps the machine awake', async () => {
    const env = wakeful(INHIBIT, DONE_LATER);
    const { child, done } = project.start(['run', '--no-wait'], { env });
    await begun();
    const pid = inhibitor();
    expect(lives(pid)).toBe(true);
    child.kill('SIGKILL');
    await done;
    await vi.waitFor(() => expect(lives(pid)).toBe(false), 20_000);
    writeFileSync(join(project.home, 'go'), '');
    expect((await project.ralph(['run', '--no-wait'], { env })).code).toBe(0);
  });

  test.each([
    ['is not there', null, 'no folder of PATH holds `systemd-inhibit`, which would ask this system for it'],
    ['refuses', 'echo "Failed to inhibit: Access denied" >&2\nexit 1\n', 'Failed to inhibit: Access denied'],
  ])(
    'where systemd-inhibit %s, that is told once and by the doctor, and the run goes on',
    async (_, standIn, why) => {
      const env = wakeful(standIn, 'echo made > t1.txt\necho "<promise>COMPLETE</promise>"\n');
      expect((await project.ralph(['run', '--no-wait'], { env })).code).toBe(0);
      expect(notices()).toEqual([expect.stringContaining(why)]);
      expect(notices()[0]).toContain('The run goes on');
      const doctor = await project.ralph(['doctor', '--no-agent', '--json'], { env });
      const { rows } = json<{ rows: { name: string; ok: unknown; what: string }[] }>(doctor);
      expect(rows.find(({ name }) => name === 'keep awake')).toMatchObject({
        ok: 'warning',
        what: expect.stringContaining(why),
      });
    },
  );
});
