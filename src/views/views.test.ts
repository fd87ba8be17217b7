import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalRecord } from '../core/index.ts';
import * as views from './index.ts';
import { anyMoves, journal, type Move, START, taskDef } from './test-journal.ts';

const NOW = START + 3_600_000;
const nobody: views.LiveInfo = { runner: null };
const someone: views.LiveInfo = { runner: { pid: 4711, host: 'box', startedAt: START } };

const attempt = (n: number, value: Extract<Move, { move: 'attempt' }>['value'], text = ''): Move => ({
  move: 'attempt',
  n,
  value,
  text,
});

/** Fresh objects each time: folding may change what it is given. */
const fresh = (records: JournalRecord[]): JournalRecord[] => structuredClone(records);

describe('the windows', () => {
  it('never throw for any prefix of a journal, with or without a runner', () => {
    fc.assert(
      fc.property(anyMoves, (moves) => {
        const story = views.emptyStory();
        everyWindow(story, nobody);
        for (const record of fresh(journal(moves))) {
          views.tell(story, record);
          for (const live of [nobody, someone]) everyWindow(story, live);
        }
      }),
      { numRuns: 15 },
    );
  });

  it('show no control sequence that an agent wrote', () => {
    fc.assert(
      fc.property(anyMoves, (moves) => {
        const story = views.readStory(fresh(journal(moves)));
        const text = everyWindow(story, nobody).join('\n');
        expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      }),
      { numRuns: 60 },
    );
  });

  it('tell the same state as a fold alone', () => {
    fc.assert(
      fc.property(anyMoves, (moves) => {
        const records = journal(moves);
        expect(views.readStory(fresh(records)).state).toEqual(views.fold(fresh(records)));
      }),
      { numRuns: 40 },
    );
  });
});

function everyWindow(story: views.Story, live: views.LiveInfo): string[] {
  const { state } = story;
  const view = { now: NOW, live };
  const data: unknown[] = [
    views.statusJson(state, NOW, live),
    views.tasksJson(state),
    views.inboxJson(state),
    views.topicsJson(story),
    views.messagesJson(story.state, story.messages),
    views.interventionsJson(views.sessionEvents(story)),
    views.sessionJson(state, live),
    views.boardJson(story),
    views.csvRows(story),
    views.costJson(story),
    views.endSummary(state),
    views.whyJson(story, undefined, view),
  ];
  const texts = [
    views.statusText(state, NOW, live),
    views.tasksText(state),
    views.inboxText(state, NOW),
    views.topicsText(story),
    views.messagesText(story.messages),
    views.messagesText(views.tellSenders(story.state, story.messages)),
    views.interventionsText(views.sessionEvents(story), views.sequelOf(story)),
    views.sessionsText([views.sessionJson(state, live)]),
    views.boardText(story),
    views.costText(story),
    views.whyText(story, undefined, view),
  ];
  const subjects = [...state.tasks.keys(), ...[...story.iterations.keys()].slice(-1)].map(String);
  for (const subject of subjects) {
    data.push(views.whyJson(story, subject, view));
    texts.push(views.whyText(story, subject, view));
  }
  JSON.stringify(data);
  return texts;
}

describe('status', () => {
  it('has the keys and words that other tools read', () => {
    const records = journal([attempt(1, 'accepted', 'done'), attempt(2, 'open')]);
    const state = views.fold(records);
    const status = views.statusJson(state, NOW, someone);
    expect(status).toMatchObject({
      status: 'in_progress',
      status_detail: 'in_progress',
      session_id: '260208-143000',
      iteration: 1,
      current_state: state.phase,
      current_wave: 2,
      tasks_summary: { total: 3, completed: 1, failed: 0, pending: 2, cancelled: 0 },
      paused: false,
      phase: state.phase,
      open_questions: [],
      iterations: 2,
      stuck_count: 0,
      cost_usd: 0.02,
    });
    expect(status.exit).toBeUndefined();
    expect(status.live).toEqual([
      expect.objectContaining({ iteration: 2, task_id: 'task-2', role: 'executor', timeout_s: 900, pid: 99 }),
    ]);
    expect(status.next_action).toContain('iteration 2 (implement task-2) runs');
  });

  it('names the gate whose baseline is being run before an attempt starts', () => {
    const records = journal([attempt(1, 'accepted'), attempt(2, 'accepted'), attempt(3, 'open')]);
    const upTo = 1 + records.findIndex(({ facts }) => facts[0]?.type === 'baseline.started');
    const early = views.fold(fresh(records.slice(0, upTo)));
    expect(views.nextWords(early, records[upTo - 1]!.at + 3_000, someone)).toMatch(
      /^the baseline of gate test is being run \(3s of at most 10m\), .*; then iteration 3 starts$/,
    );
    const over = views.fold(fresh(records.slice(0, upTo + 1)));
    expect(views.nextWords(over, NOW, someone)).toBe('iteration 3 starts');
  });

  it('knows no price until an agent reports one, and shows a zero only where one was reported', () => {
    const state = views.fold(journal([attempt(1, 'open')]));
    expect(views.statusJson(state, NOW, someone).cost_usd).toBeNull();
    expect(views.statusText(state, NOW, someone)).toContain('no price reported');
    expect(views.endSummary(state).cost_usd).toBeNull();
    expect(views.costText(views.readStory(journal([])))).toMatch(/^no price reported/);
    expect([null, 0, 0.42].map((usd) => views.price(usd))).toEqual(['no price reported', '$0.00', '$0.42']);
  });

  it('says how to answer the question that ended the run', () => {
    const records = journal([attempt(1, 'blocked', 'no API key'), { move: 'exit', code: 2 }]);
    const state = views.fold(records);
    const status = views.statusJson(state, NOW, nobody);
    expect(status).toMatchObject({ status: 'blocked', exit: { code: 2 } });
    expect(status.open_questions[0]).toMatchObject({
      id: 'q1',
      kind: 'blocker',
      about: 'task-1',
      text: 'no API key',
    });
    const text = views.statusText(state, NOW, nobody);
    expect(text).toContain('`ralph answer q1 "…"`');
    expect(text).toContain('ralph/blocked.txt');
    expect(text).toContain('last exit: 2');
  });

  it('maps pauses and aborts onto the four words', () => {
    const paused = views.statusJson(views.fold(journal([{ move: 'pause' }])), NOW, nobody);
    expect(paused).toMatchObject({ status: 'in_progress', status_detail: 'paused', paused: true });
    const aborted = views.statusJson(views.fold(journal([{ move: 'abort' }])), NOW, nobody);
    expect(aborted).toMatchObject({ status: 'blocked', status_detail: 'aborted', phase: 'COMPLETE' });
  });

  it('tells a crash from a stop', () => {
    const state = views.fold(journal([attempt(1, 'open')]));
    const status = views.statusJson(state, NOW, nobody);
    expect(status.live).toEqual([]);
    expect(status.next_action).toContain('ended without a word');
    expect(views.statusText(state, NOW, nobody)).toContain('left open by a run that is gone');
  });

  it('promises fresh counters after a stuck stop instead of another stop', () => {
    const stuck = [1, 1, 1].map((n) => attempt(n, 'rejected'));
    const state = views.fold(journal([...stuck, { move: 'exit', code: 4 }]));
    expect(views.statusJson(state, NOW, nobody).next_action).toContain('fresh counters');
  });
});

describe('tasks', () => {
  it('show charged tries, runs, time, and what holds a task', () => {
    const list = [taskDef(1), taskDef(2, { dependsOn: ['task-1'] })];
    const state = views.fold(journal([attempt(1, 'rejected'), attempt(1, 'blocked', 'which port?')], list));
    expect(views.tasksJson(state)).toEqual([
      {
        id: 'task-1',
        title: 'Build part 1',
        status: 'todo',
        marker: '[ ]',
        attempts: 1,
        runs: 2,
        complexity: 'medium',
        timeout_s: 1350,
        depends_on: [],
        layer: 1,
        priority: 0,
        acceptance: ['part 1 works'],
        held: { question: 'q1', kind: 'blocker', reason: 'which port?' },
      },
      expect.objectContaining({ id: 'task-2', attempts: 0, runs: 0, depends_on: ['task-1'], layer: 2 }),
    ]);
    const text = views.tasksText(state);
    expect(text).toContain('2 runs, 1 charged · waits for an answer to q1');
    expect(text).toContain('waits for task-1');
  });
});

describe('why', () => {
  const view = { now: NOW, live: nobody };

  it('explains a rejected iteration: claim, evidence, gates, verdict, correction, time, what comes next', () => {
    const story = views.readStory(journal([attempt(1, 'rejected', 'all done'), { move: 'exit', code: 7 }]));
    const text = views.whyText(story, '1', view);
    expect(text).toMatch(/claim +complete \(a promise tag\): “all done”/);
    expect(text).toMatch(/evidence +the agent ended by itself \(exit 0\); 0 files changed/);
    expect(text).toMatch(
      /gates +test \(npm test\): failed, exit 1, 12 tests, 3s · failing: adds two numbers/,
    );
    expect(text).toMatch(
      /verdict +rejected \(counts as a try of at most 3\): No file in the repository changed/,
    );
    expect(text).toMatch(/finding +no_files_detected \(critical\)/);
    expect(text).toMatch(/correction +remind \(will be told in the next prompt\): Use your tools/);
    expect(text).toMatch(/time +900 s \(mode balanced\); silent for at most 10m; used /);
    expect(text).toMatch(/next +it goes again as attempt 2; 1 of 3 rejections are used/);
  });

  it('explains an accepted task with the same parts and its commit', () => {
    const story = views.readStory(journal([attempt(1, 'rejected'), attempt(1, 'accepted', 'done now')]));
    const text = views.whyText(story, 'task-1', view);
    expect(text).toMatch(/^\[x\] task-1 · Build part 1 · done/);
    expect(text).toContain('iteration 1 · implement: rejected in 2m 03s');
    expect(text).toMatch(/claim +complete/);
    expect(text).toMatch(/gates +test \(npm test\): passed/);
    expect(text).toMatch(/verdict +accepted/);
    expect(text).toContain('next: nothing: it is done (abcdef1)');
    expect(views.whyJson(story, 'task-1', view)).toMatchObject({
      about: 'task',
      iterations: [
        { outcome: 'rejected', findings: [{ event_type: 'no_files_detected' }, { severity: 'critical' }] },
        {
          outcome: 'accepted',
          commit: 'abcdef12',
          gates: [{ outcome: 'passed' }],
          verdict: { moved_to: 'done' },
        },
      ],
    });
  });

  it('says of an earlier iteration which one went on from it', () => {
    const story = views.readStory(
      journal([attempt(1, 'unfinished'), attempt(2, 'rejected'), attempt(1, 'accepted')]),
    );
    expect(views.whyText(story, 'iteration-001', view)).toContain(
      'iteration 3 (implement) took task-1 further: accepted',
    );
  });

  it('says why the session stopped, what each task waits for, and what to do', () => {
    const story = views.readStory(journal([attempt(1, 'blocked', 'no key'), { move: 'exit', code: 2 }]));
    const text = views.whyText(story, undefined, view);
    expect(text).toContain('why: it stopped with exit 2 (WORD): because of 2');
    expect(text).toContain('task-1 waits for an answer to q1');
    expect(text).toContain('next: q1: answer with `ralph answer q1 "…"`, or `ralph unblock task-1`');
  });

  it('names the nearest task for a word it does not know', () => {
    const story = views.readStory(journal([]));
    expect(() => views.whyText(story, 'tsk-2', view)).toThrow(
      /no task, session or iteration tsk-2.*Did you mean task-2/,
    );
  });

  it('takes a part of an id or a title that only one task has, and lists them when several do', () => {
    const story = views.readStory(journal([]));
    const { id, title } = [...story.state.tasks.values()][0]!.def;
    expect(views.whyText(story, id.toUpperCase(), view)).toBe(views.whyText(story, id, view));
    expect(views.whyText(story, title.toUpperCase(), view)).toBe(views.whyText(story, id, view));
    expect(() => views.whyText(story, 'TASK', view)).toThrow(/Several tasks are like TASK: task-1 /);
    expect(() => views.whyText(story, '2', view)).toThrow(/no task, session or iteration 2/);
  });
});

describe('the rows and events', () => {
  it('give every iteration the columns of summary.csv with the counts of its own moment', () => {
    const moves = [
      attempt(1, 'accepted'),
      attempt(2, 'rejected'),
      attempt(2, 'accepted'),
      attempt(3, 'open'),
    ];
    const rows = views.csvRows(views.readStory(journal(moves)));
    expect(Object.keys(rows[0]!)).toEqual([...views.CSV_COLUMNS]);
    expect(
      rows.map((row) => [row.iteration, row.stories_complete, row.stuck_count, row.commit_hash]),
    ).toEqual([
      [1, 1, 0, 'abcdef1'],
      [2, 1, 1, ''],
      [3, 2, 0, 'abcdef1'],
    ]);
    expect(rows[0]).toMatchObject({
      mode: 'implement',
      duration_seconds: 123,
      stories_total: 3,
      outcome: 'accepted',
    });
    expect(rows[0]!.timestamp).toMatch(/^2026-02-08T14:30:\d\d\.\d{3}Z$/);
  });

  it('give findings the shape of intervention events', () => {
    const story = views.readStory(journal([attempt(1, 'rejected', 'done')]));
    expect(views.interventionsJson(views.sessionEvents(story), { last: 1 })).toEqual([
      {
        session_id: '260208-143000',
        iteration: 1,
        event_type: 'false_completion_detected',
        timestamp: expect.stringMatching(/Z$/),
        severity: 'critical',
        details: {
          task_id: 'task-1',
          agent: 'script',
          agent_return_code: 0,
          exit_signal_claimed: true,
          files_written: 0,
          evidence_count: 0,
          finding: 'false_completion_detected',
          detail: 'Task task-1 was claimed complete, but no file changed.',
          correction: 'remind',
        },
        remediation_attempted: true,
      },
    ]);
    expect(views.interventionsJson(views.sessionEvents(story), { type: 'no_files_detected' })).toHaveLength(
      1,
    );
  });

  it('say of each event what was done about it', () => {
    const story = views.readStory(journal([attempt(1, 'rejected', 'done')]));
    const [event] = views.interventionsJson(views.sessionEvents(story), { last: 1 });
    const said = (correction: 'remind' | 'question' | 'other_agent' | null, sequel = views.sequelOf(story)) =>
      views.interventionsText([{ ...event!, details: { ...event!.details, correction } }], sequel);
    expect(said('remind')).toContain('(critical) · will be told in the next prompt — ');
    const later = views.readStory(journal([attempt(1, 'rejected', 'done'), attempt(1, 'rejected', 'done')]));
    expect(said('remind', views.sequelOf(later))).toContain(' · corrected in the next prompt — ');
    expect(said(null, views.sequelOf(later))).toContain(' · corrected in the next prompt — ');
    expect(said('question')).toContain(' · left to a question to a person — ');
    expect(said('other_agent')).toContain(' · given to another agent — ');
  });

  it('name the session of each event where there is more than one', () => {
    const story = views.readStory(journal([attempt(1, 'rejected', 'done')]));
    const [event] = views.interventionsJson(views.sessionEvents(story), { last: 1 });
    const sequel = views.sequelOf(story);
    expect(views.interventionsText([event!], sequel)).toMatch(/^iteration 1 · task-1/);
    expect(views.interventionsText([event!, { ...event!, session_id: '260209-080000' }], sequel)).toMatch(
      /^260208-143000 · iteration 1 · .*\n260209-080000 · iteration 1 · /,
    );
  });

  it('count a session’s tasks and iterations in whole words', () => {
    const one = views.sessionJson(views.readStory(journal([attempt(1, 'accepted')])).state, { runner: null });
    const line = (total: number, iterations: number) =>
      views.sessionsText([{ ...one, tasks: { done: 0, total }, iterations }]);
    expect(line(1, 1)).toContain(' · 0 of 1 task · 1 iteration · ');
    expect(line(3, 2)).toContain(' · 0 of 3 tasks · 2 iterations · ');
  });

  it('filter topics by segment and by number', () => {
    const story = views.readStory(journal([{ move: 'topic' }, { move: 'topic' }]));
    expect(views.topicsJson(story, { topic: 'build.*' })).toHaveLength(2);
    expect(views.topicsJson(story, { topic: '*' })).toHaveLength(0);
    expect(views.topicsJson(story, { last: 1 })).toHaveLength(1);
    expect(views.topicsJson(story, { last: 0 })).toHaveLength(0);
  });

  it('tell a sender what came of a message that had no effect', () => {
    const story = views.readStory(journal([{ move: 'note' }]));
    const { at, message } = story.messages[0]!;
    const waits = views.messagesText(views.tellSenders(story.state, story.messages));
    expect(waits).toBe('STEER from ada: use JWT — stands in the next prompt');
    story.messages.push({ at, id: 'b', message, action: 'no effect: the session is over' });
    story.messages.push({ at, id: 'c.yaml', message: null, action: 'rejected: no type' });
    const text = views.messagesText(views.tellSenders(story.state, story.messages));
    expect(text).toContain('STEER from ada: use JWT — no effect: the session is over');
    expect(text).toContain('c.yaml — rejected: no type');
  });

  it('sum up a run for its end', () => {
    const moves: Move[] = [attempt(1, 'accepted'), attempt(2, 'rejected'), { move: 'exit', code: 1 }];
    const summary = views.endSummary(views.fold(journal(moves)));
    expect(summary).toMatchObject({
      exit: { code: 1 },
      iterations: 2,
      max_iterations: 38,
      stories_complete: 1,
      stories_total: 3,
      stuck_iterations: 1,
      log: 'logs/summary.csv',
    });
    expect(summary.next).toContain('`ralph run` goes on');
  });
});

describe('the lines', () => {
  it('tell an attempt from its start to its landing', () => {
    const records = journal([attempt(1, 'rejected', 'done'), attempt(1, 'accepted', 'done')]);
    const story = views.emptyStory();
    const lines = records.flatMap((record) => {
      views.tell(story, record);
      return record.facts.flatMap((fact) => views.describeFact(fact, record.at, story.state) ?? []);
    });
    expect(lines).toContain('iteration 1 · implement task-1 · attempt 1 · script · up to 15m');
    expect(lines).toContain(
      'verdict: rejected — No file in the repository changed. (no_files_detected, false_completion_detected)',
    );
    expect(lines).toContain('no progress · stuck 1 of 3');
    expect(lines).toContain('landed: task-1 as abcdef1');
    expect(lines).toContain('task-1 [x] done — accepted');
  });

  it('tell a question with its options and how to answer', () => {
    const records = journal([{ move: 'ask', about: 'session', text: 'Push or poll?', deadlineMs: 600_000 }]);
    const { facts, at } = records.at(-1)!;
    expect(views.describeFact(facts[0]!, at)).toBe(
      'question q1 (decision, session): Push or poll? [A) WebSockets B) polling] — answer with `ralph answer q1 "…"`; deadline in 9m 59s (14:40 UTC)',
    );
  });
});

describe('the words', () => {
  it('strip what would move, colour or retitle a terminal, and keep the text', () => {
    const dirty = '\u001b[2Ja\u001b]8;;http://x\u001b\\b\u001b]0;t\u0007c\u009b31md\u202ee\u0000f\tg\r\nh';
    expect(views.plain(dirty)).toBe('abcdef\tg\nh');
    expect(views.oneLine(dirty)).toBe('abcdef g h');
    expect(views.oneLine('x'.repeat(300))).toHaveLength(200);
    expect(views.plain('😀'.repeat(10), 8)).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
  });

  it('leave no control character in any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(views.plain(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
        expect(views.oneLine(text)).not.toContain('\n');
      }),
    );
  });

  it('read as people say them', () => {
    expect([0, 59_999, 2_843_000, 3_900_000].map(views.duration)).toEqual(['0s', '59s', '47m 23s', '1h 05m']);
    expect([60_000, 90_000, 900_000, 5_400_000].map(views.span)).toEqual(['1m', '90s', '15m', '1h 30m']);
    expect(views.iso(Number.MAX_VALUE)).toBeNull();
  });
});
