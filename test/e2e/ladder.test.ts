/** Agents that claim and do not do: the corrections in their order, who is asked, and what `why` tells of it. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, json, prompt, verdicts } from './journal.ts';
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

const LIE: ScriptedRun['do'] = [{ say: `All of it is prepared and works.\n\n${DONE}` }];
const WORK: ScriptedRun['do'] = [
  { write: { path: '{{task}}.txt', content: 'made\n' } },
  { say: `Wrote \`{{task}}.txt\`.\n\n${DONE}` },
];
const list = (...ids: string[]) => ({ 'ralph/tasks.json': taskList(ids.map((id) => story(id))) });
const chosen = () =>
  facts(project, 'intervention.chosen').map(({ iteration, intervention }) => [iteration, intervention.kind]);
const run = async (...args: string[]) =>
  result(await project.ralph(['run', '--json', ...args], { timeoutMs: 90_000 })).exit;

interface Event {
  iteration: number;
  event_type: string;
  severity: string;
  remediation_attempted: boolean;
}
const events = () =>
  (JSON.parse(project.read('.ralph/interventions/events.json')) as { events: Event[] }).events;
const metrics = () => JSON.parse(project.read('.ralph/metrics.json')) as Record<string, unknown>;

/** A page's block under `<!-- shown: <name> -->`. */
function shown(page: string, name: string): string {
  const text = readFileSync(resolve(import.meta.dirname, '../../docs', page), 'utf8');
  const block = new RegExp(`<!-- shown: ${name} -->\\n(\`{3,})\\w*\\n([\\s\\S]*?)^\\1$`, 'm').exec(text);
  return block?.[2] ?? `no block ${name} in ${page}`;
}

test('a liar beside an honest task: reminded, insisted, asked about; the other task is done', async () => {
  project = makeProject({
    files: list('chart', 'export'),
    runs: [{ when: { task: 'chart' }, do: LIE }, ...HONEST],
  });
  expect(await run()).toMatchObject({ code: 2, word: 'BLOCKED' });
  expect(verdicts(project)).toEqual([
    'chart rejected no_files_detected false_completion_detected',
    'export accepted',
    'chart rejected no_files_detected false_completion_detected',
    'chart rejected no_files_detected false_completion_detected',
  ]);
  expect(chosen().filter(([iteration]) => iteration !== 2)).toEqual([
    [1, 'remind'],
    [3, 'insist'],
    [4, 'question'],
  ]);
  const told = events().filter(({ iteration }) => iteration === 3);
  expect(told).toMatchObject([
    { event_type: 'evidence_validation_failed', severity: 'info' },
    { event_type: 'no_files_detected', severity: 'critical', remediation_attempted: true },
    { event_type: 'false_completion_detected', severity: 'critical', remediation_attempted: true },
    { event_type: 'agent_reinforced', severity: 'critical', remediation_attempted: true },
  ]);

  // What was held against the first try stands in the agent's next prompt, and in each of its task's.
  const reminder = shown('guides/interventions.md', 'reminder').trim();
  for (const iteration of [2, 3, 4]) expect(prompt(project, iteration)).toContain(reminder);
  const insisting = shown('guides/interventions.md', 'insisting').trim();
  expect(prompt(project, 4)).toContain(insisting);
  expect(prompt(project, 4).indexOf(insisting)).toBeLessThan(prompt(project, 4).indexOf(reminder));
  // Nobody has to act, so it is no alarm.
  expect(facts(project, 'notice.given').filter(({ text }) => /circuit breaker/i.test(text))).toMatchObject([
    { level: 'warning', text: shown('guides/interventions.md', 'breaker').trim() },
  ]);

  const [asked] = facts(project, 'question.asked');
  expect(asked!.question).toMatchObject({ kind: 'blocker', about: 'chart', hold: 'task' });
  expect(asked!.question.text).toContain('Corrections chosen: remind (iteration 1), insist (iteration 3).');
  const why = (await project.ralph(['why', 'chart'])).out;
  expect(why).toMatch(/iteration 1 · implement: rejected.* · then remind\n/);
  expect(why).toMatch(/iteration 3 · implement: rejected.* · then insist\n/);
  expect(why).toContain('correction question: ');
  expect(why).toContain('held by q1 (blocker)');
  expect(project.read('.ralph/interventions/feedback.txt')).toContain(insisting.replace(/^- /, ''));
});

test('the same with one task: stuck, naming the correction that is open', async () => {
  project = makeProject({ files: list('chart'), runs: [{ do: LIE }] });
  const exit = await run();
  expect(exit).toMatchObject({ code: 4, word: 'STUCK' });
  expect(exit.reason).toBe(shown('guides/interventions.md', 'stuck').trim());
  const why = json<{ exit: { reason: string }; next: string }>(await project.ralph(['why', '--json']));
  expect(why.exit.reason).toBe(exit.reason);
  expect(why.next).toContain('ralph unblock chart');
  expect(facts(project, 'question.asked')).toEqual([]);
});

test('an agent that heeds the second correction finishes, and that is counted', async () => {
  project = makeProject({
    files: list('chart'),
    runs: [{ when: { attempt: 1 }, do: LIE }, { when: { attempt: 2 }, do: LIE }, { do: WORK }],
  });
  expect(await run()).toMatchObject({ code: 0 });
  expect(chosen().slice(0, 2)).toEqual([
    [1, 'remind'],
    [2, 'insist'],
  ]);
  // What was found came back after the reminder, and did not after the second correction.
  expect(metrics()).toMatchObject({ avg_remediation_success_rate: 0.5 });
  expect((await project.ralph(['interventions'])).out).toContain('agent_reinforced (critical)');
});

test('another agent takes over where one is named, and one that is not there is passed over with a warning', async () => {
  project = makeProject({
    files: list('chart'),
    runs: [{ do: LIE }],
    config: 'fallback: [absent, second]\nmodel: large\n',
  });
  project.write('second.json', JSON.stringify({ runs: HONEST }));
  const config = project
    .read('ralph.yml')
    .replace(
      '\nfallback',
      '\n  second: { command: ["ralph", "__script-agent", "second.json"] }\n  absent: { command: ["no-such-agent-anywhere"] }\nfallback',
    );
  project.write('ralph.yml', config);
  project.git('add', '-A');
  project.git('commit', '-qm', 'agents');
  const dry = await project.ralph(['run', '--dry-run']);
  expect(dry.out).toContain('agent scripted, model large, then second');
  expect(dry.err + dry.out).toContain('fallback names absent, which cannot take over here');
  expect(await run()).toMatchObject({ code: 0 });
  expect(facts(project, 'attempt.started').map(({ agent, model }) => [agent, model])).toEqual([
    ['scripted', 'large'],
    ['scripted', 'large'],
    ['second', null],
  ]);
  expect(prompt(project, 3)).toContain(
    'Another agent worked on this before you. In iteration 2, on task chart',
  );
  const agents = json<{ name: string; fallback: number | null }[]>(await project.ralph(['agents', '--json']));
  expect(agents.find(({ name }) => name === 'second')?.fallback).toBe(2);
});

test('switched off, nothing is corrected', async () => {
  project = makeProject({
    files: list('chart'),
    runs: [{ do: LIE }],
    config: 'interventions: { enabled: false }\n',
  });
  expect(await run()).toMatchObject({ code: 4 });
  expect(chosen()).toEqual([]);
  expect(prompt(project, 3)).not.toContain('DO NOT IGNORE');
  expect(events()).toHaveLength(9);
  expect(events().every((event) => !event.remediation_attempted)).toBe(true);
});

test('the page on prompts shows a prompt that this program wrote', async () => {
  project = makeProject({
    files: { 'ralph/tasks.json': taskList([story('chart'), story('export')]) },
    runs: [{ do: LIE }],
    config: 'gates:\n  - { name: test, run: "node --test" }\n',
  });
  await run('-n', '2', '--task', 'chart');
  const written = prompt(project, 2);
  // The commits that came before differ with every project, and the name of its session.
  const stable = written
    .replace(/^- [0-9a-f]{7,} .*$/gm, '- c0ffee1 first')
    .replaceAll(project.dir, '/project')
    .replaceAll(/\.ralph-sessions\/\d{6}-\d{6}/g, '.ralph-sessions/260208-143000');
  const page = resolve(import.meta.dirname, '../../docs/reference/prompt-anatomy.md');
  if (process.env.UPDATE_DOCS) {
    const { writeFileSync } = await import('node:fs');
    const text = readFileSync(page, 'utf8');
    const block = `<!-- shown: prompt -->\n\`\`\`\`markdown\n${stable}\`\`\`\``;
    writeFileSync(
      page,
      text.replace(/<!-- shown: prompt -->\n````markdown\n[\s\S]*?^````$/m, () => block),
    );
  }
  expect(shown('reference/prompt-anatomy.md', 'prompt')).toBe(stable);
});

test('with nothing set but a fallback the tripped agent gives up all its tasks, and the night goes on', async () => {
  project = makeProject({
    files: list('chart', 'export'),
    runs: [{ do: LIE }],
    config: 'fallback: [second]\n',
  });
  project.write('second.json', JSON.stringify({ runs: HONEST }));
  const own = '\n  second: { command: ["ralph", "__script-agent", "second.json"] }\nfallback';
  project.write('ralph.yml', project.read('ralph.yml').replace('\nfallback', own));
  project.git('add', '-A');
  project.git('commit', '-qm', 'agents');
  expect(await run()).toMatchObject({ code: 0 });
  expect(facts(project, 'attempt.started').map(({ agent }) => agent)).toEqual([
    'scripted',
    'scripted',
    'second',
    'second',
  ]);
  const told = facts(project, 'notice.given').map(({ text }) => text);
  expect(told.join()).toContain('second takes over task export and 1 other task.');
});

test('a start after being stuck asks at once about the task that is out of attempts', async () => {
  project = makeProject({ files: list('chart'), runs: [{ do: LIE }] });
  expect(await run()).toMatchObject({ code: 4 });
  expect(await run()).toMatchObject({ code: 2 });
  expect(facts(project, 'attempt.started')).toHaveLength(3);
  expect((await project.ralph(['unblock', 'chart'])).code).toBe(0);
  expect(await run('--max-iterations', '1')).toMatchObject({ code: 1 });
  expect(chosen().at(-1)).toEqual([4, 'remind']);
});

test('no agent is proposed that cannot start here', async () => {
  const config = 'fallback: [absent]\nlimits: { max_task_attempts: 1, max_stuck: 0 }\n';
  project = makeProject({ files: list('chart'), runs: [{ do: LIE }], config });
  const own = '\n  absent: { command: ["no-such-agent-anywhere"] }\nfallback';
  project.write('ralph.yml', project.read('ralph.yml').replace('\nfallback', own));
  project.git('commit', '-qam', 'agents');
  expect(await run()).toMatchObject({ code: 2 });
  const { out } = await project.ralph(['blocked', '--suggest']);
  expect(out).toContain('scripted ended once without the work');
  expect(out).not.toContain('absent');
});

test('a finished session shows its own tasks, and says where the next run would begin with others', async () => {
  project = makeProject({ files: { 'PRD.md': '- [ ] one: Write it\n' } });
  expect(await run()).toMatchObject({ code: 0 });
  expect((await project.ralph(['tasks'])).err).toBe('');
  project.write('PRD.md', '- [x] one: Write it\n- [ ] two: Write more\n');
  const { out, err } = await project.ralph(['tasks']);
  expect(out).not.toContain('two');
  expect(err).toContain('which is finished. `ralph run` would begin a new one with PRD.md: two');
});
