/**
 * The commits that a report's prose names. Only "committed as 1a2b3c4" by the agent itself is a claim; any
 * other mention of an id is evidence where the commit is this task's, and else nothing.
 */

/** A commit that a text names. */
export interface ToldCommit {
  /** In small letters. */
  commit: string;
  /** It is no plain claim: never held against anybody. */
  unsure: boolean;
}

const MAX_COMMITS = 20;
const MENTION =
  /\bcommit(?:ted|tet|té|teado|tado)?\b[^\n0-9a-f]{0,3}(?:[^\n]{0,60}?[\s`('"[:#])?([0-9a-f]{7,40})(?![\w-])/gi;
const WHAT = String.raw`(?:it|this|them|all|everything|(?:the|my|all|both) (?:\w+ ){0,2}(?:changes?|work|fix|result|files?|code))`;
const CLAIM = new RegExp(
  String.raw`(?:^|[.!?;:,)*•–—-]\s*|\b(?:I|we)(?:['’]ve| have)?(?: then| also| just)? |\b(?:and|then) )committed(?: ${WHAT})?(?: (?:as|in|under|with))?(?: (?:commit|hash|sha|id))*\s*(?::|→|->|\()?\s*[\x60'"(\[]?$|\bals [\x60'"(\[]?$`,
  'i',
);
const OTHERS =
  /\b(?:not|never|no|if|would|will|should|could|last|ago|earlier|previous(?:ly)?|yesterday|originally|upstream|submodule|other|outside|had|by|before|nicht|hatte|e\.g|example)\b|n['’]t\b|[?？]/i;

/** The commits a text names, each once; text in fences and quotations says nothing. */
export function commitsIn(text: string): ToldCommit[] {
  const told = new Map<string, ToldCommit>();
  MENTION.lastIndex = 0;
  for (let match = MENTION.exec(text); match !== null; match = MENTION.exec(text)) {
    if (told.size >= MAX_COMMITS) break;
    const id = match[1]!.toLowerCase();
    // "defaced" is a word.
    if (!/\d/.test(id)) continue;
    const at = match.index + match[0].length - id.length;
    const start = text.lastIndexOf('\n', at) + 1;
    const line = text.slice(Math.max(start, at - 200), at);
    if (/^\s*>/.test(line) || isFenced(text, start)) continue;
    const sentence = /(?:[^.!?;]|[.](?=\S))*$/.exec(line)?.[0] ?? '';
    const rest = /^[^.!?;\n]{0,80}[.!?;]?/.exec(text.slice(at + id.length))?.[0] ?? '';
    const claim = CLAIM.test(line) && /commit/i.test(line) && !OTHERS.test(`${sentence} ${rest}`);
    const known = told.get(id);
    if (known === undefined) told.set(id, { commit: id, unsure: !claim });
    else if (claim) known.unsure = false;
  }
  return [...told.values()];
}

/** Whether an odd number of fences stands above. */
function isFenced(text: string, start: number): boolean {
  const above = text.slice(Math.max(0, start - 20_000), start);
  return (above.match(/^\s{0,12}(?:`{3}|~{3})/gm)?.length ?? 0) % 2 === 1;
}
