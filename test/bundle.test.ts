/** The built program: what a cold start loads, and what it leaves for later. Built by scripts/setup.mjs. */
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './tidy/sources.ts';

const DIST = join(ROOT, 'dist');
const FRAMEWORKS = ['commander', 'zod', 'yaml', 'ink', 'react'];
const SCRIPTS = readdirSync(DIST).filter((name) => name.endsWith('.js'));

const textOf = (name: string) => readFileSync(join(DIST, name), 'utf8');

interface Loads {
  /** A chunk, or whatever else is asked for. */
  id: string;
  lazy: boolean;
}

function loads(name: string): Loads[] {
  const calls = textOf(name).matchAll(/(=> )?\brequire\("([^"]+)"\)/g);
  return [...calls].map(([, lazy, id]) => ({ id: id!, lazy: lazy !== undefined }));
}

/** The chunks that are loaded together with this one. */
function loadedWith(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const { id, lazy } of loads(name)) if (id.startsWith('./') && !lazy) loadedWith(id.slice(2), seen);
  return seen;
}

/** The packages whose code lies in a chunk, as the bundler's region marks name them. */
function packagesIn(name: string): string[] {
  const text = textOf(name);
  return FRAMEWORKS.filter((name) => new RegExp(`//#region .*node_modules/${name}/`).test(text));
}

/** The chunk that the entry loads lazily for this word of the source. */
function lazyChunk(word: string): string {
  const found = loads('main.js').find(({ id, lazy }) => lazy && id.includes(word));
  expect(found, `no lazy chunk for ${word}`).toBeDefined();
  return found!.id.slice(2);
}

it('the entry loads a few small files and no package', () => {
  const loaded = [...loadedWith('ralph.js'), ...loadedWith('main.js')];
  expect(loaded.length).toBeLessThanOrEqual(4);
  expect(loaded.flatMap(packagesIn)).toEqual([]);
  const bytes = loaded.reduce((sum, name) => sum + textOf(name).length, 0);
  expect(bytes).toBeLessThan(20_000);
});

it('emit loads a few small files and no package', () => {
  const loaded = [...loadedWith(lazyChunk('agentside'))];
  expect(loaded.length).toBeLessThanOrEqual(6);
  expect(loaded.flatMap(packagesIn)).toEqual([]);
  const foreign = loaded.flatMap(loads).filter(({ id }) => !id.startsWith('./') && !id.startsWith('node:'));
  expect(foreign).toEqual([]);
});

it('Ink and React come only with the terminal view, and React without its development checks', () => {
  const modules = readdirSync(DIST).filter((name) => name.endsWith('.mjs'));
  expect(modules.filter((name) => packagesIn(name).includes('react'))).toEqual(['screen.mjs']);
  expect(SCRIPTS.filter((name) => /ink|react/.test(packagesIn(name).join()))).toEqual([]);
  for (const name of [...SCRIPTS, ...modules])
    expect(textOf(name)).not.toMatch(/#region .*react(?:-reconciler)?\.development/);
});

it('needs no package at run time', () => {
  const modules = readdirSync(DIST).filter((name) => name.endsWith('.mjs'));
  const imports = modules.flatMap((name) => [...textOf(name).matchAll(/^import .*?"([^".][^"]*)";$/gm)]);
  // At the top level: what libraries only try to load is caught by themselves.
  const calls = SCRIPTS.flatMap((name) => [
    ...textOf(name).matchAll(/^(?:(?:let|const) .*)?\brequire\("([^"]+)"\)/gm),
  ]);
  const outside = [...calls, ...imports].map(([, id]) => id!);
  const foreign = new Set(outside.filter((id) => !id.startsWith('./') && !isBuiltin(id)));
  // Ink's devtools are only reached with DEV=true.
  expect([...foreign].filter((id) => id !== 'react-devtools-core')).toEqual([]);
});
