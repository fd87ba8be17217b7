/** Reports as agents write them: what is true is not accused, what is invented is named by its kind. */
import { afterEach, expect, test } from 'vitest';
import { facts } from './journal.ts';
import { makeProject, type Project } from './project.ts';

let project: Project;
afterEach(() => project?.remove());

/** An agent that makes `src/new.ts` and ends with these words. */
function saying(text: string, more: { stream?: boolean; change?: string } = {}): Project {
  const last = { type: 'result', subtype: 'success', is_error: false, result: text, session_id: 's' };
  const out = more.stream
    ? `${JSON.stringify({ type: 'system', subtype: 'init', session_id: 's' })}\n${JSON.stringify(last)}\n`
    : text;
  const made = makeProject({
    files: {
      'PRD.md': '- [ ] T-1: Add a parser\n',
      'src/same.ts': 'export const same = 1;\n',
      'words.txt': out,
      'agent.sh': `cat >/dev/null\n${more.change ?? 'echo 1 > src/new.ts'}\ncat words.txt\n`,
    },
  });
  const output = more.stream ? ', output: claude-json' : '';
  made.write(
    'ralph.yml',
    `agent: a\nagents: { a: { command: [sh, agent.sh]${output} } }\ngates: [{ name: t, run: "true" }]\nlimits: { max_task_attempts: 1 }\n`,
  );
  made.git('add', '-A');
  made.git('commit', '-qm', 'agent');
  return made;
}

async function found(): Promise<string[]> {
  await project.ralph(['run']);
  return facts(project, 'verdict.reached')[0]!.findings.map(({ kind, detail }) => `${kind}: ${detail}`);
}

test('other people’s deeds, taken back ones and questions are not held against anybody', async () => {
  project = saying(
    'Created src/new.ts. Alice changed `src/same.ts` last year. I created `probe.js` and deleted it afterwards. Shall I go on?\n\n<promise>COMPLETE</promise>\n',
  );
  expect(await found()).toEqual([]);
});

test('what lies outside is told to lie outside', async () => {
  project = saying('Created `../outside/f7.ts`.\n\n<promise>COMPLETE</promise>\n');
  expect(await found()).toEqual([
    'evidence_missing: What the claim names as evidence lies outside the repository: ../outside/f7.ts.',
  ]);
});

test('a command that the log of tools does not hold is false; without a log it is not checked', async () => {
  const words =
    'Ran `npm test`: exit code 0, 14 passed. Created src/new.ts.\n\n<promise>COMPLETE</promise>\n';
  project = saying(words, { stream: true });
  expect(await found()).toEqual([
    'evidence_validation_failed: Claimed, and not so: `npm test` with exit 0 (the log of its tools has no such call).',
  ]);
  project.remove();
  project = saying(words);
  expect(await found()).toEqual([]);
});

test('notes that no task asked for are no work', async () => {
  project = saying('Done.\n\n<promise>COMPLETE</promise>\n', { change: 'echo x > NOTES.md' });
  expect((await found())[0]).toContain('evidence_missing');
  expect(facts(project, 'verdict.reached')[0]!.findings.map(({ kind }) => kind)).toContain(
    'bookkeeping_only',
  );
});

test('interventions of no such number or type are refused, with the nearest name', async () => {
  project = saying('x');
  const none = await project.ralph(['interventions', '--last', '0']);
  expect(none.code).toBe(5);
  expect(none.err).toContain('--last cannot be "0"');
  const type = await project.ralph(['interventions', '--type', 'no_file_detected']);
  expect(type.code).toBe(5);
  expect(type.err).toContain('ralph interventions --type no_files_detected');
});
