/**
 * A task's report: PART 1 by the executor, PART 2 by the reviewer, in one file per attempt. The file only
 * grows, so a PART 1 that a reviewer changed is put back and its PART 2 kept.
 */
import { walkBlocks } from './markdown-blocks.ts';
import { utc } from './summary.ts';
import { lineEnding } from './text.ts';
import { frontMatterText, plainText, splitFrontMatter } from './v2-front-matter.ts';
import { everyHeading } from './v2-sections.ts';
import { escapeBody } from './v2-shield.ts';

export interface ReportReading {
  /** Without front matter. */
  partOne: string;
  /** With its heading; null where nobody has reviewed. */
  partTwo: string | null;
  /** What the last review says. */
  recommendation: 'Qualified' | 'Failed' | null;
  /** The last review's "Feedback for Next Attempt"; empty where it gives none. */
  feedback: string;
}

/** Reads a report. Never throws. */
export function readReport(text: string): ReportReading {
  const { body } = splitFrontMatter(text);
  const starts = partTwoStarts(body);
  const start = starts[0];
  if (start === undefined) return { partOne: body.trim(), partTwo: null, recommendation: null, feedback: '' };
  const last = body.slice(starts.at(-1));
  return {
    partOne: withoutRule(body.slice(0, start)),
    partTwo: body.slice(start).trim(),
    recommendation: recommendationIn(last),
    feedback: feedbackIn(last),
  };
}

const PART_TWO = /^part (?:2|ii|two)\b/;

/** Where each PART 2 begins. */
function partTwoStarts(text: string): number[] {
  const starts = everyHeading(text)
    .filter(({ name }) => PART_TWO.test(name))
    .map(({ start }) => start);
  if (starts.length > 0 || walkBlocks(text, () => {}).warnings.length === 0) return starts;
  // A code block that the executor never closed would hide the review.
  const all = [...text.matchAll(/^#{1,6}[ \t]*\**PART[ \t]*(?:2|II|TWO)\b/gim)];
  return all.map(({ index }) => index);
}

/** Rules drawn between the parts belong to neither. */
function withoutRule(text: string): string {
  const lines = text.trim().split('\n');
  while (/^\s*(?:-{3,}|\*{3,}|_{3,})?\s*$/.test(lines.at(-1) ?? 'none')) lines.pop();
  return lines.join('\n').trimEnd();
}

const VERDICT_LABELS = [
  /^(?:(?:final|overall) )?recommendation(?: status)?$/i,
  /^(?:(?:final|overall) )?verdict$/i,
  /^(?:(?:final|overall|review) )?status$/i,
];

function recommendationIn(part: string): ReportReading['recommendation'] {
  const lines = part.split('\n').slice(1);
  for (const label of VERDICT_LABELS) {
    let found: ReportReading['recommendation'] = null;
    for (const [at, line] of lines.entries()) {
      const labelled = labelOf(line);
      if (labelled === null || !label.test(labelled.label)) continue;
      const value = labelled.value === '' ? linesBelow(lines, at) : [labelled.value];
      found = verdictOf(value) ?? found;
    }
    if (found !== null) return found;
  }
  return null;
}

/** `### Label`, `**Label:** value`, `- Label: value` and `| Label | value |`. */
function labelOf(line: string): { label: string; value: string } | null {
  const plain = line
    .replace(/^[\s>]*(?:#{1,6}\s+|[-+*]\s+|\|\s*)?/, '')
    .replace(/\*\*|__|`/g, '')
    .trim();
  const row = /^\s*\|/.test(line) ? /^([A-Za-z ]{3,40}?)\s*\|\s*(.*?)\s*\|?$/.exec(plain) : null;
  const match = row ?? /^(?:\d+[.)]\s*)?([A-Za-z][A-Za-z ]{2,40}?)\s*(?:[:：]\s*(.*?))?$/.exec(plain);
  return match === null ? null : { label: match[1]!, value: match[2] ?? '' };
}

function linesBelow(lines: readonly string[], at: number): string[] {
  const below = lines.slice(at + 1, at + 12);
  const end = below.findIndex((line) => /^\s*#{1,6}\s/.test(line));
  return (end === -1 ? below : below.slice(0, end)).filter((line) => line.trim() !== '');
}

/** What the lines say; null where they say neither or leave both to be chosen. */
function verdictOf(lines: readonly string[]): ReportReading['recommendation'] {
  const boxes = lines.flatMap((line) => /\[([ xX✓✔])\]\s*(.*)$/.exec(line.replace(/[*_`]/g, '')) ?? []);
  for (const line of lines) {
    const box = /\[([ xX✓✔]?)\]\s*(.*)$/.exec(line);
    if (box !== null && /^\s?$/.test(box[1]!)) continue;
    const words = (box?.[2] ?? labelOf(line)?.value ?? '') || line;
    const said = saidVerdict(words.replace(/[*_`]/g, ''));
    if (said !== null) return said;
    if (boxes.length === 0 && /qualified|failed/i.test(words)) return null;
  }
  return null;
}

function saidVerdict(words: string): ReportReading['recommendation'] {
  if (/\b(?:qualified|failed)\b\s*(?:[|/]|or\b)\s*\b(?:qualified|failed)\b/i.test(words)) return null;
  if (/\b(?:not|isn't|un|dis)[ -]?qualified\b/i.test(words)) return 'Failed';
  const first = /\b(qualified|failed)\b/i.exec(words);
  if (first === null) return null;
  return first[1]!.toLowerCase() === 'qualified' ? 'Qualified' : 'Failed';
}

const FEEDBACK = /^feedback (?:for|to) (?:the )?next attempt$/i;

function feedbackIn(part: string): string {
  const lines = part.split('\n');
  const at = lines.findLastIndex((line) => FEEDBACK.test(labelOf(line)?.label ?? ''));
  if (at === -1) return '';
  const level = /^\s*(#{1,6})\s/.exec(lines[at]!)?.[1]?.length ?? 7;
  const own = [labelOf(lines[at]!)!.value];
  for (const line of lines.slice(at + 1)) {
    const heading = /^(#{1,6})\s/.exec(line);
    if (heading !== null && heading[1]!.length <= level) break;
    // Behind a label the next bold label ends it.
    if (level === 7 && /^(?:[-+*]\s+)?(?:\*\*|__)[A-Za-z][A-Za-z ]*:?(?:\*\*|__)/.test(line)) break;
    own.push(line);
  }
  const text = withoutRule(own.join('\n'));
  return /^(?:[-+*]\s+)?(?:none|n\/?a|not applicable|-|—)\.?$/i.test(text) ? '' : text;
}

/** The task's report of the highest attempt among these names; gaps do not count. Null without one. */
export function latestReport(
  names: readonly string[],
  task: string,
): { name: string; attempt: number } | null {
  const wanted = `${task}-report`.toLowerCase();
  let latest: { name: string; attempt: number } | null = null;
  for (const name of names) {
    const file = name.replace(/^.*[\\/]/, '').toLowerCase();
    if (!file.startsWith(wanted)) continue;
    const match = /^(?:-r(\d{1,6}))?\.md$/.exec(file.slice(wanted.length));
    if (match === null) continue;
    const attempt = Math.max(1, Number(match[1] ?? 1));
    if (latest === null || attempt > latest.attempt) latest = { name, attempt };
  }
  return latest;
}

/** A PART 2 that an executor wrote itself is marked as what it is, so that nobody reads it as the review. */
export function markForged(text: string): string {
  const { body } = splitFrontMatter(text);
  const starts = partTwoStarts(body);
  if (starts.length === 0) return text;
  let marked = plainText(text);
  const lead = marked.length - body.length;
  for (const start of starts.reverse()) {
    const at = lead + start;
    const end = marked.indexOf('\n', at) === -1 ? marked.length : marked.indexOf('\n', at);
    const title = marked
      .slice(at, end)
      .replace(/^\s*#+\s*/, '')
      .trim();
    marked = `${marked.slice(0, at)}## Not the review, written by the executor: ${title}${marked.slice(end)}`;
  }
  return marked;
}

/** A reviewer's edit of a report with PART 1 as it was before and PART 2 as it is now. */
export function keepPartOne(before: string, after: string): { text: string; changed: boolean } {
  const start = partTwoStarts(after)[0];
  if (start === undefined) {
    // Words put behind the report without a heading are a review as well.
    const kept = essence(after).startsWith(essence(before));
    return kept ? { text: after, changed: false } : { text: before, changed: true };
  }
  const old = before.slice(0, partTwoStarts(before)[0] ?? before.length);
  if (essence(old) === essence(after.slice(0, start))) return { text: after, changed: false };
  const newline = lineEnding(before);
  const review = after.slice(start).replace(/\r\n?|\n/g, newline);
  return { text: `${old.trimEnd()}${newline}${newline}${review}`, changed: true };
}

/** What of a text an editor's habits do not change. */
function essence(text: string): string {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n?|\n/);
  return withoutRule(lines.map((line) => line.trimEnd()).join('\n'));
}

/** What the engine knows of an attempt. */
export interface ReportFacts {
  task: string;
  title: string;
  cycle: number;
  attempt: number;
  files: readonly string[];
  /** Epoch ms. */
  at: number;
  summary: string;
  /** What was claimed or seen, one line each. */
  evidence: readonly string[];
  /** One line per gate and its outcome. */
  gates: readonly string[];
}

/** PART 1 as the engine writes it where the executor left none. */
export function writeReport(facts: ReportFacts): string {
  const front = frontMatterText({
    task_id: facts.task,
    iteration: facts.cycle,
    attempt: facts.attempt,
    files_modified: facts.files,
    created_at: utc(facts.at),
  });
  const summary = escapeBody(facts.summary, [
    /^part (?:1|2|ii?|one|two)\b/,
    /^(?:files|verification|evidence)/,
  ]);
  const parts = [
    '# Task Report',
    '## PART 1: Implementation Report',
    `Task: ${oneLine(facts.task)}, ${oneLine(facts.title)}\nWritten by the engine from what it saw, as the executor left no report.`,
    `### Summary\n${summary === '' ? 'The executor said nothing.' : summary}`,
    `### Files Modified\n${list(facts.files.map((file) => `\`${file}\``))}`,
    `### Verification\n${list(facts.gates)}`,
    `### Evidence\n${list(facts.evidence)}`,
  ];
  return `${front}\n${parts.join('\n\n')}\n`;
}

function list(lines: readonly string[]): string {
  return lines.length === 0 ? '- None' : lines.map((line) => `- ${oneLine(line)}`).join('\n');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
