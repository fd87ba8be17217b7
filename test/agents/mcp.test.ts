import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { facts, sessionDir, until } from '../e2e/journal.ts';
import { result } from '../e2e/project.ts';
import { claudeVersion } from './installed.ts';
import { claims, type LoopProject, loopProject, task } from './loop-project.ts';

let project: LoopProject;
afterEach(() => project?.close());

const ASK = {
  name: 'mcp__ralph__ask_human',
  input: {
    text: 'Which browser?',
    options: [
      { key: 'A', text: 'Chrome' },
      { key: 'B', text: 'Firefox' },
    ],
    default: 'Chrome',
  },
};

describe(`the MCP server with Claude Code ${claudeVersion()}`, () => {
  it('a question is asked, a person answers, and the agent goes on within the same turn', async () => {
    project = await loopProject({
      tasks: ['a'],
      script: {
        conversations: [
          {
            match: task('a'),
            turns: [
              { tools: [ASK] },
              { write: { path: 'a.txt', content: 'with Firefox\n' } },
              { tools: [{ name: 'mcp__ralph__record_evidence', input: PROOF }] },
              claims(),
            ],
          },
        ],
      },
    });
    const { done } = project.begin('run', '--agent', 'claude', '--json');
    await until(() => facts(project, 'question.asked').length === 1, 'the question is asked');
    const answered = await project.ralph(['answer', '--option', 'B']);
    expect(answered.code, answered.err).toBe(0);
    const ran = await done;
    expect(result(ran).exit, ran.err).toMatchObject({ code: 0 });
    expect(facts(project, 'question.asked')).toMatchObject([
      { question: { text: 'Which browser?', options: [{ key: 'A' }, { key: 'B' }], default: 'Chrome' } },
    ]);
    expect(facts(project, 'question.answered')).toMatchObject([{ id: 'q1', option: 'B', text: 'Firefox' }]);
    expect(facts(project, 'guidance.reached')).toMatchObject([
      { iteration: 1, questions: ['q1'], how: 'tool' },
    ]);
    expect(facts(project, 'attempt.started')).toHaveLength(1);
    expect(facts(project, 'attempt.ended')[0]?.claim.result?.evidence).toMatchObject([PROOF_HEARD]);
    const log = readFileSync(join(sessionDir(project), 'logs', 'iteration-001.log'), 'utf8');
    expect(log).toMatch(/q1: option B\. Answer of [^"]*Firefox/);
  });
});

const PROOF = { criterion: 'a.txt exists', kind: 'command', value: 'test -f a.txt', exit_code: 0 };
const PROOF_HEARD = { criterion: 'a.txt exists', kind: 'command', value: 'test -f a.txt', exitCode: 0 };
