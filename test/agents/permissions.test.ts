/** Rules about permissions, and real agents that ask by their own protocol: what they allow runs, what they deny does not. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { facts, json, sessionDir, started, until, verdicts } from '../e2e/journal.ts';
import { result } from '../e2e/project.ts';
import { TOKEN, telegramStandin } from '../standins/telegram.ts';
import { isInstalled, versionOf } from './installed.ts';
import { type LoopProject, loopProject, task, works } from './loop-project.ts';
import type { Turn } from './model-server.ts';

const COMMAND = 'touch "$HOME/asked"';
/** Its own settings let it do everything: rules of the run go before them. */
const OPEN = {
  '.claude/settings.json': JSON.stringify({
    permissions: { allow: ['Bash', 'Write', 'Edit'], defaultMode: 'bypassPermissions' },
    sandbox: { enabled: true, autoAllowBashIfSandboxed: true },
  }),
};

let project: LoopProject | null = null;
afterEach(async () => {
  await project?.close();
  project = null;
});

for (const name of ['claude', 'codex'] as const) {
  const why = isInstalled(name) ? '' : ' (skipped: not installed here, the reason stands at the beginning)';
  describe.skipIf(why !== '')(`rules and ${name} ${versionOf(name)}, the real one${why}`, () => {
    async function begin(turns: Turn[], rules: string) {
      const phone = await telegramStandin();
      onTestFinished(() => phone.close());
      project = await loopProject({
        cli: name,
        tasks: ['a'],
        script: { conversations: [{ match: task('a'), turns: [...turns, ...works('a')] }] },
        files: OPEN,
        env: { RALPH_TELEGRAM_BOT_TOKEN: TOKEN, RALPH_TELEGRAM_API_URL: phone.url },
        config: `RObot: { enabled: true, timeout_seconds: 600, telegram: { allowed_users: [1] } }\npermissions: { rules: [${rules}] }\n`,
      });
      return { at: project, phone, done: project.begin('run', '--agent', name, '--json').done };
    }
    const did = (at: LoopProject) => existsSync(join(at.home, 'asked'));
    const log = (at: LoopProject) => readFileSync(join(sessionDir(at), 'logs/iteration-001.log'), 'utf8');

    it('asks before a command, which stands in the chat, and runs it when a press allows it', async () => {
      const { at, phone, done } = await begin([{ run: COMMAND }], '{ match: "touch *", policy: ask }');
      await until(() => phone.sentTo(1).some((one) => one.text.includes(COMMAND)), 'the question');
      const open = json<{ kind: string; text: string }[]>(await at.loop('inbox', '--json'));
      expect(open).toMatchObject([{ kind: 'permission', text: expect.stringContaining(COMMAND) }]);
      expect(did(at)).toBe(false);
      const asked = phone.sentTo(1).find((one) => one.text.includes(COMMAND))!;
      phone.press(asked, asked.buttons[0]!.callback_data);
      expect(result(await done).exit).toMatchObject({ code: 0 });
      expect(did(at)).toBe(true);
      expect(facts(at, 'guidance.reached')).toMatchObject([{ questions: ['q1'], how: 'live' }]);
      expect([started(at), verdicts(at), at.leftovers()]).toEqual([1, ['a accepted'], []]);
      expect(facts(at, 'attempt.ended')).toMatchObject([{ report: { unknownEvents: 0 } }]);
    });

    it('is told what a rule or a person denied, does not do it, and goes on without', async () => {
      const turns = [
        { run: `true && ${COMMAND}` },
        { write: { path: 'prod.env', content: 'KEY=1\n' } },
        { run: 'git tag v1' },
      ];
      const rules = ['"touch *", policy: deny', '"*.env", policy: deny', '"git tag*", policy: ask'];
      const { at, done } = await begin(turns, rules.map((rule) => `{ match: ${rule} }`).join(', '));
      await until(() => facts(at, 'question.asked').length === 1, 'the question about the tag');
      await at.loop('answer', 'q1', 'not before Monday');
      expect(result(await done).exit).toMatchObject({ code: 0 });
      expect([did(at), existsSync(join(at.dir, 'prod.env')), at.git('tag')]).toEqual([false, false, '']);
      const told = facts(at, 'notice.given').map(({ text }) => text);
      expect(told).toContainEqual(expect.stringContaining('the rule "touch *" says deny'));
      expect(told).toContainEqual(expect.stringContaining('the rule "*.env" says deny'));
      expect(log(at)).toMatch(name === 'claude' ? /Not allowed: .*not before Monday/ : /"declined"/);
      expect(facts(at, 'attempt.ended')[0]?.report.commands.filter(({ denied }) => denied)).toHaveLength(2);
      expect([started(at), verdicts(at), at.leftovers()]).toEqual([1, ['a accepted permission_refused'], []]);
    });
  });
}
