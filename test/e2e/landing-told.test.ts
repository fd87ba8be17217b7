/** What came of a loop's landing is said alike by its session, its files, its chat and its exit, whenever it lands. */
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { readLoops } from '../../src/store/index.ts';
import { type TelegramStandin, TOKEN, telegramStandin } from '../standins/telegram.ts';
import { facts, until } from './journal.ts';
import {
  DONE,
  makeProject,
  type Project,
  type ScriptedRun,
  type Started,
  story,
  taskList,
} from './project.ts';

vi.setConfig({ testTimeout: 180_000 });

let project: Project;
let phone: TelegramStandin | null = null;
afterEach(async () => {
  expect(project.git('fsck', '--full', '--no-dangling')).not.toMatch(/missing|corrupt|broken/);
  project.remove();
  await phone?.close();
  phone = null;
});

const ROBOT = 'RObot: { enabled: true, timeout_seconds: 600, telegram: { allowed_users: [1] } }\n';
const chat = () => ({ RALPH_TELEGRAM_BOT_TOKEN: TOKEN, RALPH_TELEGRAM_API_URL: phone!.url });
const treeOf = (loop: string) => realpathSync(join(project.dir, '.ralph', 'worktrees', loop));
const loopCalled = (loop: string) => readLoops(project.dir).find(({ id }) => id === loop)!;

/** The work of the loop; while it is made, somebody changes the same line of the main branch. */
const MEANWHILE: ScriptedRun = {
  do: [
    {
      run: 'echo loop > shared.txt; top=$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)"); cd "$top" && echo main > shared.txt && git commit -qam "meanwhile"',
    },
    { say: DONE },
  ],
};

function make(run: ScriptedRun, config = ''): void {
  project = makeProject({
    files: { 'shared.txt': 'as it was\n', 'A.json': taskList([story('A')]), '.gitignore': 'go\n' },
    config,
    runs: [run],
  });
}

const run = (loop: string, more: string[] = [], env: Record<string, string> = {}) =>
  project.ralph(['run', '--worktree', loop, '--tasks', 'A.json', '--json', ...more], { env });

/** What each window says of the loop's session. */
async function windows(loop: string) {
  const at = `@${loop}`;
  const session = loopCalled(loop).session!;
  const [status, why, text, sessions] = await Promise.all([
    project.ralph(['status', at, '--json']),
    project.ralph(['why', '--session', at, '--json']),
    project.ralph(['status', at]),
    project.ralph(['sessions', '--json']),
  ]);
  const metadata = parse(project.read(`.ralph-sessions/${session}/metadata.yaml`));
  const listed = JSON.parse(sessions.out).find((one: { session_id: string }) => one.session_id === session);
  return {
    status: JSON.parse(status.out),
    why: JSON.parse(why.out),
    text: text.out,
    listed,
    metadata: { status: metadata.status, detail: metadata.status_detail },
    row: JSON.parse((await project.ralph(['loops', '--json'])).out).find(
      (one: { loop_id: string }) => one.loop_id === loop,
    ),
    drawn: JSON.parse(project.read('.ralph/loops.json')).find(
      (one: { loop_id: string }) => one.loop_id === loop,
    ),
    landings: facts(project, 'run.stopped', session).length,
  };
}

/** All of them say this exit, in these words. */
function expectAlike(
  told: Awaited<ReturnType<typeof windows>>,
  { code, detail, reason }: { code: number; detail: string; reason: RegExp },
): void {
  const exit = { code, reason: expect.stringMatching(reason) };
  expect(told.status).toMatchObject({ status_detail: detail, exit });
  expect(told.why).toMatchObject({ status_detail: detail, exit, why: expect.stringMatching(`exit ${code}`) });
  expect(told.listed).toMatchObject({ status_detail: detail, exit });
  expect(told.metadata.detail).toMatch(reason);
  const names = ['loop_id', 'session_id', 'primary', 'branch', 'onto', 'worktree', 'state', 'landed'];
  expect(told.drawn).toEqual(Object.fromEntries(names.map((name) => [name, told.row[name]])));
}

test('a conflict: the chat, the exit and every window name the file and what to do, and a merge by hand settles all', async () => {
  phone = await telegramStandin();
  make(MEANWHILE, ROBOT);
  const { code, out, err } = await run('fix', [], chat());
  expect([code, err]).toEqual([8, expect.stringContaining('shared.txt')]);
  const reason = /change the same places of shared\.txt\. What to do: In .*git merge main/;
  expect(JSON.parse(out.trim().split('\n').at(-1)!)).toMatchObject({
    exit: { code: 8, reason: expect.stringMatching(reason) },
    landing: { outcome: 'parked', files: ['shared.txt'], loop: 'fix', branch: 'ralph/fix', onto: 'main' },
  });
  const said = phone.sentTo(1).map(({ text }) => text);
  expect(said.filter((text) => text.includes('The run ended'))).toEqual([
    expect.stringMatching(
      /AWAITING \(exit 8\)[\s\S]*shared\.txt[\s\S]*git merge main[\s\S]*ralph loops merge fix/,
    ),
  ]);
  const parked = await windows('fix');
  expectAlike(parked, { code: 8, detail: 'needs_review', reason });
  // Another run is not what it needs, and its file is named once.
  expect(err).not.toContain('goes on with this loop');
  expect(parked.row.next).not.toContain('(shared.txt)');
  expect(parked.metadata.status).toBe('awaiting_feedback');
  expect(parked.text).toMatch(/needs review[\s\S]*next: In .*git merge main/);
  expect(parked.row).toMatchObject({ state: 'needs_review', landed: false });
  expect(out).toContain('"type":"loop.parked"');

  project.git('-C', treeOf('fix'), 'merge', '-q', '-X', 'ours', '--no-edit', 'main');
  expect((await project.ralph(['loops', 'merge', 'fix'], { env: chat() })).code).toBe(0);
  const landed = await windows('fix');
  expectAlike(landed, { code: 0, detail: 'completed', reason: /Loop fix landed on main: [0-9a-f]{12}/ });
  expect(landed.metadata.status).toBe('completed');
  expect(landed.row).toMatchObject({ state: 'landed', landed: true });
  // Once said is enough.
  expect((await project.ralph(['loops', 'merge', 'fix'], { env: chat() })).code).toBe(0);
  expect((await windows('fix')).landings).toBe(landed.landings);
});

test('a gate that is red on the merged tree is named, the next run tries again, and what was done is not done again', async () => {
  make(
    {
      do: [
        {
          run: 'echo a > a.txt; top=$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)"); cd "$top" && touch red.txt && git add red.txt && git commit -qm "red"',
        },
        { say: DONE },
      ],
    },
    'gates: [{ name: both, run: "if [ -e a.txt ] && [ -e red.txt ]; then echo no good; exit 1; fi" }]\n',
  );
  expect((await run('fix')).code).toBe(8);
  expectAlike(await windows('fix'), {
    code: 8,
    detail: 'needs_review',
    reason: /gate both does not pass on what main would be: no good/,
  });
  project.git('rm', '-q', 'red.txt');
  project.git('commit', '-qm', 'green again');
  const again = await run('fix');
  expect([again.code, again.err]).toEqual([0, expect.stringContaining('Loop fix landed on main')]);
  const session = loopCalled('fix').session!;
  expect(facts(project, 'attempt.started', session)).toHaveLength(1);
  expectAlike(await windows('fix'), { code: 0, detail: 'completed', reason: /Loop fix landed on main/ });
});

test('a loop that is given up says so, and where its work is kept', async () => {
  make(MEANWHILE);
  expect((await run('fix')).code).toBe(8);
  expect((await project.ralph(['loops', 'discard', 'fix', '--yes'])).code).toBe(0);
  const session = loopCalled('fix').session!;
  const status = JSON.parse((await project.ralph(['status', session, '--json'])).out);
  expect(status).toMatchObject({
    status: 'blocked',
    status_detail: 'aborted',
    exit: { code: 9, reason: expect.stringContaining('refs/ralph/discarded/fix') },
    next_action: expect.stringContaining('git merge refs/ralph/discarded/fix'),
  });
  expect(project.read(`.ralph-sessions/${session}/metadata.yaml`)).toContain('status: aborted');
  const archived = await project.ralph(['archive', '--json']);
  expect(JSON.parse(archived.out).moved).toEqual([session]);
});

test('killed while its gates ran before landing, a loop is not done; a merge by hand takes it up and says so', async () => {
  make(
    {
      do: [
        {
          run: 'echo a > a.txt; top=$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)"); cd "$top" && echo main > main.txt && git add main.txt && git commit -qm "meanwhile"',
        },
        { say: DONE },
      ],
    },
    'gates: [{ name: slow, run: "[ ! -e main.txt ] || [ -e \\"$HOME/go\\" ] || { touch \\"$HOME/at-gate\\"; sleep 60; }" }]\n',
  );
  const begun = project.start(['run', '--worktree', 'fix', '--tasks', 'A.json']);
  await until(() => existsSync(join(project.home, 'at-gate')), 'the gate of the landing');
  begun.child.kill('SIGKILL');
  await begun.done;
  writeFileSync(join(project.home, 'go'), '');
  const session = loopCalled('fix').session!;
  expect(facts(project, 'run.stopped', session)).toEqual([]);
  const dead = JSON.parse((await project.ralph(['status', '@fix', '--json'])).out);
  expect(dead.status_detail).toBe('in_progress');
  const merged = await project.ralph(['loops', 'merge', 'fix']);
  expect([merged.code, merged.err]).toEqual([0, expect.any(String)]);
  expect(project.read('a.txt')).toBe('a\n');
  expectAlike(await windows('fix'), { code: 0, detail: 'completed', reason: /Loop fix landed on main/ });
});

/** A project whose main checkout is worked in until `go` stands in the home folder; a loop with task A waits for it. */
async function busyCheckout(): Promise<Started> {
  make({ do: [{ run: 'echo a > a.txt' }, { say: DONE }] });
  project.write(
    'agent.json',
    JSON.stringify({
      runs: [
        { when: { task: 'A' }, do: [{ run: 'echo a > a.txt' }, { say: DONE }] },
        {
          do: [
            { run: 'for n in $(seq 900); do [ -e "$HOME/go" ] && break; sleep 0.1; done; echo o > o.txt' },
            { say: DONE },
          ],
        },
      ],
    }),
  );
  project.git('commit', '-qam', 'two agents');
  const main = project.start(['run', 'work here', '--json']);
  await until(() => existsSync(join(project.dir, '.ralph', 'loop.lock')), 'a run in the main checkout');
  return main;
}

test('a loop that may not wait is queued and says so; the run it waited for lands it, and then it is complete', async () => {
  const main = await busyCheckout();
  const queued = await run('fix', ['--no-wait']);
  expect([queued.code, queued.err]).toEqual([8, expect.stringContaining('a run works in')]);
  expectAlike(await windows('fix'), { code: 8, detail: 'queued', reason: /waits to land on main/ });
  writeFileSync(join(project.home, 'go'), '');
  const ended = await main.done;
  expect([ended.code, ended.err]).toEqual([0, expect.stringContaining('Loop fix landed on main')]);
  expect(project.read('a.txt')).toBe('a\n');
  expectAlike(await windows('fix'), { code: 0, detail: 'completed', reason: /Loop fix landed on main/ });
});

test('while it waits for its turn, a loop hears a pause and a signal; neither is said to be done', async () => {
  const main = await busyCheckout();
  const waiting = project.start(['run', '--worktree', 'fix', '--tasks', 'A.json']);
  await until(() => readLoops(project.dir)[0]?.standing === 'queued', 'the loop is queued');
  const status = await project.ralph(['status', '@fix']);
  expect(status.out).toContain('loop fix lands on main');
  expect((await project.ralph(['pause', 'not now', '--session', '@fix'])).code).toBe(0);
  const paused = await waiting.done;
  expect([paused.code, paused.out + paused.err]).toEqual([7, expect.stringContaining('not now')]);
  const again = project.start(['resume', '@fix', '--json']);
  await until(() => facts(project, 'run.started', loopCalled('fix').session!).length === 2, 'it goes on');
  await until(() => readLoops(project.dir)[0]?.queued?.by?.pid === again.child.pid, 'and waits again');
  again.child.kill('SIGINT');
  const interrupted = await again.done;
  expect([interrupted.code, interrupted.out]).toEqual([
    130,
    expect.stringContaining('loop fix has not landed'),
  ]);
  writeFileSync(join(project.home, 'go'), '');
  expect((await main.done).code).toBe(0);
  expect(readFileSync(join(treeOf('fix'), 'a.txt'), 'utf8')).toBe('a\n');
});

test('what has not landed and what was not pushed is counted, in the list and at the end of a run', async () => {
  make(MEANWHILE);
  const remote = join(project.home, 'remote.git');
  project.git('init', '-q', '--bare', remote);
  project.git('remote', 'add', 'origin', remote);
  project.git('push', '-q', '-u', 'origin', 'main');
  expect((await run('fix')).code).toBe(8);
  const rows = async () => JSON.parse((await project.ralph(['loops', '--json'])).out);
  expect(await rows()).toMatchObject([{ loop_id: 'fix', unmerged: 1, unpushed: null }]);
  expect((await project.ralph(['loops'])).out).toContain('1 commit not merged');
  project.git('-C', treeOf('fix'), 'merge', '-q', '-X', 'ours', '--no-edit', 'main');
  const landed = await run('fix');
  expect([landed.code, landed.err]).toEqual([
    0,
    expect.stringContaining('main is 3 commits ahead of origin/main'),
  ]);
  expect(JSON.parse(landed.out.trim().split('\n').at(-1)!).unpushed).toEqual({
    branch: 'main',
    upstream: 'origin/main',
    commits: 3,
  });
  expect(await rows()).toMatchObject([{ loop_id: 'fix', unmerged: 0 }]);
  const here = await project.ralph(['run', 'something here', '--json']);
  expect(here.err).toMatch(/main is \d commits ahead of origin\/main: not pushed/);
  expect((await project.ralph(['loops'])).out).toMatch(/^main .* commits not pushed/m);
  project.git('push', '-q');
  expect((await rows())[0]).toMatchObject({ loop_id: 'main', unpushed: 0 });
  expect((await project.ralph(['loops'])).out).not.toContain('not pushed');
});

test('a loop that was taken away is in no file any more', async () => {
  make({ do: [{ run: 'echo a > a.txt' }, { say: DONE }] });
  expect((await run('fix')).code).toBe(0);
  expect(project.read('.ralph/loops.json')).toContain('"fix"');
  expect((await project.ralph(['loops', 'prune'])).out).toContain('fix');
  expect(JSON.parse(project.read('.ralph/loops.json'))).toEqual([]);
});

test('a loop that is merged with a task open is never said to be done, and goes on with what is left', async () => {
  project = makeProject({
    files: { 'a.txt': 'as it was\n', 'AB.json': taskList([story('A'), story('B')]) },
    runs: [
      { when: { task: 'A' }, do: [{ run: 'echo loop > a.txt' }, { say: DONE }] },
      { do: [{ run: 'echo b > b.txt' }, { say: DONE }] },
    ],
  });
  const goOn = (...more: string[]) =>
    project.ralph(['run', '--worktree', 'fix', '--tasks', 'AB.json', ...more]);
  expect((await goOn('-n', '1')).code).toBe(1);
  project.write('a.txt', 'main\n');
  project.git('commit', '-qam', 'meanwhile');
  const parked = await project.ralph(['loops', 'merge', 'fix']);
  expect([parked.code, parked.out]).toEqual([8, expect.stringContaining('1 of 2 tasks done')]);
  expect(parked.out).not.toContain('is done');
  project.git('-C', treeOf('fix'), 'merge', '-q', '-X', 'ours', '--no-edit', 'main');
  const merged = await project.ralph(['loops', 'merge', 'fix', '--json']);
  expect(JSON.parse(merged.out)).toMatchObject({ outcome: 'landed', unfinished: { done: 1, total: 2 } });
  expect(project.read('a.txt')).toBe('loop\n');
  const { row } = await windows('fix');
  expect(row).toMatchObject({ landed: false, unmerged: 0, next: 'ralph run --worktree fix' });
  expect((await project.ralph(['loops', 'prune'])).out).toContain('fix, it is not done');
  const ended = await goOn();
  expect([ended.code, ended.out]).toEqual([0, expect.stringContaining('Loop fix landed on main')]);
  expect(project.read('b.txt')).toBe('b\n');
  expect(loopCalled('fix').standing).toBe('landed');
});
