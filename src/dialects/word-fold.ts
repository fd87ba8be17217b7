/** How the words of plans are compared, whatever their case, accents and the signs around them. */

/** Letters without case and accents, without marks and signs around them: how words are compared. */
export function fold(text: string): string {
  return strip(text)
    .replace(/\([^)]*\)\s*[:：]?\s*$/, '')
    .replace(/^[^\p{L}]+/u, '')
    .replace(/[^\p{L}\p{N})]+$/u, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?& ?/g, ' and ')
    .trim();
}

function strip(text: string): string {
  const lower = text.toLowerCase().replace(/[*_`]+/g, '');
  // Most plans are plain letters, which need no more.
  if (PLAIN.test(lower)) return lower;
  return unaccented(lower).replace(/[’‘]/g, "'");
}

const PLAIN = /^[\x00-\x7f]*$/;

function unaccented(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFKC');
}

/** One pattern of many words, folded as the texts are that it is asked about. */
export function anyOf(...words: string[]): RegExp {
  return new RegExp(`^(?:${words.map(unaccented).join('|')})$`, 'u');
}
