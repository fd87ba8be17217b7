/**
 * Text as Telegram takes it: HTML with everything of other people escaped, in parts of at most 4096
 * UTF-16 units. A part never ends inside an entity or a character.
 */

/** Units of one message, as Telegram counts them. */
export const MESSAGE_UNITS = 4096;
/** Units of a text that is shown at all; a phone is no place for more. */
const SHOWN_UNITS = 24_000;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Makes other people's words inert inside HTML. What no text may hold (NUL, half a character) is replaced. */
export function escapeHtml(text: string): string {
  return [...text].map(escaped).join('');
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  const halfOrControl = (code >= 0xd800 && code <= 0xdfff) || (code < 32 && code !== 9 && code !== 10);
  return halfOrControl ? '\ufffd' : (ENTITIES[character] ?? character);
}

/**
 * Escapes a text and cuts it into parts of at most `limit` units; together they are the whole text. It is
 * cut behind a line, else behind a space, else behind a character.
 */
export function splitEscaped(text: string, limit: number): string[] {
  const parts: string[] = [];
  let part = '';
  // Where the part could end well: lengths of its beginning.
  let line = 0;
  let space = 0;
  for (const character of text) {
    const piece = escaped(character);
    if (part.length + piece.length > limit) {
      const wanted = line > limit / 2 ? line : space > limit / 2 ? space : part.length;
      parts.push(part.slice(0, wanted));
      part = part.slice(wanted);
      line = 0;
      space = 0;
    }
    part += piece;
    if (character === '\n') line = part.length;
    else if (character === ' ') space = part.length;
  }
  if (part !== '') parts.push(part);
  return parts;
}

/** The text, or its beginning with a word on where the rest is. */
export function bounded(text: string, rest: string): string {
  if (text.length <= SHOWN_UNITS) return text;
  return `${text.slice(0, SHOWN_UNITS).replace(/[\ud800-\udbff]$/, '')}\n… (cut; ${rest})`;
}

/** HTML that we wrote, as the plain text it stands for: what is sent where the server refuses our HTML. */
export function plainOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
