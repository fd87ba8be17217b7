/**
 * Several loops in the work trees of one repository, and one person: whoever runs there is one a work tree, one of
 * them hears for all, and words reach the loop they are for.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { type ChatMessage, type TelegramStandin, TOKEN, telegramStandin } from '../standins/telegram.ts';
import { facts, json, prompt, sessions, until } from './journal.ts';
import { DONE, makeProject, type Project, type ScriptedRun, type Started } from './project.ts';

vi.setConfig({ testTimeout: 180_000 });

let project: Project;
let phone: TelegramStandin | null = null;
afterEach(async () => {
  project?.remove();
  await phone?.close();
  phone = null;
});

/** A linked work tree beside the project, on a branch of the same name. */
function workTree(name: string): string {
  const dir = join(project.dir, '.trees', name);
  project.git('worktree', 'add', '-q', '-b', name, dir);
  return dir;
}

const primary = (): { pid: number; session_id: string } | null => {
  const file = join(project.dir, '.ralph/loop.lock');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
};

/** The session of the loop in this work tree. */
function sessionOf(dir: string): string {
  const ground = dir === project.dir ? '.' : dir;
  const found = sessions(project).find((id) => facts(project, 'session.created', id)[0]?.ground === ground);
  if (found === undefined) throw new Error(`no session of ${dir} yet`);
  return found;
}

const waits: ScriptedRun = { do: [{ sleep_ms: 60_000 }, { say: DONE }] };

test('each work tree has its runner; the first is the primary, and another takes that over when it is killed', async () => {
  project = makeProject({ runs: [waits], files: { '.gitignore': '.trees/\n' } });
  const tree = workTree('feature');
  const beside = project.start(['run', 'there'], { cwd: tree });
  await until(() => facts(project, 'attempt.spawned', sessionOf(tree)).length === 1, 'an agent in the tree');
  expect(primary()).toMatchObject({ pid: beside.child.pid, session_id: sessionOf(tree) });

  const main: Started = project.start(['run', 'here']);
  await until(() => facts(project, 'attempt.spawned', sessionOf(project.dir)).length === 1, 'an agent here');
  expect(primary()!.pid).toBe(beside.child.pid);
  for (const cwd of [project.dir, tree]) {
    const second = await project.ralph(['run'], { cwd });
    expect([second.code, second.err]).toEqual([5, expect.stringContaining('Another run is working here')]);
  }

  beside.child.kill('SIGKILL');
  await until(() => primary()?.pid === main.child.pid, 'the other is the primary');
  expect(primary()!.session_id).toBe(sessionOf(project.dir));
});

const ROBOT = 'RObot: { enabled: true, timeout_seconds: 600, telegram: { allowed_users: [1] } }\n';
const asks: ScriptedRun = {
  when: { iteration: 1 },
  do: [
    { write: { path: 'half.txt', content: 'half\n' } },
    { emit: { topic: 'human.interact', payload: 'Which colour?' } },
    { say: 'I asked.' },
  ],
};
const paints: ScriptedRun = {
  do: [{ write: { path: 'shed.txt', content: 'painted {{iteration}}\n' } }, { say: DONE }],
};

/** The message in which the loop of this name asks. */
async function askedBy(loop: string): Promise<ChatMessage> {
  const find = () =>
    phone!.sentTo(1).find(({ text }) => text.includes('Which colour?') && text.includes(`[loop ${loop} ·`));
  await until(() => find() !== undefined, `the question of ${loop}`);
  return find()!;
}
const answers = (dir: string) =>
  facts(project, 'question.answered', sessionOf(dir)).map(({ text, by }) => [text, by]);
const words = (dir: string) =>
  facts(project, 'message.received', sessionOf(dir)).map(({ message }) => message.text);

test('one chat for two loops: replies find the loop that asked, also after the one that heard was killed', async () => {
  phone = await telegramStandin();
  project = makeProject({ runs: [asks, paints], config: ROBOT, files: { '.gitignore': '.trees/\n' } });
  const env = { RALPH_TELEGRAM_BOT_TOKEN: TOKEN, RALPH_TELEGRAM_API_URL: phone.url };
  const tree = workTree('feature');
  const main = project.start(['run', 'paint'], { env });
  const mainAsked = await askedBy('main');
  expect(primary()!.pid).toBe(main.child.pid);
  const beside = project.start(['run', 'paint there'], { env, cwd: tree });
  const featureAsked = await askedBy('feature');

  phone.write('@feature use JWT');
  await until(() => words(tree).includes('use JWT'), 'the word reached the loop that is named');
  phone.write('@featrue use YAML');
  await until(() => phone!.sentTo(1).some(({ text }) => text.includes('Did you mean @feature?')), 'a hint');

  main.child.kill('SIGKILL');
  await main.done;
  phone.write('green', { replyTo: featureAsked.message_id });
  await until(() => answers(tree).length === 1, 'the answer after the other took over');
  expect(answers(tree)).toEqual([['green', 'telegram:1 (Ann)']]);
  // Said to a loop that is gone: it lies there until it goes on.
  phone.write('red', { replyTo: mainAsked.message_id });
  const lies = (text: string) => text.includes('Loop @main does not run now');
  await until(() => phone!.sentTo(1).some(({ text }) => lies(text)), 'that the loop does not run is told');
  const ended = await beside.done;
  expect([ended.code, ended.err]).toEqual([0, expect.any(String)]);
  expect(prompt(project, 2, sessionOf(tree))).toContain('use JWT');

  const again = await project.ralph(['run'], { env });
  expect([again.code, again.err]).toEqual([0, expect.any(String)]);
  expect(answers(project.dir)).toEqual([['red', 'telegram:1 (Ann)']]);
  expect(words(project.dir)).toEqual(['red']);
  expect(words(tree).sort()).toEqual(['green', 'use JWT']);
});

test('a command with a name in it, also a restart, is carried out by the loop of that name', async () => {
  phone = await telegramStandin();
  project = makeProject({ runs: [asks, paints], config: ROBOT, files: { '.gitignore': '.trees/\n' } });
  const env = { RALPH_TELEGRAM_BOT_TOKEN: TOKEN, RALPH_TELEGRAM_API_URL: phone.url };
  const tree = workTree('feature');
  project.start(['run', 'paint'], { env });
  await askedBy('main');
  const beside = project.start(['run', 'paint there'], { env, cwd: tree });
  await askedBy('feature');
  phone.write('/restart @feature');
  await until(() => facts(project, 'run.started', sessionOf(tree)).length === 2, 'it started again');
  phone.write('@feature /stop enough');
  expect((await beside.done).code).toBe(7);
  expect(facts(project, 'run.stopped', sessionOf(tree)).map(({ code }) => code)).toEqual([7, 7]);
  expect(facts(project, 'run.stopped', sessionOf(project.dir))).toEqual([]);
});

test('from the main checkout the questions of all loops are seen and answered, and @loop names one', async () => {
  const decides = { do: [{ say: '<promise>DECIDE:Which colour?</promise>' }] };
  const answered: ScriptedRun = { when: { iteration: 1 }, ...decides };
  project = makeProject({ runs: [answered, paints], files: { '.gitignore': '.trees/\n' } });
  const tree = workTree('feature');
  const here = project.start(['run', '--wait', 'paint']);
  const there = project.start(['run', '--wait', 'paint there'], { cwd: tree });
  const asked = (dir: string) => facts(project, 'question.asked', sessionOf(dir)).length === 1;
  await until(() => asked(project.dir) && asked(tree), 'both ask');

  const inbox = json<{ id: string; loop: string; session_id: string }[]>(
    await project.ralph(['inbox', '--json']),
  );
  expect(inbox.map(({ id, loop, session_id }) => [id, loop, session_id])).toEqual([
    ['q1', 'main', sessionOf(project.dir)],
    ['q1', 'feature', sessionOf(tree)],
  ]);
  expect((await project.ralph(['inbox'])).out).toContain('Loop @feature asks; add --session @feature');
  expect((await project.ralph(['status'])).out).toContain('loop @feature asks too: 1 open question');
  expect(json(await project.ralph(['status', '--json'])).session_id).toBe(sessionOf(project.dir));
  expect(json(await project.ralph(['status', '--json', '--session', '@feature'])).session_id).toBe(
    sessionOf(tree),
  );

  const wrong = await project.ralph(['tell', 'use JWT', '--session', '@featrue']);
  expect([wrong.code, wrong.err]).toEqual([5, expect.stringContaining('Did you mean @feature?')]);
  expect((await project.ralph(['tell', 'use JWT', '--session', '@feature'])).code).toBe(0);
  expect((await project.ralph(['answer', 'q1', 'red'])).code).toBe(0);
  const first = await here.done;
  expect([first.code, first.err]).toEqual([0, expect.any(String)]);
  // Nothing is open here any more, so the answer is for the only loop that still asks.
  expect((await project.ralph(['answer', 'q1', 'green'])).code).toBe(0);
  const second = await there.done;
  expect([second.code, second.err]).toEqual([0, expect.any(String)]);
  const texts = (dir: string) => facts(project, 'question.answered', sessionOf(dir)).map(({ text }) => text);
  expect([texts(project.dir), texts(tree)]).toEqual([['red'], ['green']]);
  expect(prompt(project, 2, sessionOf(tree))).toContain('use JWT');

  const elsewhere = await project.ralph(['run', '--session', '@feature']);
  expect([elsewhere.code, elsewhere.err]).toEqual([5, expect.stringContaining('works in another work tree')]);
});
