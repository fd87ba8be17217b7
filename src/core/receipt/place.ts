/**
 * Where a path that an agent wrote down lies: agents write paths from the repository's root or from the
 * folder they work in, absolute, with backslashes, from another machine's drive, and as patterns.
 */

export interface Footing {
  /** Absolute root of the repository. */
  root: string;
  /** The folder agents work in, relative to the root; empty for the root itself. */
  cwd: string;
}

/** `paths` are relative to the root, the likeliest first. */
export type Placed =
  | { kind: 'inside'; paths: string[]; folder: boolean }
  | { kind: 'pattern'; patterns: string[] }
  /** `maybe`: where it would lie if its last part named this repository by another way. */
  | { kind: 'outside'; maybe: string | null };

export function placed(written: string, footing: Footing): Placed {
  const text = written.trim().replace(/^file:\/\/(?=\/)/i, '');
  const path = text.replace(/\\/g, '/').replace(/^\/\/\?\//, '');
  if (/^~(?:\/|$)/.test(path)) return { kind: 'outside', maybe: null };
  const root = footing.root.replace(/\\/g, '/').replace(/\/+$/, '');
  if (/^(?:[A-Za-z]:)?\//.test(path)) {
    const flat = flattened(path.replace(/^[A-Za-z]:/, ''));
    if (flat === null) return { kind: 'outside', maybe: null };
    const drive = /^[A-Za-z]:/.exec(path)?.[0] ?? '';
    const whole = `${drive}/${flat}`;
    const rest = below(whole, root) ?? (drive === '' ? null : below(whole, root, true));
    if (rest === null) return { kind: 'outside', maybe: afterName(flat, root) };
    return within([rest], path);
  }
  const candidates = [flattened(`${footing.cwd}/${path}`), footing.cwd === '' ? null : flattened(path)];
  const paths = [...new Set(candidates.filter((one) => one !== null))];
  return paths.length === 0 ? { kind: 'outside', maybe: null } : within(paths, path);
}

function within(paths: string[], written: string): Placed {
  if (/[*?]|\[[^\]]*\]|\{[^}]*,[^}]*\}/.test(written) && /\*|\?|\{/.test(written)) {
    return { kind: 'pattern', patterns: paths.flatMap(braces) };
  }
  return { kind: 'inside', paths, folder: /\/$/.test(written) || paths[0] === '' };
}

/** Without `.`, `..` and doubled slashes; null where it climbs out. */
function flattened(path: string): string | null {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.join('/');
}

function below(path: string, root: string, anyCase = false): string | null {
  const [a, b] = anyCase ? [path.toLowerCase(), root.toLowerCase()] : [path, root];
  if (a === b) return '';
  return a.startsWith(`${b}/`) ? path.slice(root.length + 1) : null;
}

/** What follows the last part that is named as the root is: `D:/code/app/src/x.ts` for the root `/src/app`. */
function afterName(path: string, root: string): string | null {
  const name = root.slice(root.lastIndexOf('/') + 1).toLowerCase();
  const parts = path.split('/');
  const at = parts.findLastIndex((part) => part.toLowerCase() === name);
  const rest = at === -1 ? '' : parts.slice(at + 1).join('/');
  return rest === '' ? null : rest;
}

/** `{a,b}.ts` as two patterns; a second pair of braces and more than 20 are left as they are. */
function braces(pattern: string): string[] {
  const match = /^([^{]*)\{([^{}]*,[^{}]*)\}(.*)$/.exec(pattern);
  if (match === null) return [pattern];
  const [, before = '', inner = '', after = ''] = match;
  return inner
    .split(',')
    .slice(0, 20)
    .map((part) => `${before}${part}${after}`);
}
