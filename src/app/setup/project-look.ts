/**
 * What a project tells about itself, in one look that walks no tree: its tools, the commands that can
 * prove work, its task lists, its agents and where git stands. `ralph init` writes a configuration from it.
 */
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { findAgents } from '../../agents/index.ts';
import { Problem } from '../../core/index.ts';
import { readHead, unfinishedOperation } from '../../repo/index.ts';
import { loadSettings } from '../config.ts';
import type { Place } from '../place.ts';
import { type Folder, openFolder } from './folder.ts';
import { type FoundList, findLists, loopFiles } from './lists.ts';
import { lookAtNode } from './node.ts';
import { type Finding, oneOfEach, type ProposedGate } from './proposal.ts';
import { lookAtPython } from './python.ts';
import { lookAtShell } from './shell.ts';
import { lookAtTaskRunners } from './task-runners.ts';
import { lookAtToolchains } from './toolchains.ts';

export interface ProjectLook {
  /** Absolute folder that is configured. */
  dir: string;
  /** The folder from the top of the work tree; empty at the top. */
  below: string;
  /** What it is, e.g. `Node project (npm)`; empty where nothing was recognised. */
  kinds: string[];
  gates: ProposedGate[];
  lists: FoundList[];
  loopFiles: string[];
  agents: { name: string; program: string }[];
  git: GitLook;
  /** Something lies here beside what a run takes as its input. */
  holdsFiles: boolean;
  /** Whole sentences worth knowing. */
  notes: string[];
}

export interface GitLook {
  isRepository: boolean;
  /** null: detached, or no repository. */
  branch: string | null;
  hasCommits: boolean;
  /** An unfinished merge, rebase or bisect; null: none. */
  operation: string | null;
}

/** Files that make a folder a project of its own inside a larger repository. */
const MANIFESTS = [
  'package.json',
  'pyproject.toml',
  'setup.py',
  'go.mod',
  'Cargo.toml',
  'pom.xml',
  'mix.exs',
];

/**
 * The folder that a set-up is about: the nearest one upwards that has a configuration or a manifest of
 * its own, so that a call in `packages/api/src` means `packages/api`; else the place's.
 */
export function setupFolder(place: Place): string {
  const { root, cwd } = place.project;
  for (let at = cwd; at !== root && at !== place.dir && dirname(at) !== at; at = dirname(at)) {
    if (MANIFESTS.some((name) => existsSync(join(at, name)))) return at;
  }
  return place.dir;
}

/** Looks at the project in `dir`, a folder of the place. */
export async function lookAtProject(
  place: Place,
  dir: string,
  env: Record<string, string>,
): Promise<ProjectLook> {
  const { root } = place.project;
  const folder = openFolder(dir);
  const lists = findLists(folder);
  const inputs = new Set([
    '.git',
    '.gitignore',
    'ralph.yml',
    'ralph',
    '.ralph',
    ...lists.map(({ path }) => path),
  ]);
  const declared = [lookAtNode(folder, root), lookAtPython(folder), ...lookAtToolchains(folder)];
  const found: Finding[] = [...declared, ...lookAtTaskRunners(folder), lookAtShell(folder)];
  const gates = oneOfEach(found);
  const kinds = found.flatMap(({ kind }) => kind ?? []);
  const inner = gates.length === 0 ? projectsBelow(folder) : [];
  const notes = found.flatMap((finding) => finding.notes);
  if (inner.length > 0) {
    notes.push(
      `No command to prove work is declared here, but projects lie below: ${inner.join(', ')}. To work in one of them: ralph init -C ${inner[0]}`,
    );
  }
  return {
    dir,
    below: relative(root, dir),
    kinds,
    gates,
    lists,
    loopFiles: loopFiles(folder),
    agents: [...findAgents(env), ...(await ownAgents(place, dir, env))],
    git: await gitLook(place, env),
    holdsFiles: folder.names().some((name) => !inputs.has(name)),
    notes,
  };
}

const MOST_FOLDERS = 200;
const MOST_TOLD = 8;

/** Folders one and two below that are projects: a monorepo without a workspace file at its top. */
function projectsBelow(folder: Folder): string[] {
  const isProject = (path: string) => MANIFESTS.some((name) => existsSync(join(folder.dir, path, name)));
  const visible = (names: string[]) =>
    names.filter((name) => !name.startsWith('.') && name !== 'node_modules').slice(0, MOST_FOLDERS);
  const found: string[] = [];
  for (const name of visible(folder.names())) {
    if (isProject(name)) found.push(name);
    else if (['packages', 'apps', 'services', 'libs', 'crates', 'modules'].includes(name)) {
      found.push(
        ...visible(folder.names(name)).flatMap((each) =>
          isProject(`${name}/${each}`) ? `${name}/${each}` : [],
        ),
      );
    }
  }
  return found.slice(0, MOST_TOLD);
}

/** Agents that the user's own configuration describes for every project; none where it cannot be read. */
async function ownAgents(
  place: Place,
  dir: string,
  env: Record<string, string>,
): Promise<{ name: string; program: string }[]> {
  try {
    const { settings } = await loadSettings({ place: { ...place, dir }, env, flags: {}, session: null });
    return Object.entries(settings.agents).map(([name, { command }]) => ({
      name,
      program: command.join(' '),
    }));
  } catch (error) {
    // What is wrong with a configuration is told by the doctor and by a run, with its place.
    if (error instanceof Problem) return [];
    throw error;
  }
}

async function gitLook({ project }: Place, env: Record<string, string>): Promise<GitLook> {
  const { root, gitDir, commonDir } = project;
  if (gitDir === null || commonDir === null) {
    return { isRepository: false, branch: null, hasCommits: false, operation: null };
  }
  const { head, branch } = await readHead({ root, gitDir, commonDir }, env);
  const operation = unfinishedOperation(gitDir);
  return { isRepository: true, branch, hasCommits: head !== null, operation };
}
