/** What the tutorial and the guides tell a person to do, done: their files, their scripts, their commands. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { makeProject, PROGRAM, type Project, result } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project?.remove());

const DOCS = resolve(import.meta.dirname, '../../docs');

/** The blocks of a page under `<!-- <kind>: <name> -->`, by name in their order. */
function labelled(page: string, kind: string): [string, string][] {
  const pattern = new RegExp(`<!-- ${kind}: (.+?) -->\\n\`\`\`\\w*\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  const text = readFileSync(join(DOCS, page), 'utf8');
  return [...text.matchAll(pattern)].map(([, name = '', body = '']) => [name, body]);
}

/** Writes a module and its test, but only from the second try on: the first is a lie. */
const TUTORIAL_AGENT = `
import { mkdirSync, writeFileSync } from 'node:fs';
const [name, word] = process.env.RALPH_TASK_ID.includes('greet') ? ['greet', 'Hello'] : ['farewell', 'Goodbye'];
if (process.env.RALPH_ATTEMPT !== '1') {
  mkdirSync('src', { recursive: true });
  writeFileSync(\`src/\${name}.mjs\`, \`export const \${name} = (who) => '\${word}, ' + who + '!';\\n\`);
  writeFileSync(
    \`test/\${name}.test.mjs\`,
    \`import assert from 'node:assert/strict';\\nimport { test } from 'node:test';\\nimport { \${name} } from '../src/\${name}.mjs';\\ntest('it speaks', () => assert.equal(\${name}('Ada'), '\${word}, Ada!'));\\n\`,
  );
}
console.log('All done and tested.\\n\\n<promise>COMPLETE</promise>');
`;

test('the tutorial: its project, its list, its configuration, from the dry run to the morning', async () => {
  const files = Object.fromEntries(labelled('tutorial.md', 'file'));
  const { 'ralph.yml': config = '', ...others } = files;
  expect(Object.keys(others).toSorted()).toEqual(['PRD.md', 'package.json', 'test/start.test.mjs']);
  project = makeProject({ files: others });
  project.write('agent.mjs', TUTORIAL_AGENT);
  project.write('ralph.yml', `${config}agent: mine\nagents: { mine: { command: ["node", "agent.mjs"] } }\n`);
  project.git('add', '-A');
  project.git('commit', '-q', '-m', 'What I want');

  const tasks = await project.ralph(['tasks']);
  expect(tasks.out.match(/^\[ \] /gm)).toHaveLength(2);
  const dry = await project.ralph(['run', '--dry-run']);
  expect([dry.code, dry.err]).toEqual([0, '']);
  expect(project.git('status', '--porcelain')).toBe('');

  const night = await project.ralph(['run']);
  expect([night.code, night.out]).toEqual([0, expect.stringContaining('COMPLETE')]);
  expect(project.git('log', '--format=%s').split('\n')).toHaveLength(4);
  expect(project.read('PRD.md').match(/^- \[x\] /gm)).toHaveLength(2);
  const status = await project.ralph(['status']);
  expect(status.out).toContain('COMPLETE');
  const why = await project.ralph(['why', 'greet']);
  expect([why.code, why.out]).toEqual([0, expect.stringMatching(/reject/i)]);
});

test.each(labelled('guides/custom-agent.md', 'agent'))(
  'the custom-agent guide: %s finishes a task',
  async (name, script) => {
    const page = readFileSync(join(DOCS, 'guides/custom-agent.md'), 'utf8');
    const config = /```yaml\n(agent: mine[\s\S]*?)```/.exec(page)?.[1] ?? '';
    project = makeProject({ files: { 'PRD.md': '- [ ] one: The first\n' } });
    project.write(name, script);
    project.write('ralph.yml', config);
    project.git('add', '-A');
    project.git('commit', '-q', '-m', 'An agent');
    const tried = await project.ralph(['doctor', '--json']);
    expect(JSON.parse(tried.out)).toMatchObject({ ok: true });
    expect(project.git('status', '--porcelain')).toBe('');
    const ran = await project.ralph(['run', '--json']);
    expect(result(ran).exit).toMatchObject({ code: 0 });
    expect(project.read('PRD.md')).toContain('[x]');
  },
);

test('the continuous-integration guide: its job pushes what is done', () => {
  const [[, job = ''] = []] = labelled('guides/continuous-integration.md', 'script');
  project = makeProject({ files: { 'PRD.md': '- [ ] one: The first\n- [ ] two: The second\n' } });
  const bin = join(project.home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'ralph'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(join(bin, 'ralph'), 0o755);
  project.git('init', '-q', '--bare', join(project.home, 'origin.git'));
  project.git('remote', 'add', 'origin', join(project.home, 'origin.git'));
  project.write('.git/job.sh', job.replaceAll('../run.ndjson', join(project.home, 'run.ndjson')));
  const env = {
    PATH: `${bin}:${process.env.PATH ?? ''}`,
    HOME: project.home,
    BUILD_ID: '7',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const ran = spawnSync('bash', ['.git/job.sh'], {
    cwd: project.dir,
    env,
    encoding: 'utf8',
    timeout: 100_000,
  });
  expect([ran.status, ran.stderr]).toEqual([0, expect.stringContaining('Exit')]);
  const pushed = project.git('--git-dir', join(project.home, 'origin.git'), 'log', '--format=%s', 'ralph-7');
  expect(pushed.split('\n')).toHaveLength(3);
});

/** A repository of the files that a guide shows. */
function guideProject(page: string): Project {
  const made = makeProject({});
  for (const [name, text] of labelled(page, 'file')) made.write(name, text);
  made.git('add', '-A');
  made.git('commit', '-q', '-m', 'As the guide has it');
  return made;
}

test('the guide on time: an attempt is cut off, its work stays, and the next one gets more', async () => {
  project = guideProject('guides/adaptive-timeout.md');
  expect((await project.ralph(['run'])).code).toBe(0);
  const why = await project.ralph(['why', 'UI-1']);
  const [[, told = ''] = []] = labelled('guides/adaptive-timeout.md', 'output');
  expect(why.out).toContain(told.trim());
  expect(project.read('src/chart.mjs')).toContain('true');
});

test('the guide on trouble: an agent that only claims ends in one question, and the other task is done', async () => {
  project = guideProject('guides/troubleshooting.md');
  expect((await project.ralph(['run'])).code).toBe(2);
  expect(project.read('PRD.md')).toMatch(/- \[ \] \*\*T-1[\s\S]*- \[x\] \*\*T-2/);
  const inbox = await project.ralph(['inbox', '--json']);
  expect(JSON.parse(inbox.out)).toMatchObject([{ about: 'T-1' }]);
  const events = await project.ralph(['interventions', '--json']);
  expect(JSON.parse(events.out)).toEqual(
    expect.arrayContaining([expect.objectContaining({ event_type: 'false_completion_detected' })]),
  );
});

test('the guide on loops: one is begun, looked at, gone on with and read beside the checkout', async () => {
  project = guideProject('guides/loops.md');
  project.write('.env', 'secret\n');
  const [[, script = ''] = []] = labelled('guides/loops.md', 'script');
  const said: string[] = [];
  for (const line of script.trim().split('\n')) {
    const { code, out, err } = await project.ralph(line.split(' ').slice(1));
    expect([line, code, err], out).toEqual([line, line.endsWith('-n 1') ? 1 : 0, expect.any(String)]);
    said.push(out);
  }
  expect(said[0]).toContain('`ralph run --worktree parser` goes on');
  expect(said[1]).toContain('1 of 2 tasks');
  expect(said[1]).toContain('next: ralph run --worktree parser');
  expect(project.git('show', 'ralph/parser:T-2.txt')).toBe('T-2');
  expect(project.read('.ralph/worktrees/parser/.env')).toBe('secret\n');
  expect(said[2]).toContain('Loop parser landed on main');
  expect(project.read('T-1.txt')).toBe('T-1\n');
  expect(project.read('PRD.md').match(/\[x\]/g)).toHaveLength(2);
  expect(project.git('status', '--porcelain')).toBe('');
});
