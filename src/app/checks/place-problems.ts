/** The words for what can be wrong with a place: what is, why it matters, what to do. */
import { type ProblemFacts, refusalOf, shellWord } from '../../core/index.ts';
import type { Place } from '../place.ts';

export const readOnly = (folder: string, error: unknown): ProblemFacts => {
  const { why, fix } = refusalOf(error) ?? {
    why: (error as Error).message,
    fix: 'Make the folder writable for this user, or run as its owner.',
  };
  return {
    code: 'folder.read_only',
    what: `${folder} cannot be written.`,
    why: `The session, the desk and the task list lie there. ${why}`,
    fix,
  };
};

export const littleRoom = (free: string): ProblemFacts => ({
  code: 'disk.little_room',
  what: `Only ${free} on this disk.`,
  why: 'Transcripts, snapshots and builds of a night need room; a full disk stops the run.',
  fix: 'Free some space. Old sessions go with `ralph archive`, or by removing their folders.',
});

export const noRepository = ({ dir }: Place): ProblemFacts => ({
  code: 'git.no_repository',
  what: `${dir} is not in a git repository.`,
  why: 'Ralph proves work by what changed, and lands it as commits.',
  fix: 'Run `git init` and commit what is there, or work without commits: --no-git.',
});

/** In a loop's work tree it is said where: the person stands somewhere else. */
export function unfinished(operation: string, { ground, project }: Place): ProblemFacts {
  const git = ground === '.' ? 'git' : `git -C ${shellWord(project.root)}`;
  return {
    code: 'git.unfinished',
    what: `A ${operation} is in progress${ground === '.' ? '' : ` in ${project.root}`}.`,
    why: 'Commits made now would become part of it, and what it changed cannot be told from other work.',
    fix:
      operation === 'bisect'
        ? `End it with \`${git} bisect reset\`.`
        : `Finish it (resolve, \`${git} add\`, \`${git} ${operation} --continue\`), or give it up with \`${git} ${operation} --abort\`.`,
  };
}

export const indexLock = (file: string): ProblemFacts => ({
  code: 'git.index_locked',
  what: `${file} is there.`,
  why: 'Another git is writing now, or one was killed; a commit waits for it half a minute, then fails.',
  fix: `If no git is at work here, remove it: rm ${JSON.stringify(file)}`,
});

export const detached = (head: string): ProblemFacts => ({
  code: 'git.detached',
  what: `HEAD is detached at ${head.slice(0, 10)}.`,
  why: 'Commits made there belong to no branch and are easily lost.',
  fix: 'Check out a branch (`git switch -c NAME`), or insist with --allow-detached.',
});

export const noIdentity = (complaint: string): ProblemFacts => ({
  code: 'git.no_identity',
  what: 'git does not know who commits.',
  why: complaint,
  fix: 'git config user.name "…" && git config user.email "…", or `commit: none` in ralph.yml.',
});

export const noHooksFolder = (folder: string): ProblemFacts => ({
  code: 'git.no_hooks_folder',
  what: `core.hooksPath names ${folder}, which is not there.`,
  why: 'git then runs no hook at all and says nothing, so commits skip what the project relies on.',
  fix: "Run the project's own set-up (often installing its packages), or unset core.hooksPath.",
});

export const deadHook = (file: string): ProblemFacts => ({
  code: 'git.dead_hook',
  what: `The hook ${file} is not executable.`,
  why: 'git passes it by, so commits skip what it would check.',
  fix: `chmod +x ${JSON.stringify(file)}, or remove it.`,
});

export const unsigned = (complaint: string): ProblemFacts => ({
  code: 'git.cannot_sign',
  what: 'commit.gpgsign is set, and a signed commit could not be made.',
  why: `${complaint.slice(0, 500)} Nobody can type a pass phrase while you are away, so no task could be committed.`,
  fix: 'Unlock the key before the run and let its agent remember it, or for this repository: git config commit.gpgsign false',
});

export const working = (pid: number): ProblemFacts => ({
  code: 'lock.held',
  what: `A run is working here now (pid ${pid}).`,
  why: 'The agent and the gates are not tried meanwhile: they would work in the same files.',
  fix: 'Look on with `ralph status`, or wait for its end and run `ralph doctor` again.',
});

export const foreignLock = ({ host, lastSeenAt }: { host: string; lastSeenAt: number }): ProblemFacts => ({
  code: 'lock.foreign',
  what: `A run on another machine (${host}) holds this work tree.`,
  why: `It was last seen ${new Date(lastSeenAt).toISOString()}; from here nobody can tell whether it is alive.`,
  fix: 'Wait for it. If that machine is gone: ralph run --force',
});

export const staleLock = (pid: number): ProblemFacts => ({
  code: 'lock.stale',
  what: `A run that is gone (pid ${pid}) left its lock.`,
  why: 'It crashed or was killed; nothing is lost.',
  fix: 'Nothing to do: the next `ralph run` takes the lock over and goes on.',
});

export const orphans = (session: string, pids: number[]): ProblemFacts => ({
  code: 'leftovers.processes',
  what: `Processes of session ${session} are still running: ${pids.slice(0, 10).join(', ')}.`,
  why: 'The run that started them is gone; they may go on changing files.',
  fix: 'The next `ralph run` ends them. Or end them by their numbers yourself.',
});

export const openDesk = (file: string): ProblemFacts => ({
  code: 'leftovers.question',
  what: `${file} waits for a person.`,
  why: 'An earlier run stopped with a question.',
  fix: '`ralph inbox` shows it; `ralph answer` or the file itself answers it.',
});
