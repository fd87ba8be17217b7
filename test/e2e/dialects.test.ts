/** Ten task files in ten dialects: read before any run, finished by a run, changed in their marks alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { makeProject, type Project } from './project.ts';

vi.setConfig({ testTimeout: 120_000 });
let project: Project;
afterEach(() => project?.remove());

interface Task {
  id: string;
  title: string;
  status: string;
  depends_on: string[];
  acceptance: string[];
  priority: number;
}

interface Show {
  file: string;
  /** Where the file lies in the project; the name it has here unless said. */
  at?: string;
  /** `id status priority after dependencies: criteria`, in file order. */
  tasks: string[];
  /** What may change within a line. */
  mark: RegExp;
}

const PASSES = /"?passes"?: (?:true|false)/g;
const BOX = /\[[ xX]\]/g;

const SHOWS: Show[] = [
  {
    file: 'tasks.json',
    at: 'ralph/tasks.json',
    tasks: [
      'TT-001 todo 1: Unknown harbours are named; Lines end as they will',
      'TT-002 todo 2 after TT-001: Local time is shown',
    ],
    mark: /"(?:passes|reviewStatus|reviewCount)": [^,]+/g,
  },
  {
    file: 'prd.json',
    tasks: [
      'US-002 todo 2: Points are added',
      'US-001 todo 1: Two names are asked for; Names differ',
      'US-000 done 1: It has a name',
    ],
    mark: PASSES,
  },
  {
    file: 'feature_list.json',
    tasks: ['F1 todo 0: Pull; See what is in it', 'F2 todo 0 after F1: Push'],
    mark: PASSES,
  },
  {
    file: 'backlog.json',
    tasks: [
      'wash done 0: no leaves left',
      'press todo 0 after wash: juice runs; pulp is kept',
      'bottle todo 0 after press: bottles are closed',
    ],
    mark: /"status": "[a-z]+"/g,
  },
  {
    file: 'tasks.yaml',
    tasks: ['dough todo 0: it rises', 'oven todo 0 after dough: it is hot; it stays hot'],
    mark: PASSES,
  },
  {
    file: 'PRD.md',
    tasks: [
      'US-001 todo 0: The next three departures are shown; Past departures are not; Type check passes',
      'US-002 todo 0 after US-001: All stops are listed; The last choice is kept',
      'US-003 done 0: It has a name',
    ],
    mark: BOX,
  },
  {
    file: 'fix_plan.md',
    tasks: [
      'lamp-flickers-when-the-door-opens-a3zhc8 todo 1: ',
      'clock-is-one-hour-late-in-winter-monas5 todo 1: ',
      'radio-keeps-its-station-ea8abg done 2: ',
      'paint-peels-9qsuv4 todo 3 after lamp-flickers-when-the-door-opens-a3zhc8: ',
    ],
    mark: BOX,
  },
  {
    file: 'IMPLEMENTATION_PLAN.md',
    tasks: [
      'G-1 done 0: ',
      'G-2 todo 0: within a centimetre; drains to the north',
      'W-1 todo 1 after G-2: straight',
    ],
    mark: BOX,
  },
  {
    file: 'plan-with-status.md',
    at: 'docs/umzug.md',
    tasks: [
      'task-1 todo 1: Jede Kiste hat ein Etikett',
      'task-2 done 0: Der Wagen ist groß genug',
      'task-3 todo 0 after task-1, task-2: Alles kommt an',
    ],
    mark: /(?<=\*\*Status:\*\* ).*$/g,
  },
  {
    file: 'board.md',
    tasks: ['C-1 done 1: ', 'C-2 todo 2 after C-1: ', 'C-3 todo 3 after C-1, C-2: '],
    mark: /(?:Done|Not started)(?: <!-- was: Not started -->)?/g,
  },
];

const LEFT_OUT =
  /^\S+: lines? [\d, and]+: \d+ check box(?:es)? (?:below .* not read as |(?:is|are) left out, because )/;

const said = ({ id, status, priority, depends_on, acceptance }: Task): string => {
  const after = depends_on.length === 0 ? '' : ` after ${depends_on.join(', ')}`;
  return `${id} ${status} ${priority}${after}: ${acceptance.join('; ')}`;
};

async function tasks(...args: string[]): Promise<Task[]> {
  const ran = await project.ralph(['tasks', '--json', ...args]);
  // What stands in a fence or a comment, under "Notes" or "Definition of Done" is left out, and that is all there is to tell.
  const odd = ran.err.split('\n').filter((line) => line !== '' && !LEFT_OUT.test(line));
  expect([ran.code, odd]).toEqual([0, []]);
  return JSON.parse(ran.out);
}

/** The lines of a file that changed since the first commit, as they were and as they are. */
function changed(path: string): { was: string[]; is: string[] } {
  const root = project.git('rev-list', '--max-parents=0', 'HEAD');
  const lines = project.git('diff', '-U0', root, 'HEAD', '--', path).split('\n');
  const of = (sign: string) => lines.filter((line) => line[0] === sign && !line.startsWith(sign.repeat(3)));
  // The last line of git's answer has lost its carriage return.
  const plain = (line: string) => line.slice(1).trimEnd();
  return { was: of('-').map(plain), is: of('+').map(plain) };
}

describe.each(SHOWS)('$file', ({ file, at = file, tasks: expected, mark }) => {
  test('is listed before any run, finished by one, and changed in its marks alone', async () => {
    const text = readFileSync(join(import.meta.dirname, '../fixtures/tasks/shows', file), 'utf8');
    project = makeProject({ files: { [at]: text } });
    expect((await tasks('--tasks', at)).map(said)).toEqual(expected);
    const ran = await project.ralph(['run', '--tasks', at]);
    expect([ran.code, ran.code === 0 ? '' : ran.err]).toEqual([0, '']);
    const ended = await tasks();
    expect(ended.map(({ status }) => status)).toEqual(expected.map(() => 'done'));
    for (const { id } of ended.filter((_, index) => expected[index]!.includes(' todo '))) {
      expect(project.read(`${id}.txt`)).toContain(id);
    }
    expect(project.git('status', '--porcelain')).toBe('');
    const { was, is } = changed(at);
    expect(was.length).toBeGreaterThan(0);
    expect(is).not.toEqual(was);
    expect(is.map((line) => line.replace(mark, '#'))).toEqual(was.map((line) => line.replace(mark, '#')));
    expect(project.read(at).length - text.length).toBeLessThan(200);
  });
});

test('a list that is named nowhere is found, and --tasks looks into another one beside a session', async () => {
  project = makeProject({ files: { 'PRD.md': '- [ ] One\n', 'later.md': '- [ ] T-9: Nine\n' } });
  expect((await tasks()).map(({ title }) => title)).toEqual(['One']);
  expect((await project.ralph(['run'])).code).toBe(0);
  expect((await tasks('--tasks', 'later.md')).map(({ id }) => id)).toEqual(['T-9']);
  const missing = await project.ralph(['tasks', '--tasks', 'latr.md']);
  expect([missing.code, missing.err]).toEqual([5, expect.stringContaining('Did you mean later.md?')]);
  project.write('ralph.yml', `${project.read('ralph.yml')}tasks: later.md\n`);
  const fresh = await project.ralph(['run', '--new', '--dry-run']);
  expect(fresh.out + fresh.err).toContain('later.md');
});
