/** The five roles played by the real Claude Code: one model conversation a call, works written by its own tools. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NOTE, PLAN, taskFile } from '../e2e/five-roles.ts';
import { facts, sessionDir } from '../e2e/journal.ts';
import { claudeVersion } from './installed.ts';
import { type LoopProject, loopProject } from './loop-project.ts';
import type { Conversation, Turn } from './model-server.ts';

vi.setConfig({ testTimeout: 240_000 });

let project: LoopProject;
afterEach(() => project?.close());

const mode = (name: string, task?: string) =>
  new RegExp(`- mode: ${name}\n${task === undefined ? '' : `- task: ${task}\n`}`);
const put = (path: string, text: string): Turn => ({
  run: `mkdir -p "$RALPH_SESSION_DIR/iterations/1/$(dirname ${path})" && cat > "$RALPH_SESSION_DIR/iterations/1/${path}" <<'END'\n${text}END`,
});
const says = (result: Record<string, unknown>): Turn => ({
  text: `\`\`\`json\n${JSON.stringify({ status: 'completed', ...result })}\n\`\`\``,
});
const on = (match: RegExp, ...turns: Turn[]): Conversation => ({ match, turns });

describe(`the five roles with Claude Code ${claudeVersion()}`, () => {
  it('plans, does, reviews in another conversation than it worked in, learns, and asks before it publishes', async () => {
    project = await loopProject({
      tasks: [],
      config: 'limits: { max_cycles: 0 }\n',
      script: {
        conversations: [
          on(mode('INITIALIZE'), put('plan.md', PLAN), says({})),
          on(
            mode('TASK_BREAKDOWN'),
            put('tasks/task-1.md', taskFile('task-1', 'one.txt')),
            put('tasks/task-2.md', taskFile('task-2', 'two.txt', ['task-1'])),
            says({ tasks_defined: 2 }),
          ),
          on(
            mode('implement', 'task-1'),
            { write: { path: 'one.txt', content: 'one\n' } },
            says({ summary: 'wrote one.txt' }),
          ),
          on(
            mode('implement', 'task-2'),
            { write: { path: 'two.txt', content: 'two\n' } },
            says({ summary: 'wrote two.txt' }),
          ),
          on(
            mode('TASK_REVIEW'),
            { run: 'ls -l *.txt' },
            says({
              verdict: 'Qualified',
              criteria_results: [{ criterion: 'the file exists', met: true, note: 'ls shows it' }],
            }),
          ),
          on(
            mode('SESSION_REVIEW'),
            put('review.md', '# Session Review\n\n## Assessment\nComplete\n\n## Gaps\n- None\n'),
            says({ assessment: 'Complete' }),
          ),
          on(mode('STAGE'), put('knowledge/how-to/files.md', NOTE), says({ items_staged: 1 })),
          on(mode('PROMOTE'), says({ promoted: ['how-to/files.md'] })),
        ],
      },
    });
    const first = await project.loop('run', '--agent', 'claude', '--team', 'full', 'two files', '--no-wait');
    expect([first.code, first.err]).toEqual([8, expect.any(String)]);
    const calls = facts(project, 'attempt.started').map(({ item }) => `${item.mode} ${item.subject}`);
    expect(calls).toEqual([
      'INITIALIZE session',
      'TASK_BREAKDOWN session',
      'implement task-1',
      'TASK_REVIEW task-1',
      'implement task-2',
      'TASK_REVIEW task-2',
      'SESSION_REVIEW session',
      'STAGE session',
    ]);
    const sessions = facts(project, 'attempt.ended').map(({ report }) => report.sessionId);
    expect(new Set(sessions).size).toBe(calls.length);
    expect((await project.loop('approve')).code).toBe(0);
    const second = await project.loop('run', '--agent', 'claude', '--no-wait');
    expect([second.code, second.err]).toEqual([0, expect.any(String)]);
    expect(existsSync(join(project.dir, '.docs/how-to/files.md'))).toBe(true);
    const log = project.git('log', '--format=%B');
    for (const id of ['task-1', 'task-2']) expect(log).toContain(`Ralph-Task: ${id}`);
    const report = readFileSync(join(sessionDir(project), 'iterations/1/reports/task-1-report.md'), 'utf8');
    expect(report).toContain('PART 1');
    expect(report).toMatch(/PART 2[\s\S]*Qualified/);
    expect(project.leftovers()).toEqual([]);
  });
});
