/**
 * The part of a plan a task stands in, as it can be a part of an id: `phase-2` for "Phase 2: Build",
 * else the first words of the heading.
 */
import { shortHash } from './text.ts';

const COUNTED =
  /^[^\p{L}\p{N}]*(phase|milestone|sprint|epic|step|part|section|week|day|iteration|stage|chapter|etappe|étape|fase|meilenstein|teil|abschnitt|partie|parte)\s*#?(\d+(?:\.\d+)*|[IVX]{1,5}\b|[A-Z]\b)/iu;

/** The headings around a place that are no tasks. */
export class Parts {
  private readonly open: { level: number; name: string }[] = [];

  /** `text` null: a heading that is a task ends parts, but begins none. */
  enter(level: number, text: string | null): void {
    while (this.open.length > 0 && this.open.at(-1)!.level >= level) this.open.pop();
    if (text !== null) this.open.push({ level, name: text });
  }

  /** From the outermost, without the title of the whole. */
  path(): string[] {
    return this.open.filter(({ level }) => level > 1).map(({ name }) => partName(name));
  }
}

function partName(text: string): string {
  const counted = COUNTED.exec(text);
  if (counted !== null) return `${counted[1]!.toLowerCase()}-${counted[2]!.toLowerCase()}`;
  const words = text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]+/g, '')
    .split(/[^a-z0-9]+/);
  const name = words
    .filter((word) => word !== '')
    .slice(0, 3)
    .join('-')
    .slice(0, 24);
  return /[a-z]/.test(name) ? name : `part-${name || shortHash(text)}`;
}
