/**
 * Fields of an object that an agent wrote from memory: keys in any spelling, texts and lists bounded, and what
 * has the wrong shape as good as left out.
 */

export type Fields = Map<string, unknown>;

const MAX_TEXT_CHARS = 16_384;
export const MAX_ITEMS = 500;

/** Keys without case, dashes and underscores, so that filesModified and files_modified are one field. */
export function fieldsOf(value: unknown): Fields | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const fields: Fields = new Map();
  for (const [key, field] of Object.entries(value)) {
    const name = plain(key);
    if (field !== null && field !== undefined && !fields.has(name)) fields.set(name, field);
  }
  return fields;
}

export function plain(text: string): string {
  return text.toLowerCase().replace(/[\s_-]+/g, '');
}

export function readText(value: unknown): string {
  if (typeof value === 'string') return value.trim().slice(0, MAX_TEXT_CHARS);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) {
    return readTexts(value.filter((item) => typeof item === 'string'))
      .join('\n')
      .slice(0, MAX_TEXT_CHARS);
  }
  const inner = fieldsOf(value);
  if (inner === null) return '';
  const text = inner.get('text') ?? inner.get('description') ?? inner.get('reason') ?? inner.get('path');
  return typeof text === 'string' ? readText(text) : '';
}

export function readTexts(value: unknown): string[] {
  const list = Array.isArray(value) ? value : typeof value === 'string' ? [value] : [];
  const texts: string[] = [];
  for (const item of list.slice(0, MAX_ITEMS)) {
    if (Array.isArray(item)) continue;
    const text = readText(item);
    if (text !== '') texts.push(text);
  }
  return texts;
}
