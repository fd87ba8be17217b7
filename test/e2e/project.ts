/**
 * A real project for end-to-end tests: a git repository in a temporary folder, a scripted agent, and
 * the built program run as a child process, as a user would.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { removeFolder } from '../remove-folder.ts';

/** The built program; another build can be named, e.g. one made by another Node. */
export const PROGRAM = process.env.RALPH_TEST_PROGRAM ?? resolve(import.meta.dirname, '../../dist/ralph.js');

export interface ScriptedRun {
  when?: {
    task?: string;
    mode?: string;
    role?: string;
    attempt?: number;
    iteration?: number;
    cycle?: number;
    topic?: string;
  };
  do: Record<string, unknown>[];
}

export interface ProjectOptions {
  /** Files of the first commit. */
  files?: Record<string, string>;
  /** What the scripted agent does; the first run that fits is played. */
  runs?: ScriptedRun[];
  /** ralph.yml beside the agent, as text. */
  config?: string;
  git?: boolean;
}

export interface Project {
  dir: string;
  /** A home of its own: signing keys and git settings never touch the user's. */
  home: string;
  write(path: string, text: string): void;
  read(path: string): string;
  git(...args: string[]): string;
  ralph(args: string[], options?: RalphOptions): Promise<Ran>;
  start(args: string[], options?: RalphOptions): Started;
  remove(): void;
}

export interface RalphOptions {
  env?: Record<string, string>;
  cwd?: string;
  timeoutMs?: number;
}

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

export interface Started {
  child: ChildProcess;
  done: Promise<Ran>;
}

export const DONE = '<promise>COMPLETE</promise>';

/** A story of seed 4's task list; review fields only where asked for. */
export function story(id: string, over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id,
    title: `Make ${id}`,
    description: `Write ${id}.txt`,
    acceptanceCriteria: [`${id}.txt exists`],
    priority: 1,
    passes: false,
    ...over,
  };
}

export function taskList(stories: Record<string, unknown>[], over: Record<string, unknown> = {}): string {
  return `${JSON.stringify({ project: 'p', description: 'd', ...over, userStories: stories }, null, 2)}\n`;
}

export function makeProject(options: ProjectOptions = {}): Project {
  const dir = mkdtempSync(join(tmpdir(), 'ralph-e2e-'));
  const home = mkdtempSync(join(tmpdir(), 'ralph-home-'));
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: dir, env, encoding: 'utf8', stdio: 'pipe' }).trim();
  write('README.md', '# A project\n');
  for (const [path, text] of Object.entries(options.files ?? {})) write(path, text);
  const agent =
    'agent: scripted\nagents:\n  scripted: { command: ["ralph", "__script-agent", "agent.json"] }\n';
  write('ralph.yml', `${agent}${options.config ?? ''}`);
  write('agent.json', JSON.stringify({ runs: options.runs ?? HONEST }, null, 2));
  if (options.git !== false) {
    git('init', '-q', '-b', 'main');
    git('config', 'user.name', 'Test');
    git('config', 'user.email', 'test@example.invalid');
    git('add', '-A');
    git('commit', '-q', '-m', 'first');
  }
  const running = new Set<ChildProcess>();
  const start = (args: string[], { env: more, cwd }: RalphOptions = {}): Started => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: cwd ?? dir,
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    return { child, done: finished(child).finally(() => running.delete(child)) };
  };
  return {
    dir,
    home,
    write,
    read: (path) => readFileSync(join(dir, path), 'utf8'),
    git,
    start,
    async ralph(args, runOptions = {}) {
      const { child, done } = start(args, runOptions);
      const timer = setTimeout(() => child.kill('SIGKILL'), runOptions.timeoutMs ?? 60_000);
      try {
        return await done;
      } finally {
        clearTimeout(timer);
      }
    },
    remove() {
      for (const child of running) child.kill('SIGKILL');
      removeFolder(dir);
      removeFolder(home);
    },
  };
}

function finished(child: ChildProcess): Promise<Ran> {
  let out = '';
  let err = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  return new Promise((done) => child.on('close', (code) => done({ code, out, err })));
}

/** An agent that writes `<task>.txt` and says so; a reviewer that approves. */
export const HONEST: ScriptedRun[] = [
  {
    when: { mode: 'TASK_REVIEW' },
    do: [
      {
        emit: {
          topic: 'ralph.result',
          payload: {
            status: 'completed',
            mode: 'TASK_REVIEW',
            verdict: 'Qualified',
            criteria_results: [{ criterion: 'exists', met: true }],
          },
        },
      },
    ],
  },
  {
    do: [
      { write: { path: '{{task}}.txt', content: 'made {{task}} in iteration {{iteration}}\n' } },
      { say: DONE },
    ],
  },
];

/** The last line of a `--json` run. */
export function result(ran: Ran): {
  exit: { code: number; word: string; reason: string };
  session_id: string;
} {
  return JSON.parse(ran.out.trimEnd().split('\n').at(-1) ?? '{}');
}
