/** An agent's program was replaced by a newer one: the run goes on, and who looks after the machine is told. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { facts, json, verdicts } from './journal.ts';
import { DONE, makeProject, type Project } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project?.remove());

interface Row {
  name: string;
  ok: boolean | 'warning';
  what: string;
  fix: string;
}
interface Listed {
  name: string;
  unknown_events: null | { events: number; runs: number; kinds: string[]; version: string | null };
}

/** Speaks as Claude Code does, in a version of its own. */
function newer(events: object[]): string {
  const said = { type: 'text', text: DONE };
  const stream = [
    { type: 'system', subtype: 'init', session_id: 's', model: 'm', claude_code_version: '9.0.0' },
    ...events,
    { type: 'assistant', message: { id: 'a', model: 'm', content: [said] } },
    { type: 'result', subtype: 'success', is_error: false, result: DONE, total_cost_usd: 0.1 },
  ];
  return `require('node:fs').writeFileSync('a.txt', 'made\\n');\nfor (const event of ${JSON.stringify(stream)}) console.log(JSON.stringify(event));\n`;
}

async function ran(events: object[]): Promise<void> {
  project = makeProject();
  const script = join(project.home, 'newer.cjs');
  writeFileSync(script, newer(events));
  const command = JSON.stringify([process.execPath, script]);
  project.write(
    'ralph.yml',
    `agent: newer\nagents: { newer: { command: ${command}, output: claude-json } }\n`,
  );
  project.git('commit', '-qam', 'a newer agent');
  await project.ralph(['run', 'Make a', '--no-wait', '--json']);
}

const streams = async () =>
  json<{ rows: Row[] }>(await project.ralph(['doctor', '--json', '--no-agent'])).rows.filter(
    ({ name }) => name === 'streams',
  );
const listed = async () =>
  json<Listed[]>(await project.ralph(['agents', '--json'])).find(({ name }) => name === 'newer')!;

test('events of kinds that nobody knows are counted, and shown by the doctor and with the agents', async () => {
  await ran([{ type: 'brand_new', n: 1 }, { type: 'brand_new', n: 2 }, { type: 'hologram' }]);
  expect(verdicts(project)).toEqual(['objective accepted']);
  expect(facts(project, 'attempt.ended')).toMatchObject([
    { report: { unknownEvents: 3, unknownKinds: ['brand_new', 'hologram'], version: '9.0.0' } },
  ]);
  const words = '3 events that Ralph does not know, in 1 run, the last of version 9.0.0: brand_new, hologram';
  expect(await streams()).toMatchObject([
    { ok: 'warning', what: expect.stringContaining(words), fix: expect.stringContaining('Update Ralph') },
  ]);
  expect((await project.ralph(['doctor', '--no-agent'])).out).toContain(words);
  expect(await listed()).toMatchObject({
    unknown_events: { events: 3, runs: 1, kinds: ['brand_new', 'hologram'], version: '9.0.0' },
  });
  expect((await project.ralph(['agents'])).out).toContain(`unknown   ${words}`);
});

test('where everything was understood, the doctor says so', async () => {
  await ran([]);
  expect(await streams()).toMatchObject([{ ok: true, what: expect.stringContaining('was understood') }]);
  expect(await listed()).toMatchObject({ unknown_events: null });
});
