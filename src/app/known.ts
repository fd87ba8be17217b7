/**
 * The names a person can mean at this moment: sessions, tasks, questions, iterations, roles, topics, teams,
 * agents and task files. For completions, which must never fail and never say anything.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BUILT_IN_ROLES, hiredRoles, openQuestions, TEAMS } from '../core/index.ts';
import { defaultTaskFiles } from '../dialects/index.ts';
import { readLoops } from '../store/index.ts';
import { count, interventionTypes } from '../views/index.ts';
import { BUILT_IN_AGENTS } from './agents.ts';
import { openKnowledge } from './knowledge.ts';
import { knownLoops } from './known-loops.ts';
import { MAIN_LOOP } from './loop-name.ts';
import { findPlace } from './place.ts';
import { taskState } from './task-state.ts';
import { allSessions, openState } from './windows.ts';

export interface KnownName {
  value: string;
  /** One line for the person who chooses; may be empty. */
  about: string;
}

export interface KnownWhere {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** The session that is meant; the open one where none is named. */
  session?: string;
}

export const KNOWN = {
  sessions: async ({ cwd }) => {
    const sessions = (await allSessions(cwd)).map(({ state }) => ({
      value: state.session?.id ?? '',
      about: state.session?.objective || count(state.tasks.size, 'task'),
    }));
    const loops = await knownLoops((await findPlace(cwd)).mainDir);
    if (loops.every(({ name }) => name === MAIN_LOOP)) return sessions;
    return [
      ...sessions,
      ...loops.map(({ name, live }) => ({ value: `@${name}`, about: live ? 'a loop, runs now' : 'a loop' })),
    ];
  },
  tasks: async ({ cwd, env, session }) =>
    [...(await taskState({ cwd, env, session })).state.tasks.values()].map(({ def, status }) => ({
      value: def.id,
      about: `${status}: ${def.title}`,
    })),
  questions: async ({ cwd, session }) =>
    openQuestions((await openState(cwd, session)).state).map(({ question }) => ({
      value: question.id,
      about: question.text,
    })),
  options: async ({ cwd, session }) =>
    openQuestions((await openState(cwd, session)).state).flatMap(({ question }) =>
      question.options.map(({ key, text }) => ({ value: key, about: text })),
    ),
  iterations: async ({ cwd, session }) =>
    [...(await openState(cwd, session)).state.attempts.entries()]
      .reverse()
      .map(([iteration, { item }]) => ({ value: String(iteration), about: `${item.mode} ${item.subject}` })),
  roles: async ({ cwd, session }) => {
    const { policy } = (await openState(cwd, session)).state;
    const hired = policy === null ? [] : hiredRoles(policy);
    return [{ value: 'ALL', about: 'every role' }, ...hired.map((value) => ({ value, about: '' }))];
  },
  topics: async ({ cwd, session }) => {
    const { topics } = (await openState(cwd, session)).state;
    return [...new Set(topics.map(({ topic }) => topic))].map((value) => ({ value, about: '' }));
  },
  notes: async ({ cwd, session }) => {
    const { staged, docs } = (await openKnowledge(cwd, session)).knowledge;
    return [...staged, ...docs].map(({ path, title }) => ({ value: path, about: title }));
  },
  interventions: async () => interventionTypes().map((value) => ({ value, about: '' })),
  teams: async (where) => [
    ...['auto', ...Object.keys(TEAMS)].map((value) => ({ value, about: TEAM_WORDS[value] ?? '' })),
    ...(await configured(where, 'teams')),
  ],
  agents: async (where) => [
    { value: 'auto', about: 'the first that is installed' },
    ...BUILT_IN_AGENTS.map((value) => ({ value, about: 'comes with ralph' })),
    ...(await configured(where, 'agents')),
  ],
  loops: async ({ cwd }) =>
    readLoops((await findPlace(cwd)).mainDir)
      .filter(({ standing }) => standing !== 'removed')
      .map(({ id, standing }) => ({ value: id, about: standing.replace('_', ' ') })),
  followed: async ({ cwd }) =>
    (await knownLoops((await findPlace(cwd)).mainDir)).map(({ name, live }) => ({
      value: name,
      about: live ? 'runs now' : 'does not run',
    })),
  hats: async (where) => [
    ...BUILT_IN_ROLES.map((value) => ({ value, about: 'a built-in role' })),
    ...(await configured(where, 'roles')),
    ...(await configured(where, 'hats')),
  ],
  taskFiles: async ({ cwd }) => {
    const { dir } = await findPlace(cwd);
    const present = defaultTaskFiles.filter((path) => existsSync(join(dir, path)));
    return present.map((value) => ({ value, about: 'task list' }));
  },
} satisfies Record<string, (where: KnownWhere) => Promise<KnownName[]>>;

/** What can be named. */
export type KnownKind = keyof typeof KNOWN;

/** The names of one kind; none where there is no project, no session, or nothing that can be read. */
export async function known(kind: KnownKind, where: KnownWhere): Promise<KnownName[]> {
  try {
    const names = await KNOWN[kind](where);
    return names.filter(({ value }) => value !== '');
  } catch {
    return [];
  }
}

const TEAM_WORDS: Record<string, string> = {
  auto: 'pair for a reviewed list, else solo',
  solo: 'one agent implements',
  pair: 'one implements, one reviews',
  full: 'plans, implements, reviews, learns',
};

/** Names that ralph.yml defines; none while it has a mistake. */
async function configured(
  { cwd, env }: KnownWhere,
  section: 'teams' | 'agents' | 'roles' | 'hats',
): Promise<KnownName[]> {
  const { loadConfig } = await import('../config/index.ts');
  const { dir } = await findPlace(cwd);
  const loaded = await loadConfig({ projectDir: dir, env, flags: {} }).catch(() => null);
  return Object.keys(loaded?.config[section] ?? {}).map((value) => ({ value, about: 'from ralph.yml' }));
}
