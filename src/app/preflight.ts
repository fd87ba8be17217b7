/**
 * What must hold on this machine and in this configuration before any agent is started. Everything that
 * fails is told at once, each with its fix; nothing here costs money or changes a file.
 */
import { access, constants, mkdir } from 'node:fs/promises';
import type { Settings } from '../config/index.ts';
import { type Policy, type ProblemFacts, TEAMS } from '../core/index.ts';
import type { Agent, Ground } from '../engine/index.ts';
import { missingIdentity } from '../repo/index.ts';
import type { Place } from './place.ts';

export interface PreflightRequest {
  place: Place;
  settings: Settings;
  /** Keys that are set and that nothing carries out yet: they would silently be without effect. */
  notYet: ProblemFacts[];
  policy: Policy;
  ground: Ground;
  agent: Agent;
  env: Record<string, string>;
  /** Dirty paths that are neither inputs of ours nor leftovers of an earlier attempt. */
  strangeDirt: string[];
  allowDetached: boolean;
}

export async function preflight(request: PreflightRequest): Promise<ProblemFacts[]> {
  const { place, settings, ground, agent } = request;
  const found = [...teamProblems(request.policy), ...request.notYet, ...(await agent.check())];
  found.push(...(await folderProblems(place)));
  if (!settings.git) return found;
  if (!ground.hasGit || place.project.gitDir === null) return [...found, noRepository(place)];
  const operation = await ground.operation();
  if (operation !== null) found.push(unfinished(operation));
  const { head, branch } = await ground.head();
  if (branch === null && head !== null && !request.allowDetached) found.push(detached(head));
  if (request.strangeDirt.length > 0 && !settings.allowDirty) found.push(dirty(request.strangeDirt));
  if (request.policy.commit !== 'none' && request.policy.commit !== 'agent') {
    const complaint = await missingIdentity(ground.root, request.env);
    if (complaint !== null) found.push(noIdentity(complaint));
  }
  return found;
}

const PLAYABLE = new Set(['implement', 'review-fix', 'TASK_REVIEW']);

function teamProblems({ team, modes, parallel }: Policy): ProblemFacts[] {
  const missing = modes.filter((mode) => !PLAYABLE.has(mode));
  const found: ProblemFacts[] = [];
  if (missing.length > 0) {
    found.push({
      code: 'team.not_available',
      what: `The team "${team}" hires modes that this version cannot play: ${missing.slice(0, 4).join(', ')}${missing.length > 4 ? ' …' : ''}.`,
      why: 'Planning, session review and knowledge are not built yet; running without them would not be what you asked for.',
      fix: `Use --team solo or --team pair (${TEAMS.pair!.join(', ')}).`,
    });
  }
  if (Math.max(parallel.executors, parallel.reviewers) > 1) {
    found.push({
      code: 'parallel.not_available',
      what: 'More than one agent at a time was asked for.',
      why: 'Agents side by side need a work tree each, which this version does not make yet.',
      fix: 'Leave --parallel away.',
    });
  }
  return found;
}

async function folderProblems({ dir, mainDir }: Place): Promise<ProblemFacts[]> {
  const found: ProblemFacts[] = [];
  for (const folder of new Set([dir, mainDir])) {
    try {
      await mkdir(folder, { recursive: true });
      await access(folder, constants.W_OK);
    } catch {
      found.push({
        code: 'folder.read_only',
        what: `${folder} cannot be written.`,
        why: 'The session, the desk and the task list lie there.',
        fix: 'Make the folder writable for this user, or run as its owner.',
      });
    }
  }
  return found;
}

const noRepository = ({ dir }: Place): ProblemFacts => ({
  code: 'git.no_repository',
  what: `${dir} is not in a git repository.`,
  why: 'Ralph proves work by what changed, and lands it as commits.',
  fix: 'Run `git init` and commit what is there, or work without commits: --no-git.',
});

const unfinished = (operation: string): ProblemFacts => ({
  code: 'git.unfinished',
  what: `A ${operation} is in progress.`,
  why: 'Commits made now would become part of it.',
  fix: `Finish it, or give it up with \`git ${operation} --abort\`${operation === 'bisect' ? ' (`git bisect reset`)' : ''}.`,
});

const detached = (head: string): ProblemFacts => ({
  code: 'git.detached',
  what: `HEAD is detached at ${head.slice(0, 10)}.`,
  why: 'Commits made there belong to no branch and are easily lost.',
  fix: 'Check out a branch (`git switch -c NAME`), or insist with --allow-detached.',
});

function dirty(paths: string[]): ProblemFacts {
  const shown = paths.slice(0, 10).join(', ');
  const more = paths.length > 10 ? ` and ${paths.length - 10} more` : '';
  return {
    code: 'git.dirty',
    what: `The work tree has changes that no attempt made: ${shown}${more}.`,
    why: "They could not be told from the agent's work.",
    fix: 'Commit them, or keep them out of it with --allow-dirty (they are then never committed nor counted).',
  };
}

const noIdentity = (complaint: string): ProblemFacts => ({
  code: 'git.no_identity',
  what: 'git does not know who commits.',
  why: complaint,
  fix: 'git config user.name "…" && git config user.email "…", or `commit: none` in ralph.yml.',
});
