/** A text as words: where one ends, what it could be the plural of, and the stem it shares with its kin. */

/** A run of Han or Katakana, which no space ends; an acronym, also its plural; a hump or plain word; digits. */
const PIECE =
  /\p{sc=Han}+|[\p{sc=Katakana}ー]+|\p{Lu}{2,}s(?![\p{Ll}\p{M}])|\p{Lu}+(?!\p{Ll})|\p{Lu}?(?:(?![\p{sc=Han}\p{sc=Katakana}])[\p{Ll}\p{Lo}\p{Lt}\p{M}])+|\p{N}+|\p{Lu}/gu;

/** The same where nothing but ASCII stands, as in most texts; it is much faster. */
const ASCII_PIECE = /[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[A-Z]/g;
const NOT_ASCII = /[\u0080-\uffff]/;

/** A text's words: at spaces, signs, hyphens and underscores, and at the humps of camelCase and HTTPView. */
export function piecesOf(text: string): string[] {
  return (NOT_ASCII.test(text) ? text.normalize('NFC').match(PIECE) : text.match(ASCII_PIECE)) ?? [];
}

/** The word, and what it could be the plural of. */
export function singulars(word: string): string[] {
  const forms = [word];
  if (word.length > 2 && word.endsWith('s')) forms.push(word.slice(0, -1));
  if (word.length > 4 && word.endsWith('es')) forms.push(word.slice(0, -2));
  if (word.length > 4 && word.endsWith('ies')) forms.push(`${word.slice(0, -3)}y`);
  return forms;
}

const MARKS = /\p{M}+/gu;

/** Lower case, and without accents: what people type for ü, é and ñ differs. */
export function plain(text: string): string {
  const lower = text.toLowerCase();
  return NOT_ASCII.test(lower) ? lower.normalize('NFD').replace(MARKS, '').normalize('NFC') : lower;
}

/**
 * A plain word, and what it could be a plural, an -ing or an -ed of: drag of "dragging", rename of
 * "renamed". Never an -er: a viewer is no view.
 */
export function basesOf(word: string): string[] {
  if (word.length < 4) return word.length === 3 && word.endsWith('s') ? [word, word.slice(0, -1)] : [word];
  if (word.endsWith('s')) return word.endsWith('ss') ? [word] : singulars(word);
  if (word.endsWith('ied')) return [word, `${word.slice(0, -3)}y`];
  for (const ending of ['ing', 'ed']) {
    if (!word.endsWith(ending) || word.length < ending.length + 3) continue;
    const rest = word.slice(0, -ending.length);
    const bases = [word, rest, `${rest}e`];
    if (rest.at(-1) === rest.at(-2)) bases.push(rest.slice(0, -1));
    return bases;
  }
  return [word];
}
