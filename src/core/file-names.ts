/**
 * The names under which rules may know a file: as somebody names it, in the project, and from the root. A name holds
 * a hole where only the shell knows which file it is.
 */
import { HOLE } from './shell-words.ts';

const WINDOWS = /^[A-Za-z]:[\\/]/;
const ROOT = /^(?:[A-Za-z]:)?\//;
const slashed = (path: string, cwd: string): string =>
  WINDOWS.test(cwd) || WINDOWS.test(path) ? path.replaceAll('\\', '/') : path;

/** Without `.`, `..` and doubled slashes, as far as that can be known without its folder. */
function plain(path: string): string {
  const root = ROOT.exec(path)?.[0] ?? '';
  const kept: string[] = [];
  for (const part of path.slice(root.length).split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (root === '') kept.push(part);
  }
  return root + kept.join('/');
}

/** What a hole holds may climb to any folder: only what stands behind the last one is known. */
function behindHole(path: string): string {
  const tail = plain(`./${path.slice(path.lastIndexOf(HOLE) + 1)}`);
  return HOLE + tail.replace(/^(?:\.\.(?:\/|$))+/, '');
}

function namesFrom(path: string, cwd: string | undefined): string[] {
  // A home folder is somewhere.
  const home = path.startsWith('~') ? path.replace(/^~[^/]*/, HOLE) : path;
  if (home.includes(HOLE)) return [behindHole(home)];
  const inside = plain(path);
  if (cwd === undefined) return [inside];
  const base = plain(cwd);
  const whole = ROOT.test(inside) ? inside : plain(`${base}/${inside}`);
  const below = base.endsWith('/') ? base : `${base}/`;
  return whole.startsWith(below) ? [whole.slice(below.length), whole] : [whole];
}

/** `places`: folders in which it may be looked for, from `cwd` or from the root; '' is `cwd` itself. */
export function fileNames(path: string, cwd: string | undefined, places: readonly string[] = ['']): string[] {
  const from = slashed(cwd ?? '', cwd ?? '');
  const names = places.flatMap((place) => {
    const named = slashed(path, from);
    const isWhole = place === '' || ROOT.test(named) || named.startsWith('~');
    return namesFrom(isWhole ? named : `${place}/${named}`, cwd === undefined ? undefined : from);
  });
  return [...new Set([path, ...names])];
}
