import { fileURLToPath } from 'node:url';
import { defineConfig, type UserConfig } from 'tsdown';

/**
 * Signs outside ASCII as escapes: a file with one of them takes twice the memory and is read twice as slowly,
 * at every start. An escape means the same in strings, templates and patterns, and so it does in `String.raw`
 * as long as that only writes patterns.
 */
const inAscii = {
  name: 'in-ascii',
  generateBundle(_: unknown, bundle: Record<string, { type: string; code?: string }>) {
    for (const file of Object.values(bundle)) if (file.code !== undefined) file.code = escaped(file.code);
  },
};

/** What a backslash stands before is taken together with it: an escaped sign is no longer escaped twice. */
function escaped(code: string): string {
  return code.replace(/\\[\s\S]|[^\0-\x7f]/g, (found) => {
    const sign = found.at(-1)!;
    return sign < '\x80' ? found : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The package's own files are modules, the built ones are scripts: only those can be kept compiled. */
const asScripts = {
  name: 'as-scripts',
  // The one module among them is built beside them, below.
  resolveId: (id: string, from?: string) =>
    from !== undefined && id.endsWith('/screen.tsx') ? { id: './screen.mjs', external: true } : null,
  generateBundle(this: { emitFile(file: { type: 'asset'; fileName: string; source: string }): void }) {
    this.emitFile({ type: 'asset', fileName: 'package.json', source: '{ "type": "commonjs" }\n' });
  },
};

// Everything is bundled, dependencies too: a cold start then loads a handful of files instead of
// hundreds. Heavy libraries stay in lazy chunks, because commands import them dynamically.
const shared: UserConfig = {
  outDir: 'dist',
  platform: 'node',
  target: 'node20',
  dts: false,
  // The same library as plain modules: of its CommonJS build every file would be kept and wrapped.
  alias: { yaml: fileURLToPath(new URL('./node_modules/yaml/browser/dist/index.js', import.meta.url)) },
  // React's development build is slower and checks much; Ink's devtools are only reached with DEV=true.
  define: { 'process.env.NODE_ENV': '"production"', 'process.env.DEV': '"false"' },
  // What is written for readers of the source is skipped at every start, too.
  outputOptions: { comments: { legal: true, annotation: true, jsdoc: false } },
};

export default defineConfig([
  {
    ...shared,
    entry: { ralph: 'src/cli/start.ts', main: 'src/cli/main.ts' },
    format: 'cjs',
    plugins: [inAscii, asScripts],
    clean: true,
    outExtensions: () => ({ js: '.js' }),
    deps: { alwaysBundle: [/^(?!node:)/], neverBundle: ['react-devtools-core'] },
  },
  {
    ...shared,
    // Ink waits at its top level, which only a module can do. It imports nothing of ours but types.
    entry: { screen: 'src/tui/screen.tsx' },
    format: 'esm',
    plugins: [inAscii],
    clean: false,
    outExtensions: () => ({ js: '.mjs' }),
    deps: { alwaysBundle: [/^(?!node:)/], neverBundle: ['react-devtools-core'] },
  },
]);
