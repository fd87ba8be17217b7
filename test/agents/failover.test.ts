/** Two real agent CLIs: the provider of one says no for some seconds, the other goes on, and the first is back. */
import { afterEach, describe, expect, it } from 'vitest';
import { facts, verdicts } from '../e2e/journal.ts';
import { isInstalled, versionOf } from './installed.ts';
import { type LoopProject, loopProject, SUBSCRIBED, task, works } from './loop-project.ts';
import { type Fault, subscriptionLimit, type Turn } from './model-server.ts';

let project: LoopProject;
afterEach(() => project?.close());

const both = isInstalled('claude') && isInstalled('codex');
/** What a model does for a task; it takes its time, so that the limit ends while the tasks last. */
const slowly = (id: string): Turn[] => [{ run: 'sleep 7' }, ...works(id)];

/** A subscription that is used up for the first request, until some seconds after it. */
function usedUpOnce(seconds: number): { fault(): Fault; resetsAt(): number } {
  let at = 0;
  return {
    fault() {
      at ||= Math.ceil(Date.now() / 1000) + seconds;
      return { ...subscriptionLimit(at), times: 1 };
    },
    resetsAt: () => at * 1000,
  };
}

describe(`Claude Code ${versionOf('claude')} and Codex ${versionOf('codex')}`, () => {
  // Needs both CLIs; where one cannot be installed, scripts/agents.mjs tells why.
  it.skipIf(!both)(
    'a used-up subscription of one: the other goes on, and the first is back at the reset',
    async () => {
      const limited = usedUpOnce(12);
      const tasks = ['a', 'b', 'c', 'd'];
      const conversations = tasks.map((id) => ({ match: task(id), turns: slowly(id) }));
      // The first request is Claude Code's.
      Object.defineProperty(conversations[0]!.turns[0]!, 'fault', { get: limited.fault });
      project = await loopProject({
        tasks,
        others: ['codex'],
        env: SUBSCRIBED,
        config: 'fallback: [codex]\n',
        script: { conversations },
      });
      const ran = await project.loop('run', '--agent', 'claude');
      expect(ran.code, ran.out + ran.err).toBe(0);
      const agents = facts(project, 'attempt.started').map(({ agent }) => agent);
      expect(agents.join(' ')).toMatch(/^claude( codex)+( claude)+$/);
      expect(verdicts(project)).toEqual(['a died', ...tasks.map((id) => `${id} accepted`)]);
      expect(facts(project, 'provider.parked')).toMatchObject([
        { agent: 'claude', until: limited.resetsAt(), told: true },
      ]);
      expect(facts(project, 'task.charged')).toEqual([]);
      const back = agents.indexOf('claude', 1) + 1;
      expect((await project.loop('why')).out).toMatch(
        new RegExp(`claude: limit until .*; codex went on \\(.*\\); back with iteration ${back} at`),
      );
      expect((await project.loop('why', 'a')).out).toContain('codex stands in: claude: limit until');
    },
    180_000,
  );
});
