/**
 * Reads the signals in an agent's last message: result blocks, promise tags, status blocks. The words
 * of a model are free text that may quote its instructions, so a signal counts only where it cannot be
 * a quotation: on its own line, outside other fences, without a placeholder, and not as a passage of
 * the prompt handed back.
 */
import type { ResultObject } from './claim.ts';
import { readResult } from './result-object.ts';

/** `unfinished` is an explicit "not done yet", e.g. EXIT_SIGNAL: false. Lines are 0-based, inclusive. */
export interface Signal {
  kind: 'complete' | 'blocked' | 'decide' | 'unfinished';
  text: string;
  from: number;
  to: number;
}

/** What one final message says, by the way it says it. Echoes of the prompt are taken out and counted. */
export interface HeardMessage {
  result: ResultObject | null;
  tags: Signal[];
  status: Signal | null;
  echoes: number;
  emptyReasons: number;
  /** What the first signal that leaves its meaning open holds in the place of words; null where none does. */
  placeholder: string | null;
}

interface Fence {
  open: number;
  /** The closing line; one past the last line when the fence was never closed. */
  close: number;
  info: string;
}

const MAX_MESSAGE_CHARS = 1_000_000;
const MAX_REASON_CHARS = 4_096;
const LONG_LINE_CHARS = 80;
const PLACEHOLDER_CHARS = 80;
const ESCAPES =
  // The C1 forms, CSI … final byte, OSC … BEL or ST, two-byte escapes.
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]|[\u0080-\u009f]/g;

/** Text as a reader sees it: no terminal escapes or control characters, LF line ends. */
export function plainText(text: string): string {
  return text
    .slice(-MAX_MESSAGE_CHARS)
    .replace(ESCAPES, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufeff]/g, '');
}

/** Reads a final message against the prompt it answers. Never throws; a very long message's end counts. */
export function readFinalMessage(
  message: string,
  prompt: string,
  completionWord: string | null,
): HeardMessage {
  const lines = plainText(message).split('\n');
  const fences = fencesOf(lines);
  const inFence = new Array<Fence | null>(lines.length).fill(null);
  for (const fence of fences) inFence.fill(fence, fence.open, fence.close + 1);

  const echo = echoTest(lines, prompt);
  const heard: HeardMessage = {
    result: null,
    tags: [],
    status: null,
    echoes: 0,
    emptyReasons: 0,
    placeholder: null,
  };
  const keep = (from: number, to: number) => {
    if (!echo(from, to)) return true;
    heard.echoes++;
    return false;
  };
  const left = (words: string) => {
    heard.placeholder ??= bounded(words.replace(/\s+/g, ' ').trim()).slice(0, PLACEHOLDER_CHARS);
  };
  for (const fence of fences) {
    const result = resultIn(lines, fence, left);
    if (result !== null && keep(fence.open + 1, fence.close - 1)) heard.result = result;
  }
  for (const tag of tagsIn(lines, inFence, completionWord, left)) {
    if (tag.kind !== 'complete' && tag.text === '') heard.emptyReasons++;
    else if (isPlaceholder(tag)) left(tag.text);
    else if (keep(tag.from, tag.to)) heard.tags.push(tag);
  }
  for (const status of statusIn(lines, inFence, left)) {
    if (keep(status.from, status.to)) heard.status = status;
  }
  return heard;
}

function fencesOf(lines: string[]): Fence[] {
  const fences: Fence[] = [];
  let open: { at: number; mark: string; info: string } | null = null;
  for (const [at, line] of lines.entries()) {
    const match = /^\s*(`{3,}|~{3,})(.*)$/.exec(line);
    if (match === null) continue;
    const [, mark = '', info = ''] = match;
    if (open === null) {
      if (mark.startsWith('`') && info.includes('`')) continue;
      open = { at, mark, info: info.trim().toLowerCase() };
    } else if (mark[0] === open.mark[0] && mark.length >= open.mark.length && info.trim() === '') {
      fences.push({ open: open.at, close: at, info: open.info });
      open = null;
    }
  }
  if (open !== null) fences.push({ open: open.at, close: lines.length, info: open.info });
  return fences;
}

/** Told what stands where a word of the agent's own belongs. */
type Left = (words: string) => void;

/** Words to choose from, or a blank to fill in. */
function isOpen(words: string): boolean {
  const choices = words.split(/[|/]/).map((word) => word.trim());
  if (choices.length > 1 && choices.every((word) => word.length > 2)) return true;
  return /^(<[^<>]*>|\[[^[\]]*\]|\{[^{}]*\}|[.…]+)$/.test(words);
}

function resultIn(lines: string[], fence: Fence, left: Left): ResultObject | null {
  if (fence.info.split(/\s/)[0] !== 'json') return null;
  try {
    const value: unknown = JSON.parse(lines.slice(fence.open + 1, fence.close).join('\n'));
    const status = (value as { status?: unknown } | null)?.status;
    if (typeof status === 'string' && isOpen(status.trim())) left(status);
    return readResult(value, { lenient: false });
  } catch {
    return null;
  }
}

/** Tags that begin a line and end one; the words between may span lines. */
function tagsIn(
  lines: string[],
  inFence: (Fence | null)[],
  completionWord: string | null,
  left: Left,
): Signal[] {
  const tags: Signal[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (inFence[at] !== null) continue;
    const line = lines[at]!;
    if (isCompletionWord(line.trim(), completionWord)) {
      tags.push({ kind: 'complete', text: '', from: at, to: at });
    } else if (/^ {0,3}<promise>/i.test(line)) {
      const tag = tagAt(lines, at, completionWord);
      if (tag === null) {
        const body = /<promise>(.*?)<\/promise>\s*$/i.exec(line)?.[1]?.trim() ?? '';
        if (isOpen(body)) left(body);
        continue;
      }
      tags.push(tag);
      at = tag.to;
    }
  }
  return tags;
}

/** A bare COMPLETE is never a signal, not even as the configured word: it needs its tag. */
function isCompletionWord(line: string, word: string | null): boolean {
  return word !== null && word.trim() !== '' && word.trim() !== 'COMPLETE' && line === word.trim();
}

function tagAt(lines: string[], at: number, completionWord: string | null): Signal | null {
  let body = lines[at]!.replace(/^ {0,3}<promise>/i, '');
  let to = at;
  for (;;) {
    const end = body.search(/<\/promise>/i);
    if (/<promise>/i.test(end < 0 ? body : body.slice(0, end))) return null;
    if (end >= 0) {
      if (body.slice(end + '</promise>'.length).trim() !== '') return null;
      return signalOf(body.slice(0, end).trim(), { from: at, to, completionWord });
    }
    // A tag that is still open long after the limit was never meant to be closed.
    if (++to >= lines.length || body.length > 4 * MAX_REASON_CHARS) return null;
    body += `\n${lines[to]!}`;
  }
}

function signalOf(
  body: string,
  at: { from: number; to: number; completionWord: string | null },
): Signal | null {
  const { from, to } = at;
  if (/^complete$/i.test(body) || body === at.completionWord?.trim()) {
    return { kind: 'complete', text: '', from, to };
  }
  const match = /^(blocked|decide)\s*(?::([\s\S]*))?$/i.exec(body);
  if (match === null) return null;
  const kind = match[1]!.toLowerCase() === 'blocked' ? 'blocked' : 'decide';
  return { kind, text: bounded((match[2] ?? '').trim()), from, to };
}

function bounded(reason: string): string {
  return reason.length <= MAX_REASON_CHARS
    ? reason
    : `${reason.slice(0, MAX_REASON_CHARS - 14).trimEnd()} … shortened`;
}

/** True for the stand-ins that instructions use: `<reason>`, `...`, `your question here`. */
function isPlaceholder({ kind, text }: Signal): boolean {
  if (kind === 'complete' || kind === 'unfinished') return false;
  const bare = text.replace(/[`*"']/g, '').trim();
  if (/^[.…\s-]+$/.test(bare) || /^(<[^<>]*>|\[[^[\]]*\]|\{[^{}]*\})$/.test(bare)) return true;
  return /^(your |the |specific |short )*(reason|question|decision|blocker|text|explanation)( here| text)?[.…]*$/i.test(
    bare,
  );
}

const STATUS_FENCES = [
  '',
  'text',
  'txt',
  'plaintext',
  'yaml',
  'yml',
  'markdown',
  'md',
  'status',
  'ralph_status',
];

/** The status lines and blocks of a message, in order. A fence may hold them, but not one of code. */
function statusIn(lines: string[], inFence: (Fence | null)[], left: Left): Signal[] {
  const signals: Signal[] = [];
  for (let at = 0; at < lines.length; at++) {
    const info = inFence[at]?.info.split(/\s/)[0] ?? '';
    if (!STATUS_FENCES.includes(info)) continue;
    const line = lines[at]!.trim();
    if (/^-{3}\s*RALPH_STATUS\s*-{3}$/i.test(line)) {
      const close = lines.findIndex((l, i) => i > at && /^\s*-{3}\s*END_RALPH_STATUS\s*-{3}\s*$/i.test(l));
      if (close > at && close - at <= 200) {
        const signal = blockSignal(lines, { from: at, to: close, left });
        if (signal !== null) signals.push(signal);
        at = close;
      }
      continue;
    }
    const said = /^[-*\s]*EXIT_SIGNAL[*\s]*:[*\s]*(true|false)[*\s]*$/i.exec(line)?.[1]?.toLowerCase();
    if (said !== undefined) signals.push(exitSignal(said === 'true', at, at));
    else {
      const words = /^[-*\s]*EXIT_SIGNAL[*\s]*:(.*)$/i.exec(line)?.[1]?.replaceAll('*', '').trim() ?? '';
      if (isOpen(words)) left(words);
    }
  }
  return signals;
}

/** Whether a text that is nobody's final message holds a signal of completion all the same. */
export function holdsCompletion(text: string): boolean {
  if (!/<promise>|EXIT_SIGNAL|RALPH_STATUS/i.test(text)) return false;
  const { tags, status } = readFinalMessage(text, '', null);
  return status?.kind === 'complete' || tags.some(({ kind }) => kind === 'complete');
}

function exitSignal(done: boolean, from: number, to: number): Signal {
  return { kind: done ? 'complete' : 'unfinished', text: '', from, to };
}

function blockSignal(
  lines: string[],
  { from, to, left }: { from: number; to: number; left: Left },
): Signal | null {
  const fields = new Map<string, string>();
  for (const line of lines.slice(from + 1, to)) {
    const match = /^[-*\s]*([A-Z_]+)[*\s]*:\s*(.*?)\s*$/i.exec(line);
    if (match !== null) fields.set(match[1]!.toUpperCase(), match[2]!);
  }
  const status = (fields.get('STATUS') ?? '').toUpperCase();
  const exit = (fields.get('EXIT_SIGNAL') ?? '').toLowerCase();
  for (const words of [exit, fields.get('STATUS') ?? '']) if (isOpen(words)) left(words);
  const reason = fields.get('BLOCKED_REASON') ?? fields.get('REASON') ?? fields.get('RECOMMENDATION') ?? '';
  if (status === 'BLOCKED' && reason !== '') {
    const blocked: Signal = { kind: 'blocked', text: bounded(reason), from, to };
    if (isPlaceholder(blocked)) left(reason);
    return isPlaceholder(blocked) ? null : blocked;
  }
  if (exit === 'true' || exit === 'false') return exitSignal(exit === 'true', from, to);
  return fields.has('EXIT_SIGNAL') || !/^COMPLETED?$/.test(status) ? null : exitSignal(true, from, to);
}

/**
 * Tells whether lines from…to of a message are the prompt handed back. A lone tag may be what the
 * prompt asked for, word by word, so a short signal is an echo only together with a line beside it; a
 * passage of three lines, or one long line, is an echo by itself.
 */
function echoTest(lines: string[], prompt: string): (from: number, to: number) => boolean {
  let index: { lines: string[]; at: Map<string, number[]> } | null = null;
  const said = lines.map(comparable);
  const content = (line: string) => line !== '' && !/^(`{3,}|~{3,})/.test(line);
  const beside = (list: string[], at: number, step: 1 | -1) => {
    let i = at + step;
    while (i >= 0 && i < list.length && !content(list[i]!)) i += step;
    return list[i] ?? '';
  };
  return (from, to) => {
    index ??= indexOf(prompt);
    const passage = said.slice(from, to + 1).filter(content);
    const long = passage.length >= 3 || passage.some((line) => line.length >= LONG_LINE_CHARS);
    const known = index.lines;
    for (const at of index.at.get(passage[0] ?? '') ?? []) {
      if (!passage.every((line, i) => known[at + i] === line)) continue;
      if (long) return true;
      const before = beside(said, from, -1);
      const after = beside(said, to, 1);
      const sameBefore = before !== '' && before === known[at - 1];
      const sameAfter = after !== '' && after === known[at + passage.length];
      // One short neighbour ("Done.") may be chance; two are not.
      if (sameBefore && sameAfter) return true;
      if ((sameBefore && before.length >= 8) || (sameAfter && after.length >= 8)) return true;
    }
    return false;
  };
  function indexOf(text: string) {
    const known = plainText(text).split('\n').map(comparable).filter(content);
    const at = new Map<string, number[]>();
    for (const [i, line] of known.entries()) {
      const places = at.get(line);
      if (places === undefined) at.set(line, [i]);
      else if (places.length < 100) places.push(i);
    }
    return { lines: known, at };
  }
}

/** A line without layout, quotation marks and the escapes of `inert`, which an echo may have undone. */
function comparable(line: string): string {
  // Most lines of a prompt have nothing of it, and there are hundreds.
  return ODD.test(line) ? plain(line) : line;
}

/** What `plain` would change. */
const ODD = /\\[<_A-Za-z]|^[\s>]|\s\s|[^\S ]|\s$/;

function plain(line: string): string {
  return line
    .replace(/\\(?=[<_A-Za-z])/g, '')
    .replace(/^[\s>]+/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
