/**
 * The human's desk: `decide.txt` and `blocked.txt`, plain files that a person answers by writing under
 * a heading, by deleting one block, or by deleting the file. Writers are exact, the reader takes what a
 * person may make of it, and an answer that could be a slip is `unclear` instead of a guess.
 */

/** One open question as the desk shows it. */
export interface DeskEntry {
  id: string;
  text: string;
  /** The agent run that asked; null where none did. */
  iteration: number | null;
  /** Epoch ms. */
  askedAt: number;
  options?: { key: string; text: string }[];
  default?: string | null;
  /** What a person has written under Answer so far; written again, so that a rewrite loses nothing. */
  draft?: string;
}

/** What the file says about one entry. `option` is the key of the option the text names, if any. */
export type DeskAnswer =
  | { id: string; outcome: 'answered'; text: string; option: string | null }
  | { id: string; outcome: 'cleared' }
  | { id: string; outcome: 'unanswered' }
  | { id: string; outcome: 'unclear'; reason: string; text: string };

const DECIDE = 'Question';
const BLOCKED = 'Blocker';
const HOW_TO_CLEAR =
  'How to clear: solve what stands above and delete this file, or write under Answer what the agent ' +
  'should know; then start `ralph run` again. `ralph unblock` does the same.';

/** `decide.txt` for these entries, in this order; empty for none. Ends with a newline. */
export function writeDecide(entries: readonly DeskEntry[]): string {
  const numbered = entries.length > 1;
  return entries
    .map((entry, index) => {
      const n = numbered ? ` ${index + 1}` : '';
      const id = numbered ? ` [${entry.id}]` : '';
      return `## ${DECIDE}${n}${id} (${origin(entry)})\n${body(entry)}\n\n${answerPart(entry, n)}`;
    })
    .join('\n');
}

/** `blocked.txt` for these entries; one blocker's file begins with its reason. Empty for none. */
export function writeBlocked(entries: readonly DeskEntry[]): string {
  if (entries.length === 0) return '';
  if (entries.length === 1) {
    const entry = entries[0]!;
    return `${body(entry)}\n\n(${origin(entry)})\n${HOW_TO_CLEAR}\n\n${answerPart(entry, '')}`;
  }
  const blocks = entries.map(
    (entry, index) =>
      `## ${BLOCKED} ${index + 1} [${entry.id}] (${origin(entry)})\n${body(entry)}\n\n${answerPart(entry, ` ${index + 1}`)}`,
  );
  return `${blocks.join('\n')}\n## Help\n${HOW_TO_CLEAR}\nDeleting one block clears that one.\n`;
}

/** Reads `decide.txt`; null is a file that is gone. One answer per entry, in the entries' order. */
export function readDecide(text: string | null, entries: readonly DeskEntry[]): DeskAnswer[] {
  return readDesk(text, entries, { word: DECIDE, written: writeDecide(entries) });
}

/** Reads `blocked.txt`; null is a file that is gone, which clears every blocker. */
export function readBlocked(text: string | null, entries: readonly DeskEntry[]): DeskAnswer[] {
  return readDesk(text, entries, { word: BLOCKED, written: writeBlocked(entries) });
}

function origin({ iteration, askedAt }: DeskEntry): string {
  const time = new Date(askedAt).toISOString().replace(/\.\d{3}Z$/, 'Z');
  return iteration === null ? `from the loop, ${time}` : `from iteration ${iteration}, ${time}`;
}

function body(entry: DeskEntry): string {
  const lines = entry.text.replace(/\r\n?/g, '\n').trim().split('\n').map(shielded);
  for (const { key, text } of entry.options ?? []) lines.push(`(${key}) ${text.replace(/\s+/g, ' ')}`);
  if (entry.default) lines.push(`Default if no answer: ${entry.default.replace(/\s+/g, ' ')}`);
  return lines.join('\n');
}

/** A line of the question that would read as our own structure is indented. */
function shielded(line: string): string {
  return SEPARATOR.test(line) || HEADING.test(line) ? `    ${line}` : line;
}

const SEPARATOR = /^-{3,}[ \t]*$/;
const HEADING = /^#{1,6}[ \t]*(?:question|blocker|answer|help)\b/i;

function answerPart(entry: DeskEntry, n: string): string {
  const draft = entry.draft?.replace(/\r\n?/g, '\n').trim();
  return `---\n## Answer${n}\n${draft ? `${draft}\n` : ''}`;
}

interface DeskFormat {
  word: string;
  written: string;
}

interface DeskBlock {
  id: string | null;
  number: number | null;
  lines: string[];
}

function readDesk(text: string | null, entries: readonly DeskEntry[], format: DeskFormat): DeskAnswer[] {
  if (text === null) return entries.map(({ id }) => ({ id, outcome: 'cleared' }));
  const plain = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  // An emptied file may be an editor's half-made save; deleting the file is what clears.
  if (plain.trim() === '') return entries.map(({ id }) => ({ id, outcome: 'unanswered' }));
  const blocks = splitBlocks(plain, entries, format.word);
  const found = new Map<string, DeskBlock[]>();
  for (const block of blocks) {
    const entry = entryOfBlock(block, entries);
    if (entry !== null) found.set(entry.id, [...(found.get(entry.id) ?? []), block]);
  }
  if (found.size === 0) return entries.map((entry) => withoutBlocks(plain, entry, entries.length));
  return entries.map((entry) => {
    const answers = (found.get(entry.id) ?? []).map((block) => answerIn(block, entry));
    if (answers.length === 0) return { id: entry.id, outcome: 'cleared' };
    const given = answers.filter((answer) => answer.outcome !== 'unanswered');
    if (given.length < 2) return given[0] ?? answers[0]!;
    const reason = 'its block stands there twice with an answer in both';
    return { id: entry.id, outcome: 'unclear', reason, text: answers.map(textOf).join('\n') };
  });
}

function textOf(answer: DeskAnswer): string {
  return 'text' in answer ? answer.text : '';
}

/** The blocks by their headings. One blocker has none: the whole file is its block. */
function splitBlocks(plain: string, entries: readonly DeskEntry[], word: string): DeskBlock[] {
  const heading = new RegExp(`^#{1,3}[ \\t]*${word}\\b[ \\t]*(\\d+)?[ \\t]*(?:\\[([^\\]]+)\\])?(.*)$`, 'i');
  const ids = new Set(entries.map((entry) => entry.id));
  const blocks: DeskBlock[] = [];
  let fresh: string[] = [];
  for (const line of plain.split('\n')) {
    const match = heading.exec(line);
    const own =
      match !== null &&
      (match[1] !== undefined ||
        ids.has(match[2] ?? '') ||
        /\(from /i.test(match[3]!) ||
        blocks.length === 0);
    if (own) {
      blocks.push({
        id: match[2] ?? null,
        number: match[1] === undefined ? null : Number(match[1]),
        lines: [],
      });
    } else if (/^##[ \t]*Help[ \t]*$/.test(line)) fresh = [];
    else (blocks.at(-1)?.lines ?? fresh).push(line);
    if (/^##[ \t]*Help[ \t]*$/.test(line)) blocks.push({ id: '', number: null, lines: [] });
  }
  if (blocks.length === 0 && entries.length === 1 && word === BLOCKED) {
    return [{ id: entries[0]!.id, number: null, lines: fresh }];
  }
  return blocks;
}

function entryOfBlock(block: DeskBlock, entries: readonly DeskEntry[]): DeskEntry | null {
  if (block.id !== null) {
    const named = entries.find((entry) => entry.id === block.id);
    if (named !== undefined || block.number === null) return named ?? null;
  }
  if (block.number !== null) return entries[block.number - 1] ?? null;
  return entries[0] ?? null;
}

/** No block of ours is left: a lone question may have been overwritten by its answer. */
function withoutBlocks(plain: string, entry: DeskEntry, count: number): DeskAnswer {
  const { id } = entry;
  const text = meaningful(afterAnswerHeading(plain.split('\n')) ?? plain.split('\n'));
  if (text === '') return { id, outcome: 'unanswered' };
  if (count === 1 && !sharesALine(text, entry)) return answered(entry, text);
  const reason =
    count === 1
      ? 'the question was changed and no Answer heading stands below it'
      : 'several questions are open and the text names none of them';
  return { id, outcome: 'unclear', reason, text };
}

function sharesALine(text: string, entry: DeskEntry): boolean {
  const known = new Set(
    body(entry)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  );
  return text.split('\n').some((line) => known.has(line.trim()));
}

function answerIn(block: DeskBlock, entry: DeskEntry): DeskAnswer {
  const { id } = entry;
  const under = afterAnswerHeading(block.lines);
  if (under !== null) {
    const text = meaningful(under);
    return text === '' ? { id, outcome: 'unanswered' } : answered(entry, text);
  }
  const rest = afterQuestion(block.lines, entry);
  if (rest === null) {
    const text = meaningful(block.lines);
    const reason = 'the question was changed and no Answer heading stands below it';
    return text === '' ? { id, outcome: 'unanswered' } : { id, outcome: 'unclear', reason, text };
  }
  const text = meaningful(rest);
  return text === '' ? { id, outcome: 'unanswered' } : answered(entry, text);
}

const ANSWER = /^#{1,6}[ \t]*Answer\b[ \t]*\d*[ \t]*:?[ \t]*(.*)$/i;

/** The lines below the answer heading that follows the last separator; else below the last heading. */
function afterAnswerHeading(lines: readonly string[]): string[] | null {
  const headings = lines.flatMap((line, index) => (ANSWER.test(line) ? [index] : []));
  if (headings.length === 0) return null;
  const separated = headings.filter((index) => {
    let above = index - 1;
    while (above >= 0 && lines[above]!.trim() === '') above -= 1;
    return above >= 0 && SEPARATOR.test(lines[above]!);
  });
  const at = separated.at(-1) ?? headings.at(-1)!;
  return [ANSWER.exec(lines[at]!)![1]!, ...lines.slice(at + 1)];
}

/** What stands behind the question's own lines; null where these are not there as we wrote them. */
function afterQuestion(lines: readonly string[], entry: DeskEntry): string[] | null {
  const wanted = body(entry)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  let at = 0;
  for (const line of wanted) {
    while (at < lines.length && lines[at]!.trim() === '') at += 1;
    if (lines[at]?.trim() !== line) return separated(lines);
    at += 1;
  }
  const ours = new Set([HOW_TO_CLEAR, `(${origin(entry)})`]);
  return lines.slice(at).filter((line) => !ours.has(line.trim()));
}

function separated(lines: readonly string[]): string[] | null {
  const at = lines.findLastIndex((line) => SEPARATOR.test(line));
  return at === -1 ? null : lines.slice(at + 1);
}

/** The text without comments, separators and blank ends; empty where nothing but these is there. */
function meaningful(lines: readonly string[]): string {
  const text = lines.join('\n').replace(/<!--[\s\S]*?-->/g, '');
  const kept = text.split('\n').filter((line) => !SEPARATOR.test(line));
  const said = kept.filter((line) => line.trim() !== '' && !/^\s*(?:#|\/\/)/.test(line));
  return said.length === 0 ? '' : kept.join('\n').trim();
}

function answered(entry: DeskEntry, text: string): DeskAnswer {
  return { id: entry.id, outcome: 'answered', text, option: optionNamed(text, entry.options ?? []) };
}

function optionNamed(text: string, options: readonly { key: string; text: string }[]): string | null {
  const plain = text.trim().toLowerCase();
  const bare = plain.replace(/^(?:option\s+)?[([]?([^\s)\].:]+)[)\].:]?$/, '$1');
  for (const { key, text: label } of options) {
    if (bare === key.toLowerCase() || plain === label.trim().toLowerCase()) return key;
  }
  const lead = /^(?:option\s+)?\(([^)\s]+)\)|^(?:option\s+)?([^\s).:]+)[).:]\s/.exec(plain);
  const named = lead?.[1] ?? lead?.[2];
  return options.find(({ key }) => key.toLowerCase() === named)?.key ?? null;
}
