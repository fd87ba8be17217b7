/**
 * What looks like the path of a file in a report, and which of its lines are meant. Addresses, versions,
 * modules and products (`node:fs`, `v1.2.3`, `Next.js`) look alike and are told apart here.
 */

export interface ShapedPath {
  path: string;
  /** `12-40`, `12`; null where none are named. */
  lines: string | null;
  /** It may as well be something else: never held against anybody, but it counts when it is true. */
  unsure: boolean;
}

/** Longest path that is read, in characters. */
const MAX_PATH_CHARS = 512;

/** Endings of the files that projects are made of. */
export const EXTENSIONS: readonly string[] =
  `ts tsx mts cts js jsx mjs cjs json jsonc json5 jsonl md mdx markdown rst adoc txt text csv tsv yml yaml toml ini cfg
  conf env lock xml html htm xhtml css scss sass less styl svg png jpg jpeg gif webp ico pdf py pyi ipynb rb erb rake
  gemspec go mod sum rs c h cc cpp cxx hpp hh m mm swift kt kts java gradle groovy scala clj cljs ex exs erl hrl hs ml
  mli fs fsx cs csproj sln vb php phtml twig blade pl pm lua r jl dart zig nim sh bash zsh fish ps1 psm1 bat cmd sql
  prisma graphql gql proto tf tfvars hcl nix vue svelte astro hbs ejs pug liquid j2 tmpl tpl log out diff patch
  dockerfile makefile cmake mk bzl properties plist strings storyboard xib entitlements wasm ttf woff woff2 map snap
  feature service desktop example sample dist template test spec`.split(/\s+/);
const KNOWN = new Set(EXTENSIONS);
const BARE_NAMES =
  /^(?:makefile|dockerfile|containerfile|justfile|procfile|rakefile|gemfile|vagrantfile|jenkinsfile|license|licence|codeowners|readme|changelog|brewfile)$/i;
/** Product names that end as a file does. */
const PRODUCTS =
  /^(?:node|next|nuxt|vue|react|three|d3|express|socket\.io|ember|backbone|chart|moment|asp|discord|alpine|p5|deno|bun|nest|require|ext|knockout|angular|web3|ethers|tensorflow|video|electron|solid|lit|htmx|handlebars|mustache|paper|matter|pixi|phaser|babylon|polymer|meteor|sails|koa|hapi|underscore|lodash|system|editor)\.(?:js|net|io|ts|py)$/i;
const RANGE =
  /(?::(\d+)(?:\s*[-–—]\s*L?(\d+)|:\d+)?|#L(\d+)(?:C\d+)?(?:\s*[-–—]\s*L?(\d+)(?:C\d+)?)?|\((\d+)(?:\s*[-–—,]\s*(\d+))?\))$/;

/** Reads a word, or what stands between quotation marks or backticks, as a path; null: it is none. */
export function shapeOf(raw: string, quoted: boolean): ShapedPath | null {
  let text = raw.trim();
  if (text.length < 2 || text.length > MAX_PATH_CHARS) return null;
  let lines: string | null = null;
  const range = RANGE.exec(text.slice(-40));
  if (range !== null) {
    const from = range[1] ?? range[3] ?? range[5]!;
    const to = range[2] ?? range[4] ?? range[6];
    lines = to === undefined ? from : `${from}-${to}`;
    text = text.slice(0, text.length - range[0].length);
  }
  const unsure = doubt(text, quoted);
  return unsure === null ? null : { path: text, lines, unsure };
}

/** Signs that stand in file names, and far more often in code. */
const CODE_SIGN = /[=;{}$()!^%&,、，。：；！？（）【】《》「」『』]/g;

/** Whether it may be something else; null: it is something else. */
function doubt(text: string, quoted: boolean): boolean | null {
  if (/[<>|"?`\u0000-\u001f]/.test(text) || /:\/\//.test(text)) return null;
  const plain = text.replace(CODE_SIGN, '_');
  if (plain === text) return plainDoubt(text, quoted);
  // `app/(shop)/[id].tsx`, `docs/設計（案）.md`: true where it changed, and code where nothing has that name.
  return quoted && plainDoubt(plain, quoted) !== null ? true : null;
}

function plainDoubt(text: string, quoted: boolean): boolean | null {
  if (/^(?:www\.|mailto:|@|~|node:|npm:|jsr:|file:|data:|-)/i.test(text)) return null;
  const drive = /^[A-Za-z]:[\\/]/.test(text);
  if (!drive && text.includes(':')) return null;
  if (/\s/.test(text) && (!quoted || text.split(/\s+/).length > 8)) return null;
  if (/^[\d.\-\\/]+$/.test(text) || /^v?\d+(?:\.[\dx*]+)+/i.test(text)) return null;
  if (/\.\.\.|…/.test(text)) return null;
  const folder = /[\\/]$/.test(text);
  const segments = text.split(/[\\/]+/).filter((part) => part !== '');
  const name = segments.at(-1) ?? '';
  if (name === '' || name === '.' || name === '..' || segments.some((part) => part.length > 255)) return null;
  const blanks = /\s/.test(text);
  const deep = segments.length > 1 || /^\.?[\\/]/.test(text) || drive;
  const glob = /[*[\]]/.test(text);
  if (glob && !quoted && !deep) return null;
  if (folder) return !(quoted || segments.length > 1);
  const extension = /^.+\.([A-Za-z][A-Za-z0-9]{0,14})$/.exec(name)?.[1]?.toLowerCase() ?? null;
  if (isAddress(segments, drive)) return null;
  if (extension !== null && KNOWN.has(extension)) {
    if (!deep && PRODUCTS.test(name)) return null;
    // `test.each`, `app.service`: more often code than a file.
    const word =
      /^(?:test|spec|out|map|mod|sum|env|m|r|text|dist|lock|service|example|sample|template|strings|feature|properties|snap)$/;
    return blanks || (!deep && (word.test(extension) || (!quoted && /^[A-Z][a-z]+\.(?:js|io)$/.test(name))));
  }
  if (BARE_NAMES.test(name) && (deep || quoted)) return !/^[A-Z]/.test(name) && !deep;
  if (/^\.[A-Za-z][\w.-]+$/.test(name) && (deep || quoted))
    return !deep && !/^\.(?:git|env|npm|nvm|eslint|prettier|editor|docker|babel|browser)/.test(name);
  if (extension !== null) return deep ? true : null;
  // `bin/ralph`, `and/or`: only the repository can tell.
  return deep && quoted ? true : glob && deep ? true : null;
}

/** `example.com/docs/x.html`: the first part is a host. */
function isAddress(segments: string[], drive: boolean): boolean {
  const [host = ''] = segments;
  if (drive || segments.length < 2) return false;
  return /^(?!.*\.(?:d|test|spec)$)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev|app|ai|edu|gov|co|uk|de|fr|info|invalid)$/i.test(
    host,
  );
}

const AFTER =
  /^[`'"”’»*_)\]」』]*\s*[,(:（：，、–—-]?\s*[（(]?(?:lines?|ll?\.|zeilen?|lignes?|l[ií]neas?|linhas?|righ[ei]|riga|regels?|wiersze|строк[иа]|第)?\s*[:.]?\s*L?(\d{1,7})(?:(?:\s*行?目?\s*(?:[-–—~～〜]|到|から|至)\s*第?\s*|\s+(?:to|bis|à|a|al|through|tot|до)\s+)L?(\d{1,7}))?\s*(行|줄|lines?\b)?/iu;
const LINE_WORD =
  /(?:lines?|ll?\.|zeilen?|lignes?|l[ií]neas?|linhas?|righ[ei]|riga|regels?|wiersze|строк[иа]|第|\bL\d|行|줄)/iu;

/** The lines named in the words right after a path, `(lines 10-40)`; null where none are. */
export function linesAfter(text: string): string | null {
  const near = text.slice(0, 48);
  const match = AFTER.exec(near);
  if (match === null || !LINE_WORD.test(match[0])) return null;
  // "120 lines" says how many, not which.
  if (match[2] === undefined && /lines?$/i.test(match[3] ?? '') && !/lines?\s*\d/i.test(match[0]))
    return null;
  return match[2] === undefined ? match[1]! : `${match[1]}-${match[2]}`;
}
