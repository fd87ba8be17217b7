/** People who speak to the loop while the real Claude Code works; its model's requests say what arrived. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { facts, started, until, verdicts } from '../e2e/journal.ts';
import { result } from '../e2e/project.ts';
import { claudeVersion } from './installed.ts';
import { claims, type LoopProject, loopProject, task, works } from './loop-project.ts';
import type { Turn } from './model-server.ts';

let project: LoopProject;
afterEach(() => project?.close());

const START = ['run', '--agent', 'claude', '--json'];
/** A tool that runs until somebody lets it go. */
const HELD: Turn = {
  run: 'touch "$HOME/started"; while ! test -e "$HOME/go"; do timeout 0.1 tail -f /dev/null; done; echo ran',
};
const letGo = () => writeFileSync(join(project.home, 'go'), '');
const toolRuns = () => until(() => existsSync(join(project.home, 'started')), 'the tool runs');
const open = async (turns: Turn[]) => {
  project = await loopProject({ tasks: ['a'], script: { conversations: [{ match: task('a'), turns }] } });
};

describe(`people and Claude Code ${claudeVersion()} at work`, () => {
  it('Firefox, not Chrome: said while a tool runs, it is in the next model request, and one run is enough', async () => {
    await open([HELD, ...works('a')]);
    const { done } = project.begin(...START);
    await toolRuns();
    const before = project.server.requests.length;
    await project.loop('tell', 'Target Firefox only, not Chrome.');
    await until(() => facts(project, 'message.received').length === 1, 'the signal taken in');
    letGo();
    expect(result(await done).exit).toMatchObject({ code: 0 });
    const next = project.server.requests.slice(before).find(({ reply }) => reply !== 'aux');
    expect(next?.told).toContain('Target Firefox only, not Chrome.');
    expect(next?.told).toContain('ROBOT GUIDANCE (arrived while you work)');
    expect(next?.step).toBe(1);
    expect(facts(project, 'guidance.reached')).toMatchObject([{ iteration: 1, how: 'live' }]);
    expect([started(project), verdicts(project)]).toEqual([1, ['a accepted']]);
    expect((await project.loop('status', '--json')).out).toContain('"acknowledged"');
    expect(project.leftovers()).toEqual([]);
  });

  it('a pause asks it to stop at a safe point, which is in its next request; resumed, the work goes on', async () => {
    await open([HELD, { text: '```json\n{"status":"paused","summary":"half of it"}\n```' }]);
    const { done } = project.begin(...START);
    await toolRuns();
    await project.loop('pause', 'lunch');
    await until(() => facts(project, 'session.paused').length === 1, 'the pause taken in');
    letGo();
    expect(result(await done).exit).toMatchObject({ code: 7 });
    expect(project.server.requests.at(-1)?.told).toMatch(/## PAUSE .*lunch/s);
    expect(facts(project, 'attempt.ended')).toMatchObject([
      { stoppedFor: 'pause', report: { ending: 'interrupted', exitCode: 0 } },
    ]);
    expect([facts(project, 'task.charged'), verdicts(project), project.leftovers()]).toEqual([[], [], []]);
  });

  it('an abort ends it in the middle of a tool', async () => {
    await open([HELD, claims()]);
    const { done } = project.begin(...START);
    await toolRuns();
    await project.loop('abort', 'wrong direction');
    expect(result(await done).exit).toMatchObject({ code: 9 });
    expect(facts(project, 'attempt.ended')).toMatchObject([{ stoppedFor: 'abort' }]);
    expect(project.leftovers()).toEqual([]);
  });
});
