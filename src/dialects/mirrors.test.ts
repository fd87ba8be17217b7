import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  endSummary,
  type ProgressFacts,
  readProgressMarkers,
  type SummaryRow,
  summaryCsvHeader,
  summaryCsvRow,
  writeCycleMetadata,
  writeEventsLine,
  writeInterventionsJson,
  writeProgress,
  writeSessionMetadata,
} from './index.ts';

const at = Date.UTC(2026, 1, 8, 14, 30);
const TS = '2026-02-08T14:30:00Z';

describe('progress.md', () => {
  const facts: ProgressFacts = {
    cycle: 1,
    planning: [
      { id: 'plan-init', status: 'done', at },
      { id: 'plan-breakdown', status: 'doing', at },
    ],
    tasks: [
      { id: 'task-1', status: 'doing', attempt: 2, at },
      { id: 'task-2', status: 'review', attempt: 1, at },
      { id: 'task-3', status: 'failed', attempt: 3, at, note: 'Aborted by signal' },
      { id: 'task-10', status: 'cancelled', at: null, note: 'replaced by task-10a' },
      { id: 'task-11', status: 'todo', at: null },
    ],
    cycles: [{ cycle: 1, status: 'In progress', done: 0, total: 5, feedbacks: [] }],
  };

  it('is written as the seed has it', () => {
    const text = writeProgress(facts);
    expect(text).toContain('# Progress\n\n## Legend\n- `[ ]` Not started\n');
    expect(text).toContain(
      `## Planning Progress (Iteration 1)\n- [x] plan-init (completed: ${TS})\n- [/] plan-breakdown (started: ${TS})\n`,
    );
    expect(text).toContain(
      `- [/] task-1 (Attempt 2, Iteration 1, started: ${TS})\n- [P] task-2 (Attempt 1, Iteration 1, review-pending)\n`,
    );
    expect(text).toContain(
      `- [F] task-3 (Attempt 3, Iteration 1, failed: ${TS}) - Aborted by signal\n- [C] task-10 - replaced by task-10a\n- [ ] task-11\n`,
    );
    expect(writeProgress(facts, text)).toBe(text);
  });

  it('a rewrite changes marker lines and the table, and leaves a person’s words', () => {
    const old = writeProgress(facts)
      .replace('- [ ] task-11\n', '- [ ] task-11\n\nRemember the **cache**!\n```\n- [ ] task-1\n```\n')
      .replace('# Progress\n', '# Progress\nMy own words.\n')
      .replaceAll('\n', '\r\n');
    const moved = {
      ...facts,
      tasks: [
        ...facts.tasks.map((t) => (t.id === 'task-2' ? { ...t, status: 'done' as const } : t)),
        { id: 'task-12', status: 'todo' as const, at: null },
      ],
    };
    const text = writeProgress(moved, old);
    expect(text).toBe(
      old
        .replace(
          '- [P] task-2 (Attempt 1, Iteration 1, review-pending)',
          `- [x] task-2 (Attempt 1, Iteration 1, qualified: ${TS})`,
        )
        .replace('- [ ] task-11\r\n', '- [ ] task-11\r\n- [ ] task-12\r\n'),
    );
    expect(writeProgress(moved, text)).toBe(text);
  });

  it('missing sections come back, and the placeholder gives way', () => {
    const text = writeProgress(
      facts,
      '# Progress\n\n## Implementation Progress (Iteration 1)\n[To be filled]\n\nbye',
    );
    expect(text).toContain('(Iteration 1)\n- [/] task-1');
    expect(text).not.toContain('To be filled');
    expect(readProgressMarkers(text).markers.map((m) => m.id)).toEqual([
      'task-1',
      'task-2',
      'task-3',
      'task-10',
      'task-11',
      'plan-init',
      'plan-breakdown',
    ]);
    expect(text).toContain('\nbye\n');
  });

  it('reads what people make of it', () => {
    const text = [
      '## Legend',
      '- `[x]` Completed',
      '- [x] legend-1',
      '## Implementation progress (iteration 3)',
      '* [X]  **task-1** done by hand',
      '+\t[p] task-2',
      '- [] task-3',
      '- [~] task-4',
      '- [/] task-5 (Attempt 2, Iteration 3, started: 2026-02-08T14:30:00+0000)',
      '```',
      '- [x] task-6',
      '```',
      '<!-- - [x] task-7 -->',
      '- [f] task-8 (started: soon)',
      '- [x] task-1 again',
      '## Notes',
      '- [x] task-9',
      '',
    ].join('\n');
    const { markers, warnings } = readProgressMarkers(text);
    expect(markers.map((m) => [m.id, m.status, m.line])).toEqual([
      ['task-1', 'done', 5],
      ['task-2', 'review', 6],
      ['task-3', 'todo', 7],
      ['task-4', 'unknown', 8],
      ['task-5', 'doing', 9],
      ['task-8', 'failed', 14],
    ]);
    expect(markers[4]).toMatchObject({ cycle: 3, attempt: 2, at, section: 'implementation' });
    expect(markers[5]!.at).toBeNull();
    expect(warnings).toHaveLength(2);
  });

  it('any old text is rewritten without a throw, and a second time changes nothing', () => {
    const piece = fc.constantFrom(
      '## Planning Progress (Iteration 1)',
      '## Implementation Progress',
      '## Iterations',
      '| a | b |',
      '- [x] task-1',
      '- [ ] plan-init',
      '```',
      '<!--',
      'words',
      '',
      '\t',
      '> q',
      '- [?] task-2 (x)',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), (lines, newline) => {
        const once = writeProgress(facts, lines.join(newline));
        expect(writeProgress(facts, once).length).toBeGreaterThan(0);
        if (!lines.includes('```') && !lines.includes('<!--')) expect(writeProgress(facts, once)).toBe(once);
      }),
      { numRuns: 300 },
    );
  });
});

it('metadata files hold the seed’s keys', () => {
  const session = writeSessionMetadata({
    version: 3,
    sessionId: '260208-143000',
    createdAt: at,
    updatedAt: at,
    cycle: 1,
    phase: 'BATCHING',
    wave: 2,
    tasks: { total: 3, completed: 1, failed: 0, pending: 2, cancelled: 0 },
    status: 'paused',
    detail: 'paused: "lunch"',
    timezone: 'Asia/Tokyo',
  });
  expect(parse(session)).toEqual({
    version: 3,
    session_id: '260208-143000',
    created_at: TS,
    updated_at: TS,
    iteration: 1,
    orchestrator: { state: 'BATCHING', current_wave: 2 },
    tasks: { total: 3, completed: 1, failed: 0, pending: 2, cancelled: 0 },
    status: 'paused',
    status_detail: 'paused: "lunch"',
    timezone: 'Asia/Tokyo',
  });
  const cycle = writeCycleMetadata({
    version: 1,
    cycle: 2,
    startedAt: at,
    planningCompletedAt: at,
    completedAt: null,
    planningTasks: { 'plan-update': true },
    tasksDefined: 4,
  });
  expect(parse(cycle)).toEqual({
    version: 1,
    iteration: 2,
    started_at: TS,
    planning_complete: true,
    planning_completed_at: TS,
    completed_at: null,
    planning_tasks: { 'plan-update': true },
    tasks_defined: 4,
  });
});

const row: SummaryRow = {
  iteration: 1,
  mode: 'implement',
  durationMs: 127_400,
  commit: 'abc1234def',
  storiesComplete: 0,
  storiesTotal: 5,
  stuckCount: 0,
  at,
  task: 'US-1',
  role: 'executor',
  agent: 'my, "agent"',
  model: null,
  outcome: 'accepted',
  costUsd: 0.007712000000000001,
  inputTokens: 10,
  outputTokens: null,
};

it('a row of the summary has every column and is quoted where it must be', () => {
  expect(summaryCsvHeader.trim().split(',')).toHaveLength(16);
  expect(summaryCsvRow(row)).toBe(
    `1,implement,127,abc1234,0,5,0,${TS},US-1,executor,"my, ""agent""",,accepted,0.007712000000000001,10,\n`,
  );
  expect(summaryCsvRow({ ...row, commit: null, agent: 'a\nb' })).toContain(
    `127,,0,5,0,${TS},US-1,executor,"a\nb",`,
  );
});

it('the end of a run is told in the seed’s block', () => {
  const facts = {
    word: 'complete',
    code: 0,
    iterations: 12,
    uncounted: 0,
    maxIterations: 15,
    durationMs: 2_843_000,
    storiesComplete: 5,
    storiesTotal: 5,
    stuckIterations: 1,
    log: 'ralph/logs/summary.csv',
    next: ['Nothing is left to do.'],
  };
  expect(endSummary(facts)).toBe(
    'Ralph Loop Summary\n──────────────────\nExit:        COMPLETE (code 0)\nIterations:  12 / 15\nDuration:    47m 23s\nStories:     5/5 complete\nAvg/iter:    3m 57s\nStuck iters: 1\nLog:         ralph/logs/summary.csv\n\nNothing is left to do.\n',
  );
  expect(
    endSummary({ ...facts, iterations: 3, uncounted: 3, maxIterations: 1 }),
    'a limit counts none of them',
  ).toContain('Iterations:  0 / 1 (and 3 that led nowhere and do not count)\n');
  expect(
    endSummary({ ...facts, iterations: 0, maxIterations: null, durationMs: 3_725_000, next: [] }),
  ).toContain('Iterations:  0\nDuration:    1h 02m 05s\n');
});

it('interventions, profiles and topics have the seeds’ fields', () => {
  const event = {
    iteration: 2,
    eventType: 'no_files_detected',
    at,
    severity: 'critical' as const,
    details: { task_id: 'E1-02' },
    remediationAttempted: true,
  };
  const events = JSON.parse(writeInterventionsJson([event]));
  expect(events).toEqual({
    $schema: 'ralph_gold.interventions.v1',
    events: [
      {
        iteration: 2,
        event_type: 'no_files_detected',
        timestamp: TS,
        severity: 'critical',
        details: { task_id: 'E1-02' },
        remediation_attempted: true,
      },
    ],
  });
  expect(writeEventsLine({ topic: 'build.done', payload: 'a\nb', at, iteration: 4, role: 'builder' })).toBe(
    `{"topic":"build.done","payload":"a\\nb","ts":"${TS}","iteration":4,"role":"builder"}\n`,
  );
});
