/** The words of a text, in order, without punctuation. */
export function words(text) {
  return text.match(/[\p{L}\p{N}]+/gu) ?? [];
}
