/**
 * Agents and gates print what they should not. The tokens here open nothing: one is known because a variable of the
 * environment has it, the other by its form.
 */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, prompt, sessionDir } from './journal.ts';
import { DONE, makeProject, type Project, result, type ScriptedRun } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });

const KNOWN = ['s3rvice', 'only', 'between', 'us'].join('-');
const MARKED = ['ghp_', 'q7Zr2WmX9tKc4VbN8sLd3FgH6jPy1RuT5aEo'].join('');
const BOTH = `${KNOWN} and ${MARKED}`;
const SHOWN = '[secret: SERVICE_TOKEN] and [secret: GitHub token]';
const env = { SERVICE_TOKEN: KNOWN };

let project: Project;
let hook: Server | null = null;
afterEach(() => {
  hook?.close();
  hook = null;
  project?.remove();
});

/** Every file below a folder, as one text; what the agent wrote itself is its own. */
function everything(folder: string): string {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !/^(outbox\.jsonl|ralph|.*\.idx|.*\.pack)$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

const speaks: ScriptedRun[] = [
  {
    when: { iteration: 1 },
    do: [
      { print: `TOKEN=${BOTH}\n` },
      { write: { path: 'a.txt', content: `no more than a name\n` } },
      { emit: { topic: 'interact.progress', payload: `I logged in with ${BOTH}` } },
      { say: DONE },
    ],
  },
  {
    when: { iteration: 2 },
    do: [{ say: `<promise>DECIDE: May I keep ${BOTH} in the file?</promise>` }],
  },
];

test('what an agent and a gate print is in no log, fact, prompt, message or window', async () => {
  const heard: string[] = [];
  hook = createServer((request, response) => {
    request.on('data', (bytes: Buffer) => heard.push(bytes.toString()));
    request.on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(hook, 'listening');
  const { port } = hook.address() as AddressInfo;
  const gate = `echo "FAIL login with $SERVICE_TOKEN and ${MARKED.slice(0, 20)}""${MARKED.slice(20)}"; exit 1`;
  project = makeProject({
    runs: speaks,
    config: `gates:\n  - { name: login, run: ${JSON.stringify(gate)}, baseline: must_pass }\nchannels: { webhook: { url: "http://127.0.0.1:${port}/" } }\n`,
  });
  const ran = await project.ralph(['run', 'Make a', '--json', '--no-wait'], { env });
  expect(result(ran).exit).toMatchObject({ code: 3 });
  const [outcome] = facts(project, 'gate.ran');
  expect(outcome).toMatchObject({ result: { outcome: 'failed', excerpt: expect.stringContaining(SHOWN) } });
  expect(prompt(project, 2)).toContain(`FAIL login with ${SHOWN}`);
  expect(facts(project, 'question.asked')).toMatchObject([
    { question: { text: `May I keep ${SHOWN} in the file?` } },
  ]);
  expect(project.read('ralph/decide.txt')).toContain(SHOWN);
  expect(heard.join('')).toContain(`May I keep ${SHOWN}`);
  const told = [
    ran.out,
    ran.err,
    ...heard,
    project.read('ralph/decide.txt'),
    everything(sessionDir(project)),
  ];
  for (const args of [
    ['logs', '1'],
    ['why', '2', '--json'],
    ['inbox'],
    ['status'],
    ['log'],
    ['events', '--json'],
  ]) {
    const { out, err } = await project.ralph(args, { env });
    told.push(out, err);
    if (args[0] === 'logs') expect(out).toContain(`TOKEN=${SHOWN}`);
  }
  for (const text of told) {
    expect(text).not.toContain(KNOWN);
    expect(text).not.toContain(MARKED);
  }
});

test('what an earlier version left in a log or a fact is shown without it, and stays as it is', async () => {
  project = makeProject({
    runs: [{ do: [{ say: 'I have nothing to claim, but old-secret-in-plain-sight.' }] }],
  });
  await project.ralph(['run', 'Make a', '--max-iterations', '1', '--no-wait']);
  const later = { LATER_PASSWORD: 'old-secret-in-plain-sight' };
  const file = join(sessionDir(project), 'logs/iteration-001.log');
  expect(readFileSync(file, 'utf8')).toContain(later.LATER_PASSWORD);
  for (const args of [
    ['logs', '1'],
    ['logs', '1', '--json'],
    ['why', '1'],
    ['why', '1', '--json'],
  ]) {
    const { out } = await project.ralph(args, { env: later });
    expect(out).not.toContain(later.LATER_PASSWORD);
  }
  expect((await project.ralph(['logs', '1'], { env: later })).out).toContain('[secret: LATER_PASSWORD]');
  expect(readFileSync(file, 'utf8')).toContain(later.LATER_PASSWORD);
});
