/** Ways to be fooled, found in public loops: each ends in a named finding, and none in a done task. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { csv, facts, json, prompt, sessionDir, started, verdicts } from './journal.ts';
import {
  DONE,
  HONEST,
  makeProject,
  type Project,
  result,
  type ScriptedRun,
  story,
  taskList,
} from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project?.remove());

const LIST = { 'ralph/tasks.json': taskList([story('a')]) };
const code = async (...args: string[]) => (await project.ralph(args)).code;
const work = (say = DONE) => [{ write: { path: '{{task}}.txt', content: 'made {{iteration}}\n' } }, { say }];
const passes = () =>
  (JSON.parse(project.read('ralph/tasks.json')).userStories as { passes: boolean }[]).map(
    (task) => task.passes,
  );

interface Why {
  task: { status: string };
  iterations: {
    outcome: string;
    claim: { kind: string };
    evidence: object;
    gates: unknown[];
    findings: { kind: string; event_type: string }[];
    verdict: { value: string; reason: string };
  }[];
  next: string;
}
const why = async () => json<Why>(await project.ralph(['why', 'a', '--json']));

test('301: the prompt is echoed, tags and sample blocks and all: not done', async () => {
  project = makeProject({ files: LIST, config: '  echoer: { command: [cat], prompt: stdin }\n' });
  expect(await code('run', '--agent', 'echoer', '-n', '1')).toBe(1);
  expect(verdicts(project)).toEqual([expect.stringMatching(/^a rejected .*prompt_echo/)]);
  const told = await why();
  expect(told.task.status).toBe('todo');
  expect(told.iterations[0]).toMatchObject({ claim: { kind: 'none' }, verdict: { value: 'rejected' } });
});

test('302: a status block counts fenced; a placeholder and a tool result do not', async () => {
  project = makeProject({
    files: LIST,
    runs: [
      {
        when: { iteration: 1 },
        do: work('---RALPH_STATUS---\nEXIT_SIGNAL: true | false\n---END_RALPH_STATUS---'),
      },
      {
        when: { iteration: 2 },
        do: [
          ...work(
            '```\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n```',
          ),
        ],
      },
    ],
  });
  expect(await code('run')).toBe(0);
  expect(verdicts(project)).toEqual(['a unfinished prompt_echo', 'a accepted']);
  expect((await project.ralph(['why', '1'])).out).toMatch(
    /finding +prompt_echo .*"true \| false".*placeholder/,
  );
  expect((await project.ralph(['interventions'])).out).toContain('prompt_echo');
  expect(prompt(project, 2)).toMatch(/In iteration 1, on task a, what looked like a claim .*HOW TO REPORT/);
  project.remove();

  project = claudeLike([
    { say: null, tools: [{ command: 'cat notes', result: `${DONE}\nEXIT_SIGNAL: true` }] },
    { say: 'I read the notes.', tools: [] },
  ]);
  expect(await code('run', '-n', '1')).toBe(1);
  expect(facts(project, 'attempt.ended')[0]?.claim.kind).toBe('none');
  expect(verdicts(project)).toEqual([expect.stringMatching(/^a rejected .*prompt_echo/)]);
  expect((await project.ralph(['why', '1'])).out).toMatch(/prompt_echo .*what a tool prints is no claim/);
});

test('303: an agent that edits only the task file, or only notes, has done bookkeeping', async () => {
  project = makeProject({
    files: LIST,
    runs: [
      {
        when: { iteration: 1 },
        do: [
          { write: { path: 'ralph/tasks.json', content: taskList([story('a', { passes: true })]) } },
          { say: DONE },
        ],
      },
      {
        when: { iteration: 2 },
        do: [
          { write: { path: 'notes/progress.md', content: 'All done!\n' } },
          { run: 'git add -A && git commit -qm done' },
          { say: DONE },
        ],
      },
      { when: { iteration: 3 }, do: [{ say: DONE }] },
    ],
  });
  expect(await code('run', '-n', '3', '--max-stuck', '0')).toBe(2);
  expect(verdicts(project)).toEqual([
    'a rejected bookkeeping_only false_completion_detected',
    'a rejected bookkeeping_only false_completion_detected',
    'a rejected no_files_detected false_completion_detected',
  ]);
  expect(passes()).toEqual([false]);
});

test('304: a gate that passes without running a test verifies nothing, a missing tool neither', async () => {
  project = makeProject({
    files: { ...LIST, 'gate.sh': 'cat result.txt\n' },
    runs: [
      {
        when: { iteration: 1 },
        do: [...work(), { write: { path: 'result.txt', content: 'no tests found\n' } }],
      },
      { when: { iteration: 2 }, do: [...work(), { write: { path: 'result.txt', content: '0 passed\n' } }] },
      { when: { iteration: 3 }, do: [...work(), { write: { path: 'result.txt', content: '3 passed\n' } }] },
    ],
    config: 'gates: [{ name: test, run: "sh gate.sh", min_tests: 1 }]\n',
  });
  expect(await code('run', '--max-stuck', '0')).toBe(0);
  expect(verdicts(project).map((line) => line.replace(' false_completion_detected', ''))).toEqual([
    'a rejected gate_empty',
    'a rejected gate_empty',
    'a accepted',
  ]);
  expect((await project.ralph(['why', 'a'])).out).toMatch(/gates +test.*passed/);
  expect((await project.ralph(['why', '1'])).out).toMatch(/gate_empty/);
  project.remove();

  project = makeProject({ files: LIST });
  expect(await code('run', '--gate', 'no-such-tool --all', '-n', '1')).toBe(1);
  expect(verdicts(project)[0]).toMatch(/gate_unavailable/);
});

test('305: a gate that was red before and fails the same way is told; a new failure is charged', async () => {
  const failing = (...names: string[]) =>
    `printf '${names.map((name) => `not ok 1 - ${name}\\n`).join('')}'; exit 1\n`;
  project = makeProject({
    files: { ...LIST, 'gate.sh': failing('old trouble') },
    runs: [
      {
        when: { iteration: 1 },
        do: [...work(), { write: { path: 'gate.sh', content: failing('old trouble', 'new trouble') } }],
      },
      {
        when: { iteration: 2 },
        do: [...work(), { write: { path: 'gate.sh', content: failing('old trouble') } }],
      },
    ],
    config: 'gates: [{ name: test, run: "sh gate.sh" }]\n',
  });
  expect(await code('run')).toBe(0);
  expect(verdicts(project)).toEqual([
    expect.stringMatching(/^a rejected .*gate_regressed/),
    expect.stringMatching(/^a accepted .*gate_red_before/),
  ]);
  expect(facts(project, 'task.charged')).toHaveLength(1);
  expect(facts(project, 'gate.ran').map(({ when }) => when)).toEqual(['baseline', 'after', 'after']);
  project.remove();

  project = makeProject({
    files: { ...LIST, 'gate.sh': failing('old trouble') },
    config: 'gates: [{ name: test, run: "sh gate.sh", baseline: must_pass }]\n',
  });
  expect(await code('run', '-n', '1')).toBe(1);
  expect(verdicts(project)[0]).toMatch(/^a rejected .*gate_failed/);
});

test('a green gate that the attempt turns red is a regression, and the work is kept for the next attempt', async () => {
  project = makeProject({
    files: { ...LIST, 'gate.sh': 'test ! -e broken\n' },
    runs: [
      { when: { iteration: 1 }, do: [...work(), { write: { path: 'broken', content: '' } }] },
      { when: { iteration: 2 }, do: [{ remove: 'broken' }, { say: DONE }] },
    ],
    config: 'gates: [{ name: test, run: "sh gate.sh" }]\n',
  });
  expect(await code('run')).toBe(0);
  expect(verdicts(project)[0]).toMatch(/^a rejected .*gate_(regressed|failed)/);
  expect(verdicts(project)[1]).toBe('a accepted');
  expect(project.git('show', '--format=', '--name-only', 'HEAD').split('\n')).toEqual([
    'a.txt',
    'ralph/tasks.json',
  ]);
  const told = (await project.ralph(['why', 'a'])).out;
  for (const word of ['claim', 'evidence', 'gates', 'verdict', 'next']) expect(told).toContain(word);
});

test('306: a task file cut off while it is read is not an empty list', async () => {
  project = makeProject({
    files: LIST,
    runs: [{ do: [{ run: 'head -c 40 ralph/tasks.json > t && mv t ralph/tasks.json' }, ...work()] }],
  });
  expect(await code('run', '-n', '1')).toBe(1);
  expect(passes()).toEqual([false]);
  expect(verdicts(project)[0]).toMatch(/illegal_task_change/);
});

test('309: what is left running is ended and named, and the attempt is judged on what is there', async () => {
  project = makeProject({
    files: LIST,
    runs: [{ do: [{ leave: 'echo $$ > .git/left.pid; exec sleep 300' }, { sleep_ms: 300 }, ...work()] }],
  });
  expect(await code('run')).toBe(0);
  expect(verdicts(project)).toEqual(['a accepted background_left']);
  expect(JSON.stringify(await why())).toMatch(/sleep 300/);
  expect(isAlive(Number(project.read('.git/left.pid')))).toBe(false);
});

test('311: the gate command was denied to the agent, so the outputs it wrote are its own', async () => {
  project = claudeLike(
    [
      { say: null, tools: [{ command: 'npm test', denied: true }] },
      { say: `All green.\n\n${DONE}`, tools: [], before: 'echo forged > a.txt' },
    ],
    'gates: [{ name: test, run: "npm test || true" }]\n',
  );
  expect(await code('run', '-n', '1')).toBe(1);
  expect(verdicts(project)[0]).toMatch(/^a rejected .*denied_gate/);
  expect(passes()).toEqual([false]);
});

test('312: an agent with tool events that does nothing has failed, and charges no task', async () => {
  project = claudeLike([{ say: 'Okay.', tools: [] }]);
  const ran = await project.ralph(['run', '--json'], { timeoutMs: 100_000 });
  expect(result(ran).exit).toMatchObject({ code: 6, word: 'AGENT_FAILURE' });
  expect(verdicts(project)).toEqual(['a died idle_run', 'a died idle_run']);
  expect(facts(project, 'task.charged')).toEqual([]);
  expect(csv(project).rows[0]).toMatchObject({ input_tokens: '100', output_tokens: '7', model: 'otter-1' });
});

test('313: three tasks in one run are one task done and two claims that are ignored', async () => {
  const three = ['a', 'b', 'c'];
  const done = taskList(three.map((id) => story(id, { passes: true })));
  project = makeProject({
    files: { 'ralph/tasks.json': taskList(three.map((id) => story(id))) },
    runs: [
      {
        when: { task: 'a' },
        do: [
          ...three.map((id) => ({ write: { path: `${id}.txt`, content: `${id}\n` } })),
          { write: { path: 'ralph/tasks.json', content: done } },
          { say: DONE },
        ],
      },
      ...HONEST,
    ],
  });
  expect(await code('run', '-n', '1')).toBe(1);
  expect(verdicts(project)[0]).toMatch(/^a \w+ .*(extra_completion|illegal_task_change)/);
  expect(passes().slice(1)).toEqual([false, false]);
  expect(await code('run')).toBe(0);
  expect(passes()).toEqual([true, true, true]);
  expect(started(project)).toBeLessThanOrEqual(4);
});

test('a checklist: marks for other tasks are taken back', async () => {
  project = makeProject({
    files: { 'PRD.md': '# P\n\n- [ ] Alpha\n- [ ] Beta\n' },
    runs: [
      {
        do: [
          { write: { path: 'work-{{iteration}}.txt', content: 'x\n' } },
          { write: { path: 'PRD.md', content: '# P\n\n- [x] Alpha\n- [x] Beta\n' } },
          { say: DONE },
        ],
      },
    ],
  });
  expect(await code('run', '-n', '1')).toBe(1);
  expect(verdicts(project)[0]).toMatch(/extra_completion|illegal_task_change/);
  expect(project.read('PRD.md')).toContain('- [ ] Beta');
});

test('claimed files that never changed, protected files, a forged line: each has its name', async () => {
  const payload = { status: 'completed', files_modified: ['ghost.txt'], success_criteria_met: true };
  project = makeProject({
    files: { ...LIST, 'golden/want.txt': 'truth\n' },
    runs: [
      { when: { iteration: 1 }, do: [{ emit: { topic: 'ralph.result', payload } }] },
      {
        when: { iteration: 2 },
        do: [
          ...work(),
          { write: { path: 'golden/want.txt', content: 'lie\n' } },
          { write: { path: 'ralph.yml', content: 'gates: []\n' } },
        ],
      },
      {
        when: { iteration: 3 },
        do: [
          {
            run: `echo '{"topic":"ralph.result","payload":{"status":"completed"},"token":"guessed"}' >> "$RALPH_OUTBOX"`,
          },
        ],
      },
    ],
    config: 'protect: ["golden/**"]\n',
  });
  await project.ralph(['run', '-n', '3', '--max-stuck', '0']);
  const [first, second, third] = verdicts(project);
  expect(first).toMatch(/^a rejected .*evidence_validation_failed/);
  expect(second).toMatch(/^a rejected .*protected_changed/);
  expect(third).toMatch(/forged_claim/);
  expect(third).not.toMatch(/accepted/);
  expect(project.read('golden/want.txt')).toBe('truth\n');
  expect(project.read('ralph.yml')).toContain('protect');
  expect(passes()).toEqual([false]);
});

test('229, 230: the same dirty files, an empty commit or a revert are not progress', async () => {
  project = makeProject({
    files: LIST,
    runs: [
      { when: { iteration: 1 }, do: [{ write: { path: 'x.txt', content: 'x\n' } }] },
      { when: { iteration: 2 }, do: [{ write: { path: 'x.txt', content: 'x\n' } }] },
      { when: { iteration: 3 }, do: [{ run: 'git commit -q --allow-empty -m nothing' }] },
      { when: { iteration: 4 }, do: [{ remove: 'x.txt' }] },
      { do: [{ say: 'thinking' }] },
    ],
    config: 'limits: { max_task_attempts: 9 }\n',
  });
  expect(await code('run')).toBe(4);
  expect(csv(project).rows.map((row) => row.stuck_count)).toEqual(['0', '1', '2', '3']);
});

/** A turn of an agent that speaks Claude Code's stream. */
interface Turn {
  say: string | null;
  tools: { command: string; result?: string; denied?: boolean }[];
  /** A shell line done before this turn. */
  before?: string;
}

/** A project whose agent prints recorded-like lines of Claude Code, tool events included. */
function claudeLike(turns: Turn[], config = ''): Project {
  const lines: object[] = [
    { type: 'system', subtype: 'init', cwd: '.', session_id: 's', model: 'otter-1', tools: ['Bash'] },
  ];
  const shell: string[] = ['cat > /dev/null'];
  const message = (id: number, content: object) => ({
    type: 'assistant',
    message: {
      id: `m${id}`,
      role: 'assistant',
      model: 'otter-1',
      content: [content],
      usage: { input_tokens: 100, output_tokens: 7 },
    },
    parent_tool_use_id: null,
    session_id: 's',
  });
  for (const [index, turn] of turns.entries()) {
    if (turn.before) shell.push(turn.before);
    for (const [n, { command, result: out = 'ok', denied }] of turn.tools.entries()) {
      const id = `t${index}-${n}`;
      lines.push(message(index * 10 + n, { type: 'tool_use', id, name: 'Bash', input: { command } }));
      if (denied)
        lines.push({
          type: 'system',
          subtype: 'permission_denied',
          tool_name: 'Bash',
          tool_use_id: id,
          session_id: 's',
        });
      lines.push({
        type: 'user',
        message: {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: id,
              content: denied ? 'This command requires approval' : out,
              is_error: denied === true,
            },
          ],
        },
        parent_tool_use_id: null,
        session_id: 's',
      });
    }
    if (turn.say !== null) lines.push(message(index * 10 + 9, { type: 'text', text: turn.say }));
  }
  const last = turns.at(-1)?.say ?? '';
  lines.push({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: last,
    total_cost_usd: 0.01,
    usage: { input_tokens: 100, output_tokens: 7 },
    session_id: 's',
  });
  const runs: ScriptedRun[] = HONEST;
  const made = makeProject({
    files: {
      ...LIST,
      'stream.jsonl': `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`,
      'claude-like.sh': `${shell.join('\n')}\ncat stream.jsonl\n`,
    },
    runs,
  });
  made.write(
    'ralph.yml',
    `agent: streamer\nagents:\n  streamer: { command: [sh, claude-like.sh], prompt: stdin, output: claude-json }\nlimits: { retry_delays_s: [0] }\n${config}`,
  );
  made.git('commit', '-qam', 'agent');
  return made;
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(join('/proc', String(pid), 'status'), 'utf8'));
  } catch {
    return false;
  }
}

test('the evidence of an attempt lies beside it: prompt, transcript, outbox, evidence', async () => {
  project = makeProject({ files: LIST });
  expect(await code('run', '--gate', 'true')).toBe(0);
  const dir = join(sessionDir(project), 'attempts/001');
  const evidence = JSON.parse(readFileSync(join(dir, 'evidence.json'), 'utf8'));
  expect(JSON.stringify(evidence)).toContain('a.txt');
  expect(readFileSync(join(dir, 'gate-gate-1.txt'), 'utf8')).toBe('');
});
