/** What the lines of a task's file say: which files it names, what it waits for, how often it cites. */
import { itemsOf, wordLines } from './v2-sections.ts';

/** Words that say there is none. */
const NOTHING =
  /^(?:\[\s*\]|~|null|none|nothing|nil|n\/?a|no (?:dependenc(?:y|ies)|files?)|not applicable|-+|—|–)(?:(?:[.,;](?=\s|$)|[\s(—–]).*)?$/i;

/** The paths that a section names, as code or as the first word of a bullet. */
export function pathsIn(section: string): string[] {
  const paths: string[] = [];
  for (const line of wordLines(section)) {
    for (const path of pathsInLine(line)) if (!paths.includes(path)) paths.push(path);
  }
  return paths;
}

const LABEL = /^(?:\*\*|__)?[A-Za-z][A-Za-z /()-]{0,30}(?:\*\*|__)?:(?:\*\*|__)?\s+/;

function pathsInLine(line: string): string[] {
  const row = /^\|(.*?)\|/.exec(line);
  const words = (row?.[1] ?? line)
    .replace(/^(?:[-+*]|\d{1,3}[.)])\s+/, '')
    .replace(/^\[[ xX]?\]\s+/, '')
    .trim();
  const bullet = row !== null || words !== line;
  if (words === '' || /^:?-+:?$/.test(words) || NOTHING.test(words)) return [];
  if (words.includes('`')) return tickedPaths(words);
  const text = words.replace(LABEL, '').replace(/^\[([^\]]+)\]\([^)]*\)/, '$1');
  const parts = text.split(/\s*,\s*/);
  if (parts.length > 1 && parts.every((part) => !/\s/.test(part)))
    return parts.map(cleanPath).filter(looksLikePath);
  const path = cleanPath(/^\S*/.exec(text.replace(/\*\*/g, ''))![0]);
  const alone = bullet && path !== '' && !/\s/.test(text) && row === null && !text.endsWith(':');
  return alone || looksLikePath(path) ? [path] : [];
}

/** The first code span is the file; behind words a span is one only where it looks like a path. */
function tickedPaths(words: string): string[] {
  const found: string[] = [];
  const text = words.replace(LABEL, '');
  let leading = text.startsWith('`') || text.startsWith('**`');
  const first = cleanPath(/^\S*/.exec(text)![0]);
  if (!leading && looksLikePath(first)) found.push(first);
  let from = 0;
  for (const span of text.matchAll(/(`+)(.+?)\1/g)) {
    const between = text.slice(from, span.index).replace(/\*\*/g, '');
    if (!/^\s*(?:,|and|&|\+)?\s*$/.test(between)) leading = false;
    from = span.index + span[0].length;
    const path = cleanPath(span[2]!);
    if (path !== '' && !/[()\n]$/.test(path) && (leading || looksLikePath(path))) found.push(path);
  }
  return found;
}

function cleanPath(word: string): string {
  const path = word
    .trim()
    .replace(/^["']|["']$/g, '')
    .replace(/[,;:.]+$/, '')
    .replace(/(?:#L\d+(?:-L?\d+)?|:\d+(?:[-:]\d+)?)$/, '')
    .replace(/^(?:\.\/)+/, '');
  return path.includes('/') ? path : path.replaceAll('\\', '/');
}

function looksLikePath(word: string): boolean {
  return (
    /^[^\s<>|]+$/.test(word) &&
    (/[^/]\/|\/[^/]/.test(word) ||
      /^[\w@-][\w.@-]*\.[A-Za-z]\w{0,9}$/.test(word) ||
      /^\.\w[\w.-]*$/.test(word))
  );
}

/** The criteria of a checkbox or bullet list; paragraph lines where there is no list. */
export function criteriaIn(section: string): string[] {
  const items = itemsOf(section);
  if (items.length === 0) {
    return wordLines(section).filter(
      (line) => isWritten(line) && !line.startsWith('#') && !line.startsWith('|'),
    );
  }
  const parents: string[] = [];
  const criteria: string[] = [];
  for (const { depth, text, leaf, ticked } of items) {
    // "Works on:" says nothing alone; what stands below it is meant with it.
    const group = !leaf && ticked === null && /:(?:\*\*|__)?$/.test(text);
    parents.length = depth;
    parents[depth] = group ? text : '';
    const lead = parents.slice(0, depth).filter((words) => words !== undefined && words !== '');
    if (!group && isWritten(text)) criteria.push([...lead, text].join(' ').replace(/\s+/g, ' '));
  }
  return criteria;
}

/** False for the placeholders of a form. */
function isWritten(text: string): boolean {
  const words = text.replace(/[*_`]/g, '').trim();
  return (
    words !== '' &&
    !NOTHING.test(words) &&
    !/^(?:\.{3}|…|tbd|tba|todo|criterion(?: \d+)?|\[[^\]]*\]|<[^<>]*>)$/i.test(words)
  );
}

/** How many references a section cites: one for each bullet, more where a bullet names several. */
export function countReferences(section: string): number {
  const leaves = itemsOf(section).filter(({ leaf }) => leaf);
  const rows = section.split('\n').filter((line) => /^\s*\|/.test(line) && !/^[\s|:-]+$/.test(line));
  const lines =
    leaves.length > 0 ? leaves.map(({ text }) => text) : rows.length > 1 ? rows.slice(1) : wordLines(section);
  let count = 0;
  for (const line of lines) if (isWritten(line)) count += Math.max(1, citesIn(line));
  return count;
}

function citesIn(line: string): number {
  return new Set(line.match(/`[^`]+`|\[[^\]]+\]\([^)]+\)|\bQ-[A-Z]+-\d+|https?:\/\/[^\s)]+/g) ?? []).size;
}

export interface WrittenNeeds {
  dependsOn: string[];
  /** Lines that say something and name no task. */
  unread: string[];
}

const KEY =
  /^(?:[-+*>]\s+)?(?:\*\*|__|`)?(depends[ _-]?on|dependenc(?:y|ies)|blocked[ _-]?by|requires|inherited[ _-]?by)(?:\*\*|__|`)?\s*:(?:\*\*|__|`)?\s*(.*)$/i;

/** What the lines of a Dependencies section wait for; `depends_on` as inline list, block, text or bullets. */
export function needsIn(section: string): WrittenNeeds {
  const needs: WrittenNeeds = { dependsOn: [], unread: [] };
  let key: 'none' | 'needs' | 'heirs' = 'none';
  let flow: string | null = null;
  for (const raw of wordLines(section)) {
    const line = raw
      .replace(/(?:^|\s)#(?:\s.*|$)/, '')
      .replace(/^([-+*]\s+)?`([^`]*:[^`]*)`$/, '$1$2')
      .trim();
    if (line === '') continue;
    const found = flow === null ? KEY.exec(line) : null;
    if (found !== null) key = /^inherited/i.test(found[1]!) ? 'heirs' : 'needs';
    const whole = found !== null || flow !== null;
    const value: string = flow === null ? (found === null ? line : found[2]!.trim()) : `${flow} ${line}`;
    flow = value.startsWith('[') && !value.includes(']') ? value : null;
    if (flow !== null || key === 'heirs' || /^(?:[|>][+-]?)?$/.test(value)) continue;
    takeNeeds(needs, value, whole ? 'behind' : key === 'needs' ? 'below' : 'none');
  }
  if (flow !== null && key !== 'heirs') takeNeeds(needs, flow, 'behind');
  return needs;
}

function takeNeeds(needs: WrittenNeeds, value: string, place: 'behind' | 'below' | 'none'): void {
  const bullet = /^(?:[-+*]|\d{1,3}[.)])\s+(?:\[[ xX]?\]\s+)?(.*)$/.exec(value);
  const words = (bullet?.[1] ?? value).trim();
  if (words === '' || NOTHING.test(bareWords(words))) return;
  const ids = idsOf(words);
  const meant = place === 'behind' || (place === 'below' && bullet !== null);
  // What stands behind the key is meant as a task: better an unknown one than one dropped. Prose is not.
  if (ids.length === 0 && meant) ids.push(words.slice(0, 80));
  if (meant || (ids.length > 0 && (bullet !== null || ids.every(isSure)))) {
    for (const id of ids) if (!needs.dependsOn.includes(id)) needs.dependsOn.push(id);
  } else needs.unread.push(words);
}

const isSure = (id: string): boolean => /[\d_-]/.test(id);

function bareWords(text: string): string {
  return text.replace(/[*_`"']/g, '').trim();
}

/** The ids in a value; a remark in brackets or behind a dash is none. Words that are no ids: none at all. */
export function idsOf(value: string): string[] {
  const text = value.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replace(/^\[([\s\S]*?)\]?$/, '$1');
  const ids: string[] = [];
  for (const part of text.split(/[,;]|\s+(?:and|&)\s+/)) {
    const words = bareWords(part.replace(/(?:\s+\(|\s+[-–—]\s|:\s).*$/s, ''));
    if (words === '' || NOTHING.test(words)) continue;
    const id = words.replace(/^(?:.*\/)?([^/]+)$/, '$1').replace(/\.(?:md|markdown)$/i, '');
    if (!/^[A-Za-z0-9][\w.-]*$/.test(id)) return [];
    ids.push(id);
  }
  return ids;
}
