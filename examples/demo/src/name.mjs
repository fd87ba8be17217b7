/** The name as it is spoken: trimmed, or a word for nobody. */
export function spoken(name) {
  return name.trim() || 'stranger';
}
