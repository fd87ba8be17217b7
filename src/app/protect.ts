/**
 * Patterns of `protect` that hold nothing at this moment: a mistyped folder would protect nothing, and
 * nobody would notice before an agent has changed what was meant.
 */
import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { nearest } from '../core/index.ts';
import { matchesAny } from '../engine/index.ts';

/** More entries are not looked through: a pattern is then taken at its word. */
const MOST_ENTRIES = 2_000;
const PASSED_BY = new Set(['.git', 'node_modules', '.ralph', '.ralph-sessions']);

/** A sentence for each pattern that matches nothing in the project folder. */
export function idlePatterns(dir: string, patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => {
    const fixed = fixedPart(pattern);
    const gone = firstMissing(dir, fixed);
    if (gone !== null) {
      const near = nearest(gone.name, namesIn(join(dir, ...gone.above)));
      const path = [...gone.above, gone.name].join('/');
      const meant = near === null ? '' : ` Did you mean ${[...gone.above, near].join('/')}?`;
      return [`${said(pattern)}: there is no ${path} in ${dir}.${meant}`];
    }
    return isEmpty(dir, pattern, fixed) ? [`${said(pattern)}: no file there fits.`] : [];
  });
}

const said = (pattern: string): string => `protect ${JSON.stringify(pattern)} matches nothing now`;

/** The folders and names before the first wildcard. */
function fixedPart(pattern: string): string[] {
  const parts = pattern
    .replace(/^\.?\//, '')
    .split('/')
    .filter((part) => part !== '');
  const wild = parts.findIndex((part) => /[*?]/.test(part));
  return wild === -1 ? parts : parts.slice(0, wild);
}

function firstMissing(dir: string, parts: string[]): { above: string[]; name: string } | null {
  for (let n = 0; n < parts.length; n++) {
    if (!existsSync(join(dir, ...parts.slice(0, n + 1))))
      return { above: parts.slice(0, n), name: parts[n]! };
  }
  return null;
}

function namesIn(folder: string): string[] {
  return entriesOf(folder).map(({ name }) => name);
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** True only where everything below the fixed part was seen and nothing of it fits. */
function isEmpty(dir: string, pattern: string, fixed: string[]): boolean {
  if (matchesAny([pattern], fixed.join('/'))) return false;
  const folders = [fixed];
  for (let seen = 0; folders.length > 0; ) {
    const at = folders.pop()!;
    for (const entry of entriesOf(join(dir, ...at))) {
      if (++seen > MOST_ENTRIES) return false;
      const path = [...at, entry.name];
      if (matchesAny([pattern], path.join('/'))) return false;
      if (entry.isDirectory() && !PASSED_BY.has(entry.name)) folders.push(path);
    }
  }
  return true;
}
