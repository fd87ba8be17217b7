/**
 * The whole loop with a real agent CLI, Claude Code where none is named: a project whose model is scripted, the built program as a
 * user starts it, and what the journal, the logs and the model server say afterwards.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findByMarker } from '../../src/process/index.ts';
import { facts, sessionDir } from '../e2e/journal.ts';
import {
  makeProject,
  type Project,
  type ProjectOptions,
  type Ran,
  type Started,
  story,
  taskList,
} from '../e2e/project.ts';
import { homeOf } from './homes.ts';
import { type CliName, programOf } from './installed.ts';
import {
  type Fault,
  type ModelScript,
  type ModelServer,
  startModelServer,
  subscriptionLimit,
  type Turn,
} from './model-server.ts';

/** A run takes seconds; one that takes this long on a busy machine hangs. */
const RUN_MS = 120_000;

export interface LoopProject extends Project {
  server: ModelServer;
  /** `ralph <args>` with the scripted model, to its end. */
  loop(...args: string[]): Promise<Ran>;
  /** The same, left running. */
  begin(...args: string[]): Started;
  /** Command lines of processes that carry a marker of this project's attempts. */
  leftovers(): string[];
  /** Ends what is left of this project, by pid, and removes it. */
  close(): Promise<void>;
}

export interface LoopOptions extends ProjectOptions {
  script: ModelScript;
  /** Ids of the tasks; the list is `ralph/tasks.json`. Without one there is no list. */
  tasks: string[];
  /** Fields that every story has beside the usual ones. */
  fields?: Record<string, unknown>;
  env?: Record<string, string>;
  /** Default Claude Code. */
  cli?: CliName;
  /** Others that can be started beside it, with the same model server as their provider. */
  others?: CliName[];
}

export async function loopProject({
  script,
  tasks,
  fields,
  env,
  cli = 'claude',
  others = [],
  ...rest
}: LoopOptions): Promise<LoopProject> {
  const server = await startModelServer(script);
  const list =
    tasks.length === 0 ? {} : { 'ralph/tasks.json': taskList(tasks.map((id) => story(id, fields))) };
  const project = makeProject({ ...rest, files: { ...list, ...rest.files } });
  const homes = [...others, cli].map((name) => homeOf(name, server.url, project.home));
  const clean = Object.assign({}, ...homes) as Record<string, string>;
  const path = [...[cli, ...others].map((name) => dirname(programOf(name))), clean.PATH].join(':');
  const options = { env: { ...clean, PATH: path, ...env }, timeoutMs: RUN_MS };
  const begun: Started[] = [];
  const marked = () =>
    (existsSync(join(project.dir, '.ralph-sessions')) ? facts(project, 'attempt.started') : []).flatMap(
      ({ marker }) => findByMarker({ name: 'RALPH_MARKER', value: marker }),
    );
  return {
    ...project,
    server,
    loop: (...args) => project.ralph(args, options),
    begin(...args) {
      const started = project.start(args, options);
      begun.push(started);
      return started;
    },
    leftovers: () => marked().map(({ command }) => command),
    async close() {
      for (const { child } of begun) if (child.exitCode === null) child.kill('SIGKILL');
      for (const { pid } of marked()) process.kill(pid, 'SIGKILL');
      await server.close();
      project.remove();
    },
  };
}

/** What a model does for a task: writes `<id>.txt`, commits it, and says so. */
export function works(id: string): Turn[] {
  return [
    {
      text: `I write ${id}.txt.`,
      write: { path: `${id}.txt`, content: `made ${id}\n` },
      usage: { input: 700, output: 30, cacheRead: 5000, cacheWrite: 200 },
    },
    { run: `git add ${id}.txt && git commit -qm "feat: ${id}"`, usage: { input: 311, output: 23 } },
    claims(),
  ];
}

/** The last words of a model that says it is done. */
export function claims(): Turn {
  return { text: 'All of it is done.\n\n<promise>COMPLETE</promise>', usage: { input: 97, output: 11 } };
}

/** Fits the prompt of an executor or reviewer at this task. */
export function task(id: string): RegExp {
  return new RegExp(`Task \`${id}\``);
}

/** Claude Code's own closing words of an iteration, from the raw log. */
export function resultOf(
  project: Project,
  iteration: number,
): { total_cost_usd: number; session_id: string } {
  const log = join(sessionDir(project), 'logs', `iteration-${String(iteration).padStart(3, '0')}.log`);
  const line = readFileSync(log, 'utf8')
    .split('\n')
    .findLast((text) => text.includes('"type":"result"'));
  return JSON.parse(line ?? '{}');
}

/** Runs until it is killed, outside the process group too, and deaf to SIGTERM; `$HOME/started` tells that it runs. */
export const ENDLESS: Turn = {
  run: 'setsid tail -f /dev/null & trap "" TERM; echo $$ > "$HOME/started"; tail -f /dev/null',
};

/** A turn that is refused as by a used-up subscription, until a time some seconds after the first try. */
export function limitedFor(seconds: number, turn: Turn): { turn: Turn; resetsAt(): number } {
  let at = 0;
  return {
    turn: {
      ...turn,
      get fault(): Fault[] {
        at ||= Math.ceil(Date.now() / 1000) + seconds;
        return Date.now() < at * 1000 ? [subscriptionLimit(at)] : [];
      },
    },
    /** Epoch ms. */
    resetsAt: () => at * 1000,
  };
}

/** The environment of somebody who is logged in with a subscription. */
export const SUBSCRIBED = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'scripted' };
