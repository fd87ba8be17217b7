/** What an agent is told that is hired to settle the conflict of a landing. Its first line is the title of the work. */
import { type Data, dataFor, pathList } from './data.ts';

export interface ConflictWork {
  loop: string;
  /** The integration branch, as people name it. */
  onto: string;
  files: readonly string[];
  /** The two commits, whose ids label the marks in the files. */
  base: string;
  tip: string;
  /** What each side was about: titles of tasks, subjects of commits. */
  ours: readonly string[];
  theirs: readonly string[];
  gates: readonly { name: string; run: string }[];
}

const MOST_INTENTS = 20;

export function conflictPrompt(work: ConflictWork): string {
  const data = dataFor(null);
  const { loop, onto, files, base, tip, gates } = work;
  const named = files.length === 1 ? data.line(files[0]!, 60) : `${files.length} files`;
  const parts = [
    `Settle the conflict of ${loop} with ${onto} in ${named}`,
    `Two lines of work were merged, and both changed the same places. The merge is checked out here and committed as a
draft; these files still hold the marks of the conflict:

${pathList(files, data)}

Between \`<<<<<<< ${base}\` and \`|||||||\` stands what ${onto} has, between \`|||||||\` and \`=======\` what both began
with, and between \`=======\` and \`>>>>>>> ${tip}\` what ${loop} has. \`git show ${tip} -- FILE\`, \`git log\` and
\`git diff\` tell the rest.`,
    intents(`What ${onto} was about`, work.theirs, data),
    intents(`What ${loop} was about`, work.ours, data),
    `Put in the place of each conflict, its marks included, what does justice to both. These are the rules, and each of
them is checked afterwards; a merge that breaks one is thrown away:

- Change these files only, and in them only what stands between the marks. Everything else is merged already.
- Leave no mark behind, and remove none of these files.
- Begin no merge, rebase or cherry-pick, and switch to no branch.`,
    gates.length === 0
      ? ''
      : `These have to pass on the merged tree; run what you can before you end:\n\n${gates
          .map(({ name, run }) => `- ${data.line(name, 80)}: \`${data.line(run, 400)}\``)
          .join('\n')}`,
    'Where the two sides exclude each other, so that a person must choose, say that you are blocked and why.',
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function intents(head: string, said: readonly string[], data: Data): string {
  const lines = [...new Set(said)].slice(0, MOST_INTENTS).map((text) => `- ${data.line(text, 200)}`);
  return lines.length === 0 ? '' : `${head}, in the words of its tasks and commits:\n\n${lines.join('\n')}`;
}
