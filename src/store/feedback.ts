/**
 * Feedback batches: `iterations/<N+1>/feedbacks/<stamp>/feedbacks.md`, written by people for the next
 * cycle. A batch is known by its words, so an edited one is news again. What lies beside it is listed by
 * name and never read.
 */
import { createHash } from 'node:crypto';
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FeedbackSource } from '../engine/index.ts';
import { readBounded, type Sight, sight } from './swap.ts';

/** Longest feedback file that is taken in whole. Bytes. */
const FEEDBACK_BYTES = 64 * 1024;
const BATCHES_MOST = 100;
const ATTACHMENTS_MOST = 50;
/** A file younger than this may still be on its way to the disk. */
const SETTLED_MS = 200;

interface Batch {
  id: string;
  text: string;
}

/** The batches of a session's next cycle, in the order of their folders' names. */
export function feedbackSource(sessionDir: string): FeedbackSource {
  const cache = new Map<string, { identity: string; batch: Batch | null }>();
  return {
    async poll(nextCycle) {
      const folder = join(sessionDir, 'iterations', String(nextCycle), 'feedbacks');
      const found: Batch[] = [];
      for (const name of foldersIn(folder).slice(-BATCHES_MOST)) {
        const batch = await batchIn(join(folder, name), `iterations/${nextCycle}/feedbacks/${name}`);
        if (batch !== null) found.push(batch);
      }
      return found;
    },
  };

  async function batchIn(folder: string, shown: string): Promise<Batch | null> {
    const file = join(folder, 'feedbacks.md');
    const seen = await settled(file);
    if (seen.kind !== 'file') return null;
    const attachments = attachmentsIn(folder);
    const identity = [seen.identity, ...attachments].join('\n');
    const known = cache.get(file);
    if (known?.identity === identity) return known.batch;
    const bytes = await readBounded(file, FEEDBACK_BYTES);
    const batch =
      bytes === null ? null : batchOf(bytes, { cut: seen.size > FEEDBACK_BYTES, shown, attachments });
    cache.set(file, { identity, batch });
    return batch;
  }
}

function foldersIn(folder: string): string[] {
  const entries = entriesIn(folder);
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}

/** What lies there, once nobody has written it for a moment. */
async function settled(file: string): Promise<Sight> {
  const missing: Sight = { kind: 'missing' };
  const seen = await sight(file).catch(() => missing);
  if (seen.kind !== 'file') return seen;
  const age = Date.now() - seen.mtimeMs;
  if (age < 0 || age >= SETTLED_MS) return seen;
  await sleep(SETTLED_MS - age);
  return sight(file).catch(() => missing);
}

function attachmentsIn(folder: string): string[] {
  const entries = entriesIn(folder);
  const names = entries
    .filter(({ name }) => name !== 'feedbacks.md' && !name.startsWith('.'))
    .map((entry) => {
      const name = entry.name.replace(/[\u0000-\u001f\u007f]/g, '?');
      if (entry.isSymbolicLink()) return `${name} (a link, not followed)`;
      return entry.isDirectory() ? `${name}/` : name;
    })
    .sort();
  const more = names.length - ATTACHMENTS_MOST;
  return more > 0 ? [...names.slice(0, ATTACHMENTS_MOST), `and ${more} more`] : names;
}

interface Reading {
  cut: boolean;
  shown: string;
  attachments: string[];
}

function batchOf(bytes: Buffer, { cut, shown, attachments }: Reading): Batch | null {
  if (bytes.includes(0)) return null;
  const text = new TextDecoder().decode(bytes).replace(/\r\n?/g, '\n').trim();
  if (!saysSomething(text)) return null;
  const parts = [text];
  if (cut) parts.push(`(${shown}/feedbacks.md is longer; the rest was left out)`);
  if (attachments.length > 0) {
    parts.push(`Files beside it, in ${shown}/ of the session (not shown here):`, bullets(attachments));
  }
  const id = `feedback-${createHash('sha256').update(text).digest('hex')}`;
  return { id, text: parts.join('\n\n') };
}

function bullets(lines: string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

const FRONT_MATTER = /^---\n[\s\S]*?\n(?:---|\.\.\.)(?:\n|$)/;
/** What a bullet of the template holds where nobody has written anything: labels and placeholders. */
const EMPTY_WORDS =
  /^(?:(?:iss|q|req)-\d+|description|evidence|suggested fix|expected|actual|feature x|none|n\/a|tbd|todo|\.\.\.|…)$/i;

/** False for an empty file and for a template in which nobody has written anything. */
export function saysSomething(text: string): boolean {
  const plain = text
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .replace(FRONT_MATTER, '')
    .replace(/<!--[\s\S]*?-->/g, '');
  let inIndex = false;
  return plain.split('\n').some((line) => {
    if (/^#{1,6}\s/.test(line)) inIndex = /artifacts index/i.test(line);
    // The index of files says nothing by itself.
    return !(inIndex && line.trimStart().startsWith('|')) && !isTemplate(line);
  });
}

function isTemplate(line: string): boolean {
  const text = line.trim();
  if (text === '' || /^(?:-{3,}|\*{3,}|_{3,})$/.test(text)) return true;
  const heading = /^#{1,6}\s*(.*)$/.exec(text);
  if (heading !== null) return isTemplateHeading(heading[1]!);
  const bullet = /^(?:[-+*]|\d+[.)])(?:\s+\[[ xX]?\])?(?:\s+(.*))?$/.exec(text);
  return (bullet !== null || /^[[<(]/.test(text)) && isEmptyWords(bullet === null ? text : (bullet[1] ?? ''));
}

function isTemplateHeading(text: string): boolean {
  if (
    /^(?:feedback(?:s| batch)?|critical issues|quality issues|new requirements|artifacts index)\b/i.test(text)
  ) {
    return true;
  }
  return isEmptyWords(text);
}

/** Only labels, separators and bracketed placeholders. */
function isEmptyWords(text: string): boolean {
  const words = text
    .replace(/\[[^\]\n]*\]|<[^>\n]*>/g, '')
    .replace(/[*_`]/g, '')
    .split(/[:|]|\s[-–—]\s/);
  return words.every((word) => word.trim() === '' || EMPTY_WORDS.test(word.trim()));
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // none was written yet
  }
}
