/** Checks of a start: what the configuration asks for, who is to work, on which list, in which tree. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AgentInfo } from '../../agents/index.ts';
import type { Settings } from '../../config/index.ts';
import { type Policy, type ProblemFacts, pathWord } from '../../core/index.ts';
import type { Agent, ListReading } from '../../engine/index.ts';
import { unfinishedOperation } from '../../repo/index.ts';
import { inspectNamed } from '../agents.ts';
import { emptyProblem } from '../empty-list.ts';
import { awakeProblems } from '../keep-awake.ts';
import { movedHere } from '../loops/astray.ts';
import type { Place } from '../place.ts';
import { sandboxProblems } from '../sandbox.ts';
import { unknownProblems } from '../unknown-events.ts';
import { noListFacts } from '../which-list.ts';
import type { Check, Findings } from './check.ts';
import type { PlaceSubject } from './place.ts';

export interface StartSubject extends PlaceSubject {
  settings: Settings;
  policy: Policy;
  /** Keys that are set and that nothing carries out yet: they would silently be without effect. */
  notYet: ProblemFacts[];
  /** Where each key of the configuration got its value: `default`, a line of a file, a variable or a flag. */
  origin: ReadonlyMap<string, string>;
  /** Odd things of the configuration that work, one sentence each. */
  warnings: string[];
  /** null: none could be chosen, which was told already. */
  agent: Agent | null;
  /** Who plays hired roles in its place, with the roles each plays. */
  players: { agent: Agent; roles: string[] }[];
  /** Who takes over from them. */
  standIns: Agent[];
  /** Asked only by the doctor: it costs two child processes. */
  inspect(): Promise<AgentInfo>;
  /** Dirty paths that are neither inputs of ours nor leftovers of an earlier attempt. */
  strangeDirt: string[];
  taskPath: string | null;
  reading: ListReading | null;
}

export const START_CHECKS: Check<StartSubject>[] = [
  {
    name: 'configuration',
    inRun: true,
    look({ notYet, warnings }) {
      const odd = warnings.map((what) => ({
        code: 'config.odd',
        what,
        why: 'It works, but may not be what you meant.',
        fix: '`ralph config --origin` shows every value and where it comes from.',
      }));
      return { what: 'read without a problem', failures: notYet, warnings: odd };
    },
  },
  { name: 'team', inRun: true, look: lookAtTeam },
  {
    name: 'agent',
    inRun: true,
    async look({ agent }) {
      if (agent === null) return null;
      return { what: `${agent.name} can be started`, failures: await agent.check() };
    },
  },
  {
    name: 'roles',
    inRun: true,
    async look({ players }) {
      if (players.length === 0) return null;
      const found = await Promise.all(
        players.map(async ({ agent, roles }) => (await agent.check()).map((facts) => asRole(facts, roles))),
      );
      const who = players.map(({ agent, roles }) => `${agent.name} can be started as ${roles.join(' and ')}`);
      return { what: who.join('; '), failures: found.flat() };
    },
  },
  {
    name: 'sandbox',
    inRun: true,
    async look({ settings, env }) {
      if (settings.sandbox === 'none') return null;
      const failures = await sandboxProblems(settings.sandbox, env);
      return { what: 'agents run inside of it; gates run outside', failures };
    },
  },
  {
    name: 'keep awake',
    inRun: false,
    async look({ settings, env }) {
      if (!settings.keepAwake) return null;
      const warnings = await awakeProblems(env);
      return { what: 'this machine does not fall asleep while a run is at work', warnings };
    },
  },
  {
    name: 'login',
    inRun: false,
    async look({ agent, inspect }) {
      if (agent === null) return null;
      const { title, version, loggedIn, login, program } = await inspect();
      if (program === null) return null;
      if (loggedIn === false) return { what: '', failures: [loggedOut(agent.name, login ?? '')] };
      const which = version === null ? title : `${title} ${version}`;
      return {
        what: loggedIn === true ? `${which}, logged in` : `${which}: only a real start shows its login`,
      };
    },
  },
  {
    name: 'streams',
    inRun: false,
    async look({ place, settings, env, agent }) {
      if (agent === null) return null;
      const warnings = await unknownProblems(
        place.mainDir,
        async (name) => (await inspectNamed(settings, name, env)).version,
      );
      return { what: 'all that agents told in the last two weeks was understood', warnings };
    },
  },
  {
    name: 'permissions',
    inRun: true,
    look({ policy, agent, players, standIns }) {
      if (policy.permissions === undefined || agent === null) return null;
      const agents = [agent, ...players.map((player) => player.agent), ...standIns];
      const deaf = [
        ...new Set(agents.filter(({ capabilities }) => !capabilities.permissions).map(({ name }) => name)),
      ];
      const failures = deaf.length === 0 ? [] : [cannotBeAsked(deaf)];
      return { what: 'rules hold for what the agent asks for', failures };
    },
  },
  { name: 'tasks', inRun: false, look: lookAtTasks },
  {
    name: 'task file',
    inRun: true,
    look({ taskPath, cwd }) {
      if (taskPath === null) return null;
      const stat = statSync(resolve(cwd, taskPath), { throwIfNoEntry: false });
      if (stat === undefined || (stat.mode & 0o222) !== 0) return null;
      return { what: '', failures: [writeProtected(taskPath)] };
    },
  },
  {
    name: 'work tree',
    inRun: true,
    async look({ git, strangeDirt, settings, place }) {
      if (!git) return null;
      const { gitDir } = place.project;
      // What a merge brought is no work to commit by itself; `repository` tells to finish it first.
      if (gitDir !== null && unfinishedOperation(gitDir) !== null) return null;
      const refused = strangeDirt.length > 0 && !settings.allowDirty;
      const failures = refused ? [dirty(strangeDirt, await movedHere(place))] : [];
      return { what: 'no uncommitted change that no attempt made', failures };
    },
  },
  {
    name: 'channels',
    inRun: false,
    // A channel that is configured and not carried out is told by `configuration`.
    look: () => ({ what: 'questions wait in ralph/decide.txt and for `ralph answer`; no chat is connected' }),
  },
];

function cannotBeAsked(names: string[]): ProblemFacts {
  return {
    code: 'permissions.not_asked',
    what: `permissions asks or denies, and ${names.join(', ')} ${names.length === 1 ? 'asks' : 'ask'} nobody before a command.`,
    why: 'The rules would hold nothing: this agent is started without permission prompts of its own.',
    fix: 'Take an agent that asks (claude, codex, `acp:<command>`; `ralph agents` shows which do), shut it into a `sandbox`, or set permissions back to allow.',
  };
}

function lookAtTeam({ policy, settings }: StartSubject): Findings {
  const { team, modes, parallel } = policy;
  const failures: ProblemFacts[] = [];
  if (settings.parallel.asked && settings.parallel.executors > parallel.executors) {
    failures.push({
      code: 'parallel.not_available',
      what: 'More than one agent at a time was asked for.',
      why: 'Agents side by side need a git work tree each, and the commits of ralph bring their work together: that takes a git repository, `parallel.worktrees: true` and `commit: auto`.',
      fix: 'Leave --parallel away, or change what forbids it.',
    });
  }
  return { what: `${team}: ${modes.join(', ')}`, failures };
}

/** Not in a run: there the list is read when the run is planned, and an objective can stand in for it. */
function lookAtTasks({ place, taskPath, reading }: StartSubject): Findings {
  if (taskPath === null || reading === null) return { what: '', warnings: [noList(place)] };
  if (reading.kind === 'unreadable') return { what: '', failures: [reading.problem] };
  if (reading.kind !== 'list') return { what: '', failures: [emptyProblem(taskPath, reading)] };
  const done = reading.tasks.filter(({ status }) => status === 'done').length;
  const odd = reading.warnings.map((what) => ({
    code: 'tasks.odd',
    what,
    why: 'The list was read, but this place is worth a look.',
    fix: `\`ralph tasks\` shows how ${taskPath} is read.`,
  }));
  const open = reading.tasks.length - done;
  return {
    what: `${taskPath}: ${open} open, ${done} done${open === 0 ? '; nothing is left to do' : ''}`,
    warnings: odd,
  };
}

const noList = (place: Place): ProblemFacts => ({
  code: 'tasks.none',
  what: 'No task list was found: a run has to be told what you want.',
  ...noListFacts({ place, cwd: place.dir, command: 'ralph run' }),
});

const loggedOut = (name: string, login: string): ProblemFacts => ({
  code: 'agent.logged_out',
  what: `The agent "${name}" is not logged in.`,
  why: 'Every start would end with a refused login.',
  fix: login,
});

const asRole = (facts: ProblemFacts, roles: string[]): ProblemFacts => ({
  ...facts,
  why: `${facts.why} It plays ${roles.join(' and ')} here (roles.${roles[0]}.agent).`,
});

const writeProtected = (path: string): ProblemFacts => ({
  code: 'tasks.read_only',
  what: `${path} is write-protected.`,
  why: 'Finished tasks are marked in it; an agent would be paid for work that cannot be marked.',
  fix: `Make it writable: chmod u+w ${path}`,
  at: path,
});

/** The refusal to begin over work that nobody claims. `back`: what to do first, as the branch was moved under its files. */
export function dirty(paths: string[], back: string | null): ProblemFacts {
  const shown = paths.slice(0, 10).map(pathWord).join(', ');
  const more = paths.length > 10 ? ` and ${paths.length - 10} more` : '';
  return {
    code: 'git.dirty',
    what: `The work tree has changes that no attempt made: ${shown}${more}.`,
    why: "They could not be told from the agent's work.",
    fix:
      back !== null
        ? `${back} Then look with \`git status\` what is left.`
        : 'Commit them, or keep them out of it with --allow-dirty (Ralph then commits none of them and counts them for no task).',
  };
}
