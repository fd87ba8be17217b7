/** The effective configuration as people read it: secrets hidden, each value with where it came from. */
import { stringify } from 'yaml';
import { isSecret } from './explain.ts';
import { configLines, HIDDEN, type Loaded } from './load.ts';
import { isMapping } from './path.ts';

/** Every setting in the file's shape, with secrets hidden: what `ralph config --json` prints. */
export function shownConfig({ config }: Loaded): Record<string, unknown> {
  return hidden(config, []) as Record<string, unknown>;
}

function hidden(value: unknown, path: string[]): unknown {
  if (value !== undefined && isSecret(path)) return HIDDEN;
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, hidden(child, [...path, key])]),
  );
}

/** The same as YAML, as it could stand in ralph.yml. */
export function configText(loaded: Loaded): string {
  return stringify(shownConfig(loaded), { lineWidth: 100 });
}

const WIDEST = 48;

/** One line for each key: the key, its value, where it came from. */
export function originText(loaded: Loaded): string {
  const rows = configLines(loaded).map(({ key, value, origin }) => [key, short(value), origin] as const);
  const width = (at: 0 | 1) => Math.min(WIDEST, Math.max(...rows.map((row) => row[at].length)));
  const [keys, values] = [width(0), width(1)];
  return rows
    .map(([key, value, origin]) => `${key.padEnd(keys)}  ${value.padEnd(values)}  ${origin}\n`)
    .join('');
}

function short(value: unknown): string {
  const text = value === undefined ? '(not set)' : JSON.stringify(value);
  return text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text;
}
