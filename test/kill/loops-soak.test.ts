/**
 * Loops beside each other, killed again and again at moments nobody chose, be it the one that hears people for all,
 * one that is just made or one that lands. Each is started again until its work has landed or waits for a person.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Fact, JournalRecord } from '../../src/core/index.ts';
import { readLoops } from '../../src/store/index.ts';
import { makeProject, type Project, type Ran, type Started, story, taskList } from '../e2e/project.ts';
import { marked } from './killing.ts';

const LOOPS = ['one', 'two', 'three'] as const;
type Name = (typeof LOOPS)[number];
const KILLS = 18;
const TASKS = [1, 2, 3];

/**
 * Asks a person in the first loop; commits by itself in the second; leaves something behind in the third. The first two
 * write other words in the same line.
 */
const AGENT = `cat > /dev/null
task=$RALPH_TASK_ID
if [ $task = one-1 ] && [ ! -e "$HOME/answered" ]; then echo '<promise>DECIDE:Which colour?</promise>'; exit; fi
case $task in three-*) setsid sleep 300 > /dev/null 2>&1 & esac
sleep 0.3
echo "$task" >> $task.txt
case $task in one-2|two-2) echo "by $task" > shared.txt;; esac
case $task in two-*) git add -A && git commit -qm "$task by itself" && git rev-parse HEAD >> "$HOME/commits";; esac
sleep 0.2
echo '<promise>COMPLETE</promise>'
`;

const kills = fc.record({
  pick: fc.nat(5),
  afterMs: fc.noBias(fc.integer({ min: 20, max: 1_400 })),
});

test('three loops that are killed at random land or are parked, with nothing lost, doubled or left behind', async ({
  onTestFinished,
  onTestFailed,
}) => {
  const seed = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
  const plan = fc.sample(kills, { seed, numRuns: KILLS });
  console.log(`loops: KILL_SEED=${seed}, ${plan.map(({ pick, afterMs }) => `${pick}+${afterMs}`).join(' ')}`);
  const project = scene();
  const all = new Runs(project);
  onTestFinished(() => {
    for (const { pid } of marked(project)) process.kill(pid, 'SIGKILL');
    project.remove();
  });
  onTestFailed(() => console.log(all.said()));
  const status = project.git('status', '--porcelain', '--untracked-files=all');
  for (const name of LOOPS) all.start(name);
  for (const { pick, afterMs } of plan) {
    await sleep(afterMs);
    await all.kill(pick);
    await answerQuestion(project);
  }
  const ends = await all.ends();
  console.log(`loops: ${all.killed} kills, ended ${JSON.stringify(ends.map(({ code }) => code))}`);
  const context = `KILL_SEED=${seed}`;
  const parked = expectEnds(project, ends, context);
  expectKept(project, status, context);
  for (const name of LOOPS) expectSession(project, name, { parked, context });
  expect(all.said(), context).not.toContain('defect of ralph');
});

function scene(): Project {
  const files = Object.fromEntries(
    LOOPS.map((name) => [`${name}.json`, taskList(TASKS.map((n) => story(`${name}-${n}`)))]),
  );
  const project = makeProject({
    files: { ...files, 'shared.txt': 'as it was\n', 'edited.txt': 'as it was\n', 'agent.sh': AGENT },
    config:
      '  shell: { command: ["sh", "agent.sh"] }\ngates: [{ name: there, run: "sleep 0.2; ls *.txt" }]\n',
  });
  project.write('edited.txt', 'mine\n');
  project.write('mine.txt', 'mine\n');
  project.write('staged.txt', 'mine\n');
  project.git('add', 'staged.txt');
  return project;
}

/** The processes of the loops: what was killed is started again. */
class Runs {
  killed = 0;
  private readonly running = new Map<Name, Started>();
  private readonly ended = new Map<Name, Ran>();
  private readonly words: string[] = [];
  private readonly project: Project;

  constructor(project: Project) {
    this.project = project;
  }

  start(name: Name): void {
    const args = [
      'run',
      '--worktree',
      name,
      '--tasks',
      `${name}.json`,
      '--agent',
      'shell',
      '--wait',
      '--max-stuck',
      '0',
    ];
    const started = this.project.start(args);
    this.running.set(name, started);
    void started.done.then((ran) => {
      this.words.push(`--- ${name}: ${started.child.signalCode ?? ran.code}\n${ran.out}${ran.err}`);
      if (started.child.signalCode === null) this.ended.set(name, ran);
    });
  }

  /** One of those that have not ended. */
  async kill(pick: number): Promise<void> {
    const left = LOOPS.filter((name) => !this.ended.has(name));
    const name = left[pick % left.length];
    if (name === undefined) return;
    const { child, done } = this.running.get(name)!;
    child.kill('SIGKILL');
    await done;
    if (this.ended.has(name)) return;
    this.killed += 1;
    this.start(name);
  }

  async ends(): Promise<Ran[]> {
    for (let waited = 0; this.ended.size < LOOPS.length && waited < 600; waited++) {
      await answerQuestion(this.project);
      await sleep(100);
    }
    return LOOPS.map((name) => this.ended.get(name) ?? { code: null, out: '', err: 'it did not end' });
  }

  said(): string {
    return this.words.join('\n');
  }
}

function factsIn(dir: string, session: string): Fact[] {
  const file = join(dir, '.ralph-sessions', session, 'journal.jsonl');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.flatMap((line) => (JSON.parse(line) as JournalRecord).facts);
}

function sessionsOf({ dir }: Project): string[] {
  const folder = join(dir, '.ralph-sessions');
  return existsSync(folder) ? readdirSync(folder).filter((name) => /^\d{6}-\d{6}/.test(name)) : [];
}

async function answerQuestion(project: Project): Promise<void> {
  const file = join(project.home, 'answered');
  const asked = () =>
    sessionsOf(project).some((id) => factsIn(project.dir, id).some(({ type }) => type === 'question.asked'));
  if (existsSync(file) || !asked()) return;
  writeFileSync(file, '');
  expect(await project.ralph(['answer', 'q1', 'green', '--session', '@one'])).toMatchObject({ code: 0 });
}

/** Two landed; of the two that do not fit, one is parked and says where. */
function expectEnds(project: Project, ends: Ran[], context: string): Name {
  const codes = ends.map(({ code }) => code);
  expect(codes[2], context).toBe(0);
  expect([codes[0], codes[1]].sort(), context).toEqual([0, 8]);
  const parked = LOOPS[codes.indexOf(8)]!;
  expect(ends[codes.indexOf(8)]!.out + ends[codes.indexOf(8)]!.err, context).toContain('shared.txt');
  for (const loop of readLoops(project.dir)) {
    const isParked = loop.id === parked;
    // One that landed and was killed before it said so is taken away by the next start, which finds nothing to do.
    const standing = isParked ? 'needs_review' : expect.stringMatching(/^(landed|removed)$/);
    expect(loop, context).toMatchObject({ standing, landing: null });
    if (isParked) expect(loop.parked!.files).toEqual(['shared.txt']);
    const merges = project.git('log', '--first-parent', '--format=%s', 'main').split('\n');
    expect(merges.filter((line) => line.startsWith(`Merge loop ${loop.id}`)).length).toBeLessThanOrEqual(
      isParked ? 0 : 1,
    );
  }
  const log = project.git('log', '--format=%B', '--all').split('\n');
  for (const id of LOOPS.flatMap((name) => TASKS.map((n) => `${name}-${n}`)).filter(
    (id) => !id.startsWith('two'),
  ))
    expect([id, log.filter((line) => line === `Ralph-Task: ${id}`).length], context).toEqual([id, 1]);
  for (const name of LOOPS)
    for (const n of TASKS)
      expect(
        project.git('show', `${name === parked ? `ralph/${name}` : 'main'}:${name}-${n}.txt`),
        context,
      ).toMatch(new RegExp(`^(${name}-${n}\n?)+$`));
  return parked;
}

function expectKept(project: Project, status: string, context: string): void {
  expect(project.git('fsck', '--full', '--strict', '--no-dangling'), context).toBe('');
  expect(project.git('status', '--porcelain', '--untracked-files=all'), context).toBe(status);
  for (const name of ['edited', 'mine', 'staged']) expect(project.read(`${name}.txt`)).toBe('mine\n');
  const reached = new Set(project.git('rev-list', '--all').split('\n'));
  const made = readFileSync(join(project.home, 'commits'), 'utf8').trim().split('\n');
  expect(
    made.filter((commit) => !reached.has(commit)),
    context,
  ).toEqual([]);
  expect(marked(project), context).toEqual([]);
  const there = readLoops(project.dir).filter(({ standing }) => standing !== 'removed');
  expect(project.git('worktree', 'list').split('\n'), context).toHaveLength(there.length + 1);
}

function expectSession(
  project: Project,
  name: Name,
  { parked, context }: { parked: Name; context: string },
): void {
  const isOfIt = (fact: Fact) => fact.type === 'tasks.read' && fact.source.path === `${name}.json`;
  const own = sessionsOf(project)
    .map((id) => factsIn(project.dir, id))
    .filter((facts) => facts.some(isOfIt));
  expect(own, context).toHaveLength(1);
  const facts = own[0]!;
  const of = <T extends Fact['type']>(type: T) =>
    facts.filter((fact): fact is Extract<Fact, { type: T }> => fact.type === type);
  expect(of('question.asked').length, context).toBe(name === 'one' ? 1 : 0);
  const ends = [...of('attempt.ended'), ...of('attempt.lost')].map(({ iteration }) => iteration);
  expect(
    ends.sort((a, b) => a - b),
    context,
  ).toEqual(of('attempt.started').map(({ iteration }) => iteration));
  expect(facts.at(-1), context).toMatchObject({ type: 'run.stopped', code: name === parked ? 8 : 0 });
}
