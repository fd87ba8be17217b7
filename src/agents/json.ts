/** Fields of JSON that somebody else wrote: each answers a plain value whatever stands there, and none throws. */

import { isAmount } from '../core/index.ts';

export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const object = (value: unknown): Json => (isObject(value) ? value : {});
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');
/** A number above zero that can be true, else 0. */
export const count = (value: unknown): number => (isAmount(value) ? value : 0);
/** A price that can be true; null: none is told. */
export const price = (value: unknown): number | null => (isAmount(value) ? value : null);
export const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** One line of a stream; null: no JSON. */
export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
