/**
 * Checkboxes that are left out because of the title they stand under. They are criteria or notes as far
 * as anybody can tell; that they are left out is told, so that no task is lost in silence.
 */
import type { Exclusion } from './checklist-sections.ts';
import { isLegendTitle } from './section-words.ts';

/** Per place, how many checkboxes are left out. */
export class Omitted {
  private readonly places = new Map<Exclusion, number>();

  add(place: Exclusion): void {
    this.places.set(place, (this.places.get(place) ?? 0) + 1);
  }

  /** What is left out and why, in one sentence without an end; null where nothing is. */
  sentence(): string | null {
    const told = [...this.places].filter(([{ text }]) => !isLegendTitle(text));
    if (told.length === 0) return null;
    const count = told.reduce((sum, [, boxes]) => sum + boxes, 0);
    const titles = [...new Set(told.map(([{ text }]) => `"${plain(text)}"`))];
    const boxes = count === 1 ? '1 check box' : `${count} check boxes`;
    const [are, tasks] = count === 1 ? ['is', 'a task'] : ['are', 'tasks'];
    const why =
      titles.length === 1 ? 'that title says criteria or notes' : 'those titles say criteria or notes';
    return `${linesOf(told.map(([{ line }]) => line))}: ${boxes} below ${listed(titles)} ${are} not read as ${tasks}, because ${why}`;
  }
}

/** The first of many lines: `line 3`, `lines 3, 9, 12 and 4 more`. */
export function linesOf(lines: readonly number[]): string {
  return `${lines.length === 1 ? 'line' : 'lines'} ${listed(lines.map(String))}`;
}

function listed(all: readonly string[]): string {
  if (all.length > 5) return `${all.slice(0, 5).join(', ')} and ${all.length - 5} more`;
  return all.length < 2 ? (all[0] ?? '') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
}

function plain(text: string): string {
  return text.replace(/^[#*_\s]+|[*_:：\s]+$/g, '').slice(0, 60);
}
