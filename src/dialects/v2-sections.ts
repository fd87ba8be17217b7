/**
 * The parts of a session's Markdown file: sections under headings that the format names, the items of
 * a list, and `Label: value` lines. Agents write them in many ways: another level of heading, a bold
 * line for a heading, numbers and signs around a title.
 */
import { walkBlocks } from './markdown-blocks.ts';
import { fold } from './word-fold.ts';

export interface Heading {
  title: string;
  /** The title as it is compared: no case, marks, numbering or remark in brackets. */
  name: string;
  level: number;
  line: number;
  /** Offset of its line, and of what stands below or behind it. */
  start: number;
  from: number;
  underlined: boolean;
}

/** Below any heading: a bold line that stands for one. */
const BOLD = 7;

/** The headings of the text; those in code, comments and quotes are none. */
export function headingsOf(text: string): Heading[] {
  return everyHeading(text).filter(({ level }) => level < BOLD);
}

/** With the bold lines that may stand for one. */
export function everyHeading(text: string): Heading[] {
  const found: Heading[] = [];
  walkBlocks(text, (block) => {
    if (block.kind === 'heading') {
      const { level, line, lineStart: start } = block;
      const underlined = text[start + (/^ */.exec(text.slice(start, start + 4))?.[0].length ?? 0)] !== '#';
      let from = behindLine(text, block.end);
      if (underlined) from = behindLine(text, from);
      found.push({ title: block.text, name: fold(block.text), level, line, start, from, underlined });
    } else if (block.kind === 'text' && block.depth === 0 && !block.continues) {
      const bold = /^(\*\*|__)([^*_]{2,60}?):?\1[ \t]*:?[ \t]*/.exec(block.text);
      if (bold === null) return;
      const { line, at: start } = block;
      const [title, from] = [bold[2]!.trim(), start + bold[0].length];
      found.push({ title, name: fold(title), level: BOLD, line, start, from, underlined: false });
    }
  });
  return found;
}

function behindLine(text: string, from: number): number {
  const feed = text.indexOf('\n', from);
  return feed === -1 ? text.length : feed + 1;
}

/** A section's words, without its heading. */
export interface Section {
  title: string;
  text: string;
  line: number;
}

export interface Sections<Key extends string> {
  /** The section of that name; several of one name are one, in their order. */
  get(key: Key): Section | undefined;
  /** Headings of no known name that stand beside the known ones. */
  others: Heading[];
}

/**
 * The sections of these names. `commented`: one in which `# …` is a comment of YAML lines and no heading.
 */
export function namedSections<Key extends string>(
  text: string,
  names: Readonly<Record<Key, RegExp>>,
  commented?: NoInfer<Key>,
): Sections<Key> {
  const keys = Object.keys(names) as Key[];
  const keyOf = ({ name }: Heading) => keys.find((key) => names[key].test(name));
  const all = everyHeading(text);
  const level = usualLevel(all.filter((heading) => heading.level < BOLD && keyOf(heading) !== undefined));
  const taken = new Set(all.filter((heading) => heading.level <= level).map(keyOf));
  const found = new Map<Key, Section>();
  const others: Heading[] = [];
  let open: { key: Key | undefined; heading: Heading } | null = null;
  const close = (end: number) => {
    if (open?.key === undefined) return;
    const { key, heading } = open;
    const own = text.slice(heading.from, end);
    const before = found.get(key);
    const words = before === undefined ? own : `${before.text.trimEnd()}\n\n${own}`;
    found.set(key, { title: heading.title, line: before?.line ?? heading.line, text: words });
  };
  for (const heading of all) {
    const key = keyOf(heading);
    if (heading.level > level && (key === undefined || taken.has(key))) continue;
    if (key === undefined && commented !== undefined && open?.key === commented && heading.level === 1)
      continue;
    close(heading.start);
    open = { key, heading };
    if (key === undefined) others.push(heading);
  }
  close(text.length);
  return { get: (key) => found.get(key), others };
}

/** The level most of them have; 0 for none. */
function usualLevel(headings: readonly Heading[]): number {
  const counts = new Map<number, number>();
  for (const { level } of headings) counts.set(level, (counts.get(level) ?? 0) + 1);
  let usual = 0;
  for (const [level, count] of counts) {
    const most = counts.get(usual) ?? 0;
    if (count > most || (count === most && level > usual)) usual = level;
  }
  return usual;
}

export interface ListItem {
  depth: number;
  /** null without a checkbox. */
  ticked: boolean | null;
  /** With the lines that go on with it, joined by blanks. */
  text: string;
  line: number;
  /** Offset of its line. */
  start: number;
  /** Whether no other item stands below it. */
  leaf: boolean;
}

/** The list items of the text, nested ones behind their parents. */
export function itemsOf(text: string): ListItem[] {
  const items: ListItem[] = [];
  walkBlocks(text, (block) => {
    const last = items.at(-1);
    if (block.kind === 'item') {
      if (last !== undefined && block.depth > last.depth) last.leaf = false;
      const ticked = block.box === null ? null : /^x$/i.test(block.box.inner.trim());
      const { depth, line, start } = block;
      items.push({ depth, ticked, text: block.text, line, start, leaf: true });
    } else if (block.kind === 'text' && block.depth > 0 && last !== undefined) {
      last.text = `${last.text} ${block.text}`.trim();
    }
  });
  return items;
}

/** The lines of the text that are neither in a comment nor a fence's edge, trimmed, none empty. */
export function wordLines(text: string): string[] {
  return text
    .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(?:`{3,}|~{3,})/.test(line) && !/^(?:[-*_][ \t]*){3,}$/.test(line));
}

/** The text without bold and code marks around it. */
export function bare(text: string): string {
  return text
    .trim()
    .replace(/^(?:\*\*|__|`)(.*?)(?:\*\*|__|`)$/s, '$1')
    .trim();
}

/**
 * `- **Label**: value`, `Label: value` and `| Label | value |` for the labels asked for; what stands below
 * such a line belongs to its value. The first line of a label counts.
 */
export function labelledValues(text: string, labels: RegExp): Map<string, string> {
  const values = new Map<string, string>();
  let current: string | null = null;
  for (const line of text.split('\n')) {
    const labelled = LABELLED.exec(line);
    const row = labelled === null ? /^\s*\|\s*([^|]+?)\s*\|\s*(.*?)\s*\|?\s*$/.exec(line) : null;
    const [, label, value] = labelled ?? row ?? [];
    const name = label === undefined ? '' : fold(label);
    if (labels.test(name)) {
      current = values.has(name) ? null : name;
      if (current !== null) values.set(current, value!.replace(/^(?:\*\*|__)\s*/, '').trim());
    } else if (/^\s*#{1,6}\s/.test(line) || /^\s*(?:-{3,}|\*{3,})\s*$/.test(line)) {
      current = null;
    } else if (current !== null) {
      values.set(current, `${values.get(current)}\n${line.trimEnd()}`);
    }
  }
  for (const [name, value] of values) values.set(name, value.trim());
  return values;
}

const LABELLED =
  /^\s*(?:[-+*]\s+)?(?:\[[ xX]?\]\s+)?(?:\*\*|__)?([A-Za-z][\w /'-]{0,40}?)(?:\*\*|__)?\s*[:：]\s*(.*)$/;
