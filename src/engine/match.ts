/** Path patterns of the configuration: `*` within a folder, `**` across folders, a trailing `/` for all below. */

/** Files of the project that no attempt may change, whatever is configured. */
export const OWN_RULES = ['ralph.yml', '.ralph/ralph.toml', 'ralph/prd.md'];

export function matchesAny(patterns: readonly string[], path: string): boolean {
  return patterns.some((pattern) => toRegExp(pattern).test(path));
}

const known = new Map<string, RegExp>();

function toRegExp(pattern: string): RegExp {
  const cached = known.get(pattern);
  if (cached) return cached;
  const plain = pattern.replace(/^\.?\//, '').replace(/\/$/, '/**');
  const source = plain
    .split(/(\*\*\/?|\*|\?)/)
    .map((part) => {
      if (part === '**/') return '(?:.*/)?';
      if (part === '**') return '.*';
      if (part === '*') return '[^/]*';
      return part === '?' ? '[^/]' : part.replace(/[.+^${}()|[\]\\]/g, '\\$&');
    })
    .join('');
  // A plain folder name protects what lies below it.
  const made = new RegExp(`^${source}(?:/.*)?$`);
  known.set(pattern, made);
  return made;
}
