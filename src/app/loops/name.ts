/** Names of loops: what a person may type, and the words that stand in where nobody typed one. */
import { randomInt } from 'node:crypto';
import { Problem } from '../../core/index.ts';
import { isSessionId } from '../../store/index.ts';

/** The name is also a branch and a folder, on any file system. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$/;
/** What windows and chats call the main checkout and everybody. */
const TAKEN = ['main', 'primary', 'all'];

/** Throws a Problem for what cannot name a loop, with a name that could. */
export function requireLoopName(name: string): void {
  const odd = !NAME.test(name) || /\.\.|\.$|\.lock$/i.test(name);
  const taken = TAKEN.includes(name.toLowerCase()) || isSessionId(name);
  if (!odd && !taken) return;
  const better = slug(name);
  throw new Problem({
    code: 'loop.name',
    what: `${JSON.stringify(name.length > 60 ? `${name.slice(0, 59)}…` : name)} cannot name a loop.`,
    why: taken
      ? 'This name means something else where a loop is named.'
      : 'The name is also a branch and a folder: letters, digits, dots, dashes and underscores, 50 at the most.',
    fix:
      better === null
        ? 'Leave the name away: `ralph run "what you want" --worktree` picks one.'
        : `For example: --worktree ${better}. If it is what you want done, say it before the flag: ralph run "…" --worktree`,
  });
}

function slug(name: string): string | null {
  const words =
    name
      .toLowerCase()
      .match(/[a-z0-9]+/g)
      ?.slice(0, 4) ?? [];
  const made = words.join('-').slice(0, 50).replace(/-+$/, '');
  return made === '' || TAKEN.includes(made) || isSessionId(made) ? null : made;
}

const WORDS =
  'amber birch brook cedar coral ember fern flint grove harbor hazel heron iris juniper lark linden maple meadow moss otter pebble quartz raven reed robin sage slate sparrow thistle willow wren yarrow'.split(
    ' ',
  );

/** Words to try, each once, beginning anywhere: two starts at the same moment rarely meet. */
export function* loopWords(taken: ReadonlySet<string>): Generator<string> {
  const first = randomInt(WORDS.length);
  for (let round = 1; ; round++) {
    for (let n = 0; n < WORDS.length; n++) {
      const word = WORDS[(first + n) % WORDS.length]!;
      const name = round === 1 ? word : `${word}-${round}`;
      if (!taken.has(name)) yield name;
    }
  }
}
