/**
 * Files that a report says hold the work, without a word of a deed: "the tests are in `a.test.ts`",
 * "`a.ts` now exports it". They prove what changed; false is only that a file is there which is nowhere.
 */
import { shapeOf } from './path-shape.ts';
import type { ToldFile } from './sentence.ts';

const WORK =
  '(?:implementation|tests?|specs?|code|logic|function|class|component|parser|helper|fix|feature|module|handler|types?|docs?|documentation)';
const PATH = '[`"*]{0,3}([\\w.@-]+(?:\\/[\\w.@-]+)+\\.[a-zA-Z]\\w{0,9})[`"*]{0,3}';
const LIVES = new RegExp(
  `\\b${WORK}\\s+(?:now\\s+)?(?:lives?|resides?|sits?|is|are|can be found|stands?)\\s+(?:now\\s+)?in\\s+${PATH}`,
  'gi',
);
const HOLDS = new RegExp(
  `${PATH}\\s+(?:now\\s+)?(?:has|contains|holds|covers|implements|provides)\\s+(?:(?:the|all|its|new)\\s+){1,2}${WORK}`,
  'gi',
);
const MAY =
  /\b(?:lives?|resides?|sits?|stands?|(?:is|are|found) (?:now )?in|has|contains|holds|covers|implements|provides)\b/i;
/** Words that make it a plan, a denial, or another's: then it is no claim. */
const OTHERWISE =
  /\b(?:not?|never|neither|would|could|should|will|shall|must|may|might|if|once|when|until|unless|existing|current|currently|example|upstream|original|originally|previous|old|was|were|had|missing|expected?|supposed|dependency|package|another)\b|n['’]t\b|[?？]/i;

/** Whether a line can name a file so at all. */
export function mayName(line: string): boolean {
  return MAY.test(line);
}

/** The files a line says hold the work. */
export function namedIn(line: string): ToldFile[] {
  if (!MAY.test(line)) return [];
  const told: ToldFile[] = [];
  for (const sentence of line.slice(0, 2_000).split(/(?<=[.!?;])\s+/)) {
    if (OTHERWISE.test(sentence)) continue;
    for (const pattern of [LIVES, HOLDS]) {
      for (const [, path] of sentence.matchAll(pattern)) {
        const shape = shapeOf(path!, true);
        if (shape !== null) told.push({ ...shape, deed: 'named' });
      }
    }
  }
  return told;
}
