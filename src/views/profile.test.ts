import { describe, expect, it } from 'vitest';
import {
  type IterationNote,
  type NotedEvent,
  notedEvents,
  profileFile,
  profilesOf,
  profilesText,
} from './index.ts';

const T0 = Date.UTC(2026, 1, 8, 14);

function event(kind: string, corrected = true, type = kind): NotedEvent {
  const details = { finding: kind, detail: '', task_id: 't1', agent: 'claude' };
  return {
    event_type: type,
    severity: 'critical',
    details: details as NotedEvent['details'],
    remediation_attempted: corrected,
  };
}

function note(iteration: number, given: Partial<IterationNote> = {}): IterationNote {
  return {
    session: '260208-140000',
    iteration,
    at: T0 + iteration * 60_000,
    agent: 'claude',
    task: 't1',
    class: 'medium',
    mode: 'implement',
    outcome: 'accepted',
    files: 2,
    evidence: 1,
    durationMs: 30_000,
    events: [],
    thresholds: { noFiles: 3, falseCompletion: 2 },
    ...given,
  };
}

const idle = (iteration: number, given: Partial<IterationNote> = {}) =>
  note(iteration, {
    outcome: 'rejected',
    files: 0,
    evidence: 0,
    events: [event('no_files_detected'), event('false_completion_detected')],
    ...given,
  });

describe('the profile of an agent', () => {
  it('counts iterations once for each type, whatever else was found in them', () => {
    const [profile] = profilesOf([idle(1), note(2), note(3, { class: 'ui_heavy', files: 5 })]);
    expect(profile).toMatchObject({
      agent_id: 'claude',
      total_iterations: 3,
      accepted: 2,
      no_files_count: 1,
      false_completion_count: 1,
      avg_files_per_iteration: 2.3333,
      avg_evidence_count: 0.6667,
      by_class: {
        medium: { total_iterations: 2 },
        ui_heavy: { total_iterations: 1, avg_files_per_iteration: 5 },
      },
    });
  });

  it('is over its threshold only by its last five iterations', () => {
    const early = [idle(1), idle(2), idle(3), ...[4, 5, 6, 7, 8].map((n) => note(n))];
    expect(profilesOf(early)[0]?.intervention_threshold_exceeded).toBe(false);
    expect(profilesOf(early.slice(0, 4))[0]?.intervention_threshold_exceeded).toBe(true);
  });

  it('says that a correction helped where the next attempt of the same task does not repeat the finding', () => {
    const notes = [
      idle(1),
      note(2, { task: 't2' }),
      idle(3, { events: [event('no_files_detected')] }),
      note(4),
    ];
    // Iteration 1: two corrected findings, one of them came back in iteration 3; that one was gone in 4.
    expect(profilesOf(notes)[0]?.remediation).toMatchObject({
      followed: 3,
      remedied: 2,
      success_rate: 0.6667,
    });
  });

  it('takes no attempt without a change for a cure of having changed nothing', () => {
    const notes = [idle(1, { events: [event('no_files_detected')] }), note(2, { files: 0 })];
    expect(profilesOf(notes)[0]?.remediation).toMatchObject({ followed: 1, remedied: 0, success_rate: 0 });
  });

  it('counts apart what another agent made of a task it was given', () => {
    const other = { agent: 'codex' };
    const notes = [idle(1), idle(2), note(3, other), note(4)];
    const [first, second] = profilesOf(notes);
    // Of iteration 1 both came back; those of iteration 2 were gone when codex tried, and are not asked again in 4.
    expect(first?.remediation).toEqual({
      followed: 2,
      remedied: 0,
      success_rate: 0,
      handed_over: { followed: 2, remedied: 2 },
    });
    expect(second?.remediation.handed_over).toEqual({ followed: 0, remedied: 0 });
    expect(profilesText(profilesOf(notes))).toContain(
      'given to another agent, and not counted above: 2 findings, of which 2 did not come back there',
    );
  });

  it('counts no correction where none was made, and none that was not tried again', () => {
    const notes = [note(1, { events: [event('no_files_detected', false)] }), note(2), idle(3)];
    expect(profilesOf(notes)[0]?.remediation).toMatchObject({
      followed: 0,
      remedied: 0,
      success_rate: null,
    });
  });

  it('sets the last twenty iterations against those before', () => {
    const notes = Array.from({ length: 30 }, (_, n) => (n < 10 ? idle(n) : note(n)));
    expect(profilesOf(notes)[0]?.trend).toEqual({
      last_20: {
        iterations: 20,
        accepted_rate: 1,
        no_files_rate: 0,
        false_completion_rate: 0,
        avg_files_per_iteration: 2,
      },
      before: {
        iterations: 10,
        accepted_rate: 0,
        no_files_rate: 1,
        false_completion_rate: 1,
        avg_files_per_iteration: 0,
      },
    });
    expect(profilesText(profilesOf(notes))).toContain('accepted: 100 % of the last 20, 0 % of the 10 before');
  });

  it('gives the time that nine of ten accepted attempts needed, from five of them on', () => {
    const times = [10, 20, 30, 40, 500].map((s, n) => note(n, { durationMs: s * 1000 }));
    expect(profilesOf(times.slice(1))[0]?.verified_p90_s).toBeNull();
    expect(profilesOf(times)[0]?.verified_p90_s).toBe(500);
  });
});

it('the profile file repeats the fields of a lone agent at its top, and only of a lone one', () => {
  expect(profileFile([note(1)])).toMatchObject({
    $schema: 'ralph_gold.profile.v1',
    agent_id: 'claude',
    agents: { claude: { total_iterations: 1 } },
  });
  expect(profileFile([note(1), note(2, { agent: 'codex' })])).not.toHaveProperty('agent_id');
});

it('the history of a profile holds its newest fifty events', () => {
  const notes = Array.from({ length: 40 }, (_, n) => idle(n + 1));
  const history = profilesOf(notes)[0]!.intervention_history;
  expect(history).toHaveLength(50);
  expect(history.at(-1)).toMatchObject({ iteration: 40, event_type: 'false_completion_detected' });
  expect([...notedEvents(notes)]).toHaveLength(80);
});
