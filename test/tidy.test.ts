/**
 * The rules of the house as ordinary tests: where a file may reach, what it may be called, how long it
 * may grow. Each failure names the place and the rule, so that nobody has to look one up.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { drawMap, mappedFiles, namesInMap, PAGE, withMap } from './tidy/code-map.ts';
import { LAZY_FRONTS, PURE_PACKAGES, PURE_ROOMS, ROOMS, roomOf, SIDE_DOORS } from './tidy/rooms.ts';
import {
  commentsOf,
  functionSizes,
  headerOf,
  type Import,
  importCycles,
  isTest,
  keptFiles,
  lineOf,
  parseSource,
  ROOT,
  reachableFrom,
  type Source,
  sourcesIn,
  visit,
} from './tidy/sources.ts';

const FILE_LINES = { aim: 400, most: 500 };
const FUNCTION_LINES = 70;
const MAIN = 'src/cli/main.ts';
/** The entry of the built program, which loads the chunks that MAIN became. */
const START = 'src/cli/start.ts';

const all = sourcesIn('src', 'test', 'bench', 'scripts');
const byPath = new Map(all.map((source) => [source.path, source]));
const src = all.filter(({ path }) => path.startsWith('src/'));
const product = src.filter(({ path }) => !isTest(path) && !posix.basename(path).startsWith('test-'));
const page = existsSync(join(ROOT, PAGE)) ? readFileSync(join(ROOT, PAGE), 'utf8') : null;

/** What is wrong in these files, one line each. */
function faults(sources: Source[], look: (source: Source) => string[]): string[] {
  return sources.flatMap((source) => look(source).map((fault) => `${source.path}${fault}`));
}

describe('rooms', () => {
  it('every source file lies in a room of the floor plan', () => {
    expect(src.filter(({ path }) => roomOf(path) === undefined).map(({ path }) => path)).toEqual([]);
  });

  it('every room has a door, index.ts', () => {
    const rooms = new Set(product.map(({ path }) => roomOf(path)?.name));
    // cli has none: its one entry is main.ts, and nobody may import it.
    const doorless = ROOMS.filter(({ name }) => name !== 'cli' && rooms.has(name)).filter(
      ({ name }) => !byPath.has(`src/${name}/index.ts`),
    );
    expect(doorless.map(({ name }) => name)).toEqual([]);
  });

  it('a room imports rooms on lower floors only, and only through their doors', () => {
    expect(faults(product, (source) => source.imports.flatMap((found) => arrowFault(source, found)))).toEqual(
      [],
    );
  });

  it('a test of a room may reach anywhere below, or into its own room', () => {
    const tests = src.filter(({ path }) => !product.some((source) => source.path === path));
    const look = (source: Source) =>
      source.imports
        .filter(({ target }) => target !== null && (roomOf(target)?.floor ?? 0) > roomOf(source.path)!.floor)
        .map(({ line, specifier }) => `:${line} imports ${specifier} from a higher floor`);
    expect(faults(tests, look)).toEqual([]);
  });

  it('no import leads nowhere', () => {
    const look = (source: Source) =>
      source.imports
        .filter(({ target }) => target !== null && !existsSync(join(ROOT, target)))
        .map(({ line, specifier }) => `:${line} imports ${specifier}, which is not there`);
    expect(faults(src, look)).toEqual([]);
  });

  it('no file is part of an import cycle', () => {
    expect(importCycles(new Map(product.map((source) => [source.path, source])))).toEqual([]);
  });

  it('every source file is reached from the command line or from a test', () => {
    const roots = [START, MAIN, ...all.filter(({ path }) => isTest(path)).map(({ path }) => path)];
    const reached = reachableFrom(roots, byPath);
    expect(src.filter(({ path }) => !reached.has(path)).map(({ path }) => path)).toEqual([]);
  });
});

function arrowFault(source: Source, { target, line, specifier, dynamic }: Import): string[] {
  const from = roomOf(source.path);
  const to = target === null ? undefined : roomOf(target);
  if (target === null || from === undefined) return [];
  if (to === undefined) return [`:${line} imports ${specifier} from outside src`];
  if (from === to) {
    return specifier.endsWith('/index.ts') && target === `src/${from.name}/index.ts`
      ? [`:${line} imports its own door; insiders import each other directly`]
      : [];
  }
  const opens = dynamic && (LAZY_FRONTS[from.name] ?? []).includes(to.name);
  if (to.floor >= from.floor && !opens) {
    return [`:${line} imports ${to.name} (floor ${to.floor}) from ${from.name} (floor ${from.floor})`];
  }
  return target === `src/${to.name}/index.ts` || SIDE_DOORS.includes(target)
    ? []
    : [`:${line} reaches past the door of ${to.name}: ${specifier}`];
}

describe('pure rooms', () => {
  const pure = product.filter(({ path }) => PURE_ROOMS.includes(roomOf(path)?.name ?? ''));

  it('import nothing that touches the machine', () => {
    const look = (source: Source) =>
      source.imports
        .filter(({ target, specifier }) => {
          const allowed = PURE_PACKAGES[roomOf(source.path)!.name] ?? [];
          return target === null && !allowed.includes(specifier);
        })
        .map(({ line, specifier }) => `:${line} imports ${specifier}`);
    expect(faults(pure, look)).toEqual([]);
  });

  it('know no clock, no chance, no process and no console', () => {
    expect(faults(pure, impurities)).toEqual([]);
  });

  it('impurity is recognised where it hides', () => {
    const text =
      'const a = new Date(); const b = Date.now(); const c = x.process; setTimeout(f); new Date(1);';
    expect(impurities(parseSource('src/core/x.ts', text)).map((fault) => fault.split(' ').at(-1))).toEqual([
      'Date()',
      'Date.now',
      'setTimeout',
    ]);
  });
});

const IMPURE_NAMES = new Set([
  'process',
  'console',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'fetch',
  'performance',
  'crypto',
  'globalThis',
  'require',
]);
const IMPURE_CALLS = new Set(['Date.now', 'Math.random']);

function impurities(source: Source): string[] {
  const found: string[] = [];
  visit(source.tree, (node) => {
    const say = (what: string) => found.push(`:${lineOf(source, node)} uses ${what}`);
    if (ts.isPropertyAccessExpression(node) && IMPURE_CALLS.has(node.getText())) say(node.getText());
    if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length)
      say('Date()');
    if (ts.isIdentifier(node) && IMPURE_NAMES.has(node.text) && isFree(node)) say(node.text);
  });
  return found;
}

/** A use of the global name: no property, no key, and nothing of that name declared in the file. */
function isFree(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return false;
  if (ts.isQualifiedName(parent)) return false;
  return !('name' in parent && parent.name === node);
}

describe('names and words', () => {
  it('no file is called utils, helpers, common or types', () => {
    const vague = /^(utils?|helpers?|common|types|misc|shared)\.tsx?$/;
    expect(all.filter(({ path }) => vague.test(posix.basename(path))).map(({ path }) => path)).toEqual([]);
  });

  it('every file says at its top what it is about', () => {
    const plain = product.filter(({ path }) => !path.endsWith('/index.ts'));
    const silent = [...plain, ...all.filter(({ path }) => /^(bench|scripts)\//.test(path))].filter(
      (source) => headerOf(source).length < 20,
    );
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('no comment leaves work for later', () => {
    const later = new RegExp(`\\b(${['FIX', 'TO'].map((word) => `${word}(?:ME|DO)`).join('|')}|XXX|HACK)\\b`);
    const look = (source: Source) =>
      commentsOf(source)
        .filter(({ text }) => later.test(text))
        .map(({ line }) => `:${line} leaves work for later`);
    expect(faults(all, look)).toEqual([]);
  });

  it('no test runs alone, and none is skipped without a written reason', () => {
    const tests = all.filter(({ path }) => isTest(path));
    expect(faults(tests, testFaults)).toEqual([]);
  });

  it('the compiler is never told to look away', () => {
    const look = (source: Source) => [
      ...commentsOf(source)
        .filter(({ text }) => /@ts-(ignore|nocheck|expect-error)/.test(text))
        .map(({ line }) => `:${line} silences the compiler`),
      ...anyTypes(source),
    ];
    expect(faults(all, look)).toEqual([]);
  });

  it('no kept file names a place of one machine or a registry', () => {
    expect(strayPlaces()).toEqual([]);
  });
});

function testFaults(source: Source): string[] {
  const found: string[] = [];
  const lines = source.text.split('\n');
  visit(source.tree, (node) => {
    if (!ts.isPropertyAccessExpression(node)) return;
    const line = lineOf(source, node);
    if (!/^(it|test|describe)(\.\w+)*$/.test(node.getText())) return;
    if (node.name.text === 'only') found.push(`:${line} runs alone`);
    const reason = [lines[line - 2], lines[line - 1]].some((text) => /\/\/ \S+ \S+/.test(text ?? ''));
    if (['skip', 'todo', 'fails'].includes(node.name.text) && !reason)
      found.push(`:${line} is skipped silently`);
  });
  return found;
}

function anyTypes(source: Source): string[] {
  const found: string[] = [];
  visit(source.tree, (node) => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) found.push(`:${lineOf(source, node)} uses any`);
  });
  return found;
}

/** Absolute homes, this very checkout, and hosts that packages came from. */
function strayPlaces(): string[] {
  const here =
    ROOT.split('/').length > 2
      ? [`(?<![\\w.-])${ROOT.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`]
      : [];
  const places = new RegExp(
    [
      ...here,
      '"resolved": "http',
      'registry\\.npm\\w*\\.(?:org|com)',
      '(?:npm|pkg|artifactory|nexus)[\\w.-]*/repository/',
    ].join('|'),
  );
  return keptFiles()
    .filter((path) => /\.(tsx?|mjs|json|md|ya?ml|toml|jsonl?|sh|txt)$|(^|\/)(\.npmrc|run)$/.test(path))
    .filter((path) => path !== 'test/tidy.test.ts')
    .flatMap((path) => {
      const hit = places.exec(readFileSync(join(ROOT, path), 'utf8'));
      return hit === null ? [] : [`${path} says ${hit[0]}`];
    });
}

describe('sizes', () => {
  it(`no source file is longer than ${FILE_LINES.most} lines`, () => {
    const long = product.filter(({ lines }) => lines > FILE_LINES.aim);
    for (const { path, lines } of long) console.warn(`${path} has ${lines} lines; aim at ${FILE_LINES.aim}`);
    const tooLong = long.filter(({ lines }) => lines > FILE_LINES.most);
    expect(tooLong.map(({ path, lines }) => `${path} has ${lines} lines`)).toEqual([]);
  });

  it(`no function is longer than ${FUNCTION_LINES} lines`, () => {
    const measured = [...product, ...all.filter(({ path }) => /^(bench|scripts)\//.test(path))];
    const look = (source: Source) =>
      functionSizes(source)
        .filter(({ lines }) => lines > FUNCTION_LINES)
        .map(({ name, line, lines }) => `:${line} ${name} has ${lines} lines`);
    expect(faults(measured, look)).toEqual([]);
  });

  it('a factory is measured without the functions it holds', () => {
    const text = 'function f() {\n  const g = () => {\n    return 1;\n  };\n  return g;\n}\n';
    const sizes = functionSizes(parseSource('src/core/x.ts', text));
    expect(sizes.map(({ name, lines }) => `${name} ${lines}`)).toEqual(['g 3', 'f 3']);
  });
});

describe("the agent's side", () => {
  it('loads built-ins only on the way of emit', () => {
    // Memories, tasks and the MCP server load what they need when they are called.
    const reached = reachableFrom(
      ['src/agentside/index.ts'],
      byPath,
      ({ dynamic, typeOnly }) => !dynamic && !typeOnly,
    );
    const look = (source: Source) =>
      source.imports
        .filter(
          ({ target, specifier, typeOnly }) => target === null && !typeOnly && !specifier.startsWith('node:'),
        )
        .map(({ line, specifier }) => `:${line} imports ${specifier}`);
    expect(
      faults(
        all.filter(({ path }) => reached.has(path)),
        look,
      ),
    ).toEqual([]);
  });

  it('is forked to before the command framework loads', () => {
    const still = reachableFrom([START, MAIN], byPath, ({ dynamic, typeOnly }) => !dynamic && !typeOnly);
    const look = (source: Source) =>
      source.imports
        .filter(({ target, specifier, dynamic, typeOnly }) => {
          return target === null && !dynamic && !typeOnly && !specifier.startsWith('node:');
        })
        .map(({ line, specifier }) => `:${line} imports ${specifier} at once`);
    expect(
      faults(
        all.filter(({ path }) => still.has(path)),
        look,
      ),
    ).toEqual([]);
  });
});

describe(PAGE, () => {
  it('has a code map that equals the tree', () => {
    const names = namesInMap(page ?? '');
    expect(names, `${PAGE} has no code map yet: npm run map`).not.toBeNull();
    const files = mappedFiles().map(({ path }) => path);
    expect(names!.toSorted(), 'the map is old: npm run map').toEqual(files.toSorted());
  });

  it('says of every runtime dependency why it is there', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const rows = (page ?? '').split('\n').filter((line) => line.startsWith('|'));
    const untold = Object.keys(dependencies).filter(
      (name) =>
        !rows.some((row) =>
          row
            .split('|')[1]!
            .split(/[\s,`]+/)
            .includes(name),
        ),
    );
    expect(untold).toEqual([]);
  });

  it('keeps the words around the map when the map is drawn anew', () => {
    const old = drawMap([parseSource('src/core/a.ts', '/** Old. */')]);
    const now = drawMap([parseSource('src/core/b.ts', '/** What b is. More. */')]);
    const drawn = withMap(`# A\n\n${old}\nAfter.\n`, now);
    expect(drawn).toBe(`# A\n\n${now}\nAfter.\n`);
    expect(namesInMap(drawn)).toEqual(['src/core/b.ts']);
  });
});
