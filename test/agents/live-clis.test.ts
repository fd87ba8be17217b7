/** People who speak to the loop while another real agent CLI than Claude Code works: what its model is told, and when. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { facts, started, until, verdicts } from '../e2e/journal.ts';
import { result } from '../e2e/project.ts';
import { isInstalled, versionOf } from './installed.ts';
import { type LoopProject, loopProject, task, works } from './loop-project.ts';
import type { Turn } from './model-server.ts';

const NAMES = ['codex', 'pi'] as const;

let project: LoopProject | null = null;
afterEach(async () => {
  await project?.close();
  project = null;
});

/** A tool that runs until somebody lets it go. */
const HELD: Turn = {
  run: 'touch "$HOME/started"; while ! test -e "$HOME/go"; do timeout 0.1 tail -f /dev/null; done; echo ran',
};

for (const name of NAMES) {
  const why = isInstalled(name) ? '' : ' (skipped: not installed here, the reason stands at the beginning)';
  describe.skipIf(why !== '')(`people and ${name} ${versionOf(name)} at work${why}`, () => {
    async function begin(turns: Turn[]) {
      const script = { conversations: [{ match: task('a'), turns }] };
      const at = await loopProject({ cli: name, tasks: ['a'], script });
      project = at;
      const { done } = at.begin('run', '--agent', name, '--json');
      await until(() => existsSync(join(at.home, 'started')), 'the tool runs');
      return { at, done, before: at.server.requests.length };
    }

    it('said while a tool runs, it is in the next model request, receipted, and one run is enough', async () => {
      const { at, done, before } = await begin([HELD, ...works('a')]);
      await at.loop('tell', 'Target Firefox only, not Chrome.');
      await until(() => facts(at, 'message.received').length === 1, 'the signal taken in');
      expect(facts(at, 'guidance.reached')).toEqual([]);
      writeFileSync(join(at.home, 'go'), '');
      expect(result(await done).exit).toMatchObject({ code: 0 });
      const next = at.server.requests.slice(before).find(({ reply }) => reply !== 'aux');
      expect(next?.told).toContain('Target Firefox only, not Chrome.');
      expect(next?.told).toContain('ROBOT GUIDANCE (arrived while you work)');
      expect(next?.step).toBe(1);
      expect(facts(at, 'guidance.reached')).toMatchObject([{ iteration: 1, how: 'live' }]);
      expect([started(at), verdicts(at)]).toEqual([1, ['a accepted']]);
      expect(at.leftovers()).toEqual([]);
    });

    it('an urgent word ends the tool, and the same run goes on with it', async () => {
      const { at, done, before } = await begin([HELD, ...works('a')]);
      await at.loop('tell', '--urgent', 'Stop that.');
      expect(result(await done).exit).toMatchObject({ code: 0 });
      const next = at.server.requests.slice(before).find(({ reply }) => reply !== 'aux');
      expect(next?.told).toContain('Stop that.');
      expect(facts(at, 'guidance.reached')).toMatchObject([{ iteration: 1, how: 'live' }]);
      expect([started(at), verdicts(at)]).toEqual([1, ['a accepted']]);
      expect(at.leftovers()).toEqual([]);
    });
  });
}
