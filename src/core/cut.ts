/**
 * Texts cut where no word ends up halved: half a secret would not be known as one by whoever takes secrets out later.
 * For places that cut before a redactor is at hand.
 */

/** At most so many characters of its end, from the beginning of a line, or else of a word. */
export function endOf(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(-most);
  // Where the cut is at a bound itself, nothing is halved.
  if (/\s/.test(text[text.length - most - 1]!)) return cut;
  const from = cut.search(/\n/) === -1 ? cut.search(/\s/) : cut.search(/\n/);
  return from === -1 ? '' : cut.slice(from + 1);
}

/** At most so many characters of its beginning, up to the end of a line, or else of a word. */
export function beginningOf(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most);
  if (/\s/.test(text[most]!)) return cut;
  const to = cut.includes('\n') ? cut.lastIndexOf('\n') : cut.search(/\s\S*$/);
  return to === -1 ? '' : cut.slice(0, to);
}
