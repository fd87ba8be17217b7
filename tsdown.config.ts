import { fileURLToPath } from 'node:url';
import { defineConfig } from 'tsdown';

// Everything is bundled, dependencies too: a cold start then loads a handful of files instead of
// hundreds. Heavy libraries stay in lazy chunks, because commands import them dynamically.
export default defineConfig({
  entry: { ralph: 'src/cli/main.ts' },
  outDir: 'dist',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: false,
  clean: true,
  outExtensions: () => ({ js: '.js' }),
  // The same library as plain modules: of its CommonJS build every file would be kept and wrapped.
  alias: { yaml: fileURLToPath(new URL('./node_modules/yaml/browser/dist/index.js', import.meta.url)) },
  deps: { alwaysBundle: [/^(?!node:)/], neverBundle: ['react-devtools-core'] },
  // React's development build is slower and checks much; Ink's devtools are only reached with DEV=true.
  define: { 'process.env.NODE_ENV': '"production"', 'process.env.DEV': '"false"' },
});
