/**
 * Something a person can fix. It is thrown from the edge, printed in three lines and ends with exit
 * code 5 (6 where the agent or its login is the cause, 70 where the disk takes no more). Anything else
 * that is thrown is a bug.
 */
export interface ProblemFacts {
  /** Short and stable, e.g. `config.unknown_key`. */
  code: string;
  what: string;
  why: string;
  fix: string;
  /** File and line, where there is one: `ralph.yml:12`. */
  at?: string;
}

export class Problem extends Error {
  readonly facts: ProblemFacts;
  readonly exitCode: 5 | 6 | 70;

  constructor(facts: ProblemFacts, exitCode: 5 | 6 | 70 = 5) {
    super(facts.what);
    this.name = 'Problem';
    this.facts = facts;
    this.exitCode = exitCode;
  }
}

/** What is, with its place in front; a sentence that begins with the file's name is not told that name twice. */
export function placedWhat({ what, at }: Pick<ProblemFacts, 'what' | 'at'>): string {
  if (at === undefined) return what;
  const file = at.replace(/(?::\d+)+$/, '');
  return what.startsWith(`${file} `) ? `${at}${what.slice(file.length)}` : `${at}: ${what}`;
}

/** The three lines a person reads. */
export function problemText(facts: ProblemFacts): string {
  const { why, fix } = facts;
  return `${placedWhat(facts)}\n  why: ${why}\n  fix: ${fix}`;
}
