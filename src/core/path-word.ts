/**
 * The name of a file in a sentence. Names may hold anything but a slash and NUL, and agents choose them: what would reach
 * the terminal as a command, end the line or pass for another name is written as git writes it, in quotes with escapes.
 */

/** Control characters, what git escapes besides, marks that hide or reorder text, and bytes that are no text. */
const ODD =
  /[\u0000-\u001f\u007f-\u009f"\\\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const SHORT: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
};

/** The name as it is where that is safe, else as `git status` shows it. */
export function pathWord(path: string): string {
  const quoted = path.replace(ODD, escaped);
  return quoted === path ? path : `"${quoted}"`;
}

/** The first few of many. */
export function pathWords(paths: readonly string[], most = 5): string {
  const more = paths.length > most ? ` and ${paths.length - most} more` : '';
  return `${paths.slice(0, most).map(pathWord).join(', ')}${more}`;
}

function escaped(character: string): string {
  const code = character.charCodeAt(0);
  // A byte that is no text stands in our paths as a lone half of a pair.
  const isByte = code >= 0xdc80 && code <= 0xdcff;
  const bytes = isByte ? [code - 0xdc00] : [...new TextEncoder().encode(character)];
  return SHORT[character] ?? bytes.map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
