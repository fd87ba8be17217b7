/**
 * Blocks of Markdown that take whole lines without looking into them: code fences and HTML, comments
 * among it. Where they begin and end after CommonMark.
 */

/** Something opaque that has begun. */
export type OpaqueStart =
  | {
      kind: 'fence';
      /** The character and the least length of the closing line. */
      char: string;
      length: number;
    }
  | {
      kind: 'html';
      /** What its last line holds; null: a blank line ends it. */
      until: RegExp | null;
    };

/** What begins with this line content; `one line`: it ends there too; null: nothing opaque. */
export function opaqueStart(rest: string, inParagraph: boolean): OpaqueStart | 'one line' | null {
  const first = rest[0];
  if (first === '`' || first === '~') {
    const fence = /^(`{3,}(?=[^`]*$)|~{3,})/.exec(rest);
    return fence === null ? null : { kind: 'fence', char: first, length: fence[0].length };
  }
  if (first !== '<') return null;
  for (const [begin, until] of HTML_RUNS) {
    if (begin.test(rest)) return until.test(rest) ? 'one line' : { kind: 'html', until };
  }
  const tag = /^<\/?([A-Za-z][A-Za-z0-9-]*)(?=[\s>]|\/>|$)/.exec(rest);
  if (tag !== null && BLOCK_TAGS.has(tag[1]!.toLowerCase())) return { kind: 'html', until: null };
  const alone = !inParagraph && LONE_TAG.test(rest);
  return alone ? { kind: 'html', until: null } : null;
}

/** Whether this line content closes the fence. */
export function fenceEnds(fence: OpaqueStart & { kind: 'fence' }, rest: string): boolean {
  if (rest[0] !== fence.char) return false;
  const run = rest.trimEnd();
  if (run.length < fence.length) return false;
  for (const char of run) if (char !== fence.char) return false;
  return true;
}

/** Any other complete tag on a line of its own; attributes as CommonMark spells them. */
const LONE_TAG =
  /^<(?:\/[A-Za-z][A-Za-z0-9-]*\s*|[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?)*\s*\/?)>[ \t]*$/;

const BLOCK_TAGS = new Set(
  (
    'address article aside base basefont blockquote body caption center col colgroup dd details dialog dir ' +
    'div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html ' +
    'iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary ' +
    'table tbody td tfoot th thead title tr track ul'
  ).split(' '),
);

const HTML_RUNS: readonly [begin: RegExp, until: RegExp][] = [
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [/^<![A-Za-z]/, />/],
  [/^<(?:script|pre|style|textarea)(?=[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
];
