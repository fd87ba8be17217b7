/** A merge on its way in: what its commit says, how the gates speak of it, and the words for one that cannot be made. */
import { pathWords, printable, shellWord } from '../core/index.ts';
import { type Ends, type Landed, type Landing, parked, shortName } from './landing.ts';

/** `more`: trailers beside those of the loop. */
export function messageOf({ loop, request: { title, trailers } }: Landed, more: readonly string[] = []) {
  const line = title.split('\n')[0]!.replace(/\s+/g, ' ').trim().slice(0, 64);
  const subject = `Merge loop ${loop.id}${line === '' ? '' : `: ${line}`}`;
  return `${subject}\n\n${[`Ralph-Loop: ${loop.id}`, ...trailers, ...more].join('\n')}\n`;
}

/** What git says of it, in which names stand as they are. */
export function gitWords(said: readonly string[]): string {
  const more = said.length > 5 ? ` and ${said.length - 5} more` : '';
  const shown = said.slice(0, 5).map((words) => printable(words).replace(/\s+/g, ' '));
  return `${shown.join(', ')}${more}`;
}

/** A conflict that is no file's, in git's words. */
export function apart({ loop, again }: Landed, beyond: readonly string[]): Landing {
  const onto = shortName(loop.onto);
  return parked(
    `it and ${onto} do not fit together, though no single file is in conflict: ${gitWords(beyond)}`,
    `In ${loop.worktree}: git merge ${shellWord(onto)}, put the files where they belong and commit. Then ${again}.`,
  );
}

/** `besides`: what was tried, as the end of the sentence; `first`: what comes before all; `more`: what else there is to know. */
export function conflict(
  { loop, again }: Landed,
  files: readonly string[],
  { besides = '', first = '', more = '' } = {},
): Landing {
  const onto = shortName(loop.onto);
  return parked(
    `it and ${onto} change the same places of ${pathWords(files)}${besides}`,
    `${first}In ${loop.worktree}: git merge ${shellWord(onto)}, settle the conflict and commit. Then ${again}.${more}`,
    files,
  );
}

export function failed({ loop, again }: Landed, why: string): Landing {
  const [branch, onto] = [shortName(loop.branch), shortName(loop.onto)];
  const next = `Repair what git says, or merge it yourself: git merge ${branch}. Then ${again}.`;
  return parked(`git could not merge it with ${onto}: ${why}`, next);
}

/** A merge of what was made, heard by the hooks of the user's; a landing where they do not let it pass. */
export async function mergeOf(
  landing: Landed,
  { base, tip }: Pick<Ends, 'base' | 'tip'>,
  { tree, root, more = [] }: { tree: string; root: string; more?: readonly string[] },
): Promise<{ commit: string } | { failed: string } | Landing> {
  const { git, request, again } = landing;
  const message = messageOf(landing, more);
  const { signal } = request;
  const made = await git.commitMerge({ root, tree, parents: [base, tip], message, signal });
  if (!('kind' in made)) return made;
  if (made.kind === 'interrupted') return interrupted(again);
  const [branch, onto] = [shortName(landing.loop.branch), shortName(landing.loop.onto)];
  return parked(
    `hook ${made.hook} does not let its merge with ${onto} pass: ${made.why}`,
    `Repair what it says, or merge it yourself: git merge ${branch}. Then ${again}.`,
  );
}

export const interrupted = (again: string): Landing => ({
  kind: 'queued',
  why: 'it was interrupted',
  next: `${again} lands it.`,
});

/** Runs the required gates on what the integration branch would be; the words of the first one that objects, or null. */
export async function objection(
  { loop, request }: Landed,
  tree?: string,
): Promise<string | 'interrupted' | null> {
  const onto = shortName(loop.onto);
  for (const name of request.gates.required) {
    if (request.signal?.aborted) return 'interrupted';
    request.say(`Loop ${loop.id} lands: gate ${name} runs on what ${onto} would be.`);
    const said = await request.gates.run(name, tree);
    if (request.signal?.aborted) return 'interrupted';
    if (said === null) continue;
    const last = said.trim().split('\n').slice(-5).join('\n');
    return `gate ${name} does not pass on what ${onto} would be${last === '' ? '' : `: ${last}`}`;
  }
  return null;
}
