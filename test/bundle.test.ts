/** The built program: what a cold start loads, and what it leaves for later. Built by scripts/setup.mjs. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { parseSource, ROOT, type Source } from './tidy/sources.ts';

const DIST = join(ROOT, 'dist');
const FRAMEWORKS = ['commander', 'zod', 'yaml', 'ink', 'react'];

function chunk(name: string): Source {
  return parseSource(name, readFileSync(join(DIST, name), 'utf8'));
}

/** The chunks that are loaded together with this one. */
function loadedWith(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const { target, dynamic } of chunk(name).imports)
    if (target !== null && !dynamic) loadedWith(target, seen);
  return seen;
}

/** The packages whose code lies in a chunk, as the bundler's region marks name them. */
function packagesIn(name: string): string[] {
  const text = readFileSync(join(DIST, name), 'utf8');
  return FRAMEWORKS.filter((name) => new RegExp(`//#region .*node_modules/${name}/`).test(text));
}

/** The chunk that the entry loads lazily for this word of the source. */
function lazyChunk(word: string): string {
  const found = chunk('ralph.js').imports.find(
    ({ dynamic, specifier }) => dynamic && specifier.includes(word),
  );
  expect(found, `no lazy chunk for ${word}`).toBeDefined();
  return found!.target!;
}

it('the entry loads a few small files and no package', () => {
  const loaded = [...loadedWith('ralph.js')];
  expect(loaded.length).toBeLessThanOrEqual(4);
  expect(loaded.flatMap(packagesIn)).toEqual([]);
  const bytes = loaded.reduce((sum, name) => sum + readFileSync(join(DIST, name)).length, 0);
  expect(bytes).toBeLessThan(20_000);
});

it('emit loads a few small files and no package', () => {
  const loaded = [...loadedWith(lazyChunk('agentside'))];
  expect(loaded.length).toBeLessThanOrEqual(6);
  expect(loaded.flatMap(packagesIn)).toEqual([]);
  const foreign = loaded.flatMap((name) => chunk(name).imports.filter(({ target }) => target === null));
  expect(foreign.filter(({ specifier }) => !specifier.startsWith('node:'))).toEqual([]);
});

it('Ink and React come only with the terminal view, and React without its development checks', () => {
  const files = readdirSync(DIST).filter((name) => name.endsWith('.js'));
  const ink = files.filter((name) => packagesIn(name).includes('ink'));
  const commands = loadedWith(lazyChunk('program'));
  expect(ink.filter((name) => commands.has(name))).toEqual([]);
  for (const name of files) {
    expect(readFileSync(join(DIST, name), 'utf8')).not.toMatch(
      /#region .*react(?:-reconciler)?\.development/,
    );
  }
});

it('needs no package at run time', () => {
  const files = readdirSync(DIST).filter((name) => name.endsWith('.js'));
  const outside = new Set<string>();
  for (const name of files) {
    ts.forEachChild(chunk(name).tree, (node) => {
      if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
        const specifier = node.moduleSpecifier.text;
        if (!specifier.startsWith('.') && !specifier.startsWith('node:')) outside.add(specifier);
      }
    });
  }
  // Built-ins that packages name without the prefix; Ink's devtools are only reached with DEV=true.
  const builtIn =
    /^(fs|os|path|url|util|tty|events|stream|child_process|process|buffer|assert|module|crypto)(\/|$)/;
  expect([...outside].filter((name) => !builtIn.test(name) && name !== 'react-devtools-core')).toEqual([]);
  expect(existsSync(join(DIST, 'ralph.js'))).toBe(true);
});
