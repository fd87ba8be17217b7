/**
 * The text of a git configuration file, read as git reads it (git-config(1), "Syntax"), character by
 * character: a comment that ends in a backslash, say, must hide nothing from us that git sees.
 */

export interface ConfigEntry {
  /** `section.key` or `section.subsection.key`; section and key in small letters. */
  name: string;
  /** Without quotes, escapes and comment; a key alone is `true`. */
  value: string;
}

export interface ConfigText {
  /** In their order. */
  entries: ConfigEntry[];
  /** False: git refuses the file; the entries are those before the place. */
  whole: boolean;
}

/** Reads the entries of a configuration file. Never throws. */
export function configEntries(text: string): ConfigText {
  const reader = { text: text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n'), at: 0 };
  const entries: ConfigEntry[] = [];
  let section: string | null = null;
  for (;;) {
    const next = match(reader, /\s*(?:([#;])|(\[)|([a-z])|$)/iy);
    if (next === null) return { entries, whole: false };
    if (next[1] !== undefined) match(reader, /[^\n]*/y);
    else if (next[2] !== undefined) {
      section = header(reader);
      if (section === null) return { entries, whole: false };
    } else if (next[3] === undefined) return { entries, whole: true };
    else {
      reader.at -= 1;
      const key = match(reader, /([a-z][a-z0-9-]*)[ \t]*(=|(?=\n|$))/iy);
      const value = key?.[2] === '=' ? readValue(reader) : 'true';
      if (key === null || value === null) return { entries, whole: false };
      // git takes a key before the first header too.
      entries.push({ name: `${section === null ? '' : `${section}.`}${key[1]!.toLowerCase()}`, value });
    }
  }
}

interface Reader {
  text: string;
  at: number;
}

function match(reader: Reader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text);
  if (found !== null) reader.at = pattern.lastIndex;
  return found;
}

function header(reader: Reader): string | null {
  const found = match(reader, /([a-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/iy);
  if (found === null) return null;
  const [, section, name] = found;
  // `[section.name]` is the old way of writing; its name knows no capitals.
  if (name === undefined) return section!.toLowerCase();
  return `${section!.toLowerCase()}.${name.replace(/\\(.)/g, '$1')}`;
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', b: '\b', '"': '"', '\\': '\\' };

/** Up to the end of the line; null for an escape that git does not know, and a quote left open. */
function readValue(reader: Reader): string | null {
  const { text } = reader;
  let value = '';
  let kept = 0;
  let quoted = false;
  let comment = false;
  for (; reader.at < text.length && text[reader.at] !== '\n'; reader.at += 1) {
    const character = text[reader.at]!;
    if (comment) continue;
    if (character === '"') {
      quoted = !quoted;
      kept = value.length;
    } else if (!quoted && (character === '#' || character === ';')) comment = true;
    else if (character === '\\') {
      reader.at += 1;
      const escaped = text[reader.at];
      if (escaped === '\n') continue;
      if (escaped === undefined || ESCAPES[escaped] === undefined) return null;
      value += ESCAPES[escaped];
      kept = value.length;
    } else if (quoted || character.trim() !== '') {
      value += character;
      kept = value.length;
    } else if (value !== '') value += character;
  }
  return quoted ? null : value.slice(0, kept);
}
