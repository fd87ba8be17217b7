/**
 * A batch of feedback as a person's words become one: with the front matter of the cycle it is for, and an
 * index of what lies beside it. Words that have a form already keep it.
 */
import { utc } from './summary.ts';
import { feedbackTemplate, readFeedback } from './v2-feedback.ts';
import { frontMatterText, splitFrontMatter } from './v2-front-matter.ts';
import { headingsOf } from './v2-sections.ts';

export interface FeedbackDraft {
  /** The cycle it is for. */
  cycle: number;
  /** Epoch ms. */
  at: number;
  /** Markdown as somebody wrote it; null: none. */
  words: string | null;
  /** One thing that is wanted, in a sentence; null: none. */
  wish: string | null;
  /** The names of what lies beside it. */
  attachments: readonly string[];
}

/** The text of `feedbacks.md`; without words and without a wish it is the empty form. */
export function writeFeedback({ cycle, at, words, wish, attachments }: FeedbackDraft): string {
  if (words === null && wish === null) return indexed(feedbackTemplate(cycle, utc(at)), attachments);
  const front = frontMatterText({ iteration: cycle, timestamp: utc(at), previous_iteration: cycle - 1 });
  const said = words === null ? `# Feedback Batch: ${utc(at)}` : withoutMark(words).trimEnd();
  const { present, fault } = splitFrontMatter(said);
  const text = present || fault !== null ? `${said}\n` : `${front}\n${said.replace(/^\n+/, '')}\n`;
  if (wish === null) return indexed(text, attachments);
  const level = words === null ? 2 : Math.min(2, ...headingsOf(said).map((heading) => heading.level));
  return indexed(`${text}\n${'#'.repeat(level)} New Requirements\n${bullet(wish)}\n`, attachments);
}

function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
}

/** The first line behind the box, what follows set in below it. */
function bullet(wish: string): string {
  const lines = withoutMark(wish).trim().split('\n');
  return lines.map((line, at) => (at === 0 ? `- [ ] ${line}` : line === '' ? '' : `    ${line}`)).join('\n');
}

/** With a row for each attachment that the index does not name yet. */
function indexed(text: string, attachments: readonly string[]): string {
  const named = new Set(readFeedback('', text, []).artifacts.map(({ file }) => file.toLowerCase()));
  const rows = attachments.filter((file) => !named.has(file.toLowerCase())).map((file) => `| ${file} | |\n`);
  if (rows.length === 0) return text;
  const index = headingsOf(text).find(({ name, level }) => /^artifacts?\b/.test(name) && level > 1);
  const table = index === undefined ? null : /^\|.*\n\|[ :|-]*\n(?:\|.*\n)*/m.exec(text.slice(index.from));
  if (index !== undefined && table !== null && isOwn(text.slice(index.from, index.from + table.index))) {
    const end = index.from + table.index + table[0].length;
    return text.slice(0, end) + rows.join('') + text.slice(end);
  }
  return `${text.trimEnd()}\n\n## Artifacts Index\n| File | Description |\n|------|-------------|\n${rows.join('')}`;
}

/** No other heading stands between the index's own and its table. */
function isOwn(between: string): boolean {
  return headingsOf(between).length === 0;
}
