/**
 * `review.md`: what the reviewer says of a whole cycle. Complete with gaps listed is not complete, as of
 * two statements the worse one counts.
 */
import type { SessionAssessment } from '../core/index.ts';
import { utc } from './summary.ts';
import { frontMatterText, splitFrontMatter, textField } from './v2-front-matter.ts';
import { headingsOf, itemsOf, wordLines } from './v2-sections.ts';

export interface ReviewReading {
  assessment: SessionAssessment['value'] | null;
  gaps: string[];
}

/** Reads a session review. Never throws. */
export function readReview(text: string): ReviewReading {
  const front = splitFrontMatter(text);
  const gaps = gapsIn(front.body);
  const said = assessmentIn(front.body) ?? valueIn(textField(front, 'assessment') ?? '');
  return { assessment: said === 'Complete' && gaps.length > 0 ? 'Gaps Identified' : said, gaps };
}

const LABEL =
  /^(?:\d+[.)]\s*)?(?:(?:overall|final|session|iteration|goal) )*(?:assessment|verdict)(?: status)?\s*(?:[:：|]\s*(.*?)\s*\|?\s*)?$/i;

/** The last line that names the assessment counts: a review may begin with a form. */
function assessmentIn(body: string): ReviewReading['assessment'] {
  const lines = wordLines(body);
  let found: ReviewReading['assessment'] = null;
  for (const [at, line] of lines.entries()) {
    const label = LABEL.exec(words(line));
    if (label === null) continue;
    if (label[1]) found = valueIn(label[1]) ?? found;
    else found = below(lines.slice(at + 1, at + 6)) ?? found;
  }
  return found;
}

/** What stands below a heading: a ticked box rules, else the first line that says one. */
function below(lines: readonly string[]): ReviewReading['assessment'] {
  const end = lines.findIndex((line) => /^#{1,6}\s/.test(line));
  const own = (end === -1 ? lines : lines.slice(0, end)).filter((line) => !/\[\s?\]/.test(line));
  for (const line of own) {
    const value = valueIn(words(line));
    if (value !== null) return value;
  }
  return null;
}

function words(line: string): string {
  return line
    .replace(/^(?:#{1,6}\s+|[-+*]\s+|\|\s*)/, '')
    .replace(/^\[[^\]]?\]\s*/, '')
    .replace(/\*\*|__|`/g, '')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .trim();
}

function valueIn(text: string): ReviewReading['assessment'] {
  const plain = text.replace(/[*_`]/g, '');
  if (/\bcomplete[d]?\b\s*(?:[|/]|or\b)\s*gaps/i.test(plain)) return null;
  if (/\b(?:incomplete|not (?:yet )?complete[d]?|partial(?:ly)?)\b/i.test(plain)) return 'Gaps Identified';
  const first = /\b(complete[d]?|(?<!no )gaps? (?:identified|found|remain)|gaps)\b/i.exec(plain);
  if (first === null) return null;
  return /^complete/i.test(first[1]!) ? 'Complete' : 'Gaps Identified';
}

const GAPS =
  /^(?:(?:identified|remaining|open|outstanding|critical|minor|known) )*gaps?(?: (?:identified|found|and .*|analysis))?$/;
const NO_GAP =
  /^(?:(?:none|nothing|not applicable|n\/?a|nil|-+|—)(?:$|[\s.,:;])|no (?:[a-z]+ ){0,3}(?:gaps?|issues?)\b|all\b.*\b(?:met|complete|closed|satisfied|resolved)\b)/i;

function gapsIn(body: string): string[] {
  const headings = headingsOf(body);
  const gaps: string[] = [];
  for (const [at, heading] of headings.entries()) {
    if (!GAPS.test(heading.name)) continue;
    const end = headings.slice(at + 1).find(({ level }) => level <= heading.level)?.start ?? body.length;
    const own = body.slice(heading.from, end);
    const named = headingsOf(own).map(({ title }) => title);
    if (named.length > 0) {
      gaps.push(...named.filter((title) => !NO_GAP.test(words(title)) && !gaps.includes(title)));
      continue;
    }
    const items = itemsOf(own).filter(({ depth, ticked }) => depth === 0 && ticked !== true);
    const lines =
      items.length > 0 || itemsOf(own).length > 0 ? items.map(({ text }) => text) : wordLines(own);
    for (const line of lines) {
      const gap = line.replace(/\s+/g, ' ').trim();
      if (gap !== '' && !/^[#|]/.test(gap) && !NO_GAP.test(words(gap)) && !gaps.includes(gap)) gaps.push(gap);
    }
  }
  return gaps;
}

/** What the engine itself knows of a cycle that no reviewer has reviewed. */
export interface MinimalReviewFacts {
  cycle: number;
  /** Epoch ms. */
  at: number;
  /** One sentence: why code writes it. */
  reason: string;
  tasks: readonly { id: string; title: string; outcome: string }[];
  gaps: readonly string[];
}

/** The review that code writes where the reviewer failed to, so that a session never ends without one. */
export function writeMinimalReview(facts: MinimalReviewFacts): string {
  const value: SessionAssessment['value'] = facts.gaps.length === 0 ? 'Complete' : 'Gaps Identified';
  const front = frontMatterText({ iteration: facts.cycle, assessment: value, created_at: utc(facts.at) });
  const parts = [
    `# Session Review (Iteration ${facts.cycle})`,
    `Written by the engine: ${oneLine(facts.reason)}`,
    `## Assessment\n${value}`,
    `## Tasks\n${list(facts.tasks.map(({ id, title, outcome }) => `${id}, ${title}: ${outcome}`))}`,
    `## Gaps\n${list(facts.gaps)}`,
  ];
  return `${front}\n${parts.join('\n\n')}\n`;
}

function list(lines: readonly string[]): string {
  return lines.length === 0 ? '- None' : lines.map((line) => `- ${oneLine(line)}`).join('\n');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
