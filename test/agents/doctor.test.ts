/** `ralph doctor` and `ralph agents` with the real Claude Code, whose model is scripted. */
import { afterEach, expect, it } from 'vitest';
import { claudeVersion } from './installed.ts';
import { type LoopProject, loopProject } from './loop-project.ts';
import type { ModelScript } from './model-server.ts';

let project: LoopProject;
afterEach(() => project?.close());

interface Row {
  name: string;
  ok: boolean | 'warning';
  what: string;
  fix: string;
}

const GATE = 'agent: claude\nagents: {}\ngates: [{ name: test, run: "sh gate.sh", min_tests: 1 }]\n';
/** Runs the gate as it was told and reports it. */
const OBEYS: ModelScript = {
  conversations: [{ turns: [{ run: 'sh gate.sh' }, { text: 'RALPH-GATE test ran exit=0' }] }],
};

async function examine(
  files: Record<string, string>,
  script = OBEYS,
): Promise<(name: string) => Row | undefined> {
  project = await loopProject({
    tasks: ['a'],
    script,
    files: { 'gate.sh': 'echo "2 passed"\n', ...files },
  });
  project.write('ralph.yml', GATE);
  const { out, err } = await project.loop('doctor', '--json');
  expect(err).toBe('');
  const { rows } = JSON.parse(out) as { rows: Row[] };
  return (name) => rows.find((row) => row.name === name);
}

it('starts it once, sees its version and login, and has it run the gate', async () => {
  const of = await examine({});
  expect(of('login')).toMatchObject({ ok: true, what: `Claude Code ${claudeVersion()}, logged in` });
  expect(of('agent start')).toMatchObject({ ok: true });
  expect(of('agent: test')).toMatchObject({ ok: true, what: 'claude may run `sh gate.sh`' });
  const agents = JSON.parse((await project.loop('agents', '--json')).out) as Record<string, unknown>[];
  expect(agents[0]).toMatchObject({
    name: 'claude',
    installed: true,
    version: claudeVersion(),
    logged_in: true,
    default: true,
  });
});

it('a deny rule of the project is found, with the place to change it', async () => {
  const of = await examine({
    '.claude/settings.json': JSON.stringify({ permissions: { deny: ['Bash(sh gate.sh)'] } }),
  });
  expect(of('gate test')).toMatchObject({ ok: true });
  expect(of('agent: test')).toMatchObject({
    ok: false,
    what: 'The agent "claude" may not run `sh gate.sh`.',
    fix: expect.stringContaining('.claude/settings.json'),
  });
});
